"""The Handover: what a Session leaves in a folder of its own, read as a stranger's file: no links, regular files only,
bounded.
"""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

from bot.ports import PullRequestText
from bot.proof.claim import read_claim
from bot.proof.facts import Claim

MAX_BYTES = 256 * 1024
_TEMPLATES = (
    ".github/pull_request_template.md",
    ".github/PULL_REQUEST_TEMPLATE.md",
    "pull_request_template.md",
    "PULL_REQUEST_TEMPLATE.md",
    "docs/pull_request_template.md",
    "docs/PULL_REQUEST_TEMPLATE.md",
)


class Handover:
    """The folders that Sessions hand over in: one for each, fresh and empty."""

    def __init__(self, root: Path) -> None:
        """`root` lies outside the checkout."""
        self._root = root

    def fresh(self, kind: str) -> Path:
        """An empty folder for the Session `kind`."""
        folder = self._root / kind
        if folder.is_symlink() or folder.is_file():  # an earlier Session can have planted either
            folder.unlink()
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def pull_request(self, kind: str) -> PullRequestText | None:
        """What the Session wrote for the pull request; None when there is nothing usable."""
        text = self._read(kind, "pull-request.md")
        title, _, body = text.strip().partition("\n")
        title = title.lstrip("# ").strip()
        return PullRequestText(title, body.strip()) if title else None

    def claim(self, kind: str) -> Claim:
        """The test that the Session says proves its work. Raises `NoClaim`."""
        return read_claim(self._read(kind, "proof.json"))

    def note(self, kind: str) -> str:
        """What a Repair noted; "" when there is nothing usable."""
        return self._read(kind, "note.md").strip()

    def _read(self, kind: str, name: str) -> str:
        try:
            folder = os.open(self._root / kind, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return ""
        try:
            # O_NONBLOCK, so that opening a FIFO does not wait for a writer.
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            handle = os.open(name, flags, dir_fd=folder)
        except OSError:
            return ""
        finally:
            os.close(folder)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            return ""
        with os.fdopen(handle, "rb") as file:
            return file.read(MAX_BYTES).decode("utf-8", errors="replace")


def pull_request_template(checkout: Path) -> str:
    """Path of the repository's own pull request template within `checkout`, or ""."""
    return next((name for name in _TEMPLATES if (checkout / name).is_file()), "")
