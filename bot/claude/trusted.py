"""Which files configure the agent, as the trusted base commit has them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from bot.claude.imports import imported
from bot.ports import Tree, TreeEntry

MAX_FILES = 2000
MAX_FILE_BYTES = 1024 * 1024
MAX_BYTES = 16 * 1024 * 1024
"""Of all files together. What is over a bound is left out, and that is said."""
MEMORY = ("CLAUDE.md", ".claude/CLAUDE.md")
"""Instruction files of a folder."""
INSTEAD = "AGENTS.md"
"""What the CLI reads in a folder without the others (measured with CLI 2.1.332; 2.1.211 reads none)."""
OWN_STATE = frozenset(
    {
        *("settings.local.json", ".claude.json", ".credentials.json", "projects", "plugins", "sessions", "session-env"),
        *(
            "tasks",
            "todos",
            "teams",
            "backups",
            "file-history",
            "shell-snapshots",
            "statsig",
            "worktrees",
            "history.jsonl",
        ),
        *("remote-settings.json", "policy-limits.json"),
    }
)
"""In `.claude`: what is one person's only, and names under which the CLI keeps its own state in a user's folder."""
_AT_ONCE = 50
_LINK = "120000"
_REGULAR = ("100644", "100755")


@dataclass(frozen=True, slots=True)
class TrustedFile:
    """One file."""

    content: bytes
    executable: bool = False

    @property
    def text(self) -> str:
        """As text; what is not UTF-8 is replaced."""
        return self.content.decode("utf-8", errors="replace")


@dataclass(frozen=True, slots=True)
class Trusted:
    """What configures Sessions in `directory`."""

    directory: str
    """Where Sessions begin, "" for the repository's root."""
    files: Mapping[str, TrustedFile]
    """By their paths in the repository."""
    left_out: tuple[str, ...] = ()

    def memory(self) -> tuple[str, ...]:
        """Instruction files that hold for a whole Session: of the root, of `directory`, of the folders in between."""
        return tuple(path for folder in above(self.directory) for path in self.memory_of(folder))

    def memory_of(self, folder: str) -> tuple[str, ...]:
        """The instruction files of one folder."""
        there = tuple(path for name in MEMORY if (path := _join(folder, name)) in self.files)
        return there or tuple(path for path in (_join(folder, INSTEAD),) if path in self.files)

    def below(self) -> tuple[str, ...]:
        """Folders below `directory` that have instructions of their own, relative to it."""
        found = {_folder(path) for path in self.files if _is_memory(path)} - set(above(self.directory))
        start = f"{self.directory}/" if self.directory else ""
        return tuple(sorted(folder.removeprefix(start) for folder in found if folder.startswith(start)))


def read_trusted(tree: Tree, commit: str, directory: str) -> Trusted:
    """What `commit` has for Sessions that begin in `directory`. Raises `RunFailed` when there is no such commit."""
    begins = os.path.normpath(directory).removeprefix(".").strip("/")
    return _Reading(tree, commit, begins).read()


def above(directory: str) -> tuple[str, ...]:
    """The root, as "", and the folders down to `directory`."""
    parts = PurePosixPath(directory).parts
    return ("", *("/".join(parts[:count]) for count in range(1, len(parts) + 1)))


class _Reading:
    def __init__(self, tree: Tree, commit: str, directory: str) -> None:
        self._tree = tree
        self._directory = directory
        self._entries = {entry.path: entry for entry in tree.entries(commit)}
        self._files: dict[str, TrustedFile] = {}
        self._left_out: dict[str, None] = {}
        self._bytes = 0

    def read(self) -> Trusted:
        self._take(sorted(filter(self._is_wanted, self._entries), key=self._rank))
        found = Trusted(self._directory, self._files)
        rules = [path for path in self._files if path.startswith(".claude/rules/") and path.endswith(".md")]
        for path in (*found.memory(), *rules):
            imported(path, self._text)  # asking for a file takes it
        return Trusted(self._directory, self._files, tuple(self._left_out))

    def _is_wanted(self, path: str) -> bool:
        for folder in above(self._directory):
            below = path.removeprefix(f"{folder}/") if folder else path
            if below == ".mcp.json":
                return True
            if folder in ("", self._directory) and below.startswith(".claude/"):
                return below.split("/")[1] not in OWN_STATE
        return _is_memory(path)

    def _rank(self, path: str) -> tuple[bool, int, str]:
        """Where there is too much, what holds for every Session comes first."""
        everywhere = _folder(path) in above(self._directory) or path.startswith(".claude/")
        return not everywhere, path.count("/"), path

    def _text(self, path: str) -> str | None:
        if path in self._entries and path not in self._files:
            self._take([path])
        return self._files[path].text if path in self._files else None

    def _take(self, paths: Iterable[str]) -> None:
        wanted = tuple(self._regular(paths))
        for at in range(0, len(wanted), _AT_ONCE):
            some = wanted[at : at + _AT_ONCE]
            contents = self._tree.contents([entry for _, entry in some], MAX_FILE_BYTES)
            for (path, entry), content in zip(some, contents, strict=True):
                if content is None or self._bytes + len(content) > MAX_BYTES or len(self._files) >= MAX_FILES:
                    self._left_out[path] = None
                    continue
                self._bytes += len(content)
                self._files[path] = TrustedFile(content, entry.mode == "100755")

    def _regular(self, paths: Iterable[str]) -> Iterator[tuple[str, TreeEntry]]:
        """Regular files. For a link, the one that it leads to within the commit, if it does so at once."""
        for path in paths:
            entry = self._entries[path]
            if entry.mode == _LINK:
                target = (self._tree.contents([entry], MAX_FILE_BYTES)[0] or b"").decode(errors="replace")
                entry = self._entries.get(os.path.normpath(PurePosixPath(path).parent / target), entry)
            if entry.mode in _REGULAR:
                yield path, entry
            else:
                self._left_out[path] = None


def _is_memory(path: str) -> bool:
    return path.rpartition("/")[2] in ("CLAUDE.md", INSTEAD) and (
        "/.claude/" not in f"/{path}" or f"/{path}".endswith("/.claude/CLAUDE.md")
    )


def _folder(path: str) -> str:
    """The folder that an instruction file is about."""
    return f"/{path}".rpartition("/")[0].removesuffix("/.claude").lstrip("/")


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
