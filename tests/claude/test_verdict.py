"""Classes of error from fields, and what each one leads to."""

from __future__ import annotations

import pytest

from bot.claude.verdict import Ended, Stop, Verdict, judge
from tests.claude.stream import (
    Steps,
    aborted,
    background,
    facts_of,
    init,
    killed,
    line,
    result,
    says,
    system,
    uses,
)

SAID = "API Error: boom"


def verdict_of(steps: Steps, ended: Ended = Ended(1), *, resumed: bool = False) -> Verdict:  # noqa: B008 (frozen)
    return judge("implement", facts_of(steps), ended, resumed=resumed)


def failed(error: str = "", status: int | None = None, **fields: object) -> Steps:
    said = says(SAID, error=error) if error else []
    return [*init(), *said, *result(SAID, is_error=True, num_turns=1, api_error_status=status, **fields)]


@pytest.mark.parametrize(
    ("steps", "decision", "code"),
    [
        (failed("authentication_failed", 401), "fail", "claude_auth"),
        (failed("authentication_failed", 403), "fail", "claude_auth"),
        (failed("", 401), "fail", "claude_auth"),
        (failed("", 403), "fail", "claude_auth"),
        (failed("billing_error", 400), "fail", "billing"),
        (failed("unknown", 400), "fail", "billing"),
        (failed("model_not_found", 404), "fail", "model_unavailable"),
        (failed("", 404), "fail", "model_unavailable"),
        (failed("rate_limit", 429), "fail", "usage_limit"),
        (failed("", 429), "fail", "usage_limit"),
        (failed("server_error", 500), "retry", "api_unavailable"),
        (failed("server_error", 529), "retry", "api_unavailable"),
        (failed("", 529), "retry", "api_unavailable"),
        (failed("overloaded"), "retry", "api_unavailable"),
        (failed("server_error"), "retry", "api_unavailable"),
        (failed(terminal_reason="api_error"), "retry", "api_unavailable"),
        (failed("invalid_request", 400, terminal_reason="prompt_too_long"), "fail", "request_rejected"),
        (failed("max_output_tokens"), "fail", "request_rejected"),
        (failed("", 413), "fail", "request_rejected"),
        (failed("invalid_request", stop_reason="refusal"), "fail", "refused"),
        (failed(subtype="error_max_turns"), "fail", "max_turns"),
        (failed(subtype="error_max_budget_usd"), "fail", "budget_spent"),
        (failed(subtype="error_during_execution"), "fail", "session_died"),
        ([*init(), *aborted()], "fail", "session_died"),
    ],
)
def test_the_class_of_an_error_comes_from_its_fields(steps: Steps, decision: str, code: str) -> None:
    """A Turn that closed with an error is retried where time can mend it, and else fails by its class."""
    verdict = verdict_of(steps)

    assert (str(verdict.decision), verdict.failure) == (decision, code)
    if code not in {"max_turns", "budget_spent"} and "aborted" not in verdict.reason and len(steps) > 2:
        assert SAID in verdict.reason


def test_a_retry_names_the_tasks_that_were_killed_meanwhile() -> None:
    """Background work that an API failure took along is in the verdict and in the reason."""
    said = result(SAID, is_error=True, api_error_status=502)

    verdict = verdict_of([*init(), *background("x"), *says(SAID, error="server_error"), *said, *killed("x")])

    assert verdict.tasks == ("job x",)
    assert (
        verdict.reason
        == f"implement session ended with an API error: {SAID}; a background task (job x) was killed with it"
    )


def test_a_session_without_an_id_cannot_be_taken_up_again() -> None:
    """A transient failure before any session id is known is a failure."""
    assert verdict_of(result(SAID, is_error=True, api_error_status=503, session_id="")).decision == "fail"


def test_a_usage_limit_says_when_it_is_reset() -> None:
    """The reset time comes from the event that carries it."""
    event = line(type="rate_limit_event", rate_limit_info={"status": "rejected", "resetsAt": 1795968000})

    verdict = verdict_of([*init(), event, *failed("rate_limit", 429)[1:]])

    assert "the limit resets at 2026-11-29 16:00 UTC" in verdict.reason


def test_a_refused_key_ends_the_session_at_the_first_word_of_it() -> None:
    """The CLI's own retries with a refused credential are not waited for."""
    retry = system("api_retry", attempt=1, error_status=401, error="authentication_failed")

    assert verdict_of([*init(), retry], Ended(-9)).failure == "claude_auth"


@pytest.mark.parametrize(
    ("ended", "code", "reason"),
    [
        (Ended(None, Stop.START, 60), "claude_start", "the claude command said nothing for 60 s after its start"),
        (
            Ended(0, Stop.SILENCE, 900),
            "session_silent",
            "implement session printed nothing for 15 min while running Bash: ls",
        ),
        (
            Ended(0, Stop.SESSION_LIMIT, 3600),
            "session_timeout",
            "implement session was still running after its limit of 60 min",
        ),
        (Ended(-11), "session_died", "implement session died in the middle of a turn (killed by signal 11)"),
        (
            Ended(143),
            "session_died",
            "implement session died in the middle of a turn (exit code 143: killed by signal 15)",
        ),
    ],
)
def test_other_ends_within_a_turn_have_their_own_class(ended: Ended, code: str, reason: str) -> None:
    """Silence, time and death are told apart, with the facts of this Session."""
    verdict = verdict_of([*init(), *uses("open", command="ls")], ended)

    assert (str(verdict.decision), verdict.failure, verdict.reason) == ("fail", code, reason)


def test_a_cut_off_result_is_never_a_success() -> None:
    """Exit code 0 and a torn last line is a death within the Turn, and says what was cut."""
    verdict = verdict_of([*init(), *says(), b'{"type":"result","subtype":"success","result":"All do'], Ended(0))

    assert verdict.failure == "session_died"
    assert verdict.reason.endswith("its last line was cut off")


def test_what_the_cli_said_last_is_why_it_did_not_start() -> None:
    """Without a frame, the last line of stderr is the reason."""
    verdict = verdict_of([], Ended(1, last_words="node:1\nerror: unknown option '--frobnicate'\n\n"))

    assert verdict.failure == "claude_start"
    assert verdict.reason.endswith("(exit code 1): error: unknown option '--frobnicate'")
