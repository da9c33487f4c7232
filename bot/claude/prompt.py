"""What a Session is told: one template a kind in `prompts/`, filled with values only. Pure but for reading the
templates.

Text from strangers enters as data between lines with the Run's nonce (`bot.guard`); nothing else of a prompt comes from
outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from bot import guard
from bot.attachments.given import NOTHING, Attachments, Given
from bot.claude.verdict import Verdict
from bot.record import Evidence, Remark, RepairEntry
from bot.request import Request

if TYPE_CHECKING:
    from jinja2 import Environment

NOTE_LIMIT = 500
_SKIPPED = 20
_URL_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Work:
    """What every prompt of a Run knows about the work."""

    repository: str
    issue: int
    title: str
    body: str
    remarks: tuple[Remark, ...]
    base: str
    branch: str
    nonce: str
    check_command: str = ""
    template: str = ""
    """Path of the repository's own pull request template, or ""."""
    bash_minutes: int = 60
    """The longest foreground command that is allowed."""
    proof: bool = True
    """Whether a test that proves the work is asked for."""
    attachments: Attachments = NOTHING
    """What people attached to the issue."""


def implement(work: Work, instructions: str) -> str:
    """The prompt of a fresh Run's first Session."""
    return _render("implement", work, instructions=instructions)


def continuation(work: Work, instructions: str, subjects: Sequence[str]) -> str:
    """The prompt of a Continuation's first Session; `subjects` are the commits that are there."""
    return _render("continue", work, instructions=instructions, subjects=[_one_line(line) for line in subjects])


def ci_fix(
    work: Work,
    instructions: str,
    *,
    head: str,
    max_repairs: int,
    evidence: Sequence[Evidence],
    repairs: Sequence[RepairEntry],
) -> str:
    """The prompt of a CI-fix Repair: the last of `repairs` is the one that starts, the others came before it."""
    *earlier, present = repairs
    return _render(
        "ci-fix",
        work,
        instructions=instructions,
        head=head,
        number=present.number,
        of_proof=present.proof,
        max_repairs=max_repairs,
        evidence=[_evidence(item, work.nonce) for item in evidence],
        earlier=[_earlier(repair) for repair in earlier],
    )


def request(work: Work, instructions: str, *, max_repairs: int, repairs: Sequence[RepairEntry], asked: Request) -> str:
    """The prompt of a Repair by request, the last of `repairs`."""
    *earlier, present = repairs
    return _render(
        "request",
        work,
        instructions=instructions,
        number=present.number,
        max_repairs=max_repairs,
        by=_one_line(asked.by),
        asked_data=_data(asked.text, work.nonce),
        earlier=[_earlier(repair) for repair in earlier],
    )


def conflict(
    work: Work, instructions: str, *, max_repairs: int, conflicts: Sequence[str], repairs: Sequence[RepairEntry]
) -> str:
    """The prompt of a conflict Repair, the last of `repairs`; `conflicts` are the paths of the merge that is open."""
    *earlier, present = repairs
    return _render(
        "conflict",
        work,
        instructions=instructions,
        number=present.number,
        max_repairs=max_repairs,
        conflicts=[_one_line(path) for path in conflicts],
        earlier=[_earlier(repair) for repair in earlier],
    )


def nudge(tasks: Sequence[str]) -> str:
    """The one message into a held Session: names the background tasks that are running."""
    names = [_one_line(name) for name in tasks]
    return _environment().get_template("nudge.md").render(tasks=names).strip() + "\n"


def retry(verdict: Verdict, *, bash_minutes: int) -> str:
    """The prompt that takes a Session up again after the model's API failed; names what was killed meanwhile."""
    names = [_one_line(name) for name in verdict.tasks]
    return _environment().get_template("retry.md").render(tasks=names, bash_minutes=bash_minutes).strip() + "\n"


def resume(verdict: Verdict, *, bash_minutes: int) -> str:
    """The prompt of the one Resume: names what was lost."""
    names = [_one_line(name) for name in verdict.tasks]
    template = _environment().get_template("resume.md")
    return template.render(tasks=names, wake=verdict.failure == "wake_lost", bash_minutes=bash_minutes).strip() + "\n"


def _render(template: str, work: Work, **values: object) -> str:
    remarks = [{"author": remark.author, "data": _data(remark.body, work.nonce)} for remark in work.remarks]
    text = (
        _environment()
        .get_template(f"{template}.md")
        .render(
            repository=work.repository,
            issue=work.issue,
            base=_one_line(work.base),
            branch=_one_line(work.branch),
            nonce=work.nonce,
            check_command=work.check_command,
            template=work.template,
            bash_minutes=work.bash_minutes,
            proof=work.proof,
            title_data=_data(work.title, work.nonce),
            body_data=_data(work.body, work.nonce) if work.body.strip() else "",
            remarks=remarks,
            attached=_attached(work.attachments, work.nonce),
            **values,
        )
    )
    return text.strip() + "\n"


def _evidence(item: Evidence, nonce: str) -> dict[str, str]:
    return {
        "name": _one_line(item.check.name),
        "conclusion": item.check.conclusion or "failed",
        "step": _one_line(item.step),
        "data": _data(item.excerpt, nonce),
    }


def _earlier(repair: RepairEntry) -> dict[str, object]:
    files = ", ".join(_one_line(path) for path in repair.files[:10]) or "nothing"
    note = f" ({_one_line(repair.summary)[:NOTE_LIMIT]})" if repair.summary else ""
    return {
        "number": repair.number,
        "red": ", ".join(_one_line(name) for name in repair.red) or f"asked for by {_one_line(_who(repair))}",
        "changed": f"changed {files}{note}",
        "ci": repair.ci or "nothing",
    }


def _who(repair: RepairEntry) -> str:
    return repair.request.by if repair.request else "nobody"


def _data(text: str, nonce: str) -> str:
    """A stranger's text: what a person would see of it, between lines that it cannot imitate."""
    return guard.as_data(guard.visible(text), nonce)


def _attached(attachments: Attachments, nonce: str) -> str:
    """What was attached, one a line; "" for nothing."""
    lines = [_file(given) for given in attachments.given]
    skipped = attachments.skipped
    lines += [f"- not given: {_one_line(one.url)[:_URL_CHARACTERS]}: {one.why}" for one in skipped[:_SKIPPED]]
    if len(skipped) > _SKIPPED:
        lines.append(f"- not given: {len(skipped) - _SKIPPED} more")
    return guard.as_data("\n".join(lines), nonce) if lines else ""


def _file(given: Given) -> str:
    kind = {"image": "an image", "text": "a text", "archive": "an archive"}[given.kind]
    remark = f"; {_one_line(given.remark)}" if given.remark else ""
    return f"- {given.path}: {kind}, {given.size} bytes, in the text {_one_line(given.url)}{remark}"


def _one_line(text: str) -> str:
    return " ".join(guard.visible(text).split())


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    loader = FileSystemLoader(Path(__file__).parent / "prompts")
    return Environment(loader=loader, undefined=StrictUndefined, autoescape=False, trim_blocks=False)
