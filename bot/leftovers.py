"""What a Session leaves in its checkout when it ends: operations that are not over, and files that are not committed.

Not all of those files are work: what no repository wants is never staged, and what was left out can be told.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.git import Git

LARGEST_FILE = 50 * 1024 * 1024
"""Bytes of a file that is still staged: above it GitHub warns, and above twice that it refuses the push."""
_NEVER_STAGED = """\
node_modules/
__pycache__/
*.pyc
.DS_Store
.claude/**/*.local.*
.claude/worktrees/
CLAUDE.local.md
nohup.out
npm-debug.log*
yarn-error.log*
"""
"""Droppings of tools, as a gitignore file; what is tracked all the same is not touched by it."""
_OPEN = (
    ("rebase-apply/applying", ("am", "--abort")),
    ("rebase-merge", ("rebase", "--abort")),
    ("rebase-apply", ("rebase", "--abort")),
    ("CHERRY_PICK_HEAD", ("cherry-pick", "--abort")),
    ("REVERT_HEAD", ("revert", "--abort")),
    ("sequencer", ("cherry-pick", "--quit")),
    ("BISECT_LOG", ("bisect", "reset")),
)
"""What can be in progress in a checkout, by the name of the file in `.git`, and the command that ends it."""
_POINTER = b"version https://git-lfs.github.com/spec/"
_NAMED = 5


@dataclass(frozen=True, slots=True)
class _Change:
    """One path that differs from the index; `below` is a submodule or a repository of its own."""

    path: str
    tracked: bool
    below: bool


def close_what_is_open(git: Git, author: Sequence[str]) -> None:
    """Conclude a merge that is resolved and staged, abort whatever else is in progress."""
    inside = git.checkout / ".git"
    for lock in ("index.lock", "HEAD.lock"):  # a git that was killed with its Session left them
        (inside / lock).unlink(missing_ok=True)
    if (inside / "MERGE_HEAD").exists():
        unmerged = git.in_checkout("ls-files", "--unmerged").out
        said = git.in_checkout("diff", "--cached", "--check", check=False).out
        if not unmerged and "leftover conflict marker" not in said:
            git.in_checkout(*author, "commit", "--quiet", "--no-verify", "--no-gpg-sign", "--no-edit")
        else:
            git.in_checkout("merge", "--abort", check=False)
    for what, words in _OPEN:
        if (inside / what).exists():
            git.in_checkout(*words, check=False)


def stage(git: Git) -> tuple[str, ...]:
    """Stage what the Session left; what was left out, by kind, each a few words for people."""
    never = git.checkout.parent / "never-staged"
    never.write_text(_NEVER_STAGED, encoding="utf-8")
    excluding = ("-c", f"core.excludesFile={never}")
    options = ("--porcelain=v2", "-z", "--no-renames", "--untracked-files=all", "--ignored=matching")
    said = git.in_checkout(*excluding, "status", *options).out.split("\0")
    changes = [change for line in said if (change := _read(line)) is not None]
    plain = [change.path for change in changes if not change.below]
    large = [path for path in plain if _size(git.checkout / path) > LARGEST_FILE]
    kept_apart = _raw_lfs(git, [path for path in plain if path not in large])
    modules = [change.path for change in changes if change.below and change.tracked]
    nested = [change.path for change in changes if change.below and not change.tracked]
    left = [*large, *kept_apart, *modules, *nested]
    specs = "\0".join([":/", *(f":(exclude,top,literal){path.rstrip('/')}" for path in left)])
    add = ("add", "--all", "--ignore-errors", "--pathspec-from-file=-", "--pathspec-file-nul")
    added = git.in_checkout(*excluding, *add, check=False, given=specs)
    unreadable = [line for line in added.err.splitlines() if line.startswith("error: ")] if added.code else []
    return tuple(
        f"{what}: {_names(paths)}"
        for what, paths in (
            (f"files over {LARGEST_FILE // 1024**2} MB", large),
            ("files that Git LFS keeps", kept_apart),
            ("changes inside a submodule", modules),
            ("repositories inside the checkout", nested),
            ("files that cannot be read", unreadable),
            ("ignored files", [line[2:] for line in said if line.startswith("! ")]),
        )
        if paths
    )


def _read(line: str) -> _Change | None:
    """One entry of `git status --porcelain=v2`; None for one that says nothing of the files in the checkout."""
    match line[:2]:
        case "? ":
            return _Change(line[2:], tracked=False, below=line.endswith("/"))
        case "1 ":
            _, state, module, *_, path = line.split(" ", 8)
        case "u ":
            _, state, module, *_, path = line.split(" ", 10)
        case _:
            return None
    return _Change(path, tracked=True, below=module.startswith("S")) if state[1] != "." else None


def _raw_lfs(git: Git, paths: Sequence[str]) -> list[str]:
    """Those among `paths` that Git LFS keeps and that hold more than its pointer: what they hold would have to be sent
    to another server.
    """
    given = "\0".join(paths)
    said = git.in_checkout("check-attr", "-z", "--stdin", "filter", given=given).out.split("\0") if paths else []
    kept = [path for path, value in zip(said[::3], said[2::3], strict=False) if value == "lfs"]
    return [path for path in kept if not _is_pointer(git.checkout / path)]


def _is_pointer(path: Path) -> bool:
    try:
        if path.is_symlink() or not path.is_file():
            return True  # deleted, or a link: nothing that Git LFS would keep
        with path.open("rb") as file:
            return file.read(len(_POINTER)) == _POINTER
    except OSError:
        return False


def _size(path: Path) -> int:
    """Bytes of a regular file; 0 for what is none."""
    try:
        return 0 if path.is_symlink() else path.lstat().st_size
    except OSError:
        return 0


def _names(paths: Iterable[str]) -> str:
    found = list(paths)
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return ", ".join(f"`{path}`" for path in found[:_NAMED]) + more
