"""`nightjar run` on a comment or a review: whoever may ask is answered by a reaction first, and then in the Tracking
comment.

What is to be done `bot.commands` decides by the newest Record. The Run's own ref stays the Run's: what is asked of one
that is at work elsewhere is left for it (`bot.inbox`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bot.beginning import begin
from bot.commanded import Commanded
from bot.commands import GOOD, Act, Answer, Command, Decision, Verb, decide
from bot.completing import complete
from bot.config import Config
from bot.failures import RunFailed
from bot.handing_on import hand_on
from bot.journal import RunJournal
from bot.ports import PullRequestNow
from bot.profiles import settings_of
from bot.progress import stopped_by
from bot.record import FailureEntry, Outcome, Record
from bot.report.actions import Runner
from bot.request import Wants
from bot.stored import UnreadableRecord
from bot.taking_up import follow_up_here, take_up
from bot.telling import Heard, tell
from bot.trigger import Answered, Ignored, Job, issue_of_branch, may_ask, may_this_bot
from bot.wiring import Wiring

SEEN, REFUSED = "eyes", "confused"


def answer(
    commanded: Commanded, job: Job, default_branch: str, config: Config, wiring: Wiring, runner: Runner
) -> Record | Ignored:
    """Do what is asked for, or say why not; the Record of the Run that went on in this job. Raises `RunFailed`."""
    if commanded.implied and not config.repair_on_review:
        return Ignored("a review that requests changes starts a Repair only where `repair-on-review` is set")
    issue, on = commanded.number, None
    if commanded.on_pull_request:
        on = wiring.github.pull_request_now(commanded.number)
        issue = issue_of_branch(on.branch, config.branch_prefix)
        if not issue and commanded.implied:
            return Ignored(f"#{commanded.number} is no pull request of Nightjar's")
    answering = Answering(commanded, issue, on, job, default_branch, config, wiring, runner)
    if (refused := answering.not_permitted()) is not None:
        answering.react(REFUSED)
        return refused
    answering.react(SEEN)
    try:
        return answering.act() if issue else answering.say(Answer.NOT_OURS, None)
    except RunFailed:  # the job's page says why
        answering.react(REFUSED)
        raise


@dataclass(frozen=True, slots=True)
class Answering:
    """One command, by somebody who may give it, about one issue."""

    commanded: Commanded
    issue: int
    on: PullRequestNow | None
    """The pull request that it stands on; None for the issue."""
    job: Job
    default_branch: str
    config: Config
    wiring: Wiring
    runner: Runner

    def not_permitted(self) -> Ignored | None:
        """Why whoever asks may not. GitHub is asked, not the payload."""
        asked, config, github = self.commanded, self.config, self.wiring.github
        role = github.role_of(asked.asked_by)
        refused = may_ask(asked, role, required=config.required_permission, allowed_bots=config.allowed_bots)
        return may_this_bot(asked, github.own_login()) if refused is None and asked.by_bot else refused

    def react(self, reaction: str) -> None:
        """To the very comment or review. A reaction that GitHub refuses stops nothing."""
        talk, asked = self.wiring.conversation, self.commanded
        try:
            if asked.review:
                talk.react_to_review(asked.review, reaction)
            else:
                talk.react_to_comment(asked.id, reaction)
        except RunFailed as failed:
            self.runner.log(f"The reaction could not be shown: {failed.reason}")

    def act(self) -> Record | Ignored:
        """Whatever the command asks for."""
        journal = self.wiring.journal(self.issue)
        try:
            last = journal.last()
        except UnreadableRecord as unreadable:
            self.runner.log(f"The newest Run's Record could not be read: {unreadable}.")
            if self.commanded.command.verb is Verb.RETRY:
                return self._begin(None)
            return self.say(Answer.UNREADABLE, None)
        command = self._command()
        config = settings_of(last, self.config)[1] if last else self.config
        going = command.verb in (Verb.RETRY, Verb.STOP) and self._goes_on(last)
        decision = decide(command, last, config, branch=self.on.branch if self.on else "", going=going)
        if decision.act is Act.ANSWER:
            return self.say(decision.answer, last)
        if decision.act is Act.BEGIN:
            return self._begin(last)
        if last is None:
            raise AssertionError("what is stopped or repaired has a Record")
        if decision.act in (Act.END, Act.CANCEL):
            return self._stop(decision, last, journal)
        return self._fix(decision, command, last, journal)

    def say(self, said: Answer, last: Record | None, detail: str = "") -> Answered:
        """The answer: in the newest Run's Tracking comment, or as a comment where there is none. What could not be done
        is a reaction too.
        """
        if said not in GOOD:
            self.react(REFUSED)
        asked = self.commanded
        heard = Heard(_written(asked.command), asked.asked_by, asked.url, asked.number)
        return Answered(tell(said, heard, last, self.wiring, detail).rstrip("."))

    # ── what can be asked for ───────────────────────────────────────────────────────────────────────────────────

    def _command(self) -> Command:
        """The command; of a review, with what it says of single lines."""
        asked, command = self.commanded, self.commanded.command
        if not asked.review or command.verb is not Verb.FIX:
            return command
        remarks = self.wiring.conversation.review_remarks(asked.number, asked.id)
        return replace(command, text="\n\n".join(text for text in (command.text, *remarks) if text))

    def _goes_on(self, last: Record | None) -> bool:
        """Whether the job that the Run was last at work in goes on."""
        if last is None or last.told or last.parked is not None:
            return False
        there = last.jobs[-1]
        return not self.wiring.workflows.conclusion(there.run_id, there.run_attempt)

    def _begin(self, last: Record | None) -> Record | Ignored:
        issue = self.wiring.github.issue(self.issue)
        if not issue.open:
            return self.say(Answer.CLOSED, last)
        asking = self.config.asking
        label = last.trigger.label if last and last.trigger.label in asking.profiles else asking.asked
        trigger = self.commanded.asked(self.issue, label).trigger(self.job, issue.title, issue.body)
        begun = begin(trigger, self.job, self.default_branch, self.config.for_label(label), self.wiring)
        return self.say(Answer.AT_WORK, last) if isinstance(begun, Ignored) else begun

    def _stop(self, decision: Decision, last: Record, journal: RunJournal) -> Answered:
        request = self.commanded.request(Wants.STOP, self.job.workflow)
        if decision.act is Act.CANCEL:
            self.wiring.requests.leave(self.issue, request)  # first, so that the ending can say who stopped it
            refused = self.wiring.workflows.cancel(last.jobs[-1].run_id)
            return self.say(Answer.STOPS_LATER if refused else decision.answer, last, refused)
        failure = FailureEntry("cancelled", stopped_by([request], last))
        jobs = (*last.jobs, self.job.entry(self.commanded.at))
        ended = replace(last, jobs=jobs, parked=None, outcome=Outcome.CANCELLED, failure=failure)
        try:
            journal.publish(ended)
        except RunFailed as failed:
            if failed.code != "overtaken":
                raise
            self.wiring.requests.leave(self.issue, request)
            return self.say(Answer.STOPS_LATER, last, "another job has just taken it up")
        told = complete(ended, self.config, self.wiring, journal, cancelled=True)
        hand_on(self.job, self.config, self.wiring, self.runner.log)
        return self.say(decision.answer, told)

    def _fix(self, decision: Decision, command: Command, last: Record, journal: RunJournal) -> Record | Ignored:
        now = self.on
        if now is None and last.pull_request is not None:
            now = self.wiring.github.pull_request_now(last.pull_request.number)
        if now is not None and now.state != "open":
            return self.say(Answer.NO_PULL_REQUEST, last)
        request = self.commanded.request(Wants.FIX, self.job.workflow, command.text)
        self.wiring.requests.leave(self.issue, request)
        if decision.act is Act.LEAVE:
            return self.say(decision.answer, last)
        if decision.act is Act.TAKE_UP:
            done = take_up(self.issue, self.job, self.config, self.wiring)
        else:
            done = follow_up_here(request, last, self.job, self.config, self.wiring, journal)
        return self.say(Answer.TAKEN, last) if isinstance(done, Ignored) else done


def _written(command: Command) -> str:
    """The command as people write it, without what follows it."""
    return f"/nightjar {command.verb or command.text}".rstrip()
