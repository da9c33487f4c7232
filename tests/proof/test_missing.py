"""The name that a failure says is not there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.proof.missing import missing_name
from tests.proof.sampled import sample

FILES = ("tests/test_slug.py", "tests/test_slug.sh", "tests/slug.test.js")


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("E   ImportError: cannot import name 'slugify' from 'app' (/repo/app/__init__.py)", "slugify"),
        ("E   ModuleNotFoundError: No module named 'app.slug'", "slug"),
        ("Traceback (most recent call last):\nModuleNotFoundError: No module named 'app.slug'", "slug"),
        ("AttributeError: module 'app' has no attribute 'slugify'. Did you mean: 'x'?", "slugify"),
        ("AttributeError: type object 'Shelf' has no attribute 'of'", "of"),
        ("AttributeError: 'Shelf' object has no attribute 'of'", "of"),
        ("E   NameError: name 'slugify' is not defined", "slugify"),
        ("E   TypeError: half() got an unexpected keyword argument 'exact'", "exact"),
        ("E   TypeError: Shelf.half() got an unexpected keyword argument 'exact'", "exact"),
        ("E       fixture 'client' not found", "client"),
        ("E   FileNotFoundError: [Errno 2] No such file or directory: 'tests/data/books.json'", "books"),
        ("half/half_test.go:10:10: undefined: slug.Slugify", "Slugify"),
        ("./a_test.go:9:3: undefined: Slugify", "Slugify"),
        ("./a_test.go:9:3: s.Of undefined (type Shelf has no field or method Of)", "Of"),
        ("a_test.go:6:2: no required module provides package example.com/a/slug; to add it:", "slug"),
        ("a_test.go:6:2: package example.com/a/slug is not in GOROOT (/usr/lib/go/src)", "slug"),
        ("TypeError: slugify is not a function", "slugify"),
        ("TypeError: app.Shelf is not a constructor", "Shelf"),
        ("ReferenceError: slugify is not defined", "slugify"),
        ("Error: Cannot find module '../src/slug.js'", "slug"),
        ('Error: Failed to resolve import "../src/slug" from "tests/slug.test.ts". Does the file exist?', "slug"),
        ("SyntaxError: The requested module './a.mjs' does not provide an export named 'slugify'", "slugify"),
        ("a.ts(1,10): error TS2305: Module '\"./a\"' has no exported member 'slugify'.", "slugify"),
        ("a.ts(1,10): error TS2339: Property 'slugify' does not exist on type 'App'.", "slugify"),
        ("a.ts(1,10): error TS2304: Cannot find name 'slugify'.", "slugify"),
        ("tests/test_slug.sh: line 6: slugify: command not found", "slugify"),
        ("tests/test_slug.sh: 6: slugify: not found", "slugify"),
        ("# tests/test_slug.sh: line 6: slugify: command not found", "slugify"),
        ("/repo/tests/test_slug.sh: line 2: ./bin/slugify: No such file or directory", "slugify"),
        ("tests/test_slug.sh: 2: .: cannot open lib/slug.sh: No such file", "slug"),
        ("error[E0425]: cannot find function `slugify` in crate `shelf`", "slugify"),
        ("error[E0599]: no method named `slugify` found for struct `Shelf`", "slugify"),
        ("error[E0432]: unresolved import `shelf::slug`", "slug"),
        (sample("javac.txt"), "slugify"),
        (sample("cargo-not-built.txt"), "slugify"),
        (sample("node-plain.txt"), "slugify"),
        (sample("shell-no-lib.txt"), "slug"),
        ("E   OSError: no network", ""),
        ("", ""),
    ],
)
def test_name_is_read_from_the_error(message: str, name: str) -> None:
    """Each language's way to say that something is not there yields the last part of its name."""
    assert missing_name(message, FILES) == name


@pytest.mark.parametrize(
    "message",
    [
        "E   AssertionError: assert \"name 'x' is not defined\" == ''",
        "E   assert 1 == 1.5",
        "E   Failed: DID NOT RAISE <class 'ImportError'>",
        "AssertionError: \"ModuleNotFoundError: No module named 'x'\" != ''",
        "  error: 'x is not a function'\n  code: 'ERR_ASSERTION'\n  name: 'AssertionError'",
        "org.opentest4j.AssertionFailedError: expected: <x is not defined> but was: <>",
        'assertion `left == right` failed\n  left: "cannot find function `x`"',
        "E   app.Missing: user: not found",
        "E   ValueError: a_test.go:9:3: undefined: slugify",
        "E   ValueError: bad\n----- Captured stderr call -----\nImportError: cannot import name 'x' from 'y'",
        "E   ValueError: bad\n----- Captured stderr call -----\ntests/test_slug.sh: line 2: x: command not found",
    ],
)
def test_failed_assertion_lacks_nothing(message: str) -> None:
    """A test whose assertion failed, or whose error is another, lacks nothing, whatever its texts say."""
    assert missing_name(message, FILES) == ""


@pytest.mark.parametrize("kind", ["NoneType", "str", "dict", "list"])
def test_attribute_of_a_builtin_value_is_a_bug(kind: str) -> None:
    """A value of the language that is asked for what it has not is a value gone wrong."""
    assert missing_name(f"E   AttributeError: '{kind}' object has no attribute 'title'", FILES) == ""


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("tests/test_slug.py:3: in test_a\nE   NameError: name 'slugify' is not defined", "slugify"),
        ("tests/test_slug.py:3: in test_a\napp/slug.py:9: in of\nE   NameError: name 'slugify' is not defined", ""),
        ("/usr/lib/python3.11/json/__init__.py:9: in f\nE   NameError: name 'x' is not defined", "x"),
        (
            (
                'Traceback (most recent call last):\n  File "/repo/tests/test_slug.py", line 3, in test_a\n    f()\n'
                "  File \"/repo/app/slug.py\", line 9, in f\n    g()\nNameError: name 'g' is not defined"
            ),
            "",
        ),
        (
            (
                'Traceback (most recent call last):\n  File "/repo/tests/test_slug.py", line 3, in test_a\n    f()\n'
                '  File "/usr/lib/python3.11/pathlib.py", line 9, in f\n    g()\n'
                "FileNotFoundError: [Errno 2] No such file or directory: 'data.json'"
            ),
            "data",
        ),
        ("TypeError: f is not a function\n    at t (/repo/tests/slug.test.js:5:39)\n    at r (node:x:1:1)", "f"),
        ("TypeError: f is not a function\n    at g (/repo/slug.js:5:39)\n    at t (/repo/tests/slug.test.js:5:39)", ""),
        ("lib/slug.sh: line 2: frobnicate: command not found", ""),
    ],
)
def test_what_the_code_lacks_inside_is_its_own_failure(message: str, name: str) -> None:
    """Only what the named test itself met counts as missing; what the code under test met is a bug of that code."""
    assert missing_name(message, FILES) == name


@given(st.text(), st.lists(st.text()))
def test_any_message_is_read_without_harm(message: str, files: list[str]) -> None:
    """Whatever a failure says, the name is short and on one line."""
    assert len(missing_name(message, files)) <= 100
