"""Commands in comments: what is one, what is done about it, and what its event tells."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bot.commanded import Commanded, read_commanded
from bot.commands import Act, Answer, Command, Decision, Verb, decide, read_command, remark_in
from bot.config import Config, read_config
from bot.following_up import follow_up
from bot.record import JobEntry, Outcome, Proving, PullRequest, Record, RepairEntry, SessionEntry, Trigger, WaitsFor
from bot.repetition import repeats
from bot.request import Request, Wants
from bot.steps import Step, next_step
from bot.trigger import BadEvent, Ignored

NOON = "2026-05-01T12:00:00Z"
INPUTS = {"INPUT_GITHUB_TOKEN": "t", "INPUT_ANTHROPIC_API_KEY": "k"}
REQUEST = Request(Wants.FIX, 77, "bob", "2026-05-01T13:00:00Z", "https://x/77", "Rename it.", "nightjar.yml")


def config(**inputs: str) -> Config:
    """The settings, with these inputs."""
    given = {f"INPUT_{name.upper()}": value for name, value in inputs.items()}
    return read_config({**INPUTS, **given}, None)


def run(**known: Any) -> Record:
    """A Run on issue 7 that is over and ready, with a pull request, unless `known` says otherwise."""
    trigger = Trigger("acme/widget", 7, "t", "b", "nightjar:fast", "alice", NOON, "42", 1, "https://x")
    ready: dict[str, Any] = {
        "jobs": (JobEntry("42", 1, "https://x", "nightjar.yml", NOON),),
        "claimed": True,
        "placed": True,
        "implemented": True,
        "head": "a" * 40,
        "pushed": "a" * 40,
        "pull_request": PullRequest(9, "https://x/9", draft=False),
        "outcome": Outcome.READY,
        "told": True,
    }
    return Record(trigger=trigger, base="main", branch="nightjar/issue-7", max_repairs=5, **{**ready, **known})


def at_work(**known: Any) -> Record:
    """A Run on issue 7 that is at work."""
    return run(outcome=None, told=False, **known)


def parked(waits_for: WaitsFor) -> Record:
    """A Run on issue 7 that waits."""
    return at_work().parked_for(waits_for, NOON)


@pytest.mark.parametrize(
    ("comment", "command"),
    [
        ("/nightjar status", Command(Verb.STATUS)),
        ("  \n/Nightjar RETRY\r\n", Command(Verb.RETRY)),
        ("/nightjar fix the name\nand the text", Command(Verb.FIX, "the name\nand the text")),
        ("/nightjar fix\n\nthe name", Command(Verb.FIX, "the name")),
        ("/nightjar retry with Postgres", Command(Verb.RETRY, "with Postgres")),
        ("/nightjar", Command(None, "")),
        ("/nightjar merge it", Command(None, "merge")),
        ("/nightjar\nstatus", Command(None, "")),
        ("/nightjars status", None),
        ("/nightjar/status", None),
        ("> /nightjar status", None),
        ("please /nightjar status", None),
        ("", None),
    ],
)
def test_what_a_comment_commands(comment: str, command: Command | None) -> None:
    """A command is the first word after `/nightjar` at the beginning of a comment, in any letter case."""
    assert read_command(comment) == command


@pytest.mark.parametrize(
    ("comment", "remark"),
    [
        ("Mind the sign.", "Mind the sign."),
        ("/nightjar retry Mind the sign.", "Mind the sign."),
        ("/nightjar fix Mind the sign.", "Mind the sign."),
        ("/nightjar retry", ""),
        ("/nightjar stop this", ""),
        ("/nightjar status", ""),
    ],
)
def test_what_sessions_are_told_of_commands(comment: str, remark: str) -> None:
    """Sessions are told what a command says about the work, and nothing of commands that are about the Run alone."""
    assert remark_in(comment) == remark


FIX = Command(Verb.FIX, "the name")
ANSWER = Act.ANSWER


@pytest.mark.parametrize(
    ("command", "last", "going", "decision"),
    [
        (Command(None, "merge"), run(), False, Decision(ANSWER, Answer.UNKNOWN)),
        (Command(Verb.STATUS), None, False, Decision(ANSWER, Answer.NO_RUN)),
        (Command(Verb.STATUS), run(), False, Decision(ANSWER, Answer.STATUS)),
        (Command(Verb.RETRY), None, False, Decision(Act.BEGIN, Answer.BEGUN)),
        (Command(Verb.RETRY), run(), False, Decision(Act.BEGIN, Answer.BEGUN)),
        (Command(Verb.RETRY), at_work(), True, Decision(ANSWER, Answer.AT_WORK)),
        (Command(Verb.RETRY), at_work(), False, Decision(Act.BEGIN, Answer.BEGUN)),
        (Command(Verb.RETRY), parked(WaitsFor.CI), False, Decision(Act.BEGIN, Answer.BEGUN)),
        (Command(Verb.STOP), None, False, Decision(ANSWER, Answer.NO_RUN)),
        (Command(Verb.STOP), run(), False, Decision(ANSWER, Answer.OVER)),
        (Command(Verb.STOP), at_work(), True, Decision(Act.CANCEL, Answer.STOPS)),
        (Command(Verb.STOP), at_work(), False, Decision(Act.END, Answer.STOPPED)),
        (Command(Verb.STOP), parked(WaitsFor.SLOT), False, Decision(Act.END, Answer.STOPPED)),
        (Command(Verb.FIX), run(), False, Decision(ANSWER, Answer.FIX_WHAT)),
        (FIX, None, False, Decision(ANSWER, Answer.NO_RUN)),
        (FIX, run(pull_request=None), False, Decision(ANSWER, Answer.NO_PULL_REQUEST)),
        (FIX, run(), False, Decision(Act.FOLLOW_UP, Answer.BEGUN)),
        (FIX, at_work(), True, Decision(Act.LEAVE, Answer.TAKEN)),
        (FIX, parked(WaitsFor.CI), False, Decision(Act.TAKE_UP, Answer.BEGUN)),
        (FIX, parked(WaitsFor.USAGE_LIMIT), False, Decision(Act.LEAVE, Answer.WAITS)),
    ],
)
def test_what_is_done(command: Command, last: Record | None, going: bool, decision: Decision) -> None:
    """What a command leads to follows from how the newest Run stands."""
    assert decide(command, last, config(), branch="", going=going) == decision


def test_another_branch() -> None:
    """What is asked for on another pull request than the newest Run's is not done."""
    assert decide(FIX, run(), config(), branch="nightjar/issue-7-2", going=False).answer is Answer.NOT_OURS


