"""Commands in comments: the shipped workflows, whole, in the sandbox's Actions."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot.clock import Clock
from bot.credential import FixedToken
from bot.git import Git, Remote
from bot.inbox import RequestRefs
from bot.request import Request, Wants
from bot.sandbox.github import Answer, Fault
from tests.run.town import NOT_SWEPT, Town, town
from tests.sandbox.conftest import Caller

REPAIRS = 'case "$kind" in implement) right;; *) case "$prompt" in *"Say what it is for"*) say_it;; esac;; esac'
SAY_IT = """say_it() {
  sed -i 's/def sub(a, b):/def sub(a, b):  # the difference/' calc.py
  git commit -qam 'Say what sub is for'
  echo 'A comment says it now.' >"$NIGHTJAR_HANDOVER/note.md"
}
"""
PATIENT = {"silence-timeout-minutes": "600"}
"""For a Session that waits at a gate."""
ASKED = "/nightjar fix Say what it is for, please."


def ready(played: Town) -> int:
    """A Run has ended ready; its pull request."""
    played.label()
    played.settle()
    assert played.labels() == ("nightjar:ready",), played.log
    return played.pull_request


def test_status(tmp_path: Path) -> None:
    """`/nightjar status` of a Run that is at work: a reaction, and what it does in the Tracking comment; it goes on."""
    with town(tmp_path, "right; gate go", settings=PATIENT) as played:
        played.label()
        played.wait(lambda: len(played.sessions) == 1)
        asked = played.say("/nightjar status")
        played.wait(lambda: "asked [`/nightjar status`]" in played.tracking()[-1])
        answer = played.tracking()[-1]
        assert "The Run is at work. This comment shows how far it is." in answer
        assert "Nightjar is working on this:** working on the issue." in answer
        assert "@alice asked" in answer
        assert played.reactions(asked) == ["eyes"]
        played.open("go")
        played.settle()
        assert played.labels() == ("nightjar:ready",), played.log
        assert len(played.comments()) == 3
        assert "Ready for review" in played.tracking()[-1]


def test_status_without_a_run(tmp_path: Path) -> None:
    """Where there was no Run yet, the answer is a comment that says so."""
    with town(tmp_path) as played:
        asked = played.say("/nightjar status")
        played.settle()
        assert played.reactions(asked) == ["eyes", "confused"]
        assert "There was no Run on this issue yet" in played.comments()[-1].body
        assert played.labels() == ()


def test_stop_at_work(tmp_path: Path) -> None:
    """`/nightjar stop` stops the Session of a Run at once; the ending says who asked for it, and what was kept."""
    with town(tmp_path, "right; gate never", settings=PATIENT) as played:
        played.label()
        played.wait(lambda: len(played.sessions) == 1)
        asked = played.say("/nightjar stop")
        played.settle()
        assert played.reactions(asked) == ["eyes"]
        assert played.labels() == ("nightjar:failed",), played.log
        (ending,) = played.endings()
        assert "alice stopped the Run with a comment" in ending
        assert "The branch [`nightjar/issue-1`]" in ending
        assert played.kinds == ["implement"]
        assert not any("/asked/" in ref for ref in played.repository.refs())


def test_stop_while_parked(tmp_path: Path) -> None:
    """A Run that waits without a runner is ended by the job that hears `/nightjar stop`."""
    with town(tmp_path, settings={"wait": "park"}, ci_gate="ci") as played:
        played.label()
        played.wait_until_parked()
        asked = played.say("/nightjar stop")
        played.wait(lambda: len(played.endings()) == 1)
        played.open("ci")
        played.settle()
        assert played.reactions(asked) == ["eyes"]
        assert played.labels() == ("nightjar:failed",), played.log
        assert "alice stopped the Run with a comment" in played.endings()[0]
        assert len(played.endings()) == 1
        assert not any("/open/" in ref for ref in played.repository.refs())


def test_stop_when_it_is_over(tmp_path: Path) -> None:
    """There is nothing to stop when the Run is over, and the answer says so."""
    with town(tmp_path) as played:
        ready(played)
        asked = played.say("/nightjar stop")
        played.settle()
        assert played.reactions(asked) == ["eyes", "confused"]
        assert "The Run is over: there is nothing to stop." in played.tracking()[-1]
        assert played.labels() == ("nightjar:ready",)


def test_retry(tmp_path: Path) -> None:
    """`/nightjar retry` begins another Run, as the label does, and what follows it is told to the Session."""
    script = 'case "$prompt" in *"the other way round"*) mend; right;; *) wrong;; esac'
    with town(tmp_path, script, settings={"max-repairs": "0"}) as played:
        played.label()
        played.settle()
        assert played.labels() == ("nightjar:failed",), played.log
        asked = played.say("/nightjar retry Subtract the other way round.")
        played.settle()
        assert played.reactions(asked) == ["eyes"]
        assert played.labels() == ("nightjar:ready",), played.log
        assert played.kinds == ["implement", "continue"]
        assert len(played.endings()) == 2


def test_retry_while_at_work(tmp_path: Path) -> None:
    """There is one Run at a time: `/nightjar retry` of one that is at work is answered, and starts nothing."""
    with town(tmp_path, "right; gate go", settings=PATIENT) as played:
        played.label()
        played.wait(lambda: len(played.sessions) == 1)
        asked = played.say("/nightjar retry")
        played.wait(lambda: "A Run is at work on this already" in played.tracking()[-1])
        assert played.reactions(asked) == ["eyes", "confused"]
        played.open("go")
        played.settle()
        assert played.labels() == ("nightjar:ready",), played.log
        assert played.kinds == ["implement"]


def test_fix(tmp_path: Path) -> None:
    """`/nightjar fix` on a ready pull request is a Repair of it: pushed, checked by CI, told, and ready once more."""
    with town(tmp_path, SAY_IT + REPAIRS) as played:
        number = ready(played)
        asked = played.say(ASKED, on=number)
        played.settle()
        assert played.reactions(asked) == ["eyes"]
        assert played.labels() == ("nightjar:ready",), played.log
        assert played.kinds == ["implement", "repair-1"]
        assert "# the difference" in played.repository.file("nightjar/issue-1", "calc.py")
        repair = played.comments(number)[-1].body
        assert "**Repair 1 of 5**" in repair
        assert "Asked for: by [`alice`]" in repair
        assert "> A comment says it now." in repair
        assert "CI now: green" in repair
        assert len(played.endings()) == 2
        assert "1 Repair" in played.endings()[1]
        assert len(played.repository.pull_requests()) == 1


def test_fix_that_changes_nothing(tmp_path: Path) -> None:
    """A Repair by request may find nothing to change; the pull request is then as ready as it was."""
    script = 'case "$kind" in implement) right;; *) echo "It is so already." >"$NIGHTJAR_HANDOVER/note.md";; esac'
    with town(tmp_path, script) as played:
        number = ready(played)
        played.say("/nightjar fix Subtract.", on=number)
        played.settle()
        assert played.labels() == ("nightjar:ready",), played.log
        assert "Changed: nothing" in played.comments(number)[-1].body
        assert "It is so already." in played.comments(number)[-1].body


def test_fix_while_at_work(tmp_path: Path) -> None:
    """A Run that is at work takes a request up before it ends, within the same Run."""
    with town(tmp_path, SAY_IT + REPAIRS, ci_gate="ci") as played:
        played.label()
        played.wait(lambda: bool(played.repository.pull_requests()))
        asked = played.say(ASKED, on=played.pull_request)
        played.wait(lambda: "it makes this Repair as soon as it gets to it" in played.tracking()[-1])
        played.open("ci")
        played.settle()
        assert played.reactions(asked) == ["eyes"]
        assert played.labels() == ("nightjar:ready",), played.log
        assert played.kinds == ["implement", "repair-1"]
        assert len(played.endings()) == 1
        assert not any("/asked/" in ref for ref in played.repository.refs())


def test_fix_while_parked(tmp_path: Path) -> None:
    """A Run that waits for CI without a runner goes on in the job that hears the request."""
    with town(tmp_path, SAY_IT + REPAIRS, settings={"wait": "park"}, ci_gate="ci") as played:
        played.label()
        played.wait_until_parked()
        played.say(ASKED, on=played.pull_request)
        played.wait(lambda: played.kinds == ["implement", "repair-1"])
        played.open("ci")
        played.settle()
        assert played.labels() == ("nightjar:ready",), played.log
        assert played.kinds == ["implement", "repair-1"]
        assert len(played.endings()) == 1


def test_fix_beyond_the_cap(tmp_path: Path) -> None:
    """A Repair by request counts like any other: where none is left it is refused, and the pull request stays ready."""
    with town(tmp_path, SAY_IT + REPAIRS, settings={"max-repairs": "1"}) as played:
        number = ready(played)
        played.say(ASKED, on=number)
        played.settle()
        asked = played.say("/nightjar fix And now something else.", on=number)
        played.settle()
        assert played.reactions(asked) == ["eyes", "confused"]
        assert "none is left" in played.tracking()[-1]
        assert played.labels() == ("nightjar:ready",), played.log
        assert played.kinds == ["implement", "repair-1"]


def left(played: Town, folder: Path, request: Request) -> None:
    """A job that heard a request leaves it for the Run, and ends before it can do anything else."""
    remote = Remote(f"{played.hub.server_url}/acme/widget.git", FixedToken(played.hub.issue_token("nightjar[bot]")))
    RequestRefs(Git(folder, remote, Clock(), os.environ), print).leave(played.issue, request)


@pytest.mark.parametrize("may_start", [True, False], ids=["in another job", "in the sweep"])
def test_fix_heard_too_late(tmp_path: Path, may_start: bool) -> None:
    """What was asked of a Run that ended before it looked is done by a Run that the next sweep starts, or goes on with
    itself where the token may start no job.
    """
    with town(tmp_path, SAY_IT + REPAIRS) as played:
        number = ready(played)
        if not may_start:
            played.hub.faults.add(Fault("POST", "/dispatches$", Answer(403), times=0))
        at = Clock.today().isoformat(timespec="seconds")
        request = Request(Wants.FIX, 77, "alice", at, "https://x", "Say what it is for, please.", "nightjar.yml")
        left(played, tmp_path / "left", request)
        played.tick()
        assert played.labels() == ("nightjar:ready",), played.log
        assert played.kinds == ["implement", "repair-1"]
        assert "Asked for: by [`alice`](https://x)" in played.comments(number)[-1].body
        assert not any("/asked/" in ref for ref in played.repository.refs())


def test_fix_heard_too_late_where_nothing_can_start_it(tmp_path: Path) -> None:
    """Where the token may start no job and nothing sweeps, the next Run that ends says so to whoever asked."""
    with town(tmp_path, SAY_IT + REPAIRS, files=NOT_SWEPT) as played:
        ready(played)
        played.hub.faults.add(Fault("POST", "/dispatches$", Answer(403), times=0))
        at = Clock.today().isoformat(timespec="seconds")
        request = Request(Wants.FIX, 77, "alice", at, "https://x", "Say what it is for, please.", "nightjar.yml")
        left(played, tmp_path / "left", request)
        played.label(played.open_issue())
        played.settle()
        answer = played.tracking()[-1].splitlines()[1]
        assert answer.startswith("> @alice asked [`/nightjar fix`](https://x): The Run was over before"), played.log
        assert "Ask once more" in answer
        assert played.kinds == ["implement", "implement"]
        assert not any("/asked/" in ref for ref in played.repository.refs())


def test_stop_heard_too_late(tmp_path: Path) -> None:
    """A stop that was asked of a Run that is over by then does not stop the next one."""
    with town(tmp_path, "right") as played:
        at = Clock.today().isoformat(timespec="seconds")
        left(played, tmp_path / "left", Request(Wants.STOP, 78, "alice", at, "https://x"))
        Clock.pause(1.1)  # GitHub's times are whole seconds
        ready(played)
        assert not any("/asked/" in ref for ref in played.repository.refs())


@pytest.mark.parametrize("by", ["dana", "nightjar[bot]", "other[bot]"])
def test_who_may_not(tmp_path: Path, by: str) -> None:
    """Somebody without the permission, another App and Nightjar itself command nothing, and no comment answers them."""
    with town(tmp_path) as played:
        ready(played)
        asked = played.say("/nightjar retry", by=by)
        played.settle()
        assert played.reactions(asked) == ["confused"]
        assert len(played.comments()) == 3
        assert played.kinds == ["implement"]


@pytest.mark.parametrize("text", ["Try /nightjar retry", "> /nightjar retry", "/nightjars retry", "`/nightjar retry`"])
def test_talk_about_commands(tmp_path: Path, text: str) -> None:
    """A command that a comment only mentions or quotes starts nothing, and is no command."""
    with town(tmp_path) as played:
        asked = played.say(text)
        played.settle()
        assert played.reactions(asked) == []
        assert len(played.comments()) == 1


def test_unknown_command(tmp_path: Path) -> None:
    """A word that is no command is answered by those that are."""
    with town(tmp_path) as played:
        played.say("/nightjar merge")
        played.settle()
        answer = played.comments()[-1].body
        assert "[`/nightjar merge`]" in answer
        assert "`/nightjar status`, `/nightjar stop`, `/nightjar retry`" in answer
        assert "`/nightjar fix <what>`" in answer


def test_another_pull_request(tmp_path: Path) -> None:
    """On a pull request that is not Nightjar's there is nothing to repair."""
    with town(tmp_path) as played:
        played.repository.commit("feature", {"other.py": "x = 1\n"}, "Add x")
        dana = Caller(played.hub, played.hub.issue_token("dana", "pat"))
        proposal = {"title": "Add x", "head": "feature", "base": "main"}
        number = dana("POST", "/repos/acme/widget/pulls", proposal).body["number"]
        asked = played.say("/nightjar fix x", on=number)
        played.settle()
        assert played.reactions(asked) == ["eyes", "confused"]
        assert "not the pull request of the newest Run" in played.comments(number)[-1].body


