"""What configures a process of a Session: files of the base commit, laid out for the CLI, and no others."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bot.claude import trusted
from bot.claude.agent_home import AgentHome
from bot.claude.command import Configuration
from bot.claude.imports import closed, imported
from bot.ports import TreeEntry
from bot.sandbox.model import Call, Reply
from tests.claude.conftest import Desk, model

ID = "0b97ed0c-a855-4bac-91e3-b88ccb06f5a2"


@dataclass(frozen=True, slots=True)
class Link:
    """A symbolic link in a commit."""

    target: str


class Files:
    """A commit's files; their paths are their ids."""

    def __init__(self, files: Mapping[str, str | Link]) -> None:
        self._files = files

    def entries(self, commit: str) -> tuple[TreeEntry, ...]:
        """All of them."""
        assert commit == "base"
        modes = {True: "120000", False: "100644"}
        return tuple(
            TreeEntry(path, "100755" if path.endswith(".sh") else modes[isinstance(file, Link)], path)
            for path, file in self._files.items()
        )

    def contents(self, entries: Sequence[TreeEntry], limit: int) -> tuple[bytes | None, ...]:
        """What is in them."""
        found = (self._files[entry.id] for entry in entries)
        texts = [(file.target if isinstance(file, Link) else file).encode() for file in found]
        return tuple(text if len(text) <= limit else None for text in texts)


@dataclass(slots=True)
class Home:
    """The home of Sessions, and the folder of the last process in it."""

    folder: Path
    files: Mapping[str, str | Link]
    directory: str = "."
    said: list[str] = field(default_factory=list)
    made: AgentHome | None = None
    last: Configuration = field(default_factory=Configuration)

    def next(self, conversation: str = "") -> Path:
        """The CLI's folder for the next process."""
        if self.made is None:
            (self.folder / "home").mkdir()
            self.made = AgentHome(
                Files(self.files),
                home=self.folder / "home",
                checkout=Path("/runner/checkout"),
                directory=self.directory,
                hand_over=lambda _: None,
                say=self.said.append,
            )
            self.made.trust("base")
        self.last = self.made.fresh(conversation)
        return Path(self.last.variables["CLAUDE_CONFIG_DIR"])

    def settings(self) -> Any:
        """What the next process's settings are."""
        return json.loads((self.next() / "settings.json").read_text())


Furnish = Callable[..., Home]


@pytest.fixture
def home(tmp_path: Path) -> Furnish:
    """Makes one, for a base commit with these files."""

    def made(files: Mapping[str, str | Link], directory: str = ".") -> Home:
        return Home(tmp_path, files, directory)

    return made


def test_whole_folder(home: Furnish) -> None:
    """Everything in `.claude` is there with its mode, but for what is one person's or the CLI's own."""
    names = ("agents/a.md", "skills/s/SKILL.md", "hooks/h.sh", "commands/c.md", "settings.local.json", "plugins/p.json")
    config = home({f".claude/{name}": "x" for name in names} | {"src/.claude/agents/b.md": "x", "src/x.py": "x"}).next()
    there = {str(path.relative_to(config)) for path in config.rglob("*") if path.is_file()}
    assert there == {*names[:4], "settings.json", "CLAUDE.md"}
    assert stat.S_IMODE((config / "hooks/h.sh").stat().st_mode) & 0o100
    assert not (config.parent / "src").exists()


