"""The doctor's rules: every saying comes from facts, and each that is not ok says what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from bot.ci.found import CiWorkflow, FoundCi
from bot.doctor.examination import CHECKS, counted, examine
from bot.doctor.facts import (
    ActionsPolicy,
    Answered,
    Facts,
    Files,
    Hub,
    JobTokens,
    NoAnswer,
    Refusal,
    Rule,
    Secrets,
    Token,
    TokenKind,
    Unknown,
)
from bot.doctor.words import SAYINGS, Finding, Level, say
from bot.init.files import WAKE, WORKFLOW, shipped
from bot.init.reading import settings_alone

CI = CiWorkflow(".github/workflows/ci.yml", "CI", ("pull_request",), False, ())
BY_HAND = replace(CI, dispatchable=True)
TEXT, WAKING = shipped(WORKFLOW), shipped(WAKE)
FILES = Files(
    workflow=TEXT,
    wake=WAKING,
    settings=False,
    problems=(),
    config=settings_alone(None),
    ci=FoundCi((CI,)),
    names=frozenset({"CI"}),
)
TOKEN = Token(TokenKind.CLASSIC, "alice", "GH_TOKEN", ("repo",))
JOBS = Token(TokenKind.JOB, "github-actions[bot]", "the input `github-token`")
APPS = Token(TokenKind.APP, "nightjar[bot]", "the App's key")
HUB = Hub(
    page="https://github.com/dana/widget",
    is_public_github=True,
    is_private=True,
    is_archived=False,
    has_issues=True,
    default_branch="main",
    base_exists=True,
    on_default=True,
    actions=ActionsPolicy(True),
    job_tokens=JobTokens("read", True),
    labels=frozenset({"nightjar", "nightjar:ready"}),
    secrets=Secrets(frozenset({"ANTHROPIC_API_KEY", "NIGHTJAR_TOKEN"}), whole=True),
    paused=False,
    work_rules=(),
    base_rules=(),
)
WELL = Facts(in_job=False, files=FILES, git="2.39.5", token=TOKEN, hub=HUB, claude=Answered("2.1.332", 2.0))


def files(**changes: object) -> Facts:
    """All is well but for the files."""
    return replace(WELL, files=replace(FILES, **changes))  # type: ignore[arg-type]  # fields by name


def settings(text: str, **changes: object) -> Facts:
    """All is well with other settings."""
    return files(config=settings_alone(text), **changes)


def hub(**changes: object) -> Facts:
    """All is well but for the repository on GitHub."""
    return replace(WELL, hub=replace(HUB, **changes))  # type: ignore[arg-type]  # fields by name


def token(**changes: object) -> Facts:
    """All is well but for the token."""
    return replace(WELL, token=replace(TOKEN, **changes))  # type: ignore[arg-type]  # fields by name


def with_jobs_token(facts: Facts) -> Facts:
    """Runs find no token but the job's own."""
    assert isinstance(facts.hub, Hub)
    return replace(facts, hub=replace(facts.hub, secrets=Secrets(frozenset({"ANTHROPIC_API_KEY"}), whole=True)))


def in_a_job(facts: Facts, own: Token = APPS) -> Facts:
    """The same in a job."""
    return replace(facts, in_job=True, token=own)


def rules(*kinds: str, bypassed: bool | None = None) -> tuple[Rule, ...]:
    """Rules of these kinds."""
    return tuple(Rule(kind, bypassed) for kind in kinds)


def ruled(*kinds: str) -> Hub:
    """The repository, with rules of these kinds on its base branch."""
    return replace(HUB, base_rules=rules(*kinds))


