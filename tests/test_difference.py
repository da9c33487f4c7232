"""What kind of work a diff is, told from its paths and lines."""

from __future__ import annotations

import pytest

from bot.difference import Kind, added_names, is_documentation, is_test, kind_of, other_tests
from bot.ports import FileChange


def change(path: str, *, added: str = "", removed: str = "", deleted: bool = False, new: bool = False) -> FileChange:
    """One file of a diff."""
    return FileChange(path, deleted, tuple(added.splitlines()), tuple(removed.splitlines()), new=new)


@pytest.mark.parametrize(
    "path",
    [
        *(
            "tests/test_x.py",
            "test_x.py",
            "conftest.py",
            "a/conftest.py",
            "tests/data/orders.json",
            "tests/conftest.py",
        ),
        *(
            "src/a.test.ts",
            "src/a.spec.js",
            "src/__tests__/a.js",
            "spec/a_spec.rb",
            "pkg/a_test.go",
            "pkg/testdata/x.txt",
        ),
        *("src/test/java/OrderTest.java", "OrderTests.cs", "t/basic.t", "test/run.bats", "test.sh", "tests.py"),
        *("greet-test.sh", "features/login.feature", "widget/test_parser.py", "e2e/login.ts"),
    ],
)
def test_tests(path: str) -> None:
    """Tests, what they share and their data are known by their path, in the ways of many languages."""
    assert is_test(path)


@pytest.mark.parametrize(
    "path",
    [
        *("widget/parser.py", "src/contest/index.ts", "latest.py", "attest.go", "requirements-test.txt", "spec.py"),
        *("docker-compose.test.yml", "greet.sh", "bin/greet", "testing/tools.py", "protest.js", "Makefile"),
    ],
)
def test_no_tests(path: str) -> None:
    """A name that only looks a little like a test's is none."""
    assert not is_test(path)


@pytest.mark.parametrize(
    ("paths", "kind"),
    [
        (["README.md"], Kind.DOCUMENTATION),
        (
            ["docs/usage.rst", "docs/conf.py", "docs/logo.svg", "CHANGELOG", "LICENSE.txt", "NEWS.txt"],
            Kind.DOCUMENTATION,
        ),
        (["tests/test_x.py"], Kind.TESTS),
        (["tests/test_x.py", "README.md"], Kind.TESTS),
        (["tests/README.md", "tests/data/a.txt"], Kind.TESTS),
        (["README.md", "widget/a.py"], Kind.CODE),
        (["tests/test_x.py", "widget/a.py"], Kind.CODE),
        (["requirements.txt"], Kind.CODE),
        (["CMakeLists.txt"], Kind.CODE),
        (["pytest.ini", "tests/test_x.py"], Kind.CODE),
        ([], Kind.CODE),
    ],
)
def test_kinds(paths: list[str], kind: Kind) -> None:
    """Documentation alone, tests, and code; what the program may read is code."""
    assert kind_of([change(path, added="x") for path in paths]) is kind


def test_a_test_of_documentation_is_a_test() -> None:
    """Wherever a test is kept, it is one."""
    assert is_documentation("docs/conf.py")
    assert not is_documentation("docs/test_conf.py")


def test_a_comment_is_code() -> None:
    """Nobody has to work out whether a comment means something to a tool."""
    assert kind_of([change("a.py", added="# type: ignore")]) is Kind.CODE


def test_other_tests() -> None:
    """What the named files may need beside them: test files that came or changed, their data too; none that went."""
    changes = [
        change("tests/test_x.py", added="x"),
        change("tests/helpers.py", added="x", new=True),
        change("conftest.py", added="x"),
        change("tests/data/a.json", added="x"),
        change("tests/old.py", removed="x", deleted=True),
        change("widget/a.py", added="x"),
    ]
    assert other_tests(changes, ("tests/test_x.py",)) == ("tests/helpers.py", "conftest.py", "tests/data/a.json")


def test_added_names() -> None:
    """Words of new lines, options in both spellings, and what new files are called by; none of tests or documents."""
    names = added_names(
        [
            change(
                "widget/cli.py", added='    parser.add_argument("--dry-run", default=limit)', removed="def limit(): ..."
            ),
            change("src/widget/sub.py", added="def subtract(a, b):", new=True),
            change("tests/test_sub.py", added="def helper_of_tests(): ...", new=True),
            change("README.md", added="There is a manual now."),
            change("widget/old.py", removed="def gone(): ...", deleted=True),
        ]
    )
    brought = {"dry-run", "dry_run", "subtract", "sub", "sub.py", "widget.sub", "widget/sub.py", "src/widget/sub.py"}
    assert brought <= names
    assert names.isdisjoint({"limit", "helper_of_tests", "test_sub", "manual", "gone", "old"})


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("widget/sub/__init__.py", "widget.sub"),
        ("widget/sub/__main__.py", "widget.sub"),
        ("lib/refund/index.js", "refund"),
        ("bin/greet-all", "bin/greet-all"),
        ("bin/greet-all.sh", "greet_all"),
        (".env", ".env"),
    ],
)
def test_what_new_files_are_called_by(path: str, name: str) -> None:
    """A package goes by its folder's name, and a script by its path; a file that was there is not new."""
    assert name in added_names([change(path, added="x", new=True)])
    assert name not in added_names([change(path, added="x")])
