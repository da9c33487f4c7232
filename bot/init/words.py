"""What `init` says. Cells have a tab between them; who prints them puts them into columns. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bot.ci.found import CiWorkflow, FoundCi
from bot.clone.address import Address

NOTHING = "Nothing to do: the three files are in place{labels}. `nightjar doctor` looks at the rest."
TAKE = "To take it as it would be written: nightjar init --print {path} > {path}"
NO_LABELS = (
    "  not made\tlabels: {why}. Runs make theirs when they need them; by hand you can make what asks for one: {asking}."
)
DETACHED = "HEAD is on no branch: switch to one before you commit."
_MODEL_KEY = "ANTHROPIC_API_KEY"
_TOKEN = "NIGHTJAR_TOKEN"
_SUBSCRIPTION = (
    "   With a Claude subscription: CLAUDE_CODE_OAUTH_TOKEN, from `claude setup-token`, and change the lines that name "
    "the key in both workflows."
)
_NO_TOKEN = (
    "2. No token beside the job's own is needed: no workflow here checks pull requests, and Runs end with `nothing "
    f"checked this`. Once one does, add the secret {_TOKEN}."
)
_NEEDED = (
    f"2. Add the secret {_TOKEN}, a token of a GitHub App or of a person, with write access to contents, issues, pull "
    "requests and actions."
)
_WHY = "   Without it Runs use the job's own token, and what that pushes or opens does not start {named}: {how}."
_HOW_PUBLIC = "github.com has a person approve each run"
_HOW_SERVER = "an Enterprise Server starts nothing for it"
_OR = "   Or set `ci-dispatch: {files}` in .github/nightjar.yml: these can be started in another way."


def left_to_do(found: FoundCi, address: Address | None, branch: str) -> list[str]:
    """The two things that only a person can do, as lines; then what comes after."""
    page = f"{address.page}/settings/secrets/actions/new" if address else "Settings, Secrets and variables, Actions"
    return [
        "Left to do:",
        f"1. Add the secret {_MODEL_KEY}, which claude works with: {page}",
        _SUBSCRIPTION,
        *_token(found.workflows, address),
        f"Then commit the files to {branch}, and look with `nightjar doctor`.",
    ]


def _token(workflows: Sequence[CiWorkflow], address: Address | None) -> list[str]:
    if not workflows:
        return [_NO_TOKEN]
    named = _listed([f"{workflow.name} ({', '.join(workflow.started_by)})" for workflow in workflows])
    dispatchable = [workflow.file for workflow in workflows if workflow.dispatchable]
    how = f"{_HOW_SERVER}, {_HOW_PUBLIC}" if address is None else _HOW_PUBLIC if address.is_public else _HOW_SERVER
    lines = [_NEEDED, _WHY.format(named=named, how=how)]
    if len(dispatchable) == len(workflows):
        lines.append(_OR.format(files=", ".join(dispatchable)))
    return lines


def ci_line(found: FoundCi) -> str:
    """What was found, in one line."""
    if not found.workflows:
        return "No workflow here starts for a pull request or its branch."
    named = _listed([f"{workflow.name} ({workflow.file})" for workflow in found.workflows])
    return f"CI that was found: {named}."


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
