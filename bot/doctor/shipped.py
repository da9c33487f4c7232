"""What Nightjar's own workflow in a repository says: the inputs it gives, the permissions it asks for. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from bot.ci.found import parsed
from bot.ci.triggers import WorkflowError
from bot.init.files import WORKFLOW

_USES = re.compile(r"^[^@]*/nightjar(?:/[^@]*)?@", re.IGNORECASE)
_SECRET = re.compile(r"\bsecrets\.([A-Za-z_]\w*)")
_LEFT_OUT = re.compile(r"!\s*contains\((?:[^()]|\([^()]*\))*\)")
_BEGINNING = re.compile(r"startswith\(\s*github\.event\.label\.name,\s*'([^']+)'\s*\)")
_COMMIT = re.compile(r"@[0-9a-f]{40}$")
JOBS_OWN = "GITHUB_TOKEN"


def readable(path: str, text: str) -> str:
    """Why GitHub would not read the workflow; "" where it would."""
    try:
        parsed(path, text)
    except WorkflowError as error:
        return str(error)
    return ""


def inputs_of(text: str) -> Mapping[str, str]:
    """What the workflow gives the action in the step that works, the first; {} where there is no such step."""
    step = next(_steps(text), {})
    given = step.get("with")
    return {str(name): str(value) for name, value in given.items()} if isinstance(given, Mapping) else {}


def action_of(text: str) -> str:
    """How the workflow calls the action: owner/name@ref; "" where it does not."""
    return str(next(_steps(text), {}).get("uses", ""))


def is_by_commit(action: str) -> bool:
    """Whether the action is named by a commit id."""
    return _COMMIT.search(action) is not None


def starts_on(text: str, event: str, action: str) -> bool:
    """Whether the workflow runs on that action of that event, such as `labeled` of `issues`."""
    rule = parsed(WORKFLOW, text)[1].get(event)
    return rule is not None and (rule.types is None or action in rule.types)


def condition_of(text: str) -> str:
    """The `if` of the job that works; "" where it has none, or where there is no such job."""
    document, _ = parsed(WORKFLOW, text)
    for job in _jobs(document):
        if any(_is_ours(step) for step in _steps_of(job)):
            return str(job.get("if", ""))
    return ""


def lets_through(condition: str, label: str) -> bool:
    """Whether an `if` lets a label through, as far as its text tells: it names the label, whole or by how that begins,
    and not among those that it leaves out. One that does not look at labels stops none.
    """
    condition, label = condition.lower(), label.lower()  # as GitHub compares
    if "label" not in condition:
        return True
    left_out, rest = " ".join(_LEFT_OUT.findall(condition)), _LEFT_OUT.sub("", condition)
    whole = (f"'{label}'", f'"{label}"')
    if any(name in left_out for name in whole):
        return False
    return any(name in rest for name in whole) or any(map(label.startswith, _BEGINNING.findall(rest)))


def permissions_of(text: str) -> Mapping[str, str] | None:
    """What the job that works asks for; None where neither it nor the workflow says so in single permissions."""
    document, _ = parsed(WORKFLOW, text)
    for job in _jobs(document):
        if any(_is_ours(step) for step in _steps_of(job)):
            asked = job.get("permissions", document.get("permissions"))
            return {str(name): str(level) for name, level in asked.items()} if isinstance(asked, Mapping) else None
    return None


def secrets_in(expression: str) -> tuple[str, ...]:
    """Names of the secrets in an expression, but for the job's own token."""
    return tuple(name.upper() for name in _SECRET.findall(expression) if name.upper() != JOBS_OWN)


def _steps(text: str) -> Iterator[Mapping[str, Any]]:
    """The steps that call Nightjar's action."""
    document, _ = parsed(WORKFLOW, text)
    for job in _jobs(document):
        yield from (step for step in _steps_of(job) if _is_ours(step))


def _jobs(document: Any) -> Iterator[Mapping[str, Any]]:
    jobs = document.get("jobs") if isinstance(document, Mapping) else None
    yield from (job for job in (jobs or {}).values() if isinstance(job, Mapping))


def _steps_of(job: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    steps = job.get("steps")
    return [step for step in steps if isinstance(step, Mapping)] if isinstance(steps, list) else []


def _is_ours(step: Mapping[str, Any]) -> bool:
    return _USES.match(str(step.get("uses", ""))) is not None
