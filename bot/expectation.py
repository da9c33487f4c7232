"""Whether a change is expected to meet any CI, read from the repository's own workflow files. Pure."""

from __future__ import annotations

from collections.abc import Mapping

_CHECKING = frozenset({"push", "pull_request", "pull_request_target", "merge_group"})


def expects_ci(files: Mapping[str, str]) -> bool:
    """Whether any workflow (path → text) starts on a push or a pull request.

    A file that cannot be read counts as one that does: GitHub will say what is wrong with it, and silence would be
    mistaken for "no CI here".
    """
    return any(_checks(text) for text in files.values())


def _checks(text: str) -> bool:
    import yaml

    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError:
        return True
    if not isinstance(document, dict):
        return True
    # YAML 1.1 reads the key `on` as true.
    events = document.get("on", document.get(True))
    names = {events} if isinstance(events, str) else set(events or ())
    return bool(names & _CHECKING)