def test_commands_are_the_trusted_ones(home: Furnish) -> None:
    """What hooks run from `.claude` is the copy, however it is named; other files and permission rules are not."""
    given = {
        '"$CLAUDE_PROJECT_DIR"/.claude/hooks/a.sh': '"${CLAUDE_CONFIG_DIR}"/hooks/a.sh',
        '"$CLAUDE_PROJECT_DIR/.claude/hooks/a.sh" x': '"${CLAUDE_CONFIG_DIR}/hooks/a.sh" x',
        "${CLAUDE_PROJECT_DIR:-.}/.claude/a": "${CLAUDE_CONFIG_DIR}/a",
        '"$(git rev-parse --show-toplevel)/.claude/a"': '"${CLAUDE_CONFIG_DIR}/a"',
        "bash .claude/hooks/a.sh && ./.claude/b": "bash CONFIG/hooks/a.sh && CONFIG/b",
        'cd "$CLAUDE_PROJECT_DIR/.claude" && ./a.sh': 'cd "${CLAUDE_CONFIG_DIR}" && ./a.sh',
        '"$PWD"/.claude/a; cd .claude; .claude.sh': '"${CLAUDE_CONFIG_DIR}"/a; cd CONFIG; .claude.sh',
        '"$CLAUDE_PROJECT_DIR"/tools/a.sh': '"$CLAUDE_PROJECT_DIR"/tools/a.sh',
        "cat x.claude/a src/.claude/a": "cat x.claude/a src/.claude/a",
    }
    hooks = [{"hooks": [{"type": "command", "command": command} for command in given]}]
    settings = {"hooks": {"Stop": hooks}, "permissions": {"deny": ["Edit(.claude/**)"]}, "statusLine": {"command": "x"}}
    house = home({".claude/settings.json": json.dumps(settings)})
    made = house.settings()
    config = house.last.variables["CLAUDE_CONFIG_DIR"]
    commands = [hook["command"].replace(config, "CONFIG") for hook in made["hooks"]["Stop"][0]["hooks"]]
    assert commands == list(given.values())
    assert made["permissions"] == {"deny": ["Edit(.claude/**)"]}


def test_paths_from_the_root(home: Furnish) -> None:
    """A permission rule that starts at the repository's root still does, in a user's settings."""
    rules = ["Read(/secrets/**)", "Read(//etc/**)", "Read(./x)", "Bash(rm /tmp/x)", "WebFetch"]
    made = home({".claude/settings.json": json.dumps({"permissions": {"deny": rules}})}).settings()
    assert made["permissions"]["deny"] == ["Read(//runner/checkout/secrets/**)", *rules[1:]]


def test_plugins_of_the_checkout(home: Furnish) -> None:
    """A marketplace of plugins that lies in the checkout is none; one on a server is."""
    markets = {"ours": {"source": {"source": "github", "repo": "acme/plugins"}}}
    local = {"here": {"source": {"source": "directory", "path": "./plugins"}}}
    given = {"extraKnownMarketplaces": {**markets, **local}, "autoMemoryDirectory": "~/memory", "model": "opus"}
    made = home({".claude/settings.json": json.dumps(given)}).settings()
    assert made == {"extraKnownMarketplaces": markets, "model": "opus"}


def test_servers(home: Furnish) -> None:
    """MCP servers are those of the root and of the working directory, but for those that the settings turn off."""
    root = {"mcpServers": {"a": {"command": "root"}, "b": {"command": "b"}, "c": {"command": "c"}}}
    near = {"mcpServers": {"a": {"command": "node", "args": ["./.claude/server.js"]}}}
    files = {
        ".mcp.json": json.dumps(root),
        "app/.mcp.json": json.dumps(near),
        "other/.mcp.json": json.dumps({"mcpServers": {"d": {"command": "d"}}}),
        ".claude/settings.json": json.dumps({"disabledMcpjsonServers": ["c"]}),
    }
    house = home(files, "app")
    config = house.next()
    assert house.last.servers is not None
    assert json.loads(house.last.servers.read_text()) == {
        "mcpServers": {"a": {"command": "node", "args": [f"{config}/server.js"]}, "b": {"command": "b"}}
    }


@pytest.mark.parametrize("text", ["{", "[]", '{"mcpServers": ["x"]}', "{}"])
def test_unusable_servers(home: Furnish, text: str) -> None:
    """A `.mcp.json` that is none does not keep the CLI from starting."""
    house = home({".mcp.json": text})
    house.next()
    assert house.last.servers is None
    house.next()
    assert len(house.said) <= 1


def test_working_directory(home: Furnish) -> None:
    """Sessions that begin in a folder have its settings, its agents over the root's, and all instructions above."""
    files = {
        ".claude/settings.json": '{"model": "root"}',
        ".claude/agents/a.md": "root",
        ".claude/agents/b.md": "root",
        "app/web/.claude/settings.json": '{"model": "web"}',
        "app/web/.claude/agents/a.md": "web",
        "app/web/.claude/CLAUDE.md": "x",
        "app/.claude/agents/b.md": "app",
        "CLAUDE.md": "x",
        "app/CLAUDE.md": "x",
        "app/web/deep/CLAUDE.md": "deep",
        "other/CLAUDE.md": "x",
    }
    config = home(files, "app/web/").next()
    assert json.loads((config / "settings.json").read_text()) == {"model": "web"}
    assert [(config / "agents" / name).read_text() for name in ("a.md", "b.md")] == ["web", "root"]
    assert (config / "CLAUDE.md").read_text() == "@../CLAUDE.md\n@../app/CLAUDE.md\n@../app/web/.claude/CLAUDE.md\n"
    (rule,) = (config / "rules").iterdir()
    assert rule.read_text() == '---\npaths:\n  - "deep/**"\n---\n\nContents of app/web/deep/CLAUDE.md:\n\ndeep'