PINNED = TEXT.replace("acme/nightjar@v1", f"acme/nightjar@{'a' * 40}")
OLDER = """\
on:
  issues:
    types: [labeled]
jobs:
  run:
    if: github.event_name == 'workflow_dispatch' || github.event.label.name == 'nightjar'
    steps:
      - uses: acme/nightjar@v1
        with: {anthropic-api-key: "${{ secrets.ANTHROPIC_API_KEY }}"}
"""
"""The first workflow that was shipped, in short: without profiles, without commands in comments."""
ON_REVIEW = "repair-on-review: true\n"
UNLESS = "github.event_name == 'workflow_dispatch' || github.event.label.name == 'nightjar'"
LISTED = """contains(fromJSON('["robot", "nightjar"]'), github.event.label.name)"""
FAST = "labels: {nightjar:fast: {max-repairs: 1}}\n"
ALL_SECRETS = files(ci=FoundCi((replace(CI, secrets=("*",)),)))
SAID: Mapping[str, Facts] = {
    "settings.none": WELL,
    "settings.read": files(settings=True),
    "settings.bad": files(problems=("line 1: wrong", "line 2: wrong too")),
    "git.there": WELL,
    "git.missing": replace(WELL, git=None),
    "git.old": replace(WELL, git="2.25.1"),
    "git.half": settings("git-user-name: Robot\n"),
    "workflow.there": WELL,
    "workflow.missing": files(workflow=None),
    "workflow.unreadable": files(workflow="on: [\n"),
    "workflow.deaf": files(workflow=TEXT.replace("types: [labeled]", "types: [opened]")),
    "workflow.label": settings("label: robot\n"),
    "workflow.older": settings(FAST, workflow=OLDER),
    "workflow.unpushed": hub(on_default=False),
    "commands.heard": WELL,
    "commands.both": settings(ON_REVIEW),
    "commands.unheard": files(workflow=OLDER),
    "commands.stopped": files(workflow=OLDER.replace("[labeled]", "[labeled]\n  issue_comment:")),
    "commands.reviews": settings(ON_REVIEW, workflow=TEXT.replace("  pull_request_review:", "  pull_request_target:")),
    "commands.branches": settings(f"{ON_REVIEW}branch-prefix: robot/\n"),
    "wake.there": WELL,
    "wake.hourly": files(ci=FoundCi()),
    "wake.missing": files(wake=None),
    "wake.unreadable": files(wake="on: [\n"),
    "wake.others": files(wake=WAKING.replace("[CI]", "[CI, Gone]")),
    "wake.lacks": files(ci=FoundCi((CI, replace(CI, name="Lint"))), names=frozenset({"CI", "Lint"})),
    "token.given": WELL,
    "token.refused": replace(WELL, token=Refusal("401")),
    "token.unseen": replace(WELL, token=Refusal("404", unseen=True)),
    "token.away": replace(WELL, token=Refusal("no answer", away=True)),
    "permissions.given": WELL,
    "permissions.scopes": token(scopes=("public_repo", "gist")),
    "permissions.role": token(may_push=False),
    "permissions.unreadable": token(unreadable=("issues", "checks")),
    "permissions.workflow": in_a_job(files(workflow=TEXT.replace("issues: write", "issues: read")), JOBS),
    "permissions.writes": replace(WELL, token=APPS),
    "actions.on": WELL,
    "actions.off": hub(actions=ActionsPolicy(False)),
    "actions.local": hub(actions=ActionsPolicy(True, "local_only")),
    "actions.selected": hub(actions=ActionsPolicy(True, "selected", ("actions/*",))),
    "actions.pinned": hub(actions=ActionsPolicy(True, by_commit=True)),
    "pull-requests.own": WELL,
    "pull-requests.allowed": with_jobs_token(WELL),
    "pull-requests.forbidden": with_jobs_token(hub(job_tokens=JobTokens("read", False))),
    "job-tokens.read": WELL,
    "job-tokens.write": hub(job_tokens=JobTokens("write", True)),
    "ci.none": files(ci=FoundCi()),
    "ci.starts": WELL,
    "ci.dispatched": settings("ci-dispatch: ci.yml\n", dispatchable=frozenset({"ci.yml"})),
    "ci.not-dispatchable": settings("ci-dispatch: ci.yml\n"),
    "ci.waits": with_jobs_token(files(ci=FoundCi((BY_HAND,)))),
    "ci.nothing": with_jobs_token(hub(is_public_github=False)),
    "ci.unreadable": files(ci=FoundCi((CI,), ("b.yml: not YAML",))),
    "issue-branch.free": hub(work_rules=rules("deletion", "non_fast_forward")),
    "issue-branch.archived": hub(is_archived=True),
    "issue-branch.bypassed": in_a_job(hub(work_rules=rules("creation", "update", bypassed=True))),
    "issue-branch.blocked": hub(work_rules=rules("creation", "required_signatures")),
    "issue-branch.pattern": hub(work_rules=rules("commit_message_pattern")),
    "base-branch.free": WELL,
    "base-branch.missing": hub(base_exists=False),
    "base-branch.refuses": replace(settings("merge: merge\n"), hub=ruled("required_linear_history")),
    "base-branch.waits": replace(settings("merge: squash\n"), hub=ruled("pull_request")),
    "labels.there": hub(labels=frozenset({"nightjar"})),
    "labels.off": hub(has_issues=False),
    "labels.profiles": settings(FAST),
    "labels.missing": hub(labels=frozenset({"nightjar:ready"})),
    "secrets.there": WELL,
    "secrets.given": in_a_job(WELL),
    "secrets.missing": hub(secrets=Secrets(frozenset({"OTHER"}), whole=True)),
    "secrets.unnamed": files(workflow=TEXT.replace("anthropic-api-key:", "model:")),
    "paused.no": WELL,
    "paused.yes": hub(paused=True),
    "claude.answered": WELL,
    "claude.other": replace(WELL, claude=Answered("2.1.211", 2.0)),
    "claude.silent": replace(WELL, claude=NoAnswer("session_timeout", "it took too long")),
    "claude.failed": replace(WELL, claude=NoAnswer("claude_auth", "the key was refused")),
    "agent-code.no-ci": files(ci=FoundCi()),
    "agent-code.plain": WELL,
    "agent-code.exposed": files(ci=FoundCi((replace(CI, secrets=("B", "A")),))),
    "agent-code.approved": with_jobs_token(files(ci=FoundCi((replace(CI, secrets=("A",)),)))),
}


