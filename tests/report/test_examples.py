"""`docs/examples/`: what people read of Failures, of a parked Run and of Proofs, as the real renderer writes it.

The files are made from the Records below; NIGHTJAR_GOLDEN=write writes them anew, for review.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.claude.reasons import background_lost
from bot.difference import added_names, kind_of
from bot.guard import Redactor
from bot.guard.leaving import Piece, first_secret
from bot.ports import FileChange
from bot.proof.facts import Claim, Ran
from bot.proof.judge import judge
from bot.proof.trial import trial_of
from bot.record import (
    Check,
    CheckState,
    CiState,
    CiVerdict,
    FailureEntry,
    JobEntry,
    Outcome,
    Proving,
    PullRequest,
    Record,
    RepairEntry,
    SessionEntry,
    Trigger,
    WaitsFor,
)
from bot.report.actions import Runner
from bot.report.render import Limits
from bot.report.reporter import GitHubReporter
from bot.steps import dead_end
from bot.suspicion import about_the_named_test
from tests.report.page import Page

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
ACTIONS = "https://github.com/acme/widget/actions/runs"
IMPLEMENTED, REPAIRED, AGAIN = "4f0c2a9d81" * 4, "b81e6d3f27" * 4, "93d75c0ea6" * 4
BASE = "c5a1e0972b" * 4
KEY = "the-payment-key-of-acme"


def at(text: str) -> str:
    """A moment of the night of the examples, ISO 8601, UTC."""
    return f"2026-03-04T{text}.000+00:00"


def job(number: int, began: str, ended: str = "", waits_for: WaitsFor | None = None) -> JobEntry:
    workflow = "nightjar.yml" if number == 1 else "nightjar-wake.yml"
    return JobEntry(
        str(7000 + number), 1, f"{ACTIONS}/{7000 + number}", workflow, at(began), at(ended) if ended else "", waits_for
    )


def session(name: str, began: str, seconds: float, cost: float, turns: int, ended: str = "done") -> SessionEntry:
    return SessionEntry(name, name, seconds, cost, turns, ended, began=at(began))


def check(name: str, *, passed: bool) -> Check:
    state, conclusion = (CheckState.PASSED, "success") if passed else (CheckState.FAILED, "failure")
    return Check(name, "github-actions", ".github/workflows/ci.yml", state, conclusion, f"{ACTIONS}/7100/job/1")


def heard(record: Record, head: str, state: CiState, since: str, until: str) -> Record:
    """After a push at `since`, CI has said `state` by `until`: of the test, and `lint` passes."""
    verdict = CiVerdict(head, state, (check("test", passed=state is CiState.GREEN), check("lint", passed=True)))
    known = replace(record, head=head, pushed=head, watched_since=at(since))
    return known.heard(verdict, at(until))


TRIGGER = Trigger(
    repository="acme/widget",
    issue=42,
    title="The total of an order forgets the tax",
    body="An order of 20.00 with 19 % tax should come to 23.80.",
    label="nightjar",
    requested_by="alice",
    asked_at="2026-03-04T01:00:00Z",
    run_id="7001",
    run_attempt=1,
    job_url=f"{ACTIONS}/7001",
)
CLAIMED = Record(
    trigger=TRIGGER, base="main", branch="nightjar/issue-42", max_repairs=2, jobs=(job(1, "01:00:09"),), claimed=True
)
OPENED = heard(
    replace(
        CLAIMED,
        placed=True,
        base_commit=BASE,
        round_base=BASE,
        implemented=True,
        title="Add the tax to the total of an order",
        body="`total()` adds the tax of each line.\n\n- Lines without a rate count as before.",
        pull_request=PullRequest(57, "https://github.com/acme/widget/pull/57", draft=True),
        tracking_comment=1,
        sessions=(session("implement", "01:00:48", 611, 0.84, 21),),
    ),
    IMPLEMENTED,
    CiState.RED,
    "01:11:12",
    "01:15:40",
)
FIRST_REPAIR = RepairEntry(
    1,
    ("test",),
    before=IMPLEMENTED,
    after=REPAIRED,
    files=("src/prices.js",),
    summary="The tax was added to each line and to the sum. I took it out of the sum.",
    ci=CiState.RED,
    comment=2,
)


def ci_red() -> Record:
    """Both Repairs changed something, and the test is red all the same."""
    record = replace(
        OPENED,
        repairs=(FIRST_REPAIR,),
        sessions=(*OPENED.sessions, session("repair-1", "01:15:44", 188, 0.22, 6)),
    )
    record = heard(record, REPAIRED, CiState.RED, "01:19:03", "01:23:31")
    second = RepairEntry(
        2,
        ("test",),
        before=REPAIRED,
        after=AGAIN,
        files=("src/prices.js", "src/orders.js"),
        summary="`orders.js` adds the tax as well. I made it use `total()`.",
        ci=CiState.RED,
    )
    record = replace(
        record,
        repairs=(FIRST_REPAIR, second),
        sessions=(*record.sessions, session("repair-2", "01:23:35", 240, 0.31, 9)),
    )
    record = heard(record, AGAIN, CiState.RED, "01:27:50", "01:32:20")
    failure = dead_end(record)
    assert failure is not None
    return replace(record, failure=failure)


def lost_background_work() -> Record:
    """The first Repair waits twice for a command that is killed."""
    lost = ("npm run e2e",)
    tries = (
        replace(session("repair-1", "01:15:44", 1287, 0.35, 7, "resume"), lost=lost),
        replace(session("repair-1-resume", "01:37:12", 1266, 0.18, 4, "fail"), lost=lost),
    )
    return replace(
        OPENED,
        repairs=(RepairEntry(1, ("test",), before=IMPLEMENTED),),
        sessions=(*OPENED.sessions, *tries),
        resumes=1,
        failure=FailureEntry("background_lost", background_lost("repair-1", lost)),
    )


def secret_in_diff() -> Record:
    """The first Repair writes a key of the job into a file."""
    left = Piece(f"`src/payments.js` of commit {REPAIRED[:10]}", [f"const key = '{KEY}'".encode()])
    repair = replace(FIRST_REPAIR, files=("src/payments.js",), ci=None, comment=0)
    return replace(
        OPENED,
        head=REPAIRED,
        repairs=(repair,),
        sessions=(*OPENED.sessions, session("repair-1", "01:15:44", 188, 0.22, 6)),
        notes=("What is not on GitHub is kept as a patch in the job's logs folder: nightjar-issue-42.patch.",),
        failure=FailureEntry("secret_in_diff", first_secret([left], Redactor([KEY]), lambda _: False)),
    )


def parked() -> Record:
    """With `wait: park` the Run works in three jobs, and waits for CI between them without one."""
    first, second = job(1, "01:00:09", "01:12:20"), job(2, "01:15:58", "01:20:11")
    record = replace(
        OPENED,
        jobs=(replace(first, waits_for=WaitsFor.CI), replace(second, waits_for=WaitsFor.CI), job(3, "01:23:49")),
        repairs=(replace(FIRST_REPAIR, ci=CiState.GREEN),),
        sessions=(*OPENED.sessions, session("repair-1", "01:16:02", 176, 0.22, 6)),
        pull_request=PullRequest(57, "https://github.com/acme/widget/pull/57", draft=False),
        outcome=Outcome.READY,
    )
    return heard(record, REPAIRED, CiState.GREEN, "01:19:03", "01:23:52")


TAX_TEST = Claim("npx jest test/prices.test.js", ("test/prices.test.js",))
REFUND_TEST = Claim("python -m pytest -q tests/test_refund.py", ("tests/test_refund.py",))


def junit(claim: Claim, passed: int, bad: str = "") -> str:
    """A runner's report: so many tests that passed, and one that did not."""
    cases = "".join(f'<testcase file="{claim.files[0]}" name="case {number}"/>' for number in range(passed))
    return f'<testsuite name="all">{cases}{bad}</testsuite>'


