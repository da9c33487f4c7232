"""What a Trial sees and does not see: the commit, and nothing that a Session left beside it."""

from __future__ import annotations

import pytest

from tests.trials.conftest import SECRET, Yard

SHOUT = "echo PLANTED"


def test_the_commit_and_nothing_else(any_yard: Yard) -> None:
    """The tree holds the commit's files in their modes, and none that a Session ignored, left untracked or changed."""
    head = any_yard.commits("printf '#!/bin/sh\necho ran\n' > run.sh; chmod +x run.sh; ln -s a.txt link")
    any_yard.bench.session("echo planted > secret.log; echo planted > conftest.py; echo planted > a.txt")
    ran = any_yard.run("ls -A; ./run.sh; cat a.txt; readlink link; git status --short", head)
    assert ran.output.split() == [
        *(".git", ".github", ".gitignore", "a.txt", "b.txt", "link", "run.sh"),
        *("ran", "one", "a.txt"),
    ]
    assert ran.exit_code == 0


def test_git_works_without_a_way_out(any_yard: Yard) -> None:
    """There is a repository, for tools that ask for one: a single commit that nobody knows, and no remote."""
    head = any_yard.commits("echo three > c.txt")
    ran = any_yard.run(
        "git log --all --format=%s; git branch -a | wc -l; git remote | wc -l; git reflog | wc -l; git rev-parse HEAD;"
        "git commit -q --allow-empty -m x",
        head,
    )
    assert ran.output.split()[:5] == ["The", "files", "1", "0", "0"]
    assert ran.output.split()[5] not in ("HEAD", head)
    assert any_yard.bench.git.local("log", "--all", "--format=%s").out.split() == ["work", "Start"]


def test_planted_hooks_and_configuration(any_yard: Yard) -> None:
    """Hooks and settings in a Session's own repository are of no effect on a Trial's."""
    any_yard.bench.session(
        "for hook in post-checkout pre-commit reference-transaction;"
        f" do printf '#!/bin/sh\n{SHOUT}\n' > .git/hooks/$hook;"
        f" chmod +x .git/hooks/$hook; done; git config core.fsmonitor '{SHOUT} #'; git config alias.status '!{SHOUT}'"
    )
    ran = any_yard.run("git checkout -q -b other; git commit -q --allow-empty -m x; git status --short; ls .git/hooks")
    assert "PLANTED" not in ran.output
    assert "pre-commit\n" not in ran.output


def test_planted_home(any_yard: Yard) -> None:
    """What starts with every shell, git or Python of a Session's home starts with none of a Trial's."""
    site = 'lib/python$(python3 -c "import sys; print(*sys.version_info[:2], sep=str(chr(46)))")/site-packages'
    any_yard.bench.session(
        f"cd {any_yard.session_home}; for file in .bashrc .bash_profile .profile; do echo '{SHOUT}' > $file; done;"
        f"git config --file .gitconfig alias.hello '!{SHOUT}'; mkdir -p .local/bin .local/{site};"
        f"printf '#!/bin/sh\n{SHOUT}\n' > .local/bin/pytest; chmod +x .local/bin/pytest;"
        f"echo 'print(\"PLANTED\")' > .local/{site}/sitecustomize.py"
    )
    ran = any_yard.run("bash -lc 'echo shell'; git hello; python3 -c 'print(\"python\")'; pytest; ls -A ~")
    assert "shell\n" in ran.output
    assert "python\n" in ran.output
    assert "PLANTED" not in ran.output
    assert ran.output.splitlines()[-1] == "tmp"


def test_each_has_its_own_home(yard: Yard) -> None:
    """One Trial finds nothing of the one before it, and nothing of either is left."""
    trials = yard.trials()
    trials.run(yard.base, 'echo x > ~/left; echo x > left; echo x > "$TMPDIR/left"', minutes=5)
    assert not yard.trial.exists()
    ran = trials.run(yard.base, 'ls -A ~ . "$TMPDIR" | grep left', minutes=5)
    assert (ran.exit_code, ran.output) == (1, "")


def test_what_it_cannot_write_or_read(any_yard: Yard) -> None:
    """A Trial reads nothing of a Session's and the runner's files, and writes neither those nor the program's."""
    (any_yard.commands / "set_env_1").write_text("SEEN=1")
    any_yard.bench.session(
        f"echo SEEN > a.txt; echo SEEN > {any_yard.session_home}/x; echo SEEN > {any_yard.handover}/x"
    )
    closed = (any_yard.checkout / "a.txt", any_yard.session_home / "x", any_yard.handover / "x")
    seen = (*closed, any_yard.commands / "set_env_1")
    bare = any_yard.bench.git.bare
    written = (*seen, any_yard.home / "new", any_yard.trial / "new", bare / "HEAD", bare / "objects" / "new")
    reads = "; ".join(f"cat {path}" for path in seen)
    writes = "; ".join(f"echo x >> {path} && echo WROTE {path}" for path in written)
    ran = any_yard.run(f"{reads}; {writes}")
    assert "SEEN" not in ran.output
    assert "WROTE" not in ran.output


