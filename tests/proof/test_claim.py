"""What a Session says proves its work, as it is read from `proof.json`."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.proof.claim import NoClaim, read_claim, tracked
from bot.proof.facts import Claim


def told(command: object = "pytest -q", files: object = ("tests/test_slug.py",)) -> str:
    """A `proof.json` with these two values."""
    return json.dumps({"command": command, "files": files})


def test_claim_names_a_command_and_files() -> None:
    """The command and the files come out as they were written, without a leading `./`."""
    claim = read_claim(told(" pytest -q tests ", ["./tests/test_slug.py", "tests/données/a b.json"]))
    assert claim == Claim("pytest -q tests", ("tests/test_slug.py", "tests/données/a b.json"))


def test_unknown_keys_are_passed_over() -> None:
    """A key that means nothing here changes nothing."""
    text = json.dumps({"command": "make", "files": ["a.py"], "note": ["x"]})
    assert read_claim(text) == Claim("make", ("a.py",))


@pytest.mark.parametrize("text", ["", " \n"])
def test_no_file_is_no_claim_and_nothing_is_said(text: str) -> None:
    """Where there is no `proof.json`, there is no claim and no complaint."""
    with pytest.raises(NoClaim) as caught:
        read_claim(text)
    assert str(caught.value) == ""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "`proof.json` is not JSON"),
        ("[" * 9000, "`proof.json` is not JSON"),
        (" " * 20_000 + "{}", "`proof.json` has more than 20000 characters"),
        ('["pytest"]', "`proof.json` holds no object with `command` and `files`"),
        ("null", "`proof.json` holds no object with `command` and `files`"),
        ("{}", "`command` in `proof.json` is not a text"),
        (told(["pytest"]), "`command` in `proof.json` is not a text"),
        (told("  "), "`command` in `proof.json` is empty"),
        (told("x" * 1001), "`command` in `proof.json` has more than 1000 characters"),
        (told("pytest\nrm -r x"), "`command` in `proof.json` is not one line of printable characters"),
        (told("pytest \u202e"), "`command` in `proof.json` is not one line of printable characters"),
        (told("pytest \x1b[1m"), "`command` in `proof.json` is not one line of printable characters"),
        (told("make", "a.py"), "`files` in `proof.json` is not a list of paths"),
        (told("make", [1]), "`files` in `proof.json` is not a list of paths"),
        (told("make", []), "`files` in `proof.json` names no file"),
        (told("make", [f"{n}.py" for n in range(21)]), "`files` in `proof.json` names more than 20 files"),
        (told("make", ["a.py", "./a.py"]), "`a.py` is named twice in `proof.json`"),
        (told("make", ["/etc/passwd"]), "`/etc/passwd` in `proof.json` is not inside the tree"),
        (told("make", ["tests/../../x"]), "`tests/../../x` in `proof.json` is not inside the tree"),
        (told("make", [".git/config"]), "`.git/config` in `proof.json` is not inside the tree"),
        (told("make", ["sub/.GIT/config"]), "`sub/.GIT/config` in `proof.json` is not inside the tree"),
        (told("make", ["a\\b"]), "`a?b` in `proof.json` has characters that a path may not have here"),
        (told("make", ["a\nb"]), "`a b` in `proof.json` has characters that a path may not have here"),
        (told("make", ["-rf"]), "`-rf` in `proof.json` has characters that a path may not have here"),
        (told("make", [":(top)a"]), "`:(top)a` in `proof.json` has characters that a path may not have here"),
        (told("make", ["tests/"]), "`tests/` in `proof.json` is not the path of a file"),
        (told("make", [""]), "`?` in `proof.json` is not the path of a file"),
        (told("make", ["a//b"]), "`a//b` in `proof.json` is not the path of a file"),
        (told("make", ["a/./b"]), "`a/./b` in `proof.json` is not the path of a file"),
        (told("make", ["@alice`x`"] * 2), "`?alice?x?` is named twice in `proof.json`"),
    ],
)
def test_odd_claim_is_told_in_one_clause(text: str, reason: str) -> None:
    """What is wrong with a `proof.json` is said in one clause that is safe to post."""
    with pytest.raises(NoClaim) as caught:
        read_claim(text)
    assert str(caught.value) == reason


def test_long_path_is_refused() -> None:
    """A path of more than 300 characters is refused, and named by its beginning."""
    with pytest.raises(NoClaim, match=r"^`a+\.\.\.` in `proof.json` has more than 300 characters$"):
        read_claim(told("make", ["a" * 301]))


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["command", "files", "x"]) | st.text(), inner),
)


@given(st.text() | _JSON.map(json.dumps) | st.builds(told, st.text(), st.lists(st.text())))
def test_any_text_is_a_claim_or_a_clause(text: str) -> None:
    """Whatever is in the file, the result is a claim inside the bounds or a one-line reason."""
    claim, reason = claim_or_reason(text)
    assert "\n" not in reason
    if claim is not None:
        assert claim.command.isprintable()
        assert 1 <= len(claim.files) <= 20
        assert all(path.isprintable() and not path.startswith("/") for path in claim.files)
        assert all(part not in ("", ".", "..", ".git") for path in claim.files for part in path.split("/"))


def claim_or_reason(text: str) -> tuple[Claim | None, str]:
    """What reading `text` comes to."""
    try:
        return read_claim(text), ""
    except NoClaim as reason:
        return None, str(reason)


@pytest.mark.parametrize(
    ("paths", "reason"),
    [
        ({"a.py", "tests/b.py", "c"}, ""),
        ({"a.py"}, "`tests/b.py` is not in the commit"),
        (set[str](), "`a.py`, `tests/b.py` are not in the commit"),
    ],
)
def test_files_have_to_be_in_the_commit(paths: set[str], reason: str) -> None:
    """Named files that the head does not track are named."""
    assert tracked(Claim("make", ("a.py", "tests/b.py")), paths) == reason
