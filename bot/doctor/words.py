"""What the doctor says: for each check its sayings, a text with its remedy. `ok` needs none. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How a check came out."""

    OK = "ok"
    WARNING = "warning"
    FAILURE = "failure"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Saying:
    """A text, which follows the check's name, and a remedy in a sentence of its own."""

    level: Level
    text: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor's."""

    check: str
    level: Level
    text: str
    remedy: str = ""

    @property
    def line(self) -> str:
        """Text and remedy."""
        return f"{self.text}. {self.remedy}" if self.remedy else self.text


def say(key: str, level: Level | None = None, **values: object) -> Finding:
    """The saying `<check>.<name>`, filled; `level` where it depends on more than what is said."""
    saying = SAYINGS[key]
    return Finding(
        key.partition(".")[0], level or saying.level, saying.text.format(**values), saying.remedy.format(**values)
    )


def unknown(check: str, why: str, remedy: str = "") -> Finding:
    """Nobody could tell."""
    return Finding(check, Level.UNKNOWN, why, remedy)


MAY_NOT_LOOK = "the token may not look"
GIVE_A_TOKEN = "Give one: GH_TOKEN=$(gh auth token) nightjar doctor"
GIVE_A_KEY = "Give one, and it answers one question"

_OK, _WARNING, _FAILURE, _UNKNOWN = Level.OK, Level.WARNING, Level.FAILURE, Level.UNKNOWN
SAYINGS: Mapping[str, Saying] = {
    # ── the repository's files ──
    "settings.none": Saying(_OK, "no settings file: every setting is at its default"),
    "settings.read": Saying(_OK, "{file} can be read"),
    "settings.bad": Saying(_FAILURE, "{problems}", "Mend that; `nightjar init --print {file}` shows every setting"),
    "git.there": Saying(_OK, "git {version}; commits are by {name} <{email}>"),
    "git.missing": Saying(_FAILURE, "git cannot be run", "Install git {least} or newer where Runs happen"),
    "git.old": Saying(_FAILURE, "git {version} is too old", "Install git {least} or newer where Runs happen"),
    "git.half": Saying(
        _WARNING,
        "commits are by {name} <{email}>, half of it the default",
        "Set both `git-user-name` and `git-user-email` in {file}",
    ),
    "workflow.there": Saying(_OK, "{file} starts on the label {label}"),
    "workflow.missing": Saying(
        _FAILURE, "there is no {file}: nothing starts", "Run `nightjar init`, and push the files"
    ),
    "workflow.unreadable": Saying(_FAILURE, "{why}", "Mend it, or take it anew: `nightjar init --print {file}`"),
    "workflow.deaf": Saying(
        _FAILURE,
        "{file} does not run on issues that get a label: nothing starts",
        "Add `labeled` to the types of `issues` in its `on`",
    ),
    "workflow.label": Saying(
        _FAILURE,
        "by the settings {label} asks for a Run, and the `if` in {file} does not let it through: it starts nothing",
        "Write {label} into the `if` of its first job",
    ),
    "workflow.older": Saying(
        _FAILURE,
        "by the settings {label} asks for a Run, and the `if` in {file} does not let it through: it starts nothing",
        "Take the newer `if`, which `nightjar init --print {file}` shows",
    ),
    "workflow.unpushed": Saying(
        _WARNING, "{file} is not on {branch} yet, and a label starts only what is there", "Commit and push it"
    ),
    "commands.heard": Saying(_OK, "{file} runs on comments, where /nightjar begins a command"),
    "commands.both": Saying(
        _OK, "{file} runs on comments, where /nightjar begins a command, and on reviews, for `repair-on-review`"
    ),
    "commands.unheard": Saying(
        _WARNING,
        "commands in comments start nothing: {file} does not run on issue_comment",
        "`nightjar init --print {file}` shows the newer one, which does",
    ),
    "commands.stopped": Saying(
        _WARNING,
        "commands in comments start nothing: the `if` in {file} lets no comment through",
        "`nightjar init --print {file}` shows the newer one, which does",
    ),
    "commands.reviews": Saying(
        _WARNING,
        "`repair-on-review` is on, and {file} does not run on pull_request_review: reviews start nothing",
        "`nightjar init --print {file}` shows the newer one, which does",
    ),
    "commands.branches": Saying(
        _WARNING,
        "`repair-on-review` is on, and the `if` in {file} lets through reviews of {named}*, not of {branch}*",
        "Write {branch} there",
    ),
    "wake.unreadable": Saying(_FAILURE, "{why}", "Mend it, or take it anew: `nightjar init --print {file}`"),
    "wake.there": Saying(_OK, "{file} takes Runs up when {names} has ended"),
    "wake.hourly": Saying(_OK, "{file} takes Runs up hourly; no workflow here checks pull requests"),
    "wake.missing": Saying(
        _WARNING, "there is no {file}: what waits, or was lost, is taken up by nobody", "Run `nightjar init`"
    ),
    "wake.others": Saying(
        _WARNING,
        "{file} waits for {names}: no workflow here is called that",
        "Name those that are here, {known}, or take the file anew: `nightjar init --print {file}`",
    ),
    "wake.lacks": Saying(
        _WARNING,
        "{file} does not wait for {names}, so that a parked Run goes on only with the next hourly sweep",
        "Add it to `workflows:` there, or take the file anew: `nightjar init --print {file}`",
    ),
    # ── the token ──
    "token.given": Saying(_OK, "{kind}{owner}, from {source}"),
    "token.refused": Saying(_FAILURE, "GitHub does not take it ({reason})", "Make another one, and replace it"),
    "token.unseen": Saying(
        _FAILURE, "it does not see the repository ({reason})", "Give it this repository, or install the App there"
    ),
    "token.away": Saying(_UNKNOWN, "GitHub did not answer ({reason})", "Call the command again later"),
    "permissions.given": Saying(_OK, "{what}"),
    "permissions.scopes": Saying(
        _FAILURE, "its scopes ({scopes}) lack `repo`: it cannot push", "Make one with the scope `repo`"
    ),
    "permissions.role": Saying(
        _FAILURE,
        "{login} may not write to the repository",
        "Give {login} the role write, or use the token of somebody else",
    ),
    "permissions.unreadable": Saying(
        _FAILURE,
        "it may not read {names}",
        "Give it these permissions: those of a job stand in the workflow's `permissions`",
    ),
    "permissions.workflow": Saying(
        _FAILURE,
        "{file} does not give the job's token {names}",
        "Take the block `permissions` anew from `nightjar init --print {file}`",
    ),
    "permissions.writes": Saying(
        _UNKNOWN,
        "it reads all that a Run reads; what it may write GitHub does not tell of such a token",
        "See that it has contents, issues, pull requests and actions: write",
    ),
    # ── the repository's settings on GitHub ──
    "actions.on": Saying(_OK, "workflows run, and may use {action}"),
    "actions.off": Saying(_FAILURE, "GitHub Actions is switched off", "Switch it on: {page}/settings/actions"),
    "actions.local": Saying(
        _FAILURE, "only the owner's own actions are allowed, and {action} is none", "Allow it: {page}/settings/actions"
    ),
    "actions.selected": Saying(
        _FAILURE,
        "only selected actions are allowed, and {action} is not among them",
        "Add {action}@*: {page}/settings/actions",
    ),
    "actions.pinned": Saying(
        _FAILURE,
        "actions must be named by commit id, and {file} names {action} by a tag",
        "Write a release's commit id in its place, in both workflows",
    ),
    "pull-requests.own": Saying(_OK, "Runs open them with a token of their own"),
    "pull-requests.allowed": Saying(_OK, "Actions may create them"),
    "pull-requests.forbidden": Saying(
        _FAILURE,
        "Actions may not create them, and Runs have the job's own token",
        "Tick `Allow GitHub Actions to create and approve pull requests`: {page}/settings/actions",
    ),
    "job-tokens.read": Saying(_OK, "where a workflow does not say what its jobs may do, they may read"),
    "job-tokens.write": Saying(
        _WARNING,
        "where a workflow does not say what its jobs may do, they may write, while they run what an agent wrote too",
        "Set workflow permissions to read: {page}/settings/actions",
    ),
    "ci.none": Saying(
        _WARNING,
        "no workflow starts for a pull request here: Runs end with `nothing checked this`",
        "Add a workflow on `pull_request` that runs the tests",
    ),
    "ci.starts": Saying(_OK, "{names} starts for what Runs push: that is not done with the job's own token"),
    "ci.dispatched": Saying(_OK, "{names} is started by `ci-dispatch`"),
    "ci.not-dispatchable": Saying(
        _FAILURE,
        "`ci-dispatch` names {names}, which `workflow_dispatch` does not start",
        "Add `workflow_dispatch:` there",
    ),
    "ci.waits": Saying(
        _FAILURE,
        "{names} does not start by itself: Runs have the job's own token, and github.com has a person approve each run",
        "Add the secret NIGHTJAR_TOKEN, a token of an App or a person: {page}/settings/secrets/actions/new{dispatch}",
    ),
    "ci.nothing": Saying(
        _FAILURE,
        "{names} does not start: Runs have the job's own token, and an Enterprise Server starts nothing for it",
        "Add the secret NIGHTJAR_TOKEN, a token of an App or a person: {page}/settings/secrets/actions/new{dispatch}",
    ),
    "ci.unreadable": Saying(_WARNING, "{why}", "Mend that workflow; GitHub shows a failed run for it"),
    "issue-branch.archived": Saying(
        _FAILURE, "the repository is archived: nothing can be pushed", "Unarchive it: {page}/settings"
    ),
    "issue-branch.free": Saying(_OK, "no rule keeps Runs from pushing to {branch}"),
    "issue-branch.bypassed": Saying(_OK, "{rules} holds for {branch}, and this token may pass it by"),
    "issue-branch.blocked": Saying(
        _FAILURE,
        "{rules} holds for {branch}: a Run's pushes are refused",
        "Leave {prefix}** out of that ruleset, or let the App bypass it: {page}/settings/rules",
    ),
    "issue-branch.pattern": Saying(
        _WARNING,
        "{rules} holds for {branch}: pushes are refused whose commits do not fit",
        "Leave {prefix}** out of that ruleset, or set what it asks for: {page}/settings/rules",
    ),
    "base-branch.free": Saying(_OK, "pull requests go to {base}{merge}"),
    "base-branch.missing": Saying(_FAILURE, "there is no branch {base}", "Set `base-branch` to one that is there"),
    "base-branch.refuses": Saying(
        _FAILURE,
        "{rules} holds for {base}, which takes no `merge: {merge}`",
        "Set `merge` to {other}, or change the ruleset: {page}/settings/rules",
    ),
    "base-branch.waits": Saying(
        _WARNING,
        "{rules} holds for {base}: `merge: {merge}` may have to wait for people, and the Run then ends ready",
        "Set `merge` to never where people merge anyway",
    ),
    "labels.there": Saying(_OK, "{label} is there{missing}"),
    "labels.off": Saying(
        _FAILURE, "issues are switched off: there is nothing to label", "Switch them on: {page}/settings"
    ),
    "labels.missing": Saying(
        _FAILURE,
        "there is no label {label}: nobody can ask for a Run",
        "Make it: GH_TOKEN=$(gh auth token) nightjar init, or by hand at {page}/labels",
    ),
    "labels.profiles": Saying(
        _WARNING,
        "there is no label {label}, which asks for a Run with its profile's settings",
        "Make it: GH_TOKEN=$(gh auth token) nightjar init, or by hand at {page}/labels",
    ),
    "secrets.there": Saying(_OK, "{names} is there"),
    "secrets.given": Saying(_OK, "this job was given a key for claude"),
    "secrets.missing": Saying(
        _FAILURE,
        "the workflow asks for {names}, and there is no such secret",
        "Add it: {page}/settings/secrets/actions/new",
    ),
    "secrets.unnamed": Saying(
        _WARNING,
        "{file} gives the action no key from a secret",
        "Give it `anthropic-api-key: ${{{{ secrets.ANTHROPIC_API_KEY }}}}`, unless `pass-env` has what claude needs",
    ),
    "paused.no": Saying(_OK, "new Runs may begin"),
    "paused.yes": Saying(
        _WARNING,
        "the variable NIGHTJAR_PAUSED keeps new Sessions from beginning",
        "Remove it: {page}/settings/variables/actions",
    ),
    # ── the agent ──
    "claude.answered": Saying(_OK, "claude {version} answered after {seconds:.0f} s, confined as in a Run"),
    "claude.other": Saying(
        _WARNING,
        "claude {version} answered; Runs use {wanted}",
        "Nothing has to be done unless you set `claude-path`",
    ),
    "claude.silent": Saying(
        _FAILURE,
        "claude did not answer: {reason}",
        "Look whether this machine reaches the model's API, by its proxy and through its firewall",
    ),
    "claude.failed": Saying(_FAILURE, "{reason}", "{remedy}"),
    "agent-code.exposed": Saying(
        _WARNING,
        "CI runs what an agent wrote before a person has read it, and hands it the secrets {secrets}",
        "To have a person approve first, keep those in an environment with required reviewers, or leave NIGHTJAR_TOKEN "
        "out: github.com holds the runs of the job's own token until somebody approves them",
    ),
    "agent-code.plain": Saying(
        _OK,
        "CI runs what an agent wrote before a person has read it, and hands it no secret but the job's own token",
    ),
    "agent-code.approved": Saying(
        _OK, "CI runs what an agent wrote once a person has approved the run: Runs have the job's own token"
    ),
    "agent-code.no-ci": Saying(_OK, "no CI runs what an agent wrote"),
}