def proved(
    claim: Claim, before: Ran, after: Ran, text: str, *changes: FileChange, check_seconds: float = 31.2
) -> Record:
    """The work with a Proof as the program makes it of what was run. `text`: the named file."""
    first, then = trial_of(BASE, before, claim.files), trial_of(IMPLEMENTED, after, claim.files)
    proof = judge(
        base=BASE,
        head=IMPLEMENTED,
        claim=claim,
        refused="",
        named_by="implement",
        before=first,
        before_with_tests=None,
        after=then,
        again=replace(then, seconds=then.seconds * 0.9),
        added=added_names(changes),
        unchanged=False,
    )
    shown = about_the_named_test(claim, {claim.files[0]: text}, changes, proof)
    proof = replace(proof, check=trial_of(IMPLEMENTED, Ran(0, check_seconds, "")), suspicions=shown)
    return replace(OPENED, claim=claim, proof=proof, proving=Proving.DONE, kind=str(kind_of(changes)))


def proved_fix() -> Record:
    """The test fails for its own reason before, and passes after."""
    output = "expect(received).toBe(expected)\n\n    Expected: 23.8\n    Received: 20\n\nTests: 1 failed, 11 passed"
    bad = f'<testcase file="{TAX_TEST.files[0]}" name="adds the tax"><failure message="Expected: 23.8"/></testcase>'
    test = "test('adds the tax', () => {\n  expect(total(order)).toBe(23.8)\n})"
    return proved(
        TAX_TEST,
        Ran(1, 2.1, output, (junit(TAX_TEST, 11, bad),)),
        Ran(0, 2.2, "Tests: 12 passed", (junit(TAX_TEST, 12),)),
        test,
        FileChange("src/prices.js", False, ("  const rate = line.rate ?? 0",), ()),
        FileChange(TAX_TEST.files[0], False, tuple(test.split("\n")), ()),
    )


