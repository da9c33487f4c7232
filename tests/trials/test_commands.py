"""How a Trial's command ends: by itself, by its time, by a cancel; and what is kept of what it printed."""

from __future__ import annotations

import os
import resource
import tempfile
import threading
from pathlib import Path

import pytest

from bot.cancel import Cancelled
from bot.claude.descendants import marked
from bot.claude.shell import KEPT_FIRST, KEPT_LAST
from bot.clock import Clock
from bot.isolation.paths import in_a_child
from bot.proof.facts import Ran
from bot.trials import remove
from tests.trials.conftest import Yard

NOBODY = 65_534


def run(yard: Yard, command: str, setup: str = "") -> Ran:
    """What `command` does on the base commit after `setup`."""
    return yard.trials(SETUP=setup).run(yard.base, command, minutes=5)


@pytest.mark.parametrize(
    ("command", "code"), [("true", 0), ("false; true", 0), ("exit 7", 7), ("kill -9 $$", -9), ("no-such-command", 127)]
)
def test_exit_code(yard: Yard, command: str, code: int) -> None:
    """The exit code is the command's own, negative for a signal."""
    assert run(yard, command).exit_code == code


def test_streams(yard: Yard) -> None:
    """Both streams are kept in order, what is no text is replaced, and there is nothing to read."""
    ran = run(yard, r"echo one; echo two >&2; printf '\xff\n'; cat; test -t 0 || echo four")
    assert ran.output == "one\ntwo\n\ufffd\nfour\n"


def test_said(yard: Yard) -> None:
    """The job log has a line before and one after with the seconds, and nothing that the command printed."""
    run(yard, "echo '::error::planted'; exit 3")
    begins, ended = yard.said
    assert begins == f"trial on {yard.base[:10]} begins"
    assert ended.startswith(f"trial on {yard.base[:10]}: exit code 3, ")
    assert ended.endswith(" s")


def test_much_output(yard: Yard) -> None:
    """Of hundreds of megabytes the first and the last lines are kept, with how much is missing between them, in bounded
    memory.
    """
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ran = run(yard, "echo first; yes | head -c 300000000; echo last")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert ran.output.startswith("first\ny\n")
    assert ran.output.endswith("y\nlast\n")
    assert "\n[… 299967" in ran.output
    assert len(ran.output) <= KEPT_FIRST + KEPT_LAST + 100
    assert grown < 20_000


def test_one_long_line(yard: Yard) -> None:
    """A single line without an end is kept at both ends too."""
    ran = run(yard, "printf 'first '; yes x | tr -d '\\n' | head -c 1000000; printf ' last'")
    assert ran.output.startswith("first x")
    assert ran.output.endswith("x last")
    assert "bytes left out" in ran.output


DAEMON = "setsid bash -c 'trap \"\" TERM; exec -a nightjar-daemon sleep 600' & disown"


def daemons(yard: Yard) -> tuple[int, ...]:
    """What still runs in a Trial's home."""
    return marked(f"HOME={yard.trial}/home")


def test_daemon(any_yard: Yard) -> None:
    """What a command leaves running, detached and with its output open, neither delays its end nor survives it."""
    ran = any_yard.run(f"{DAEMON}; echo done")
    assert (ran.exit_code, ran.output) == (0, "done\n")
    assert ran.seconds < 20
    assert daemons(any_yard) == ()


def test_time_is_over(yard: Yard) -> None:
    """A command that takes longer than its minutes is ended with all below it; what it printed is kept."""
    ran = yard.trials(clock=Clock(60)).run(yard.base, f"echo begun; {DAEMON}; sleep 600", minutes=3)
    assert (ran.exit_code, ran.output) == (None, "begun\n")
    assert 1 < ran.seconds < 20
    assert "its time was over" in yard.said[-1]
    assert daemons(yard) == ()


def test_time_of_the_run_is_over(yard: Yard) -> None:
    """No command gets more than what the Run has left."""
    ran = yard.trials(clock=Clock(60), run_minutes=1).run(yard.base, "sleep 600", minutes=60)
    assert ran.exit_code is None
    assert ran.seconds < 20


def test_cancel(yard: Yard) -> None:
    """A cancel ends a command at once, with all below it."""
    clock, begun = Clock(), yard.trial / "home" / "begun"

    def cancel() -> None:
        while not begun.exists():
            Clock.pause(0.02)
        clock.cancel.request()

    asking = threading.Thread(target=cancel)
    asking.start()
    started = clock.now()
    with pytest.raises(Cancelled):
        yard.trials(clock=clock).run(yard.base, f"{DAEMON}; touch ~/begun; sleep 600", minutes=5)
    asking.join()
    assert clock.now() - started < 20
    assert daemons(yard) == ()
    assert not yard.trial.exists()