def of(key: str, facts: Facts) -> Finding:
    """What the check of that saying finds."""
    (found,) = [one for one in examine(facts) if one.check == key.partition(".")[0]]
    return found


def test_all_is_well() -> None:
    """Facts with nothing wrong in them make every check ok."""
    assert [one for one in examine(WELL) if one.level is not Level.OK] == []
    assert counted(examine(WELL)) == f"All {len(CHECKS)} checks are ok."


@pytest.mark.parametrize("key", SAID)
def test_every_saying_comes_from_facts(key: str) -> None:
    """The facts of its row lead to the saying, whole; a failure or a warning has a remedy, and ok has none."""
    found = of(key, SAID[key])
    pieces = [part for part in SAYINGS[key].text.replace("{{", "{").split("{") if part]
    assert all(piece.rpartition("}")[2].strip() in found.text for piece in pieces), found
    assert found.level in (SAYINGS[key].level, Level.FAILURE, Level.WARNING)
    assert bool(found.remedy) is bool(SAYINGS[key].remedy)
    assert "{" not in found.line.replace("${{ secrets.ANTHROPIC_API_KEY }}", "")
    assert not found.line.endswith("..")


def test_no_saying_is_left_out() -> None:
    """Each saying has its row, and each check one that is well and one that is not."""
    assert set(SAID) == set(SAYINGS)
    bad = (Level.FAILURE, Level.WARNING)
    assert all(saying.remedy for saying in SAYINGS.values() if saying.level in bad)
    assert not any(saying.remedy for saying in SAYINGS.values() if saying.level is Level.OK)
    checks = {one.check for one in examine(WELL)}
    for levels in ((Level.OK,), bad):
        assert {key.partition(".")[0] for key, saying in SAYINGS.items() if saying.level in levels} == checks


@pytest.mark.parametrize(
    ("facts", "check", "why"),
    [
        (hub(actions=Unknown("no look")), "actions", "no look"),
        (hub(job_tokens=Unknown("no look")), "job-tokens", "no look"),
        (with_jobs_token(hub(job_tokens=Unknown("no look"))), "pull-requests", "no look"),
        (hub(labels=Unknown("no look")), "labels", "no look"),
        (hub(secrets=Unknown("no look")), "secrets", "no look"),
        (hub(secrets=Unknown("no look")), "ci", "no look"),
        (
            hub(secrets=Secrets(frozenset(), whole=False)),
            "secrets",
            "the token may not look at the organisation's secrets",
        ),
        (hub(paused=Unknown("no look")), "paused", "no look"),
        (hub(work_rules=Unknown("no look")), "issue-branch", "no look"),
        (hub(base_exists=Unknown("no look")), "base-branch", "no look"),
        (replace(WELL, claude=Unknown("no key")), "claude", "no key"),
        (files(workflow=None), "ci", f"there is no {WORKFLOW} that says with which token Runs work"),
        (in_a_job(files(unread="unseen")), "workflow", "unseen"),
        (in_a_job(files(unread="unseen")), "agent-code", "unseen"),
    ],
)
def test_what_nobody_could_tell_is_unknown(facts: Facts, check: str, why: str) -> None:
    """Where a fact is missing the check says why, and guesses nothing."""
    found = of(check, facts)
    assert (found.level, found.text, found.remedy) == (Level.UNKNOWN, why, "")


