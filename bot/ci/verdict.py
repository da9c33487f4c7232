"""What an observation says about the commit. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bot.ci.expectation import Expectation
from bot.ci.observation import CiObservation
from bot.record import Check, CheckState, CiState, CiVerdict

UNCHECKED = frozenset({"skipped", "neutral"})
"""Passes that say nothing: alone they are no CI."""
_NAMES_SHOWN = 5


def judge(observation: CiObservation, expectation: Expectation, *, start_over: bool) -> CiVerdict:
    """What the observation says; `PENDING` while more is to come.

    `start_over`: whether the time in which CI may start has passed. A verdict comes only when every check and every
    workflow run has ended, so that a Repair sees all failures at once. Then, in this order:

    * a failed check (`failure`, `timed_out`; `error` of a status) → `RED`;
    * `action_required`, of a check or of a workflow run → `NEEDS_APPROVAL`;
    * an end that is no pass and not the code's fault (`cancelled`, `startup_failure`, a lost runner) →
      `INFRASTRUCTURE`: not green, and nothing to repair;
    * an expected workflow or a required check is still missing, or there are only checks that were skipped or neutral:
      `PENDING` until `start_over` (a required check that another service has put on the base commit: to the end), then
      * a required check that has not reported → `NEVER_STARTED`;
      * no check at all, although a workflow was expected or kept from starting by a skip marker → `NEVER_STARTED`;
      * nothing, or only what was skipped → `NONE_EXPECTED`;
    * else all passed → `GREEN`. A workflow that was expected and has not started is named in the explanation.
    """
    checks = observation.checks(expectation.required)
    state, why = _judged(observation, checks, expectation, start_over)
    return CiVerdict(observation.head, state, checks, why)


def _judged(
    observation: CiObservation, checks: Sequence[Check], expectation: Expectation, start_over: bool
) -> tuple[CiState, str]:
    if observation.running or not observation.whole or any(check.state is CheckState.RUNNING for check in checks):
        return CiState.PENDING, ""
    if any(check.state is CheckState.FAILED for check in checks):
        return CiState.RED, ""
    waiting = [check for check in checks if check.conclusion == "action_required"]
    if waiting:
        return CiState.NEEDS_APPROVAL, _waiting(waiting)
    broken = [check for check in checks if check.state is CheckState.NO_VERDICT]
    if broken:
        return CiState.INFRASTRUCTURE, "; ".join(_broken(check) for check in broken[:_NAMES_SHOWN])
    return _passed(observation, checks, expectation, start_over)


def _passed(
    observation: CiObservation, checks: Sequence[Check], expectation: Expectation, start_over: bool
) -> tuple[CiState, str]:
    """Nothing is wrong with what is there: whether it is enough."""
    started = {run.path for run in observation.runs}
    missing = [path for path in expectation.expected if path not in started]
    silent = [name for name in expectation.required if name not in {check.name for check in checks}]
    nothing = all(check.conclusion in UNCHECKED for check in checks)
    slow = set(silent) & set(expectation.usual)
    if slow or (not start_over and (missing or silent or nothing)):
        return CiState.PENDING, ""
    if silent:
        return CiState.NEVER_STARTED, f"required check never reported: {_named(silent)}"
    late = f"did not start although it should have: {_named(missing)}" if missing else ""
    if nothing and not checks and (missing or expectation.skipped):
        return CiState.NEVER_STARTED, late
    if nothing:
        return CiState.NONE_EXPECTED, "every check was skipped" if checks else expectation.nothing
    return CiState.GREEN, late


def _waiting(checks: Sequence[Check]) -> str:
    return ", ".join(f"`{check.name}`" + (f" ({check.url})" if check.url else "") for check in checks[:_NAMES_SHOWN])


def _broken(check: Check) -> str:
    match check.conclusion:
        case "startup_failure":
            return f"the workflow `{check.name}` could not start"
        case "cancelled":
            return f"`{check.name}` was cancelled" + (f": {check.summary}" if check.summary else "")
        case "stuck":
            return f"`{check.name}`: {check.summary}"
        case _:
            return f"`{check.name}`: " + (check.summary or "its runner was lost")


def _named(names: Sequence[str]) -> str:
    return ", ".join(f"`{name.rpartition('/')[2] if name.startswith('.github/') else name}`" for name in names)
