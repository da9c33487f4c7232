"""The repository's files as facts. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bot.ci.found import parsed
from bot.ci.triggers import WorkflowError
from bot.config import Config, ConfigInvalid
from bot.doctor.facts import Files
from bot.init.files import OWN, WAKE, WORKFLOW
from bot.init.reading import ci_of, settings_alone


def files_facts(
    files: Mapping[str, str],
    settings: bytes | str | None,
    default_branch: str,
    read: Callable[[bytes | str | None], Config],
    *,
    unread: str = "",
) -> Files:
    """Of the workflow files (path → text) and the settings file. `read` reads the latter, with whatever inputs there
    are, and may raise `ConfigInvalid`. `unread`: why there are no files to look at.
    """
    problems: tuple[str, ...] = ()
    try:
        config = read(settings)
    except ConfigInvalid as bad:
        problems, config = bad.problems, settings_alone(None)
    others = {path: text for path, text in files.items() if path not in OWN}
    return Files(
        workflow=files.get(WORKFLOW),
        wake=files.get(WAKE),
        settings=settings is not None,
        problems=problems,
        config=config,
        ci=ci_of(files, config, default_branch),
        names=frozenset(_name(path, text) for path, text in others.items()),
        unread=unread,
        dispatchable=frozenset(path.rpartition("/")[2] for path, text in others.items() if _starts_by_hand(path, text)),
    )


def _name(path: str, text: str) -> str:
    """What GitHub calls the workflow."""
    try:
        document, _ = parsed(path, text)
    except WorkflowError:
        return path
    return str(document.get("name") or path)


def _starts_by_hand(path: str, text: str) -> bool:
    try:
        return "workflow_dispatch" in parsed(path, text)[1]
    except WorkflowError:
        return False
