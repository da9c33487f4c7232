"""The branch does not configure the agent: what does is the base commit's, for every process of every Session."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from bot.sandbox.github import EmbeddedGitHub
from bot.sandbox.model import Call, Reply
from tests.run.stage import ADD_WRONG, FILES, HAND_OVER, MEND, Played, Stage, does, note, says, session

EVENTS = ("SessionStart", "PreToolUse", "Stop")
BROUGHT = {"background-wait-minutes": "0.05", "max-repairs": "1"}
OUTLIVES = does("sleep 300", "the long suite", background=True)
"""Killed at the Hold limit, which makes a Resume."""


def _hooks(command: str) -> str:
    return json.dumps({"hooks": {event: [{"hooks": [{"type": "command", "command": command}]}] for event in EVENTS}})


def _named(name: str) -> str:
    return f"---\nname: {name}\ndescription: {name}\n---\nx\n"


def _servers(mark: Path) -> str:
    return json.dumps({"mcpServers": {"started": {"command": "touch", "args": [str(mark)]}}})


def _planted(shared: Path) -> Mapping[str, str]:
    """What a Session puts into its checkout."""
    hook, servers = f'echo "$CLAUDE_CONFIG_DIR" >> {shared}/planted', _servers(shared / "planted-server")
    return {
        ".claude/settings.json": _hooks(hook),
        ".claude/settings.local.json": _hooks(hook),
        ".claude/hooks/note.sh": f"{hook}\n",
        ".claude/CLAUDE.md": "PLANTED dot\n",
        ".claude/agents/planted.md": _named("PLANTED-agent"),
        ".claude/skills/planted/SKILL.md": _named("PLANTED-skill"),
        ".claude/rules/planted.md": "PLANTED rule\n",
        "CLAUDE.md": "PLANTED root\n",
        "docs/style.md": "PLANTED style\n",
        "sub/CLAUDE.md": "PLANTED sub\n",
        "AGENTS.md": "PLANTED agents\n",
        ".mcp.json": servers,
    }


def _plant(shared: Path) -> str:
    """Shell commands for that, in the checkout, in the CLI's own folder and in the Session's home."""
    files = dict(_planted(shared))
    for path, text in _planted(shared).items():
        files[f"$CLAUDE_CONFIG_DIR/{path.removeprefix('.claude/')}"] = text
        files[f"$CLAUDE_CONFIG_DIR/../{path}"] = text
        files[f"$HOME/{path}"] = text
    files["$CLAUDE_CONFIG_DIR/.claude.json"] = files["$HOME/.claude.json"] = _servers(shared / "planted-server")
    files["$HOME/notes.md"] = "PLANTED note\n"
    files["$(ls -d $CLAUDE_CONFIG_DIR/projects/*/ | head -1)memory/MEMORY.md"] = "PLANTED memory\n"
    # The conversation holds these commands: the word that is looked for stands in none of them.
    hidden = {path: text.replace("PLANTED", "P-LANTED") for path, text in files.items()}
    return "\n".join(
        f"""mkdir -p "$(dirname "{path}")"; printf '%s' '{text}' | sed s/P-/P/ > "{path}\""""
        for path, text in hidden.items()
    )


def _base(shared: Path) -> Mapping[str, str]:
    """A repository that configures the agent."""
    return {
        **FILES,
        ".claude/settings.json": _hooks('sh "$CLAUDE_PROJECT_DIR"/.claude/hooks/note.sh'),
        ".claude/hooks/note.sh": f'cat > /dev/null; echo "$CLAUDE_CONFIG_DIR" >> {shared}/trusted\n',
        ".claude/agents/helper.md": _named("TRUSTED-agent"),
        ".mcp.json": _servers(shared / "trusted-server"),
        "CLAUDE.md": "TRUSTED root, @docs/style.md and @~/notes.md\n",
        "docs/style.md": "TRUSTED style\n",
        "sub/CLAUDE.md": "TRUSTED sub\n",
        "sub/a.txt": "a\n",
    }


def _ran(mark: Path) -> list[str]:
    """The configuration folders of the processes whose hooks wrote to `mark`."""
    return mark.read_text(encoding="utf-8").splitlines() if mark.exists() else []


READ = Reply(text="I read.", calls=(Call("Read", {"file_path": "sub/a.txt"}),))


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    """A Run whose first Session plants what it can, is resumed, and is followed by a Repair."""
    folder = tmp_path_factory.mktemp("settings")
    shared = folder / "shared"
    with EmbeddedGitHub(folder / "hub") as hub:
        yield _played(Stage(folder, hub, _base(shared)), shared)


def _played(stage: Stage, shared: Path) -> Played:
    played = stage.run(
        session(
            "implement",
            does(f"{ADD_WRONG}\n{HAND_OVER}\n{_plant(shared)}", "add subtraction"),
            OUTLIVES,
            says("I will be told."),
            READ,
            says(),
        ),
        session("repair", does(f"{MEND}; {note('Mended.')}", "mend it"), READ, says()),
        settings=BROUGHT,
    )
    assert played.exit_code == 0, played.log
    assert (played.outputs["resumes"], played.outputs["repairs"]) == ("1", "1")
    return played


def test_planted(played: Played) -> None:
    """No hook, server, agent or instruction that a Session left anywhere counts in its Resume, or in a Repair."""
    shared = played.stage.shared
    assert not (shared / "planted-server").exists()
    # The process that wrote them into its own settings runs them itself; it could have run anything.
    assert set(_ran(shared / "planted")) <= set(_ran(shared / "trusted")[:1])
    for request in played.model.requests:
        assert re.findall(".{200}PLANTED.{20}", request.whole) == []


def test_trusted(played: Played) -> None:
    """Hooks, servers, agents and instructions of the base commit count in all of them, those of a folder there."""
    shared = played.stage.shared
    assert (shared / "trusted-server").exists()
    assert len(set(_ran(shared / "trusted"))) == 3  # each process has a folder of its own
    for conversation in ("implement", "repair"):
        heard = [request.whole for request in played.model.requests if request.conversation == conversation]
        for words in ("TRUSTED root", "TRUSTED style", "TRUSTED-agent"):
            assert all(words in whole for whole in heard), words
        assert ["TRUSTED sub" in whole for whole in heard][-2:] == [False, True]


def test_shown_first(played: Played) -> None:
    """The branch has these files as they were written, nothing else, and the pull request names them first."""
    planted = _planted(played.stage.shared)
    for path, text in planted.items():
        if ".local." in path:  # one person's only: never committed
            continue
        assert played.stage.repository.file(played.pull.head_sha, path) == text
    first = played.pull.body.partition("**Look at this first**")[2].splitlines()[2]
    assert first.startswith("> - agent settings or instructions were changed")
    for path in (".claude/settings.json", ".mcp.json", "AGENTS.md", "CLAUDE.md", "sub/CLAUDE.md"):
        assert f"`{path}`" in first
