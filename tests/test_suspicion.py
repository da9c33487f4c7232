"""What a reviewer is shown first, and what a Run may not touch."""

from __future__ import annotations

import pytest

from bot.patch import read_patch
from bot.ports import FileChange
from bot.suspicion import protected, suspicions


def change(path: str, *, added: str = "", removed: str = "", deleted: bool = False) -> FileChange:
    """One file of a diff."""
    return FileChange(path, deleted, tuple(added.splitlines()), tuple(removed.splitlines()))


CHEATS = {
    "a deleted test": (
        change("tests/test_x.py", removed="def test_a():\n    assert f() == 1", deleted=True),
        "the test file `tests/test_x.py` was deleted",
    ),
    "a pytest skip": (change("tests/test_x.py", added="@pytest.mark.skip"), "`tests/test_x.py` skips a test"),
    "a pytest xfail": (change("test_x.py", added="@pytest.mark.xfail(reason='flaky')"), "`test_x.py` skips a test"),
    "a unittest skip": (change("tests/x.py", added="    @unittest.skip('later')"), "`tests/x.py` skips a test"),
    "a JavaScript skip": (change("src/a.test.ts", added="it.skip('adds', () => {"), "`src/a.test.ts` skips a test"),
    "a Go skip": (change("pkg/a_test.go", added='\tt.Skip("later")'), "`pkg/a_test.go` skips a test"),
    "lost assertions": (
        change("tests/test_x.py", removed="assert a\nassert b\nassert c", added="assert a"),
        "`tests/test_x.py` lost 2 assertions",
    ),
    "a tolerated failure": (
        change("Makefile", added="\tpytest || true"),
        "`Makefile` lets a command fail without being noticed",
    ),
    "a workflow": (
        change(".github/workflows/ci.yml", added="    continue-on-error: true"),
        "the workflow `.github/workflows/ci.yml` was changed",
    ),
    "a lowered threshold": (
        change("pyproject.toml", removed="fail_under = 90", added="fail_under = 40"),
        "`fail_under` in `pyproject.toml` was lowered from 90 to 40",
    ),
    "the code owners": (change(".github/CODEOWNERS", added="* @nobody"), "`.github/CODEOWNERS` was changed"),
}

HONEST = {
    "a new test": change("tests/test_x.py", added="def test_b():\n    assert f() == 2"),
    "a rewritten assertion": change("tests/test_x.py", removed="assert f() == 1", added="assert f() == 2"),
    "a raised threshold": change("pyproject.toml", removed="fail_under = 40", added="fail_under = 90"),
    "a deleted module": change("widget/old.py", removed="def f(): ...", deleted=True),
    "the word skip in code": change("widget/parser.py", added="def skip(tokens):\n    return tokens[1:]"),
    "an assert in code that went": change("widget/a.py", removed="assert x"),
}


@pytest.mark.parametrize("name", CHEATS)
def test_a_weakened_check_is_shown(name: str) -> None:
    """A check that was made to pass is named, with its file."""
    cheat, expected = CHEATS[name]
    assert expected in suspicions([cheat])


@pytest.mark.parametrize("name", HONEST)
def test_honest_work_is_not_suspected(name: str) -> None:
    """Ordinary work gives a reviewer nothing to look at first."""
    assert suspicions([HONEST[name]]) == ()


def test_protected_paths_are_found_in_folders() -> None:
    """A pattern protects everything below it, and nothing beside it."""
    changes = [change(".github/workflows/deep/ci.yml"), change("docs/workflows.md"), change("CODEOWNERS")]
    assert protected(changes, (".github/workflows/**", "CODEOWNERS")) == (
        ".github/workflows/deep/ci.yml",
        "CODEOWNERS",
    )


def test_a_patch_tells_renamed_from_deleted() -> None:
    """A test that is moved with its code is no deleted test."""
    text = (
        "diff --git a/tests/test_a.py b/tests/test_b.py\nsimilarity index 90%\nrename from tests/test_a.py\n"
        "rename to tests/test_b.py\n--- a/tests/test_a.py\n+++ b/tests/test_b.py\n@@ -1 +1 @@\n-import a\n+import b\n"
        "diff --git a/old.py b/old.py\ndeleted file mode 100644\n--- a/old.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x = 1\n"
        "diff --git a/logo.png b/logo.png\nBinary files a/logo.png and b/logo.png differ\n"
    )
    assert list(read_patch(text)) == [
        FileChange("tests/test_b.py", False, ("import b",), ("import a",)),
        FileChange("old.py", True, (), ("x = 1",)),
        FileChange("logo.png", False, (), ()),
    ]
