"""Small pieces of text that several renderings share: durations, money, names, links, and how a Session or CI ended."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.failures import failure
from bot.guard import code, inert_line
from bot.record import (
    Check,
    CheckState,
    CiState,
    CiVerdict,
    Outcome,
    Record,
    RepairEntry,
    SessionEntry,
    Trigger,
    WaitsFor,
)
from bot.request import Request

_NAME = 120
_LINE = 600
_REASON = 40_000
"""Characters of a reason: far more than a sentence has, and few enough for the rest of a comment."""

CI_WORDS = {
    CiState.PENDING: "still running",
    CiState.GREEN: "green",
    CiState.RED: "red",
    CiState.NONE_EXPECTED: "nothing checked this",
    CiState.NEVER_STARTED: "did not start",
    CiState.NEEDS_APPROVAL: "waits for somebody's approval",
    CiState.SUPERSEDED: "was overtaken by a newer commit",
    CiState.INFRASTRUCTURE: "broke for no fault of the code",
    CiState.UNREADABLE: "cannot be read",
    CiState.TIMED_OUT: "was not done in time",
}
WAITS = {
    WaitsFor.SLOT: "waits for its turn",
    WaitsFor.CI: "waits for CI",
    WaitsFor.RUNNER: "waits for the new runner that it has asked for",
    WaitsFor.USAGE_LIMIT: "waits for the usage limit to be reset",
    WaitsFor.UNPAUSED: "waits for `NIGHTJAR_PAUSED` to be taken back",
}
_UNTIL = {WaitsFor.CI: ", until {} at the latest", WaitsFor.USAGE_LIMIT: ", which is due at {}"}
"""How the moment reads that the Run is taken up at; of other waits nobody needs to know it."""
_FAILED = frozenset({"failure", "timed_out", "error"})
ENDED = {
    "done": "done",
    "resume": "resumed",
    "retry": "the API failed; taken up again",
    "fail": "failed",
    "cancelled": "cancelled",
}


def name(text: str) -> str:
    """A stranger's name for something, as inline code."""
    return code(text, _NAME)


def line(text: str) -> str:
    """A stranger's sentence."""
    return inert_line(text, _LINE)


def profile(label: str, names: Sequence[str], overridden: Sequence[str]) -> str:
    """Which profile a Run has, what it sets, and what it does not because an input goes before it."""
    sets = f"sets {_settings(names)}" if names else "sets nothing"
    if not overridden:
        return f"{name(label)}, which {sets}"
    return f"{name(label)}, which {sets}; an input of the workflow goes before its {_settings(overridden)}"


def _settings(names: Sequence[str]) -> str:
    return ", ".join(f"`{one}`" for one in names)


def commit(commit_id: str) -> str:
    """A commit id as people write it."""
    return f"`{commit_id[:10]}`"


def money(dollars: float) -> str:
    """US dollars, to the cent."""
    return f"${dollars:,.2f}"


def lasted(seconds: float) -> str:
    """`42 s`, `3 min 05 s`, `1 h 12 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def minutes(value: float) -> str:
    """A limit in minutes; settings may be decimals."""
    return f"{value:g} min"


def count(number: int, noun: str) -> str:
    """`1 Repair`, `2 Repairs`, `no Repairs`."""
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def link(text: str, url: str) -> str:
    """A link when `url` is one that cannot break out of it, else the text alone. `text` is safe already."""
    return f"[{text}]({url})" if re.fullmatch(r"https?://[^\s()<>\[\]\"'`\\]+", url) else text


def check_name(check: Check) -> str:
    """A check, linked to its page."""
    return link(name(check.name), check.url)


def names(texts: tuple[str, ...], at_most: int = 10) -> str:
    """Names in a row, the first ones when there are many."""
    shown = ", ".join(name(text) for text in texts[:at_most])
    return shown if len(texts) <= at_most else f"{shown} and {len(texts) - at_most} more"


def sentence(text: str) -> str:
    """With a full stop, unless it ends like a sentence already."""
    return text if not text or text[-1] in ".!?:…`" else f"{text}."


def mention(login: str) -> str:
    """A live mention, of a real login only."""
    return f"@{login}" if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*(?:\[bot\])?", login) else ""


def repository_url(trigger: Trigger) -> str:
    """The repository's page, on whichever GitHub the job runs; "" when it cannot be told."""
    before, found, _ = trigger.job_url.partition(f"/{trigger.repository}/")
    return f"{before}/{trigger.repository}" if found else ""


