"""Commits with a secret do not leave the runner, wherever it stands in them."""

from __future__ import annotations

import base64
from pathlib import Path
from urllib.parse import quote

import pytest

from bot.failures import RunFailed
from bot.sandbox.github import EmbeddedGitHub
from tests.git.bench import REF, Bench

SECRET = "s3cr3t/value+of=the-run-0123"
HEAD, TAIL = SECRET[:13], SECRET[13:]
TOKEN = "ghs_" + "aB3dE6gH" * 64
"""As long as GitHub's are today."""
PRIVATE = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ\n-----END PRIVATE KEY-----"


@pytest.fixture
def bench(hub: EmbeddedGitHub, tmp_path: Path) -> Bench:
    """A workspace that knows a secret, and whose base holds a made-up key of its own."""
    made = Bench(hub, tmp_path / "run", secrets=(SECRET,))
    made.repository.commit("main", {"docs.md": "Export AKIA0123456789ABCDEF first.\n"}, "Explain")
    made.prepare()
    return made


def commit(content: str, path: str = "c.txt", more: str = "") -> str:
    """A commit with that file."""
    return f"cat > {path} <<'END'\n{content}\nEND\ngit add . {more}\ngit commit -qm 'Add c'"


WAYS = {
    "in a file": commit(f"key = {SECRET}"),
    "in base64": commit(base64.b64encode(f"a {SECRET} b".encode()).decode()),
    "URL-encoded": commit(quote(SECRET, safe="")),
    "in hexadecimal digits": commit(SECRET.encode().hex()),
    "split over lines": commit(f"{HEAD}\n    {TAIL}"),
    "in pieces of a program": commit(f'key = "{HEAD}" +\n    "{TAIL}"'),
    "with 16 bits a character": f"printf '{SECRET}' | iconv -t UTF-16LE > c.txt; git add .; git commit -qm 'Add c'",
    "in a binary file": f"printf '\\0\\1\\377{SECRET}\\0' > c.bin; git add .; git commit -qm 'Add c'",
    "in a file without a diff": commit(f"key = {SECRET}", more="; echo '* -diff' > .gitattributes; git add ."),
    "after much else": f"(head -c 3000000 /dev/zero; printf '{SECRET}') > c.txt; git add .; git commit -qm 'Add c'",
    "taken out again": commit(SECRET) + "; git rm -q c.txt; echo x > d.txt; git add .; git commit -qm 'Take out'",
    "in a message": f"echo x > c.txt; git add .; git commit -qm 'Add {SECRET}'",
    "in an author": f"echo x > c.txt; git add .; git commit -qm 'Add c' --author 'a <{SECRET}@example.com>'",
    "in a file's name": f"echo x > 'c {quote(SECRET, safe='')}'; git add .; git commit -qm 'Add c'",
    "in folders' names": f"mkdir -p {SECRET}; echo x > {SECRET}/c; git add .; git commit -qm 'Add c'",
    "in a link's target": f"ln -s {SECRET} c.txt; git add .; git commit -qm 'Add c'",
    "in what a merge adds": (
        "git checkout -q -b side; echo s > s.txt; git add .; git commit -qm s; git checkout -q -; echo t > t.txt; "
        f"git add .; git commit -qm t; git merge -q --no-commit side; echo {SECRET} > c.txt; git add .; "
        "git commit -qm 'Merge'"
    ),
    "left uncommitted": f"echo {SECRET} > c.txt",
    "a GitHub token": commit(TOKEN),
    "an npm token": commit("//registry.example/:_authToken=npm_" + "a1B2c3D4e" * 4),
    "an Anthropic key": commit("sk-ant-api03-abcdefgh12"),
    "an AWS access key": commit("AKIA9876543210FEDCBA"),
    "a private key": commit(PRIVATE),
    "a private key in a program": commit(PRIVATE.replace("\n", '\\n"\n    "').join('""')),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_secret_does_not_leave(bench: Bench, way: str) -> None:
    """Whatever way it is written, the push is refused with the place and without the value; the patch does not hold it
    either.
    """
    bench.session(WAYS[way])
    head = bench.workspace.collect("Work")
    assert bench.workspace.ahead()

    with pytest.raises(RunFailed, match="secret_in_diff") as refused:
        bench.workspace.push()

    written = bench.git.local("rev-list", head).out.split()
    assert any(commit[:10] in refused.value.reason for commit in written)
    assert REF not in bench.repository.refs()
    patch = (bench.folder / "patches" / bench.workspace.keep_patch()).read_bytes()
    text = f"{refused.value.reason}\n{patch.decode(errors='replace')}"
    forms = (SECRET, HEAD, TAIL, quote(SECRET, safe=""), SECRET.encode().hex(), TOKEN[:40], PRIVATE.split("\n")[1])
    assert not any(form in text or form.encode("utf-16-le") in patch for form in forms)


HARMLESS = {
    "ordinary work": commit("def sub(a, b):\n    return a - b"),
    "an example that the base has": commit("See AKIA0123456789ABCDEF there."),
    "an example that moves": "git mv docs.md guide.md; git commit -qm 'Move'",
    "placeholders": commit(f"GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxx AKIAIOSFODNN7EXAMPLE sk-ant-... npm_{'x' * 36}"),
    "a private key that is none": commit("-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----"),
    "a login of a test's database": commit("postgres://user:password@localhost/db"),
}


@pytest.mark.parametrize("way", HARMLESS)
def test_what_is_no_secret_leaves(bench: Bench, way: str) -> None:
    """Work, placeholders, and what looks like a token but was in the repository before are pushed."""
    bench.session(HARMLESS[way])
    head = bench.workspace.collect("Work")

    assert bench.workspace.push() == head


def test_a_patch_without_a_secret_can_be_applied(bench: Bench) -> None:
    """What is kept of ordinary work is whole, its binary files too."""
    bench.session("printf '\\0\\1\\377' > c.bin; git add .; git commit -qm 'Add c'")
    bench.workspace.collect("Work")

    patch = bench.folder / "patches" / bench.workspace.keep_patch()
    assert "GIT binary patch" in patch.read_text(encoding="utf-8")
    bench.session(f"git checkout -q --detach HEAD^; git am -q {patch}; cmp c.bin <(printf '\\0\\1\\377')")
