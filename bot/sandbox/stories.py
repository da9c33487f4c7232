"""The demo's stories: an issue, what the scripted model does about it, and what must have come of it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bot.sandbox.github import SandboxRepository
from bot.sandbox.job import Finished
from bot.sandbox.model import Call, Conversation, Reply, Script

SAMPLE = Path(__file__).parent / "samples" / "widget"


@dataclass(frozen=True, slots=True)
class Played:
    """A story that was played: what a reader of GitHub and of the job sees."""

    repository: SandboxRepository
    issue: int
    job: Finished

    def ending(self) -> str:
        """The newest comment on the issue."""
        comments = self.repository.comments(self.issue)
        return comments[-1].body if comments else ""

    def repair_comments(self) -> tuple[str, ...]:
        """The comments about Repairs on the pull request."""
        pulls = self.repository.pull_requests()
        comments = self.repository.comments(pulls[0].number) if pulls else ()
        return tuple(comment.body for comment in comments if "**Repair" in comment.body)

    def logs(self) -> tuple[str, ...]:
        """Names of the transcripts."""
        return tuple(sorted(path.name for path in (self.job.temp / "nightjar" / "logs").glob("*.jsonl")))


@dataclass(frozen=True, slots=True)
class Expectation:
    """One thing that must be so afterwards."""

    text: str
    holds: Callable[[Played], bool]


@dataclass(frozen=True, slots=True)
class Story:
    """One story."""

    name: str
    title: str
    about: str
    issue_title: str
    issue_body: str
    script: Script
    expectations: tuple[Expectation, ...]
    settings: Mapping[str, str] = field(default_factory=dict)


def sample_files() -> dict[str, str]:
    """The sample repository: path → text."""
    return {
        str(path.relative_to(SAMPLE)): path.read_text(encoding="utf-8")
        for path in sorted(SAMPLE.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def bash(command: str, about: str, *, background: bool = False) -> Call:
    """A Bash call as the model makes it."""
    return Call(
        "Bash", {"command": command, "description": about, **({"run_in_background": True} if background else {})}
    )


def chain(*commands: str) -> str:
    """One shell command that runs `commands` until one fails."""
    return " && ".join(commands)


def write(path: str, text: str) -> str:
    """A shell command that writes a file."""
    return f"printf '%s' {shlex.quote(text)} > {path}"


def commit(message: str) -> str:
    """A shell command that commits everything."""
    return f"git add -A && git commit -q -m {shlex.quote(message)}"


def hand_over(title: str, body: str) -> str:
    """A shell command that leaves the pull request's text."""
    return write('"$NIGHTJAR_HANDOVER/pull-request.md"', f"{title}\n\n{body}\n")


def name_test(command: str, *files: str) -> str:
    """A shell command that names the test that proves the work."""
    return write('"$NIGHTJAR_HANDOVER/proof.json"', json.dumps({"command": command, "files": files}))


def note(text: str) -> str:
    """A shell command that leaves a Repair's note."""
    return write('"$NIGHTJAR_HANDOVER/note.md"', f"{text}\n")


_PRICES = SAMPLE.joinpath("widget/prices.py").read_text(encoding="utf-8")
_TESTS = SAMPLE.joinpath("tests/test_prices.py").read_text(encoding="utf-8")

_DISCOUNT = """

def discount(price, percent):
    return round(price * (100 - percent) / 100)
"""
_DISCOUNT_TOLD = '''

def discount(price, percent):
    """The price less so many percent, rounded to a cent."""
    return round(price * (100 - percent) / 100)
'''
_DISCOUNT_TEST = """
    def test_discount(self):
        self.assertEqual(discount(1000, 25), 750)
"""


def _with_discount(code: str, test: str = _DISCOUNT_TEST) -> str:
    tests = _TESTS.replace("import total", "import discount, total") + test
    return chain(write("widget/prices.py", _PRICES + code), write("tests/test_prices.py", tests))


_TEST = bash("python3 -m unittest", "Run the tests")

