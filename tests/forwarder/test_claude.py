"""The real `claude` CLI behind the forwarder, with a scripted model that admits the real credential only."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bot.forwarder import ApiKey, Credential, Forwarder, OAuthToken, Upstream
from bot.sandbox.cli import bundled_claude, offline_environment
from bot.sandbox.model import Call, Conversation, Fault, ModelRequest, Reply, Script, ScriptedModel
from tests.claude.conftest import OLDER_CLAUDE
from tests.forwarder.wire import KEY, TOKEN, Origin, Wire

DIRECT = {"ANTHROPIC_API_KEY": KEY}


@pytest.fixture(params=["newer", "older"])
def claude(request: pytest.FixtureRequest) -> Path:
    """The real CLI of both generations."""
    if request.param == "newer":
        return bundled_claude()
    if not OLDER_CLAUDE.exists():
        pytest.skip("the older claude is not installed: make environment")
    return OLDER_CLAUDE


def play(claude: Path, folder: Path, url: str, variables: Mapping[str, str]) -> dict[str, object]:
    """One Session's result."""
    folder.mkdir(exist_ok=True)
    quiet = offline_environment(url, folder, os.environ["PATH"])
    del quiet["ANTHROPIC_API_KEY"]
    done = subprocess.run(
        [str(claude), "-p", "begin", "--output-format", "json", "--permission-mode", "bypassPermissions"],
        env={**quiet, "CLAUDE_CODE_MAX_RETRIES": "0", **variables},
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=120,
    )
    found: dict[str, object] = json.loads(done.stdout)
    return found


def both_ways(folder: Path, script: Script) -> list[tuple[dict[str, object], tuple[ModelRequest, ...]]]:
    """The same script played directly and through a forwarder, at the same time: results and requests."""

    def way(forwarded: bool) -> tuple[dict[str, object], tuple[ModelRequest, ...]]:
        with ScriptedModel(script, api_key=KEY) as model:
            upstream = Upstream.from_environment({"ANTHROPIC_BASE_URL": model.url})
            with Forwarder(upstream=upstream, credential=ApiKey(KEY)) as forwarder:
                given = forwarder.environment if forwarded else DIRECT
                result = play(bundled_claude(), folder / str(forwarded), model.url, given)
                return result, model.requests

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(way, (False, True)))


@pytest.mark.parametrize("credential", [ApiKey(KEY), OAuthToken(TOKEN)], ids=["key", "token"])
def test_a_session_works_and_never_sees_the_credential(claude: Path, tmp_path: Path, credential: Credential) -> None:
    """With a key and with a token a Session does its work, though a proxy is set that nobody answers; its commands find
    the placeholder at most, and the API gets that kind's own headers.
    """
    look = (
        "env; cat /proc/self/environ /proc/$PPID/environ | tr '\\0' '\\n'; cat /proc/$PPID/cmdline; grep -r sk-ant- ~"
    )
    script = Script((Conversation("only", (Reply("Look.", (Call("Bash", {"command": look}),)), Reply("Done."))),))
    with ScriptedModel(script, api_key=credential.value) as model:
        upstream = Upstream.from_environment({"ANTHROPIC_BASE_URL": model.url})
        with Forwarder(upstream=upstream, credential=credential) as forwarder:
            proxy = {"HTTPS_PROXY": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9"}
            result = play(claude, tmp_path, model.url, {**proxy, **forwarder.environment})
            placeholder = forwarder.environment[credential.variable]
    assert (result["result"], result["is_error"]) == ("Done.", False)
    [found] = model.requests[1].tool_results
    assert placeholder in found
    assert credential.value not in found
    assert all(
        ("oauth-2025-04-20" in request.headers["anthropic-beta"].split(",")) is isinstance(credential, OAuthToken)
        for request in model.requests
    )


def test_another_runs_placeholder_gets_a_session_nowhere(tmp_path: Path) -> None:
    """A Session that was given a wrong placeholder is told that its credential is bad, and the model hears nothing."""
    with ScriptedModel(Script((Conversation("only", (Reply("Done."),)),))) as model:
        upstream = Upstream.from_environment({"ANTHROPIC_BASE_URL": model.url})
        with (
            Forwarder(upstream=upstream, credential=ApiKey(KEY)) as mine,
            Forwarder(upstream=upstream, credential=ApiKey(KEY)) as other,
        ):
            mixed = {**mine.environment, "ANTHROPIC_API_KEY": other.environment["ANTHROPIC_API_KEY"]}
            result = play(bundled_claude(), tmp_path, model.url, mixed)
    assert (result["is_error"], result["api_error_status"]) == (True, 401)
    assert model.requests == ()


def _end(result: dict[str, object]) -> dict[str, object]:
    """How a Session ended; the CLI names the address of an overloaded gateway, which differs."""
    kept = ("subtype", "is_error", "api_error_status", "num_turns", "terminal_reason")
    text = re.sub(r"127\.0\.0\.1:\d+", "ADDRESS", str(result["result"]))
    return {**{key: result.get(key) for key in kept}, "text": text}


@pytest.mark.parametrize(
    "fault",
    [
        Fault(status=429, headers={"retry-after": "3600", "anthropic-ratelimit-unified-status": "rejected"}),
        Fault(status=401),
        Fault(status=529),
        Fault(cut_after_events=5, text="Half of " * 100),
    ],
    ids=["usage limit", "bad key", "overloaded", "torn stream"],
)
def test_the_cli_takes_the_apis_failures_as_it_does_directly(tmp_path: Path, fault: Fault) -> None:
    """Limits, refusals, overload and torn streams make a Session end as they do without the forwarder."""
    script = Script((Conversation("only", (fault, Reply("Done."))),))
    direct, through = both_ways(tmp_path, script)
    assert _end(through[0]) == _end(direct[0])
    assert [request.streamed for request in through[1]] == [request.streamed for request in direct[1]]


def test_the_api_gets_the_requests_that_it_gets_directly(tmp_path: Path) -> None:
    """A Session's requests through the forwarder have the headers, tools and texts of a direct one's."""
    script = Script((Conversation("only", (Reply("Look.", (Call("Bash", {"command": "echo x"}),)), Reply("Done."))),))
    direct, through = both_ways(tmp_path, script)
    assert len(direct[1]) == len(through[1]) == 2
    for one, other in zip(direct[1], through[1], strict=True):
        own = {"x-claude-code-session-id": ""}
        assert {**other.headers, **own} == {**one.headers, **own}
        assert (other.tools, other.tool_results, other.streamed) == (one.tools, one.tool_results, one.streamed)


def test_a_session_speaks_to_nobody_but_the_forwarder(tmp_path: Path) -> None:
    """With the quiet variables that Nightjar sets, everything but the model's requests would go by the job's proxy, and
    nothing does.
    """
    asked: list[bytes] = []

    def proxy(wire: Wire) -> None:
        asked.append(wire.head())

    script = Script((Conversation("only", (Reply("Done."),)),))
    with ScriptedModel(script, api_key=TOKEN) as model, Origin(proxy) as origin:
        upstream = Upstream.from_environment({"ANTHROPIC_BASE_URL": model.url})
        with Forwarder(upstream=upstream, credential=OAuthToken(TOKEN)) as forwarder:
            by = f"http://127.0.0.1:{origin.port}"
            result = play(
                bundled_claude(), tmp_path, model.url, {"HTTPS_PROXY": by, "HTTP_PROXY": by, **forwarder.environment}
            )
    assert result["result"] == "Done."
    assert asked == []