def branch(record: Record) -> str:
    """The Issue branch, linked when it is on GitHub."""
    where = repository_url(record.trigger)
    return link(name(record.branch), f"{where}/tree/{record.branch}" if where and record.pushed else "")


def pull_request(record: Record) -> str:
    """`#12`, linked; "" without one."""
    found = record.pull_request
    return link(f"#{found.number}", found.url) if found else ""


def run_page(record: Record) -> str:
    """Where the Run page is once the newest job has kept it: an artifact, whose own address nobody knows yet."""
    run = re.sub(r"/job/\d+$", "", record.jobs[-1].url if record.jobs else record.trigger.job_url)
    return f"{link('Run page', f'{run}#artifacts')}, an artifact"


def kind(entry: SessionEntry) -> str:
    """The Session's own kind, never that of its Resume or API retry."""
    return re.sub(r"(-resume|-retry-\d+)+$", "", entry.name)


def session_name(entry: SessionEntry) -> str:
    """How a Session is called in a table: a Resume or an API retry is told from its Session."""
    if entry.name.endswith("-resume"):
        return f"Resume of {name(kind(entry))}"
    retry = re.search(r"-retry-(\d+)$", entry.name)
    return f"API retry {retry[1]} of {name(kind(entry))}" if retry else name(entry.name)


def session_end(entry: SessionEntry) -> str:
    """How a Session ended, for a table cell."""
    ended = ENDED.get(entry.ended, "unknown")
    lost = "; ".join(entry.lost)
    text = f"background work was killed ({line(lost)}); {ended}" if lost else ended
    return text.replace("|", "\\|")


def losses(record: Record) -> str:
    """The fixed sentence about background work that was killed earlier, one clause a Session; "" without any.

    What the Session that the Run failed in lost itself is part of its own reason.
    """
    sessions = record.sessions[:-1] if record.sessions and record.sessions[-1].ended == "fail" else record.sessions
    by_kind: dict[str, list[str]] = {}
    for entry in sessions:
        known = by_kind.setdefault(kind(entry), [])
        known += [lost for lost in entry.lost if lost not in known]
    return "; ".join(
        f"{which} session ended while waiting on a background task ({line('; '.join(lost))}), which was killed"
        for which, lost in by_kind.items()
        if lost
    )


def reason(record: Record) -> str:
    """Why the Run ended badly, whole and in one sentence: an earlier loss first, and then what came after it."""
    if record.failure is None:
        return "The Run was cancelled before its work was done." if record.outcome is Outcome.CANCELLED else ""
    own = inert_line(record.failure.reason, _REASON)
    earlier = "" if record.failure.code == "background_lost" else losses(record)
    return sentence(f"{earlier}, and then: {own}" if earlier else own)


def title(record: Record) -> str:
    """The Failure's title; "" without one."""
    return failure(record.failure.code).title if record.failure else ""


def ci(verdict: CiVerdict | None) -> str:
    """What CI says, in one sentence."""
    if verdict is None:
        return "CI has not been asked yet."
    head = commit(verdict.head)
    if verdict.state is CiState.NONE_EXPECTED:
        return f"Nothing checked this: no CI ran on {head}."
    if verdict.state is CiState.GREEN:
        return f"CI is green on {head} ({count(len(verdict.checks), 'check')}).{tolerated(verdict)}"
    if verdict.state is CiState.RED:
        red_ = ", ".join(check_name(check) for check in verdict.failed[:10])
        return f"CI is red on {head}{f': {red_}' if red_ else ''}.{inherited(verdict)}"
    if verdict.state is CiState.PENDING:
        return f"CI is still running on {head}."
    why = f": {line(verdict.explanation)}" if verdict.explanation else ""
    return f"CI {CI_WORDS[verdict.state]} ({head}){why}."


def inherited(verdict: CiVerdict) -> str:
    """The checks that are red on the base too; "" without any."""
    found = ", ".join(check_name(check) for check in verdict.inherited[:10])
    return f" Red on the base branch too, and left alone: {found}." if found else ""


def tolerated(verdict: CiVerdict) -> str:
    """The checks that failed but may fail; "" without any."""
    found = [check for check in verdict.checks if check.state is CheckState.PASSED and check.conclusion in _FAILED]
    names_ = ", ".join(check_name(check) for check in found[:10])
    return f" Failed, but allowed to: {names_}." if names_ else ""


def suspicions(record: Record) -> tuple[str, ...]:
    """What a reviewer should look at first, of the first Session, of the named test and of every Repair."""
    proof = record.proof.suspicions if record.proof else ()
    found = [*proof, *record.suspicions, *(text for repair in record.repairs for text in repair.suspicions)]
    return tuple(dict.fromkeys(found))


