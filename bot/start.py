"""`nightjar run`: everything before the Run begins: settings, event, permission; then the ports, and the Run.

Bad input ends here in one clear line, before any label, branch or Session: exit code 2. What is not ours to do ends
here too: skipped, exit code 0.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from bot.cancel import Cancelled, on_signals
from bot.clock import BadTimeScale, Clock
from bot.config import SETTINGS_FILE, Config, ConfigInvalid, check_claude_path, read_config
from bot.failures import RunFailed, failure
from bot.journal import RunJournal
from bot.ports import GitHub, IssueComment
from bot.record import FailureEntry, Outcome, Record, Remark, Trigger, UnreadableRecord
from bot.report.actions import Runner
from bot.run import Run
from bot.trigger import ROLES, Asked, BadEvent, Ignored, Job, may_ask, read_event, read_job

INPUT = 2
CANCELLED = 130
_REMARKS = 30
_REMARK_CHARACTERS = 8000


def run_command(environ: Mapping[str, str]) -> int:
    """Run on the event of this job; the exit code."""
    runner = Runner.from_environment(environ)
    with on_signals() as cancel:
        try:
            return _start(environ, runner, Clock.from_environment(environ, cancel))
        except (ConfigInvalid, BadEvent, BadTimeScale) as problem:
            return _bad_input(runner, str(problem))
        except Cancelled:
            runner.annotate("warning", "Nightjar: cancelled", "The job was cancelled before the Run began.")
            runner.outputs({"outcome": str(Outcome.CANCELLED), "reason": "cancelled before the Run began"})
            return CANCELLED
        except RunFailed as failed:  # before there is a Run that could report it on its issue
            runner.annotate("error", f"Nightjar: {failed.failure.title}", failed.reason)
            runner.outputs({"outcome": str(Outcome.FAILED), "reason": failed.reason})
            return failed.failure.exit_code


def _start(environ: Mapping[str, str], runner: Runner, clock: Clock) -> int:
    config = read_config(environ, None)
    check_claude_path(config)
    for secret in config.secrets():
        runner.mask(secret.reveal())
    job = read_job(environ)
    now = clock.today().isoformat(timespec="seconds")
    asked = read_event(environ.get("GITHUB_EVENT_NAME", ""), _payload(environ), config.label, now)
    if isinstance(asked, Ignored):
        return _skipped(runner, asked)

    from bot.wiring import Wiring

    with Wiring(job, config.github_token.reveal(), environ, runner, clock) as wiring:
        trigger = _permitted(asked, job, config, wiring.github, runner)
        if isinstance(trigger, Ignored):
            return _skipped(runner, trigger)
        default_branch = wiring.github.default_branch()
        config = read_config(environ, wiring.github.read_file(SETTINGS_FILE, default_branch))
        check_claude_path(config)
        journal = wiring.journal(trigger.issue, config)
        record = _fresh_record(trigger, config.base_branch or default_branch, config, wiring.github)
        record = _with_what_was_spent(record, journal)
        record = Run(record, config, wiring.ports(record, config, journal)).go()
    if record.failure is not None:
        return failure(record.failure.code).exit_code
    return CANCELLED if record.outcome is Outcome.CANCELLED else 0


def _bad_input(runner: Runner, text: str) -> int:
    lines = text.splitlines()
    for line in lines:
        runner.annotate("error", "Nightjar", line)
    runner.outputs({"outcome": str(Outcome.FAILED), "reason": lines[0]})
    return INPUT


def _skipped(runner: Runner, ignored: Ignored) -> int:
    runner.annotate("notice", "Nightjar: skipped", ignored.why)
    runner.step_summary(f"Nightjar did nothing: {ignored.why}.")
    runner.outputs({"outcome": str(Outcome.SKIPPED), "reason": ignored.why})
    return 0


def _payload(environ: Mapping[str, str]) -> object:
    path = environ.get("GITHUB_EVENT_PATH", "")
    if not path:
        raise BadEvent("GITHUB_EVENT_PATH is not set; Nightjar runs in a job of GitHub Actions, which sets it")
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise BadEvent(
            f"GITHUB_EVENT_PATH: {path} cannot be read: {error.strerror}; give the event's JSON file"
        ) from error
    except ValueError as error:
        raise BadEvent(f"GITHUB_EVENT_PATH: {path} is not JSON; give the event's JSON file") from error


def _permitted(asked: Asked, job: Job, config: Config, github: GitHub, runner: Runner) -> Trigger | Ignored:
    """The Trigger, when the issue can be worked on and whoever asks may: GitHub is asked, not the payload."""
    issue = github.issue(asked.issue)
    if issue.is_pull_request:
        return Ignored(f"#{asked.issue} is a pull request; Nightjar works on issues")
    if not issue.open:
        return Ignored(f"issue #{asked.issue} is closed; open it again and put the label on once more")
    role = github.role_of(asked.asked_by)
    refused = may_ask(asked, role, required=config.required_permission, allowed_bots=config.allowed_bots)
    if refused is None:
        return asked.trigger(job, issue.title, issue.body)
    # Quiet on the issue: no comment that a stranger could make Nightjar write again and again.
    try:
        github.react(asked.issue, "confused")
        github.remove_label(asked.issue, config.label)
    except RunFailed as failed:
        runner.log(f"The refusal could not be shown on the issue: {failed.reason}")
    return refused


def _fresh_record(trigger: Trigger, base: str, config: Config, github: GitHub) -> Record:
    return Record(
        trigger=trigger,
        base=base,
        branch=_issue_branch(github, config.branch_prefix, trigger.issue),
        max_repairs=config.max_repairs,
        remarks=_remarks(github.comments(trigger.issue), trigger, config, github),
    )


def _with_what_was_spent(record: Record, journal: RunJournal) -> Record:
    """A re-run of the same workflow run goes on with the Repairs and the money it had; only a fresh label refills them.

    A Record that cannot be read counts as used up.
    """
    try:
        last = journal.last()
    except UnreadableRecord as unreadable:
        note = f"The last Run's Record could not be read: {unreadable}."
        return replace(record, max_repairs=0).noted(note) if record.trigger.run_attempt > 1 else record.noted(note)
    except RunFailed as failed:  # the Run ends before it begins, and tells it on the issue
        return replace(record, failure=FailureEntry(failed.code, failed.reason, failed.evidence))
    if last is not None and last.branch == record.branch:
        left = last.head if last.head else last.checkpoint
        record = replace(record, checkpoint=left if left != last.pushed else "")
    if last is None or last.trigger.run_id != record.trigger.run_id or record.trigger.run_attempt <= 1:
        return record
    return replace(record, repairs=last.repairs, sessions=last.sessions, resumes=last.resumes)


def _issue_branch(github: GitHub, prefix: str, issue: int) -> str:
    """The first of `…issue-7`, `…issue-7-2`, … that no merged or closed pull request has used up."""
    name, number = f"{prefix}issue-{issue}", 1
    while github.find_pull_request(name) is None and github.closed_pull_request_exists(name):
        number += 1
        name = f"{prefix}issue-{issue}-{number}"
    return name


def _remarks(
    comments: tuple[IssueComment, ...], trigger: Trigger, config: Config, github: GitHub
) -> tuple[Remark, ...]:
    """Comments by people with the permission, written before the label: the newest ones, bounded."""
    until = datetime.fromisoformat(trigger.asked_at)
    roles: dict[str, str] = {}
    found = []
    for comment in comments:
        if comment.created_at > until or comment.author.endswith("[bot]"):
            continue
        if comment.author not in roles:
            roles[comment.author] = github.role_of(comment.author)
        role = roles[comment.author]
        if role in ROLES and ROLES.index(role) >= ROLES.index(config.required_permission):
            found.append(Remark(comment.author, comment.body[:_REMARK_CHARACTERS]))
    return tuple(found[-_REMARKS:])