@pytest.mark.parametrize(
    ("key", "facts"),
    [
        ("permissions.given", replace(token(scopes=("public_repo",)), hub=replace(HUB, is_private=False))),
        ("permissions.given", in_a_job(WELL, JOBS)),
        ("permissions.writes", in_a_job(files(workflow=None), JOBS)),
        ("workflow.there", settings(FAST)),
        ("workflow.older", settings("labels: {'nightjar:fast': {draft: never}, 'nightjar:slow': {}}", workflow=OLDER)),
        ("workflow.label", settings("labels: {'nightjar:fast': {draft: never}, quick: {}}", workflow=OLDER)),
        ("workflow.there", settings("label: robot", workflow=OLDER.replace("label.name == 'nightjar'", LISTED))),
        ("workflow.label", settings("label: other", workflow=OLDER.replace("label.name == 'nightjar'", LISTED))),
        ("workflow.there", settings("label: Robot", workflow=OLDER.replace("'nightjar'", "'robot'"))),
        ("workflow.there", settings("label: robot", workflow=OLDER.replace(UNLESS, "github.actor == 'alice'"))),
        ("workflow.there", files(workflow=OLDER.replace("\n    types: [labeled]", ""))),
        ("workflow.older", settings(FAST, workflow=TEXT.replace('"nightjar:working"', '"nightjar:fast"'))),
        ("commands.unheard", files(workflow=TEXT.replace("types: [created]", "types: [edited]"))),
        ("labels.there", replace(settings(FAST), hub=replace(HUB, labels=frozenset({"nightjar", "nightjar:fast"})))),
        ("workflow.label", settings("labels: {quick: {max-repairs: 1}}\n")),
        ("actions.on", files(workflow=PINNED, ci=FoundCi())),
        ("actions.on", replace(files(workflow=PINNED), hub=replace(HUB, actions=ActionsPolicy(True, by_commit=True)))),
        ("actions.on", hub(actions=ActionsPolicy(True, "selected", ("acme/nightjar@*",)))),
        ("actions.on", hub(actions=ActionsPolicy(True, "local_only"), page="https://github.com/acme/widget")),
        ("pull-requests.own", in_a_job(hub(job_tokens=JobTokens("read", False)))),
        ("ci.starts", in_a_job(WELL)),
        ("ci.waits", in_a_job(WELL, JOBS)),
        ("issue-branch.blocked", in_a_job(hub(work_rules=rules("creation", bypassed=False)))),
        ("issue-branch.blocked", hub(work_rules=rules("creation", bypassed=True))),
        ("base-branch.free", replace(settings("merge: squash\n"), hub=ruled("required_signatures"))),
        ("base-branch.free", hub(base_rules=rules("required_linear_history", "pull_request"))),
        ("agent-code.exposed", with_jobs_token(replace(ALL_SECRETS, hub=replace(HUB, is_public_github=False)))),
    ],
)
def test_what_makes_the_difference(key: str, facts: Facts) -> None:
    """The same rule with other facts: who asks, whose action it is, what is merged how."""
    found = of(key, facts)
    assert found.text.startswith(SAYINGS[key].text.partition("{")[0])
    assert found.remedy.startswith(SAYINGS[key].remedy.partition("{")[0])
    assert found.level is SAYINGS[key].level


def test_a_run_that_parks_needs_the_second_workflow() -> None:
    """With `wait: park` what is a warning about the second workflow otherwise is a failure."""
    assert of("wake", files(wake=None)).level is Level.WARNING
    assert of("wake", settings("wait: park\n", wake=None)).level is Level.FAILURE


def test_a_saying_needs_its_values() -> None:
    """A saying with a hole is a mistake, not a line with a hole."""
    with pytest.raises(KeyError):
        say("labels.missing")