def lines(texts: tuple[str, ...]) -> str:
    """Sentences in a row."""
    return "; ".join(line(text) for text in texts[:10])


def red(repair: RepairEntry) -> str:
    """What a Repair was started for: checks and paths are strangers' names, what Nightjar itself ran is not."""
    if repair.request:
        return f"by {asked_by(repair.request)}"
    return ", ".join(line(text) for text in repair.red) if repair.proof else names(repair.red)


def asked_by(request: Request) -> str:
    """Who asked for a Repair, linked to where."""
    return link(name(request.by), request.url)


def repair_heading(repair: RepairEntry) -> str:
    """What a Repair's list of names is."""
    if repair.request:
        return "Asked for"
    return "In conflict with the base branch" if repair.conflict else "Red"


def repair_cause(repair: RepairEntry) -> str:
    """What a Repair was for, in a few words."""
    if repair.request:
        return f"asked for by {asked_by(repair.request)}"
    what = red(repair)
    return f"conflict in {what}" if repair.conflict else f"red was {what or 'an earlier state'}"


def changed(repair: RepairEntry) -> str:
    """What a Repair changed."""
    if not repair.after:
        return "(not finished)"
    if repair.after == repair.before:
        return "nothing"
    return f"{names(repair.files) or 'the history only'} ({commit(repair.after)})"


def totals(record: Record) -> str:
    """Sessions, Repairs, Resumes and cost in one line."""
    sessions = sum(1 for entry in record.sessions if entry.name == kind(entry))
    parts = [
        count(sessions, "Session"),
        count(len(record.repairs), "Repair"),
        count(record.resumes, "Resume"),
        money(record.cost_usd),
    ]
    whole = ", ".join(parts)
    return whole[:1].upper() + whole[1:]


def moment(text: str) -> str:
    """`2026-03-04 02:05 UTC`, of a moment in ISO 8601, UTC; "" where it cannot be read."""
    found = re.match(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)", text)
    return f"{found[1]} {found[2]} UTC" if found else ""


def waits(record: Record, ahead: int | None) -> str:
    """What a Run without a runner waits for, and until when; "" for any other. `ahead`: queued Runs before it; None
    where nobody has looked.
    """
    parked = record.parked
    if parked is None:
        return ""
    until = moment(parked.until)
    when = _UNTIL.get(parked.waits_for, "").format(until) if until else ""
    if parked.waits_for is WaitsFor.SLOT:
        place = "" if ahead is None else f", with {count(ahead, 'Run')} before it" if ahead else ", as the next one"
        when = f"{place}, because as many Runs are at work as `max-working` allows"
    return f"{WAITS[parked.waits_for]}{when}. It holds no runner, and goes on by itself"


def headline(record: Record, doing: str) -> str:
    """What is happening, or how it ended."""
    where = pull_request(record)
    match record.outcome:
        case None if record.parked is not None:
            return f"**{record.state.capitalize()}:** the Run {sentence(line(doing))}"
        case None:
            return f"**Nightjar is working on this:** {sentence(line(doing))}"
        case Outcome.READY:
            return f"**Ready for review:** {where}"
        case Outcome.MERGED:
            return f"**Merged:** {where}"
        case Outcome.CANCELLED:
            return "**Cancelled.** The comment below says what was kept."
        case Outcome.SKIPPED:
            return "**Skipped.**"
        case Outcome.FAILED:
            return f"**Nightjar stopped:** {sentence(title(record))} The comment below says why."


def ci_words(state: CiState) -> str:
    """What CI says, in a few words."""
    return CI_WORDS[state]


def kept(record: Record) -> str:
    """Where the work is now."""
    if not record.pushed:
        unpushed = (
            f" The commit {commit(record.head)} did not reach GitHub." if record.implemented and record.head else ""
        )
        return f"Nothing was pushed.{unpushed}"
    text = f"The branch {branch(record)} at {commit(record.pushed)}"
    found = record.pull_request
    if found:
        text += f", and the pull request {pull_request(record)}{', a draft' if found.draft else ''}"
    behind = (
        f" The newer commit {commit(record.head)} did not reach GitHub."
        if record.head and record.head != record.pushed
        else ""
    )
    return f"{text}.{behind}"


def whole_minutes(seconds: float) -> str:
    """`14.2 min`."""
    return f"{seconds / 60:.1f} min"