def proved_feature() -> Record:
    """The test cannot load before, for the want of what the diff adds."""
    error = "ImportError: cannot import name 'refund' from 'shop.orders'"
    bad = f'<testcase name="tests.test_refund"><error message="collection failure">{error}</error></testcase>'
    test = "from shop.orders import refund\n\ndef test_refund():\n    assert refund(order).total == 0"
    record = proved(
        REFUND_TEST,
        Ran(2, 0.9, f"E   {error}\n1 error in 0.11s", (junit(REFUND_TEST, 0, bad),)),
        Ran(0, 1.1, "4 passed in 0.15s", (junit(REFUND_TEST, 4),)),
        test,
        FileChange("shop/orders.py", False, ("def refund(order):",), ()),
        FileChange(REFUND_TEST.files[0], False, tuple(test.split("\n")), (), new=True),
    )
    return replace(
        record,
        trigger=replace(TRIGGER, title="Orders can be refunded", body="There is no way to refund an order."),
        title="Refund an order",
        body="`refund(order)` gives back what was paid.\n\n- An order that was refunded cannot be refunded again.",
    )


def not_proved() -> Record:
    """The test passes without the change too, and asserts nothing."""
    passed = Ran(0, 2.1, "Tests: 12 passed", (junit(TAX_TEST, 12),))
    test = "test('adds the tax', () => {\n  total(order)\n})"
    return proved(
        TAX_TEST,
        passed,
        passed,
        test,
        FileChange("src/prices.js", False, ("  const rate = line.rate ?? 0",), ()),
        FileChange(TAX_TEST.files[0], False, tuple(test.split("\n")), ()),
    )


