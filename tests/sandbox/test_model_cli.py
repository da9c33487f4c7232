"""The scripted model seen by the real `claude` CLI, with an empty home and no network but loopback."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bot.sandbox.cli import ClaudeNotBundled, bundled_claude, offline_environment
from bot.sandbox.model import Call, Conversation, Fault, Reply, Script, ScriptedModel

ARGUMENTS = (
    *("-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"),
    *("--permission-mode", "bypassPermissions"),
)


@dataclass(frozen=True, slots=True)
class Said:
    """What one run of the CLI printed and how it ended."""

    exit_code: int
    frames: tuple[dict[str, Any], ...]

    @property
    def results(self) -> tuple[dict[str, Any], ...]:
        return tuple(frame for frame in self.frames if frame["type"] == "result")


@dataclass(frozen=True, slots=True)
class Cli:
    """The bundled CLI in a home and a working directory of its own."""

    home: Path
    work: Path

    def talk(self, model: ScriptedModel, prompt: str, *extra: str, **variables: str) -> Said:
        """Say `prompt`, close stdin and read to the end; with 2.1.332 the end waits for background work."""
        message = {"type": "user", "message": {"role": "user", "content": prompt}}
        ended = subprocess.run(
            [bundled_claude(), *ARGUMENTS, *extra],
            input=json.dumps(message) + "\n",
            env=offline_environment(model.url, self.home, os.environ["PATH"]) | variables,
            cwd=self.work,
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        return Said(ended.returncode, tuple(json.loads(line) for line in ended.stdout.splitlines()))


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    return Cli(home, work)


def script(*replies: Reply | Fault) -> Script:
    return Script((Conversation("only", replies),))


def test_tool_calls_run_and_their_results_come_back(cli: Cli) -> None:
    """The CLI runs what the script calls, reports it to the model, and ends with the script's last words at a cost."""
    plan = script(
        Reply("I look around.", (Call("Bash", {"command": "echo found-$((40 + 2))"}),)),
        Reply("I write.", (Call("Write", {"file_path": str(cli.work / "made.txt"), "content": "grün\n"}),)),
        Reply("All done."),
    )
    with ScriptedModel(plan, api_key="scripted") as model:
        said = cli.talk(model, "please build it")
        first, second, third = model.requests
        assert model.overruns == 0
    assert said.exit_code == 0
    assert [result["result"] for result in said.results] == ["All done."]
    assert said.results[0]["total_cost_usd"] > 0
    assert (cli.work / "made.txt").read_text(encoding="utf-8") == "grün\n"
    assert first.prompt_text == "please build it"
    assert first.session_id == said.results[0]["session_id"]
    assert first.streamed
    assert "Bash" in first.tools
    assert second.tool_results == ("found-42",)
    assert "made.txt" in third.tool_results[0]


def test_a_wake_turn_takes_the_next_reply(cli: Cli) -> None:
    """When background work ends after the turn, the CLI asks again by itself and the script goes on."""
    work = {"command": "python3 -c 'import time; time.sleep(1)'", "run_in_background": True, "description": "the tests"}
    with ScriptedModel(script(Reply("", (Call("Bash", work),)), Reply("I wait."), Reply("They passed."))) as model:
        said = cli.talk(model, "run the tests")
        assert "<task-notification>" in model.requests[-1].prompt_text
        assert str(cli.home) in model.requests[1].tool_results[0]
    assert [result["result"] for result in said.results] == ["I wait.", "They passed."]


def test_a_resumed_session_goes_on_in_its_conversation(cli: Cli) -> None:
    """`--resume` finds the next reply of its own conversation, although another session came between."""
    plan = Script(tuple(Conversation(n, (Reply(f"{n} one"), Reply(f"{n} two"))) for n in ("first", "second")))
    with ScriptedModel(plan) as model:
        began = cli.talk(model, "begin")
        other = cli.talk(model, "something else")
        again = cli.talk(model, "go on", "--resume", began.results[0]["session_id"])
        assert [request.conversation for request in model.requests] == ["first", "second", "first"]
        assert [request.prompt_text for request in model.requests] == ["begin", "something else", "go on"]
        assert model.requests[2].messages > model.requests[0].messages
    said = [result["result"] for run in (began, other, again) for result in run.results]
    assert said == ["first one", "second one", "first two"]


@pytest.mark.parametrize("fault", [Fault(status=529), Fault(drop_connection=True)])
def test_a_transient_fault_is_retried_into_the_next_reply(cli: Cli, fault: Fault) -> None:
    """The CLI reports one API retry and ends well."""
    with ScriptedModel(script(fault, Reply("ok after all"))) as model:
        said = cli.talk(model, "begin")
    assert [frame["subtype"] for frame in said.frames if frame.get("subtype") == "api_retry"] == ["api_retry"]
    assert (said.exit_code, said.results[0]["result"]) == (0, "ok after all")


def test_a_cut_stream_is_asked_for_again(cli: Cli) -> None:
    """A stream that breaks off in the text ends well once the next reply comes."""
    with ScriptedModel(script(Fault(cut_after_events=4, text="The first half"), Reply("and the rest."))) as model:
        said = cli.talk(model, "begin")
        assert len(model.requests) == 2
    assert said.exit_code == 0
    assert said.results[-1]["result"].endswith("and the rest.")


def test_a_wrong_key_ends_the_session_as_an_authentication_error(cli: Cli) -> None:
    """The CLI gives up with the status of the refusal, and the script has not moved."""
    with ScriptedModel(script(Reply("secret")), api_key="the right one") as model:
        said = cli.talk(model, "begin", CLAUDE_CODE_MAX_RETRIES="0")
        assert model.requests == ()
    assert said.exit_code == 1
    assert (said.results[0]["is_error"], said.results[0]["api_error_status"]) == (True, 401)


def test_sub_agents_play_their_own_conversations(cli: Cli) -> None:
    """Two agents with the same prompt, at once, each get a conversation of their own, and the session goes on."""
    call = Call("Agent", {"description": "count", "prompt": "count the files", "run_in_background": False})
    plan = Script(
        (Conversation("main", (Reply("I ask.", (call, call)), Reply("Both counted."))),),
        agents=tuple(
            Conversation(
                name, (Reply("", (Call("Bash", {"command": f"echo {name}"}),)), Reply(f"{name} says three")), "count"
            )
            for name in ("one", "two")
        ),
    )
    with ScriptedModel(plan) as model:
        said = cli.talk(model, "begin")
        agents = [request for request in model.requests if request.kind == "agent"]
        assert sorted(request.conversation for request in agents) == ["one", "one", "two", "two"]
        assert sorted(result for request in agents for result in request.tool_results) == ["one", "two"]
        reports = "".join(model.requests[-1].tool_results)
        assert "one says three" in reports
        assert "two says three" in reports
        assert model.overruns == 0
    assert said.results[-1]["result"] == "Both counted."


@pytest.mark.parametrize("package", ["no_such_package", "json", "sys"])
def test_a_missing_claude_is_named_with_its_remedy(package: str) -> None:
    """Whoever lacks the CLI reads in one line how to get it."""
    with pytest.raises(ClaudeNotBundled, match=r"^[^\n]*pip install 'nightjar-bot\[sandbox\]'$"):
        bundled_claude(package)
