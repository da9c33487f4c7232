"""A Run that goes on where the one before it ended, because somebody asks for a Repair of its pull request. Pure."""

from __future__ import annotations

from dataclasses import replace

from bot.record import JobEntry, Record, Trigger
from bot.request import Request


def follow_up(last: Record, request: Request, job: JobEntry, max_repairs: int) -> Record:
    """The Run after `last`, for what `request` asks: on the same branch and pull request, with the same text and claim,
    and with what is left of Repairs and money. Its workspace is looked at anew, since people may have pushed meanwhile.
    """
    return Record(
        trigger=_trigger(last.trigger, request, job),
        base=last.base,
        branch=last.branch,
        max_repairs=max_repairs,
        jobs=(job,),
        remarks=last.remarks,
        checkpoint="" if last.head == last.pushed else last.head or last.checkpoint,
        implemented=True,
        title=last.title,
        body=last.body,
        claim=last.claim,
        claimed_by=last.claimed_by,
        claim_refused=last.claim_refused,
        proof=last.proof,
        kind=last.kind,
        tracking_comment=last.tracking_comment,
        sessions=last.sessions,
        resumes=last.resumes,
        repairs=last.repairs,
        waits_for_ci=last.waits_for_ci,
        requests=(request,),
        suspicions=last.suspicions,
    )


def _trigger(last: Trigger, request: Request, job: JobEntry) -> Trigger:
    """The issue as it was worked on, and who asks now."""
    return replace(
        last,
        requested_by=request.by,
        asked_at=request.at,
        run_id=job.run_id,
        run_attempt=job.run_attempt,
        job_url=job.url,
    )