def test_agents_md_instead(home: Furnish) -> None:
    """AGENTS.md counts in a folder that has no CLAUDE.md, as the CLI has it."""
    files = {"AGENTS.md": "x", "a/AGENTS.md": "instead", "b/AGENTS.md": "not", "b/CLAUDE.md": "own"}
    config = home(files).next()
    assert (config / "CLAUDE.md").read_text() == "@../AGENTS.md\n"
    rules = [(config / f"rules/nightjar-{at}.md").read_text() for at in (0, 1)]
    assert [rule.splitlines()[-1] for rule in rules] == ["instead", "own"]


def test_links(home: Furnish) -> None:
    """A link counts as the file of the commit that it leads to; one that leads elsewhere is left out, and said."""
    files = {
        "CLAUDE.md": Link("docs/../AGENTS.md"),
        "AGENTS.md": "ours",
        ".claude/agents/a.md": Link("/etc/passwd"),
        ".claude/agents/b.md": Link("../../../home/notes.md"),
    }
    house = home(files)
    config = house.next()
    assert (config.parent / "CLAUDE.md").read_text() == "ours"
    assert not (config / "agents").exists()
    (said,) = house.said
    assert said.startswith("Sessions go without these agent files of the base commit, too many, too large or links: ")
    assert said.endswith(": .claude/agents/a.md, .claude/agents/b.md")


def test_bounds(home: Furnish) -> None:
    """What is too large or too much is left out, instructions of folders first."""
    many = {f"f{at}/CLAUDE.md": "x" for at in range(trusted.MAX_FILES)}
    big = "x" * (trusted.MAX_FILE_BYTES + 1)
    found = trusted.read_trusted(Files({**many, "CLAUDE.md": "x", ".claude/agents/a.md": big}), "base", ".")
    assert len(found.files) == trusted.MAX_FILES
    assert "CLAUDE.md" in found.files
    assert len(found.left_out) == 2
    half = {f".claude/x{at}": "x" * trusted.MAX_FILE_BYTES for at in range(20)}
    assert len(trusted.read_trusted(Files(half), "base", ".").files) == trusted.MAX_BYTES // trusted.MAX_FILE_BYTES


def test_imports() -> None:
    """What instructions import is found within the repository, relative to the file that says it, to a depth."""
    texts = {
        "a/CLAUDE.md": "see @./one.md, @../two.md and @~/x @/etc/x @../../x @missing.md a@b.c",
        "a/one.md": "**@deep/three.md**",
        "two.md": "@a/one.md",
        "a/deep/three.md": "@four.md",
        "a/deep/four.md": "@five.md",
        "a/deep/five.md": "@six.md",
        "a/deep/six.md": "",
    }
    found = imported("a/CLAUDE.md", texts.get)
    assert set(found) == {"a/one.md", "two.md", "a/deep/three.md", "a/deep/four.md", "a/deep/five.md"}


def test_imports_that_lead_out(tmp_path: Path) -> None:
    """An import of something outside the trusted copies is none; what is not there stays as it is written."""
    root, user = tmp_path / "user" / "agent", tmp_path / "user"
    root.mkdir(parents=True)
    (user / "notes.md").write_text("planted")
    text = f"@in.md @~/notes.md **@~/notes.md** @../../notes.md @{user}/notes.md#top, @/components/x @~/none.md"
    assert closed(text, at=root / "sub", root=root, home=user) == (
        f"@in.md @ ~/notes.md **@ ~/notes.md** @ ../../notes.md @ {user}/notes.md#top, @/components/x @~/none.md"
    )