PROOFS = {"bug-fix.md": proved_fix, "feature.md": proved_feature, "passes-before-too.md": not_proved}
FAILURES = {
    "ci_red": (ci_red, datetime(2026, 3, 4, 1, 32, 27, tzinfo=UTC), "pull-request-comment.md"),
    "background_lost": (lost_background_work, datetime(2026, 3, 4, 1, 58, 26, tzinfo=UTC), "pull-request-body.md"),
    "secret_in_diff": (secret_in_diff, datetime(2026, 3, 4, 1, 19, 10, tzinfo=UTC), "pull-request-body.md"),
}
"""What makes each Record, when it was told, and what its last change of the pull request was."""


def rendered(record: Record, now: datetime, folder: Path) -> Mapping[str, str]:
    """What the reporter writes where, at the Run's end."""
    page, log = Page(comments={1: (42, ""), 2: (57, "")}), list[str]()
    environ = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(folder / "summary")}
    runner = Runner.from_environment(environ, log.append)
    reporter = GitHubReporter(page, runner, Redactor([KEY]), Limits(2, 10, 330, 60), lambda: now)
    reporter.ended(replace(record, outcome=record.outcome or Outcome.FAILED))
    ending = [body for number, body in page.comments.values() if number == 42][-1]
    reporter.repaired(record)
    return {
        "issue-comment.md": ending,
        "pull-request-comment.md": [body for number, body in page.comments.values() if number == 57][-1],
        "pull-request-body.md": reporter.pull_request_text(record).body,
        "step-summary.md": (folder / "summary").read_text(encoding="utf-8"),
        "annotation.txt": "".join(f"{line}\n" for line in log if line.startswith("::")),
    }


def same(path: Path, text: str) -> None:
    """`text` is what the file holds."""
    if os.environ.get("NIGHTJAR_GOLDEN") == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("code", FAILURES)
def test_a_failure_in_four_places(code: str, tmp_path: Path) -> None:
    """The comment on the issue, what stands on the pull request, the step summary and the annotation are current."""
    made, now, on_pull_request = FAILURES[code]
    files = rendered(made(), now, tmp_path)
    names = {"issue-comment.md", on_pull_request, "step-summary.md", "annotation.txt"}
    for name in names:
        same(EXAMPLES / code / name, files[name])
    assert {path.name for path in (EXAMPLES / code).iterdir()} == names
    assert all(text.strip() for text in files.values())
    assert files["annotation.txt"].count("\n") == 1
    assert KEY not in "".join(files.values())


def test_a_parked_run(tmp_path: Path) -> None:
    """The step summary of a Run that gave its runner back twice is current, and adds its jobs up."""
    text = rendered(parked(), datetime(2026, 3, 4, 1, 24, 1, tzinfo=UTC), tmp_path)["step-summary.md"]
    same(EXAMPLES / "parked-timeline.md", text)
    minutes = (12 * 60 + 11 + 4 * 60 + 13 + 12) / 60
    assert f"| **together** | | **{minutes:.1f} min** | waited 7 min 16 s without a runner |\n" in text


@pytest.mark.parametrize("name", PROOFS)
def test_a_pull_request_with_a_proof(name: str, tmp_path: Path) -> None:
    """The body of the pull request is current, and opens with the verdict and the table."""
    record = replace(PROOFS[name](), outcome=Outcome.READY)
    text = rendered(record, datetime(2026, 3, 4, 1, 24, 1, tzinfo=UTC), tmp_path)["pull-request-body.md"]
    same(EXAMPLES / "proof" / name, text)
    assert text.startswith("**Not proved.** " if name == "passes-before-too.md" else "**Proved.** ")
    assert ("> **Look at this first**" in text) is (name == "passes-before-too.md")


def test_each_example_is_linked() -> None:
    """The page that lists the examples names every file, and no other."""
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    files = {str(path.relative_to(EXAMPLES)) for path in EXAMPLES.rglob("*") if path.is_file()} - {"README.md"}
    linked = {part.split(")")[0] for part in page.split("](")[1:]}
    assert {link for link in linked if not link.startswith("../")} == files
