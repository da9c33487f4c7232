"""What a reviewer is shown first, and what a Run may not touch."""

from __future__ import annotations

import pytest

from bot.patch import read_patch
from bot.ports import FileChange
from bot.suspicion import closed_by_messages, protected, suspicions


def change(path: str, *, added: str = "", removed: str = "", deleted: bool = False) -> FileChange:
    """One file of a diff."""
    return FileChange(path, deleted, tuple(added.splitlines()), tuple(removed.splitlines()))


AGENT = "agent settings or instructions were changed, which count once this is merged"
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
    "an agent's hook": (change(".claude/settings.json", added="{}"), f"{AGENT}: `.claude/settings.json`"),
    "instructions of a folder": (change("a/b/CLAUDE.md", deleted=True), f"{AGENT}: `a/b/CLAUDE.md`"),
    "instructions for any agent": (change("AGENTS.md", added="x"), f"{AGENT}: `AGENTS.md`"),
    "an MCP server": (change(".mcp.json", added="{}"), f"{AGENT}: `.mcp.json`"),
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


@pytest.mark.field_case(56, "b")
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


@pytest.mark.parametrize(
    ("path", "target", "leaves"),
    [
        ("docs/x", "/etc/passwd", True),
        ("docs/x", "../../other/y", True),
        ("x", "..", True),
        ("x", "docs/../../y", True),
        ("docs/x", "../.git/config", True),
        ("docs/x", "../y", False),
        ("a/b/x", "../../y", False),
        ("x", "docs/y", False),
    ],
)
def test_links_out_of_the_repository(path: str, target: str, leaves: bool) -> None:
    """A link is named when it leads out of the tree, into `.git`, or where another link decides; no other is."""
    link = FileChange(path, False, (target,), (), "120000")
    assert bool(suspicions([link])) is leaves


def test_submodules() -> None:
    """Where submodules come from, and which commit one stands for, is not in the diff and has to be looked at."""
    module = FileChange("lib", False, ("Subproject commit c0ffee",), (), "160000")
    assert suspicions([module, change(".gitmodules", added="url = https://evil.example")]) == (
        "`lib` is a submodule, and the commit it stands for is another one now",
        "`.gitmodules` was changed: it says where submodules come from",
    )


def test_messages_that_close() -> None:
    """What a commit message closes is named, but for the issue that is worked on."""
    messages = ("Add x\n\nFixes #7", "Add y\n\nCloses: #71 and resolves\nother/repo#7", "Fix the parser")
    assert closed_by_messages(messages, 7) == (
        "a commit message says `Closes: #71`, which closes that once it is merged",
        "a commit message says `resolves other/repo#7`, which closes that once it is merged",
    )


def test_a_patch_tells_what_kind_of_file() -> None:
    """A file that is a link now is told from one that is none, changed or new."""
    text = (
        "diff --git a/a b/a\nnew file mode 120000\nindex 0000000..3594e94\n--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n"
        "+/etc/passwd\n\\ No newline at end of file\n"
        "diff --git a/b b/b\nindex 1111111..3594e94 120000\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-x\n+y\n"
        "diff --git a/c b/c\nindex 1111111..3594e94 100644\n--- a/c\n+++ b/c\n@@ -1 +1 @@\n-x\n+y\n"
    )
    assert [found.mode for found in read_patch(text)] == ["120000", "120000", "100644"]
    assert next(iter(read_patch(text))).added == ("/etc/passwd",)
