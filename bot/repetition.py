"""Whether a failure is new: seen before in this Run, or red on the base as well. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace

from bot.record import CheckState, CiVerdict, Evidence, RepairEntry

_VARYING = re.compile(
    r"\b[0-9a-f]{7,64}\b|0x[0-9a-f]+|\b\d+(\.\d+)?\s?(ms|s|sec|seconds|min)\b|"
    r"\d{4}-\d\d-\d\d[T ][\d:.]+Z?|\d\d:\d\d:\d\d|"
    r"/(tmp|home|var)/\S+|:\d+(:\d+)?\b|\bline \d+",
    re.IGNORECASE,
)
_TELLING = re.compile(r"error|fail|assert|exception|panic|traceback|expected|not found|undefined|denied", re.IGNORECASE)


def fingerprint(evidence: Sequence[Evidence]) -> str:
    """Equal for the same checks with the same error lines; commit ids, times, durations, line numbers and folders
    aside.
    """
    parts = []
    for item in sorted(evidence, key=lambda one: (one.check.workflow, one.check.name)):
        lines = {_normal(line) for line in item.excerpt.splitlines() if _TELLING.search(line)}
        parts.append("\n".join([item.check.workflow, item.check.name, item.step, *sorted(lines)]))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _normal(line: str) -> str:
    return " ".join(_VARYING.sub("…", line).split())


def repeats(repairs: Sequence[RepairEntry], mark: str, limit: int) -> bool:
    """Whether the failure `mark` has now come `limit` times in a row, each time on a head that a Repair had changed."""
    seen = 1
    for repair in reversed(repairs):
        if repair.conflict or repair.request:
            continue
        if repair.fingerprint != mark or repair.after == repair.before:
            break
        seen += 1
    return 0 < limit <= seen


def inherit(head: CiVerdict, base: CiVerdict) -> CiVerdict:
    """The verdict on the head with those failures marked that the base commit has by the same name."""
    red = {(check.app, check.workflow, check.name) for check in base.checks if check.state is CheckState.FAILED}
    checks = tuple(
        replace(check, inherited=check.state is CheckState.FAILED and (check.app, check.workflow, check.name) in red)
        for check in head.checks
    )
    return replace(head, checks=checks)