def test_environment(any_yard: Yard) -> None:
    """Nothing of a Trial's environment is a credential or says where the runner's files are."""
    ran = any_yard.run("env")
    names = {line.partition("=")[0] for line in ran.output.splitlines()}
    assert names <= {
        *("PATH", "HOME", "TMPDIR", "USER", "LOGNAME", "PWD", "SHLVL", "_", "LC_CTYPE"),
        *("GITHUB_ACTIONS", "PYTEST_ADDOPTS", "NIGHTJAR_SESSION"),
    }
    assert f"HOME={any_yard.trial}/home\n" in ran.output
    assert str(any_yard.commands) not in ran.output


def test_no_privileges(any_yard: Yard) -> None:
    """A Trial has no capability and can gain none."""
    ran = any_yard.run("grep -E '^(CapEff|CapBnd|NoNewPrivs)' /proc/self/status")
    assert "NoNewPrivs:\t1\n" in ran.output
    assert "CapEff:\t0000000000000000\n" in ran.output


def test_secrets_are_taken_out(yard: Yard) -> None:
    """A known secret that a command prints or writes into a report is not handed on."""
    report = f"echo '<testsuite name=\"{SECRET}\"/>' > out.xml"
    ran = yard.run(f"echo before {SECRET} after; {report}")
    assert ran.output == "before *** after\n"
    assert ran.reports == ('<testsuite name="***"/>\n',)


# ── files laid over ───────────────────────────────────────────────────────────────────────────────────────────────


def test_laid_over(any_yard: Yard) -> None:
    """The named files are as the other commit has them, with their modes and new folders; the rest is the base."""
    head = any_yard.commits(
        "mkdir -p tests/deep; echo new > tests/deep/test.txt; echo changed > a.txt; echo changed > b.txt;"
        "printf '#!/bin/sh\necho ran\n' > tests/run.sh; chmod +x tests/run.sh"
    )
    named = (
        "tests/deep/test.txt",
        "tests/run.sh",
        "a.txt",
        "missing.txt",
        "tests",
        "../a.txt",
        "/etc/passwd",
        ":(top)",
    )
    ran = any_yard.run("cat tests/deep/test.txt a.txt b.txt; tests/run.sh; ls", laid_over=named, of=head)
    assert ran.output.split() == ["new", "changed", "two", "ran", "a.txt", "b.txt", "tests"]


@pytest.mark.parametrize("kind", ["folder", "file", "dangling"])
def test_links_of_the_base_are_not_written_through(yard: Yard, kind: str) -> None:
    """A link where the named file or a folder above it is to be gives way to it; what it led to stays as it was."""
    outside = yard.temp / "outside"
    outside.mkdir()
    if kind != "dangling":
        (outside / "test.txt").write_text("untouched")
    target = outside / "test.txt" if kind == "file" else outside
    place = "tests/test.txt" if kind == "file" else "tests"
    base = yard.commits(f"mkdir -p $(dirname {place}); ln -s {target} {place}")
    head = yard.commits("rm -rf tests; mkdir tests; echo new > tests/test.txt")
    ran = yard.run("cat tests/test.txt; ls -ld tests", base, laid_over=["tests/test.txt"], of=head)
    assert ran.output.startswith("new\nd")
    assert [path.read_text() for path in outside.iterdir()] == ([] if kind == "dangling" else ["untouched"])


def test_a_link_is_not_laid_over(yard: Yard) -> None:
    """What the other commit has as a link is left out."""
    head = yard.commits("ln -sf /etc/passwd a.txt")
    assert yard.run("cat a.txt", laid_over=["a.txt"], of=head).output == "one\n"


def test_a_file_where_the_other_commit_has_a_folder(yard: Yard) -> None:
    """A file of the base gives way to a folder that a named file needs, and a folder to a named file."""
    base = yard.commits("echo file > tests; mkdir data; echo x > data/x")
    head = yard.commits("rm -r tests data; mkdir tests; echo new > tests/a; echo data > data")
    ran = yard.run("cat tests/a data", base, laid_over=["tests/a", "data"], of=head)
    assert ran.output == "new\ndata\n"