def test_no_repair_is_left() -> None:
    """A Repair by request counts, and so do those that are asked for and not begun; one taken up again counts once."""
    repair = RepairEntry(1, ("test",), "a", "b")
    settings = config(max_repairs="2")
    asked_again = replace(repair, request=REQUEST, interrupted=True)
    for used in (
        run(repairs=(repair, repair)),
        run(repairs=(repair,), requests=(REQUEST,)),
        run(repairs=(repair, asked_again), requests=(REQUEST,)),
    ):
        assert decide(FIX, used, settings, branch="", going=False) == Decision(ANSWER, Answer.REPAIRS_USED)
    for left in (run(repairs=(repair,)), run(repairs=(asked_again,), requests=(REQUEST,))):
        assert decide(FIX, left, settings, branch="", going=False).act is Act.FOLLOW_UP


def test_no_money_is_left() -> None:
    """What all Sessions of the pull request cost together counts against the Run's cost cap."""
    dear = SessionEntry("implement", "s", 1.0, 10.0, 1, "done")
    decision = decide(FIX, run(sessions=(dear,)), config(), branch="", going=False)
    assert decision == Decision(ANSWER, Answer.MONEY_USED)


def test_follow_up() -> None:
    """A Run that goes on for a request has the work, Repairs and cost of the one before, and begins with a Repair."""
    repair = RepairEntry(1, ("test",), "a", "b")
    last = run(repairs=(repair,), title="Add x", proving=Proving.RED, notes=("old",), ending_comment=5)
    job = JobEntry("50", 1, "https://x/50", "nightjar.yml", NOON)
    record = follow_up(last, REQUEST, job, max_repairs=3)
    assert (record.trigger.requested_by, record.trigger.run_id, record.trigger.label) == ("bob", "50", "nightjar:fast")
    assert (record.repairs, record.max_repairs, record.title, record.branch) == ((repair,), 3, "Add x", last.branch)
    assert (record.outcome, record.told, record.ending_comment, record.notes) == (None, False, 0, ())
    assert next_step(record) is Step.CLAIM
    assert next_step(replace(record, claimed=True)) is Step.PREPARE
    assert next_step(replace(record, claimed=True, placed=True)) is Step.REPAIR