def _converse(config: Path, conversation: str = ID) -> Path:
    folder = config / "projects" / "-work-checkout"
    (folder / conversation / "subagents").mkdir(parents=True)
    (folder / conversation / "subagents" / "s.jsonl").write_text("s")
    (folder / f"{conversation}.jsonl").write_text("said")
    (folder / "memory").mkdir()
    (folder / "memory" / "MEMORY.md").write_text("planted")
    return folder


def test_conversation(home: Furnish) -> None:
    """A process that takes a conversation up has that one, and nothing else that was in the last one's folder."""
    house = home({"CLAUDE.md": "x"})
    before = house.next()
    folder = _converse(before)
    (folder / "other.jsonl").write_text("another")
    (before / "agents").mkdir()
    (before / "agents" / "a.md").write_text("planted")
    (before / "settings.json").write_text("planted")
    after = house.next(ID)
    there = {str(path.relative_to(after)) for path in after.rglob("*") if path.is_file()}
    start = f"projects/{folder.name}/{ID}"
    assert there == {"CLAUDE.md", "settings.json", f"{start}.jsonl", f"{start}/subagents/s.jsonl"}
    assert (after / "settings.json").read_text() == "{}"
    assert not before.exists()
    assert not (house.next() / "projects").exists()


def test_planted_links(home: Furnish, tmp_path: Path) -> None:
    """A conversation that is a link, or that lies behind one, is not taken: nobody else's file comes to a Session."""
    secret = tmp_path / "secret"
    _converse(secret)
    house = home({})
    (house.next() / "projects").symlink_to(secret / "projects")
    config = house.next(ID)
    assert not (config / "projects").exists()
    (config / "projects" / "-x").mkdir(parents=True)
    (config / "projects" / "-x" / f"{ID}.jsonl").symlink_to(secret / "projects/-work-checkout" / f"{ID}.jsonl")
    config = house.next(ID)
    assert not (config / "projects").exists()
    config.parent.rename(tmp_path / "aside")
    config.parent.symlink_to(secret)
    assert not (house.next(ID) / "projects").exists()
    assert (secret / "projects" / "-work-checkout" / f"{ID}.jsonl").read_text() == "said"


def _configuring(word: str, shared: Path) -> Mapping[str, str]:
    """Files that configure the agent, and say `word` or leave a file of that name."""
    hook = {"type": "command", "command": f"touch {shared}/{word}-hook"}
    about = f"---\nname: x\ndescription: {word}-{{}}\n---\nx\n"
    return {
        "CLAUDE.md": f"{word} root @docs/style.md",
        "docs/style.md": f"{word} style",
        "sub/CLAUDE.md": f"{word} sub",
        ".claude/rules/a.md": f"{word} rule",
        ".claude/agents/a.md": about.format("agent"),
        ".claude/skills/s/SKILL.md": about.format("skill"),
        ".claude/settings.json": json.dumps({"hooks": {"SessionStart": [{"hooks": [hook]}]}}),
        ".mcp.json": json.dumps({"mcpServers": {word: {"command": "touch", "args": [f"{shared}/{word}-server"]}}}),
    }


def test_with_the_cli(desk: Desk, claude: Path, tmp_path: Path) -> None:
    """Both generations of the CLI take everything from the folder made for them, and nothing of the checkout."""
    work, user, shared = tmp_path / "work", tmp_path / "user", tmp_path / "shared"
    for folder in (user, shared):
        folder.mkdir()
    for path, text in {**_configuring("PLANTED", shared), "sub/a.txt": "a", "AGENTS.md": "PLANTED"}.items():
        (work / path).parent.mkdir(parents=True, exist_ok=True)
        (work / path).write_text(text)
    tree = Files(_configuring("TRUSTED", shared))
    made = AgentHome(tree, home=user, checkout=work, directory=".", hand_over=lambda _: None, say=desk.said.append)
    made.trust("base")
    desk.configure = made.fresh
    with model(Reply("", (Call("Read", {"file_path": str(work / "sub" / "a.txt")}),)), Reply("Done.")) as server:
        desk.hold(claude, server.url)
        first, second = (request.whole for request in server.requests)
    for words in ("root", "style", "rule", "agent", "skill"):
        assert f"TRUSTED {words}" in first or f"TRUSTED-{words}" in first
    assert ("TRUSTED sub" in first, "TRUSTED sub" in second) == (False, True)
    assert "PLANTED" not in second
    assert sorted(path.name for path in shared.iterdir()) == ["TRUSTED-hook", "TRUSTED-server"]