REPAIR = Story(
    name="repair",
    title="A label, a red CI, one Repair",
    about="The own test passes, but the repository's style rule was forgotten. CI says so, one Repair mends it.",
    issue_title="Add a percentage discount",
    issue_body="We need `discount(price, percent)` beside `total`. Prices stay whole cents.",
    script=Script(
        conversations=(
            Conversation(
                name="implement",
                replies=(
                    Reply(
                        text="I look at the prices module.", calls=(bash("cat widget/prices.py", "Read the module"),)
                    ),
                    Reply(
                        text="I add the function and its test.",
                        calls=(
                            bash(
                                chain(_with_discount(_DISCOUNT), commit("Add a percentage discount")),
                                "Add discount()",
                            ),
                        ),
                    ),
                    Reply(text="The tests.", calls=(_TEST,)),
                    Reply(
                        text="They pass. I leave the text for the pull request.",
                        calls=(
                            bash(
                                chain(
                                    hand_over(
                                        "Add a percentage discount",
                                        "Adds `discount(price, percent)`, rounded to whole cents, with a test.\n\n"
                                        "Checked with `python3 -m unittest`. No unaddressed findings.",
                                    ),
                                    name_test("python3 -m unittest tests.test_prices", "tests/test_prices.py"),
                                ),
                                "Write the handover",
                            ),
                        ),
                    ),
                    Reply(text="`discount` is there and tested."),
                ),
            ),
            Conversation(
                name="repair-1",
                replies=(
                    Reply(
                        text="The style check fails.",
                        calls=(bash("python3 scripts/style.py", "Reproduce the failure"),),
                    ),
                    Reply(
                        text="A docstring is missing.",
                        calls=(
                            bash(
                                chain(
                                    _with_discount(_DISCOUNT_TOLD),
                                    "python3 scripts/style.py",
                                    commit("Say what discount() does"),
                                    note("`discount` had no docstring, which the style check demands. It has one."),
                                ),
                                "Add the docstring",
                            ),
                        ),
                    ),
                    Reply(text="The style check passes now."),
                ),
            ),
        )
    ),
    expectations=(
        Expectation("the command ends with exit code 0", lambda played: played.job.exit_code == 0),
        Expectation("exactly one Repair was made", lambda played: played.job.outputs.get("repairs") == "1"),
        Expectation(
            "the pull request opens with what was seen of the named test: it needs the change, and passes with it",
            lambda played: all(pull.body.startswith("**Proved.**") for pull in played.repository.pull_requests()),
        ),
        Expectation(
            "the issue is labelled nightjar:ready",
            lambda played: played.repository.labels(played.issue) == ("nightjar:ready",),
        ),
        Expectation(
            "the pull request is out of draft and closes the issue",
            lambda played: (
                all(
                    not pull.draft and f"Closes #{played.issue}" in pull.body
                    for pull in played.repository.pull_requests()
                )
                and len(played.repository.pull_requests()) == 1
            ),
        ),
        Expectation("whoever labelled is told", lambda played: played.ending().startswith("@alice")),
    ),
)

_SLOW_TESTS = "python3 -c 'import time; [time.sleep(1) for _ in range(900)]'; python3 -m unittest"

