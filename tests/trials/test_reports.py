"""The JUnit files that a Trial's command leaves: which are read, and which are not."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.report_files import MAX_BYTES, MAX_FILES
from tests.trials.conftest import PATH, SECRET, Yard, furnished

SUITE = "<testsuite tests='1'/>"
WRITE = f'echo "{SUITE}"'


@pytest.fixture
def python_yard() -> Iterator[Yard]:
    """A yard whose PATH leads to a pytest."""
    with furnished("same-user", f"{Path(sys.executable).parent}:{PATH}") as made:
        yield made


def test_pytest_reports_unasked(python_yard: Yard) -> None:
    """pytest writes a report although the command does not ask for one, wherever it is called."""
    head = python_yard.commits("printf 'def test_sub():\n    assert 1 == 2\n' > test_sub.py")
    ran = python_yard.run("cd .github && pytest -q ..", head)
    assert ran.exit_code == 1
    (report,) = ran.reports
    assert "<testsuite " in report
    assert 'failures="1"' in report
    assert 'name="test_sub"' in report


def test_pytest_reports_where_it_is_told(python_yard: Yard) -> None:
    """A report that the command does ask for is the only one, and it is read."""
    head = python_yard.commits("printf 'def test_sub():\n    pass\n' > test_sub.py")
    ran = python_yard.run("mkdir out && pytest -q --junitxml=out/junit.xml; ls out", head)
    assert ran.output.endswith("junit.xml\n")
    assert ['name="test_sub"' in report for report in ran.reports] == [True]


def test_written_in_the_tree(any_yard: Yard) -> None:
    """JUnit files that the command wrote or changed are read, those nearest to the top first."""
    head = any_yard.commits(f"{WRITE} > old.xml; {WRITE} > changed.xml; echo '<project/>' > pom.xml")
    ran = any_yard.run(
        f"mkdir -p a/b; {WRITE}deep > a/b/TEST-x.XML; {WRITE}top >> changed.xml; echo '<project/>' > build.xml", head
    )
    assert ran.reports == (f"{SUITE}\n{SUITE}top\n", f"{SUITE}deep\n")


def test_written_by_setup(yard: Yard) -> None:
    """What `setup` wrote is no report of the command's."""
    ran = yard.trials(SETUP=f"{WRITE} > setup.xml").run(yard.base, "test -f setup.xml", minutes=5)
    assert (ran.exit_code, ran.reports) == (0, ())


def test_what_is_not_read(any_yard: Yard) -> None:
    """Links, FIFOs, folders, sockets and what is too long are left alone, and nothing waits for them."""
    outside = any_yard.temp / "outside"
    outside.mkdir()
    (outside / "secret.xml").write_text(SUITE)
    script = (
        f"ln -s {outside}/secret.xml link.xml; {WRITE} > ~/new.xml; ln -s ~ folder; mkfifo fifo.xml; mkdir folder.xml;"
        f"mkdir -p .git/x node_modules; {WRITE} | tee .git/x/a.xml > node_modules/a.xml;"
        f"({WRITE}; head -c {MAX_BYTES} /dev/zero) > long.xml; {WRITE}; mkfifo fifo; ln -s . loop"
    )
    reports = any_yard.trial / "reports"
    ran = any_yard.run(f"{script}; cd {reports} && ln -s {outside}/secret.xml pytest.xml && mkfifo other.xml")
    assert (ran.exit_code, ran.reports) == (0, ())


def test_many(yard: Yard) -> None:
    """Of many reports a bounded number is read."""
    ran = yard.run(f"for i in $(seq 50); do {WRITE} > $i.xml; done")
    assert len(ran.reports) == MAX_FILES


def test_a_second_name_of_a_file(yard: Yard) -> None:
    """A Trial cannot give a file that it must not read a name of its own."""
    closed = yard.checkout / "closed.xml"
    closed.write_text(f"{SUITE}{SECRET}")
    ran = yard.run(f"ln {closed} own.xml || echo refused")
    assert (ran.output.splitlines()[-1], ran.reports) == ("refused", ())
