"""The configuration folder of each process of a Session: made anew, from the trusted base commit and nothing else.

What a Session leaves in its own one (settings, hooks, servers, agents, plugins, the CLI's own memory) ends with it; a
process that takes a conversation up gets that conversation, and no more.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from bot.claude.command import Configuration
from bot.claude.layout import MCP, laid_out
from bot.claude.trusted import Trusted, read_trusted
from bot.ports import Tree

_CONVERSATION = re.compile(r"[0-9a-fA-F-]{1,64}")
_SHOWN = 5
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class AgentHome:
    """Those of one Run."""

    def __init__(
        self,
        tree: Tree,
        *,
        home: Path,
        checkout: Path,
        directory: str,
        hand_over: Callable[[Path], None],
        say: Callable[[str], None],
    ) -> None:
        """`home` is the home of Sessions, which they may write; `directory` is where in `checkout` they begin.
        `hand_over` makes a folder theirs; `say` takes lines for the job log.
        """
        self._tree = tree
        self._home = home
        self._checkout = checkout
        self._directory = directory
        self._hand_over = hand_over
        self._say = say
        self._trusted = Trusted("", {})
        self._commit = ""
        self._last = ""

    def trust(self, commit: str) -> None:
        """What `commit` says configures the Sessions that follow. Raises `RunFailed` when there is no such commit."""
        if commit == self._commit:
            return
        self._trusted, self._commit = read_trusted(self._tree, commit, self._directory), commit
        if left := self._trusted.left_out:
            more = f" and {len(left) - _SHOWN} more" if len(left) > _SHOWN else ""
            names = ", ".join(left[:_SHOWN])
            self._say(
                f"Sessions go without these agent files of the base commit, too many, too large or links: {names}{more}"
            )

    def fresh(self, conversation: str) -> Configuration:
        """The folder of the next process, with nothing of the last one's but `conversation`, "" for none. Raises
        `OSError`.
        """
        # The name is one that no Session knew: what it planted lies elsewhere.
        root = Path(tempfile.mkdtemp(prefix="agent-", dir=self._home))
        say = self._say if not self._last else _nothing
        files = laid_out(self._trusted, root=root, checkout=self._checkout, home=self._home, said=say)
        for path, file in files.items():
            place = root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(file.content)
            if file.executable:
                place.chmod(0o755)
        folders = self._folders_of(conversation)
        for name in folders:
            (root / ".claude" / "projects" / name).mkdir(parents=True)
        self._hand_over(root)
        for name in folders:
            self._move(conversation, name, root.name)
        if self._last:
            shutil.rmtree(self._home / self._last, ignore_errors=True)
        self._last = root.name
        return Configuration({"CLAUDE_CONFIG_DIR": str(root / ".claude")}, root / MCP if MCP in files else None)

    # ── the conversation ────────────────────────────────────────────────────────────────────────────────────────

    def _folders_of(self, conversation: str) -> list[str]:
        """Folders of the last process's `projects` that have the conversation."""
        if not self._last or not _CONVERSATION.fullmatch(conversation):
            return []
        with suppress(OSError), self._opened(self._last, ".claude", "projects") as projects:
            return [name for name in os.listdir(projects) if self._has(name, f"{conversation}.jsonl")]  # noqa: PTH208 (a descriptor)
        return []

    def _has(self, folder: str, name: str) -> bool:
        with suppress(OSError), self._opened(self._last, ".claude", "projects", folder) as opened:
            return stat.S_ISREG(os.stat(name, dir_fd=opened, follow_symlinks=False).st_mode)
        return False

    def _move(self, conversation: str, folder: str, root: str) -> None:
        """Its file, and the folder of its sub-agents and long results. Nothing is read and no link is followed."""
        with (
            suppress(OSError),
            self._opened(self._last, ".claude", "projects", folder) as before,
            self._opened(root, ".claude", "projects", folder) as after,
        ):
            for name in (f"{conversation}.jsonl", conversation):
                with suppress(FileNotFoundError):
                    os.rename(name, name, src_dir_fd=before, dst_dir_fd=after)

    @contextmanager
    def _opened(self, *names: str) -> Iterator[int]:
        """A folder below the home of Sessions, which may have put links anywhere in it."""
        with ExitStack() as opened:
            at = os.open(self._home, _FOLDER)
            opened.callback(os.close, at)
            for name in names:
                at = os.open(name, _FOLDER, dir_fd=at)
                opened.callback(os.close, at)
            yield at


def _nothing(line: str) -> None:
    """It was said before the first process."""