def test_work_that_was_not_pushed() -> None:
    """What the Run before had checkpointed and not pushed is where its follow-up begins."""
    job = JobEntry("50", 1, "https://x/50", "nightjar.yml", NOON)
    assert follow_up(run(head="b" * 40), REQUEST, job, 5).checkpoint == "b" * 40
    assert follow_up(run(), REQUEST, job, 5).checkpoint == ""


def test_a_request_is_no_repetition() -> None:
    """A Repair by request in between does not make the same failure a new one."""
    red = RepairEntry(1, ("test",), "a", "b", fingerprint="f")
    asked = RepairEntry(2, (), "b", "c", request=REQUEST)
    assert repeats((red, asked), "f", 2)


# ── the event ───────────────────────────────────────────────────────────────────────────────────────────────────────


def comment(body: str = "/nightjar fix it", **changes: Any) -> dict[str, Any]:
    """The payload of a comment by alice on issue 7."""
    told = {"id": 5, "node_id": "IC_5", "body": body, "created_at": NOON, "html_url": "https://x/5"}
    user = {"login": "alice", "type": "User"}
    issue = {"number": 7, "title": "Add x", "body": "We need x."}
    return {"action": "created", "issue": issue, "comment": {**told, "user": user}, **changes}


def review(state: str, body: str) -> dict[str, Any]:
    """The payload of a review by alice of pull request 9."""
    user = {"login": "alice", "type": "User"}
    told = {"id": 6, "node_id": "PRR_6", "state": state, "body": body, "submitted_at": NOON, "html_url": "https://x/6"}
    return {"action": "submitted", "pull_request": {"number": 9}, "review": {**told, "user": user}}


def heard(name: str, payload: object) -> Commanded:
    """What an event commands."""
    found = read_commanded(name, payload, NOON)
    assert isinstance(found, Commanded)
    return found


def test_comment_on_an_issue() -> None:
    """A comment's event tells who asks for what, and the issue as it stood then."""
    found = heard("issue_comment", comment())
    assert (found.number, found.id, found.asked_by, found.at, found.review) == (7, 5, "alice", NOON, "")
    assert (found.on_pull_request, found.title, found.body, found.implied) == (False, "Add x", "We need x.", False)
    assert found.asked(7, "nightjar").title == "Add x"


def test_comment_on_a_pull_request() -> None:
    """On a pull request the texts are not the issue's."""
    found = heard(
        "issue_comment", comment(issue={"number": 9, "title": "PR", "body": "B", "pull_request": {"url": "u"}})
    )
    assert (found.number, found.on_pull_request, found.title) == (9, True, None)
    assert found.asked(7, "nightjar").title is None


@pytest.mark.parametrize(
    ("state", "body", "command", "implied"),
    [
        ("changes_requested", "Rename it.", Command(Verb.FIX, "Rename it."), True),
        ("CHANGES_REQUESTED", "", Command(Verb.FIX, ""), True),
        ("changes_requested", "/nightjar stop", Command(Verb.STOP), False),
        ("commented", "/nightjar fix the name", Command(Verb.FIX, "the name"), False),
    ],
)
def test_reviews(state: str, body: str, command: Command, implied: bool) -> None:
    """A review that requests changes implies a command, and one that begins with a command is one."""
    found = heard("pull_request_review", review(state, body))
    assert (found.command, found.implied, found.review) == (command, implied, "PRR_6")


@pytest.mark.parametrize(
    ("name", "payload", "why"),
    [
        ("issue_comment", comment(action="edited"), "the comment was edited"),
        ("issue_comment", comment("Thank you!"), "does not begin with a command"),
        ("pull_request_review", review("approved", "Good."), "requests no changes"),
        ("pull_request_review", {**review("approved", ""), "action": "dismissed"}, "the review was dismissed"),
    ],
)
def test_other_events(name: str, payload: object, why: str) -> None:
    """Other comments and reviews ask for nothing, and the reason is said."""
    found = read_commanded(name, payload, NOON)
    assert isinstance(found, Ignored)
    assert why in found.why


@pytest.mark.parametrize("name", ["issue_comment", "pull_request_review"])
@pytest.mark.parametrize("payload", [[], {}])
def test_bad_events(name: str, payload: object) -> None:
    """A payload of another shape is refused in one line."""
    with pytest.raises(BadEvent, match=r"^[^\n]+$"):
        read_commanded(name, payload, NOON)