# ── setup ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_setup_comes_first(any_yard: Yard) -> None:
    """The `setup` commands make the tree and the home ready, over the files that were laid there."""
    head = any_yard.commits("echo new > a.txt")
    trials = any_yard.trials(SETUP="cp a.txt made; echo x > ~/made\nenv > environment")
    ran = trials.run(any_yard.base, "cat made ~/made; grep PYTEST environment", laid_over=["a.txt"], of=head, minutes=5)
    assert ran.output == "new\nx\nPYTEST_ADDOPTS=-p no:cacheprovider\n"
    assert any_yard.set_up == 1


def test_setup_fails(yard: Yard) -> None:
    """A `setup` that fails is told with its output, and the command is not run."""
    ran = run(yard, "echo RUN", "echo about to; false; echo NOT")
    assert ran.setup_failed == "the setup command `echo about to; false; echo NOT` ended with exit code 1"
    assert (ran.exit_code, ran.output) == (None, "about to\n")
    assert "not set up" in yard.said[-1]


def test_setup_takes_too_long(yard: Yard) -> None:
    """The time is for `setup` and the command together."""
    ran = yard.trials(clock=Clock(60), SETUP="sleep 600").run(yard.base, "echo RUN", minutes=2)
    assert ran.setup_failed == "the setup command `sleep 600` was still running when its time was over"
    assert ran.output == ""


def test_setup_leaves_a_server(yard: Yard) -> None:
    """What `setup` leaves running is ended before the command."""
    ran = run(yard, "flock -n ~/lock echo free", "exec 9>~/lock; flock 9; setsid sleep 600 & disown")
    assert ran.output == "free\n"


def test_no_setup(yard: Yard) -> None:
    """Without `setup` nobody hears of one."""
    run(yard, "true")
    assert yard.set_up == 0


def test_working_directory(yard: Yard) -> None:
    """`setup` and the command start in the `working-directory`."""
    head = yard.commits("mkdir app; echo x > app/x")
    ran = yard.trials(SETUP="cp x y", WORKING_DIRECTORY="app").run(head, "ls", minutes=5)
    assert ran.output.split() == ["x", "y"]


@pytest.mark.parametrize("script", ["echo x > app", "ln -s .. app", "true"], ids=["file", "link", "nothing"])
def test_no_working_directory(yard: Yard, script: str) -> None:
    """On a commit without the `working-directory` nothing is run; a link out of the tree is none."""
    head = yard.commits(script)
    ran = yard.trials(SETUP="true", WORKING_DIRECTORY="app").run(head, "echo RUN", minutes=5)
    assert ran.setup_failed == "`working-directory`: no folder 'app' in this commit"
    assert ran.output == ""


# ── what the next one finds ───────────────────────────────────────────────────────────────────────────────────────


def test_after_closed_folders(any_yard: Yard) -> None:
    """Folders that a command has closed to everybody are gone before the next Trial."""
    trials = any_yard.trials()
    trials.run(
        any_yard.base, "mkdir -p closed/in; echo x > closed/in/x; chmod 0 closed/in closed; chmod 0 ~", minutes=5
    )
    assert not any_yard.trial.exists()
    assert trials.run(any_yard.base, "ls", minutes=5).output.split() == ["a.txt", "b.txt"]


def test_a_link_in_the_place_of_the_folder(yard: Yard) -> None:
    """A link that stands where Trials are to be is removed and not followed."""
    precious = yard.temp / "precious"
    precious.mkdir(mode=0o755)
    (precious / "kept").write_text("kept")
    yard.trial.symlink_to(precious)
    assert run(yard, "ls").output.split() == ["a.txt", "b.txt"]
    assert [path.name for path in precious.iterdir()] == ["kept"]
    assert precious.stat().st_mode & 0o777 == 0o755


def test_closed_folders_of_a_plain_user() -> None:
    """A plain user's program removes what has been closed to itself, and moves aside what is another user's."""
    if os.geteuid() != 0:
        pytest.skip("takes root, to be two users")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.chown(folder, NOBODY, NOBODY)
        for path in (folder / "trial/closed/in", folder / "trial/roots"):
            path.mkdir(parents=True)
            (path / "x").write_text("")
        for path in (folder / "trial", folder / "trial/closed", folder / "trial/closed/in"):
            os.chown(path, NOBODY, NOBODY)
            path.chmod(0)

        def removes() -> bool:
            os.setresuid(NOBODY, NOBODY, NOBODY)
            remove(folder / "trial")
            return not (folder / "trial").exists()

        assert in_a_child(removes)
        assert [str(path.relative_to(left)) for left in folder.iterdir() for path in left.rglob("*")] == [
            "roots",
            "roots/x",
        ]


def test_paths_are_the_repositorys(yard: Yard) -> None:
    """What was printed names files as they are called in the repository, wherever the tree lay."""
    ran = yard.run('echo "$PWD/a.txt is odd"', yard.commits("true"))
    assert ran.output == "a.txt is odd\n"