BACKGROUND = Story(
    name="background",
    title="Background work that outlives its limit",
    about=(
        "The session starts its tests in the background and ends its turn. Nightjar holds it open; after the Hold limit"
        " the tests are stopped, and the session is resumed once to run them in the foreground."
    ),
    issue_title="Add a percentage discount, and run the whole suite",
    issue_body="We need `discount(price, percent)`. Please run the long suite too.",
    script=Script(
        conversations=(
            Conversation(
                name="implement",
                replies=(
                    Reply(
                        text="I add the function and its test.",
                        calls=(
                            bash(
                                chain(_with_discount(_DISCOUNT_TOLD), commit("Add a percentage discount")),
                                "Add discount()",
                            ),
                        ),
                    ),
                    Reply(text="The long suite.", calls=(bash(_SLOW_TESTS, "the long test suite", background=True),)),
                    Reply(text="The suite is running; I will be told when it is done."),
                    # From here on the Resume plays.
                    Reply(text="It was stopped. I run the tests in the foreground.", calls=(_TEST,)),
                    Reply(
                        text="They pass.",
                        calls=(
                            bash(
                                hand_over(
                                    "Add a percentage discount",
                                    "Adds `discount(price, percent)` with a test. Checked with `python3 -m unittest`.",
                                ),
                                "Write the handover",
                            ),
                        ),
                    ),
                    Reply(text="`discount` is there, and the tests were seen to pass."),
                ),
            ),
        )
    ),
    settings={"background-wait-minutes": "1"},
    expectations=(
        Expectation("the command ends with exit code 0", lambda played: played.job.exit_code == 0),
        Expectation("exactly one Resume was made", lambda played: played.job.outputs.get("resumes") == "1"),
        Expectation("the Resume counts as no Repair", lambda played: played.job.outputs.get("repairs") == "0"),
        Expectation(
            "the Resume has a log of its own",
            lambda played: any(name.endswith("-implement-resume.jsonl") for name in played.logs()),
        ),
        Expectation(
            "the issue is labelled nightjar:ready",
            lambda played: played.repository.labels(played.issue) == ("nightjar:ready",),
        ),
    ),
)


def _rounding(how: str) -> str:
    return _DISCOUNT_TOLD.replace("round(price * (100 - percent) / 100)", how)


_WRONG_TEST = """
    def test_discount(self):
        self.assertEqual(discount(999, 25), 751)
"""


def _attempt(number: int, how: str, said: str) -> Conversation:
    return Conversation(
        name=f"repair-{number}",
        replies=(
            Reply(text="I run the failing test.", calls=(bash("python3 -m unittest; true", "Reproduce the failure"),)),
            Reply(
                text="It may be the rounding.",
                calls=(
                    bash(
                        chain(
                            _with_discount(_rounding(how), _WRONG_TEST),
                            commit(f"Round otherwise ({number})"),
                            note(said),
                        ),
                        "Try another rounding",
                    ),
                ),
            ),
            Reply(text="I changed the rounding."),
        ),
    )


RED = Story(
    name="red",
    title="CI that stays red",
    about="The session's own test expects a wrong number, and the Repairs look elsewhere. The cap ends it.",
    issue_title="Add a percentage discount",
    issue_body="We need `discount(price, percent)`.",
    script=Script(
        conversations=(
            Conversation(
                name="implement",
                replies=(
                    Reply(
                        text="I add the function and its test.",
                        calls=(
                            bash(
                                chain(
                                    _with_discount(_DISCOUNT_TOLD, _WRONG_TEST),
                                    commit("Add a percentage discount"),
                                    hand_over("Add a percentage discount", "Adds `discount(price, percent)`."),
                                ),
                                "Add discount()",
                            ),
                        ),
                    ),
                    Reply(text="`discount` is there."),
                ),
            ),
            _attempt(1, "-(-price * (100 - percent) // 100)", "Rounds up now."),
            _attempt(2, "price * (100 - percent) // 100", "Rounds down now."),
        )
    ),
    settings={"max-repairs": "2"},
    expectations=(
        Expectation("the command ends with exit code 1", lambda played: played.job.exit_code == 1),
        Expectation("both Repairs were made, and no more", lambda played: played.job.outputs.get("repairs") == "2"),
        Expectation(
            "the issue is labelled nightjar:failed",
            lambda played: played.repository.labels(played.issue) == ("nightjar:failed",),
        ),
        Expectation(
            "the pull request is there, as a draft",
            lambda played: [pull.draft for pull in played.repository.pull_requests()] == [True],
        ),
        Expectation(
            "CI was asked after the last Repair, and each Repair's comment says what it answered",
            lambda played: [text.count("CI now: red") for text in played.repair_comments()] == [1, 1],
        ),
        Expectation(
            "the ending names the red check and the cap",
            lambda played: "still red after 2 Repairs of at most 2" in played.ending() and "test" in played.ending(),
        ),
    ),
)

STORIES: Mapping[str, Story] = {story.name: story for story in (REPAIR, BACKGROUND, RED)}