def test_review(tmp_path: Path) -> None:
    """Where `repair-on-review` is set, a review that requests changes starts a Repair of what it says, line by line."""
    script = REPAIRS.replace("Say what it is for", "calc.py, line 3: Say what it is for")
    with town(tmp_path, SAY_IT + script, files={".github/nightjar.yml": "repair-on-review: true\n"}) as played:
        number = ready(played)
        remarks = [("calc.py", 3, "Say what it is for")]
        review = played.repository.review(number, "alice", "CHANGES_REQUESTED", "Nearly.", remarks)
        played.settle()
        assert played.reactions(review) == ["eyes"]
        assert played.labels() == ("nightjar:ready",), played.log
        assert played.kinds == ["implement", "repair-1"]
        assert "# the difference" in played.repository.file("nightjar/issue-1", "calc.py")


def test_review_without_the_setting(tmp_path: Path) -> None:
    """A review starts nothing by itself where the settings do not say so."""
    with town(tmp_path) as played:
        number = ready(played)
        review = played.repository.review(number, "alice", "CHANGES_REQUESTED", "Not yet.")
        played.settle()
        assert played.reactions(review) == []
        assert played.kinds == ["implement"]


def test_the_runner_is_lost(tmp_path: Path) -> None:
    """A Run that a comment on the pull request began and whose runner goes away is told by the second job."""
    script = 'case "$kind" in implement) right;; *) touch $word/at; gate never;; esac'
    with town(tmp_path, script, settings=PATIENT) as played:
        number = ready(played)
        played.say(ASKED, on=number)
        played.wait((tmp_path / "word" / "at").exists)
        played.actions.lose(played.running().id)
        played.settle()
        assert played.labels() == ("nightjar:failed",), played.log
        assert "the Run's process ended without a word while repairing" in played.endings()[-1]
        assert len(played.endings()) == 2
        assert not any("/slot/" in ref or "/open/" in ref for ref in played.repository.refs())
