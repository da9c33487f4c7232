"""Every way a Run can end badly, in one catalogue: code, title, why it usually happens, what to change.

The texts are written for the person who labelled the issue and reads them the next morning. What happened in *this*
Run is never here: it is the reason of `RunFailed`, one sentence, a fact. A new Failure is a row in `_ROWS`;
`docs/failures.md` is generated from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Failure:
    """One named reason. `title`, `why` and `remedy` are Markdown; a remedy may hold a snippet ready to paste."""

    code: str
    title: str
    """Completes "Nightjar stopped: …"; no full stop."""
    why: str
    """One to three sentences: what usually lies behind it."""
    remedy: str
    """What to change, or where to look."""
    retryable: bool
    """Whether putting the label on again can help although nothing was changed."""
    exit_code: int = 1
    """What the process ends with: 1 failed, 2 settings or input, 130 cancelled."""


class RunFailed(Exception):
    """The Run ends here. Raised by any step; `code` must be in the catalogue."""

    def __init__(self, code: str, reason: str, evidence: str = "") -> None:
        """`reason`: one sentence, a fact of this very Run.

        `evidence`: a tail of raw output. Raises `ValueError` for an unknown code.
        """
        self.failure = failure(code)
        self.code = code
        self.reason = reason
        self.evidence = evidence
        super().__init__(f"{code}: {reason}")


class UsageLimitReached(RunFailed):
    """The model's API takes no more for a while."""

    def __init__(self, reason: str, evidence: str, resets_at: str) -> None:
        """`resets_at`: ISO 8601, UTC; "" when no field gave it."""
        super().__init__("usage_limit", reason, evidence)
        self.resets_at = resets_at


_KEYS = """\
```yaml
with:
  anthropic-api-key: ${{ secrets.ANTHROPIC_API_KEY }}
  # or, with a Claude subscription:
  claude-code-oauth-token: ${{ secrets.CLAUDE_CODE_OAUTH_TOKEN }}
```"""

_PERMISSIONS = """\
```yaml
permissions:
  contents: write
  issues: write
  pull-requests: write
  checks: read
  statuses: read
  actions: write
```"""

_APP_KEY = """\
```yaml
with:
  app-id: ${{ vars.NIGHTJAR_APP_ID }}
  app-private-key: ${{ secrets.NIGHTJAR_APP_PRIVATE_KEY }}
```"""

_OTHER_TOKEN = """\
```yaml
with:
  github-token: ${{ secrets.NIGHTJAR_TOKEN || github.token }}
  # or, with a GitHub App, also:
  app-id: ${{ vars.NIGHTJAR_APP_ID }}
  app-private-key: ${{ secrets.NIGHTJAR_APP_PRIVATE_KEY }}
```"""


def _setting(line: str) -> str:
    """One input of the action, as a snippet."""
    return f"```yaml\nwith:\n  {line}\n```"


_ROWS = (
    # -- before any work
    Failure(
        code="config_invalid",
        title="a setting is not valid",
        why=(
            "An input of the action or a key in `.github/nightjar.yml` is unknown, has the wrong type or lies "
            "outside its range."
        ),
        remedy="Correct the named setting. The README's table of settings says what each one accepts.",
        retryable=False,
        exit_code=2,
    ),
    Failure(
        code="not_permitted",
        title="the request came from somebody who may not start a Run",
        why=(
            "Nightjar asks GitHub for the role of whoever put the label on, and works only for those with the "
            "role that `required-permission` names (`write` unless set otherwise). What the event itself claims "
            "is not trusted."
        ),
        remedy=(
            "Ask somebody with that role to put the label on. To admit people with the triage role, lower the "
            "bar:\n\n" + _setting("required-permission: triage")
        ),
        retryable=False,
    ),
    Failure(
        code="setup_failed",
        title="a setup command failed",
        why=(
            "The commands under `setup` run on the base branch before the first Session, without credentials. One "
            "of them ended with an error: often a tool the runner does not have, or a registry that asks for a "
            "login."
        ),
        remedy=(
            "Run the command on a clean checkout of the base branch. Install what is missing in a workflow step "
            "before Nightjar's, or correct the `setup` setting."
        ),
        retryable=True,
    ),
    # -- the claude command and its account
    Failure(
        code="claude_missing",
        title="the `claude` command could not be installed or found",
        why=(
            "The download of the pinned version failed, or `claude-path` names a file that cannot be run on this "
            "runner."
        ),
        remedy=(
            "If the log shows a network error, put the label on again. Otherwise install the CLI in an earlier "
            "step and name it:\n\n" + _setting("claude-path: /usr/local/bin/claude")
        ),
        retryable=True,
    ),
    Failure(
        code="claude_auth",
        title="Claude did not accept the key",
        why=(
            "The API key or OAuth token is missing, mistyped, expired or revoked. A secret is also empty when the "
            "workflow runs where secrets are not handed out."
        ),
        remedy=(
            "Renew the secret in the repository's settings (Secrets and variables, Actions), and pass one of the "
            "two:\n\n" + _KEYS
        ),
        retryable=False,
    ),
    Failure(
        code="claude_start",
        title="the `claude` command did not start",
        why=(
            "The command ended, or stayed silent, before its first frame. Usual causes are an argument it does "
            "not know and a runner that is short of memory or disk."
        ),
        remedy=(
            "Read the evidence. Check `claude-args` and `claude-version`; without them, Nightjar uses the version "
            "it was tested with."
        ),
        retryable=True,
    ),
    Failure(
        code="billing",
        title="the Claude account cannot pay for this",
        why="The account has no credit left, or has reached the spending limit its owner set.",
        remedy="Add credit or raise the limit in the Claude Console, then put the label on again.",
        retryable=False,
    ),
    Failure(
        code="model_unavailable",
        title="the model is not available to this key",
        why="The name in `model` is mistyped or retired, or the account has no access to that model.",
        remedy=(
            "Name a model the account may use, or leave the setting out to get the CLI's own default:\n\n"
            + _setting("model: sonnet")
        ),
        retryable=False,
    ),
    Failure(
        code="usage_limit",
        title="the Claude account's usage limit is reached",
        why=(
            "A subscription allows so much work in a window of hours or days, and everything that uses the "
            "account counts towards it."
        ),
        remedy=(
            "Put the label on again once the limit has been reset. For work that must not wait, use an API "
            "key:\n\n" + _KEYS
        ),
        retryable=True,
    ),
    Failure(
        code="api_unavailable",
        title="the Claude API was not available",
        why=(
            "The API was overloaded, answered with server errors or could not be reached, and trying again for a "
            "while did not help."
        ),
        remedy=(
            "Put the label on again later. If it keeps happening on a self-hosted runner, check the runner's "
            "proxy and firewall."
        ),
        retryable=True,
    ),
    Failure(
        code="request_rejected",
        title="The model's API did not take the request",
        why=(
            "The conversation was longer than the model takes, or a request was malformed for it. Asking "
            "again would end the same."
        ),
        remedy="Split the issue into smaller ones, or choose a model with a longer context by the setting `model`.",
        retryable=False,
    ),
    Failure(
        code="refused",
        title="Claude declined the task",
        why=(
            "The model would not work on the text it was given. Now and then this is a misunderstanding of an "
            "innocent description."
        ),
        remedy="Say in the issue what the change is for and which code it concerns, then put the label on again.",
        retryable=False,
    ),
    # -- a Session
    Failure(
        code="max_turns",
        title="the Session used up the turns it was allowed",
        why="A limit on turns was set in `claude-args`, and the task needed more.",
        remedy=(
            "Raise the limit or leave it out (time and cost are bounded in any case), or split the issue into "
            "smaller ones."
        ),
        retryable=True,
    ),
    Failure(
        code="budget_spent",
        title="the cost cap is reached",
        why=(
            "The Sessions of this Run have cost as much as `max-cost-usd` allows. Large issues, and several "
            "Repairs in a row, are the usual causes."
        ),
        remedy=(
            "Read the branch to see how far the work got. Then split the issue, or raise the cap:\n\n"
            + _setting("max-cost-usd: 20")
        ),
        retryable=True,
    ),
    Failure(
        code="session_silent",
        title="the Session fell silent",
        why=(
            "Nothing was heard from `claude` for `silence-timeout-minutes` while it should have been working: "
            "usually a command that waits for input, or a connection that hangs."
        ),
        remedy=(
            "Look at the last lines of the Session's log. If a command of this repository needs input, say in "
            "`instructions` how to run it without; if it is merely slow and quiet, raise the limit:\n\n"
            + _setting("silence-timeout-minutes: 30")
        ),
        retryable=True,
    ),
    Failure(
        code="session_timeout",
        title="the Session ran out of time",
        why=(
            "One Session may last `session-timeout-minutes`, and none may outlast the Run. Slow builds and test "
            "suites are the usual cause."
        ),
        remedy=(
            "Split the issue, name a quicker command in `check-command`, or allow more time:\n\n"
            + _setting("session-timeout-minutes: 120")
        ),
        retryable=True,
    ),
    Failure(
        code="session_died",
        title="the Session died in the middle of its work",
        why="`claude` ended without finishing. Most often the runner ran out of memory and the system killed it.",
        remedy=(
            "Put the label on again; what was written is kept. If it happens twice, use a larger runner or let "
            "builds and tests use fewer processes at once."
        ),
        retryable=True,
    ),
    Failure(
        code="background_lost",
        title="background work was killed before it ended",
        why=(
            "The Session started a command in the background and ended its turn to wait for it, and the command "
            "was killed. It was resumed once, and the same happened again. Long test suites are the usual cause."
        ),
        remedy=(
            "Say in `instructions` that the command is to be run in the foreground, or give background work more "
            "time:\n\n" + _setting("background-wait-minutes: 45")
        ),
        retryable=True,
    ),
    Failure(
        code="wake_lost",
        title="the Session was not woken when its background work ended",
        why=(
            "A background task ended, and `claude` did not take the work up again. It was resumed once, and the "
            "same happened again."
        ),
        remedy=(
            "Put the label on again. If it happens twice, switch background work off, so that every command runs "
            "in the foreground:\n\n" + _setting("background: false")
        ),
        retryable=True,
    ),
    Failure(
        code="resume_failed",
        title="the Session could not be resumed",
        why="Background work was killed, and `claude` did not find the Session again to take it up.",
        remedy=(
            "Put the label on again: the next Run continues on the branch. If it happens twice, check that no "
            "step cleans up the home directory while Nightjar works."
        ),
        retryable=True,
    ),
    Failure(
        code="session_runaway",
        title="the Session was woken far too often",
        why=("A background task that prints again and again opened turn after turn, and none of them ended the work."),
        remedy="Say in `instructions` that output is to be written to a file and not to be watched line by line.",
        retryable=True,
    ),
    Failure(
        code="no_changes",
        title="the Session changed nothing",
        why=(
            "The work may be done already, the issue may leave open what is wanted, or Claude may have asked a "
            "question nobody could answer. Its last words usually tell which."
        ),
        remedy=(
            "Answer in the issue's text: what should be different afterwards, and how one would see it. Then put "
            "the label on again."
        ),
        retryable=False,
    ),
    Failure(
        code="unproved",
        title="the work is not proved",
        why=(
            "`proof: require` is set, and what the program itself ran does not show that the work solves the "
            "issue: the Session named no test, or its test passes without the change too, fails with it, or could "
            "not be run."
        ),
        remedy=(
            "The pull request, a draft, has the table of what was run. Where a test can show it, say in the issue "
            "which one, and put the label on again: the next Run continues on the branch. A test that could not be "
            "run often lacks a tool or a dependency: the setting `setup` installs it. Where nothing can be tested, "
            "review the pull request yourself, or set `proof: show`."
        ),
        retryable=False,
    ),
    # -- branch and pull request
    Failure(
        code="branch_conflict",
        title="the branch holds something that Nightjar may not build on",
        why=(
            "The name of the issue's branch is taken by something else; or what is on it, or what the Session left "
            "checked out, has another history than the one to build on. Nightjar never mixes unrelated histories."
        ),
        remedy=(
            "Rename or delete the branch that the reason names, then put the label on again. Or choose another "
            "prefix:\n\n" + _setting("branch-prefix: bot/nightjar-")
        ),
        retryable=False,
    ),
    Failure(
        code="push_rejected",
        title="GitHub did not accept the push",
        why=(
            "A rule of the repository (a ruleset, branch protection, a limit on file size, push protection for "
            "secrets) or a missing permission refused it."
        ),
        remedy=(
            "Read GitHub's own words in the evidence. Exempt Nightjar's branches (`nightjar/**`) from the rule, "
            "or give the job what it needs:\n\n" + _PERMISSIONS
        ),
        retryable=False,
    ),
    Failure(
        code="push_workflow_forbidden",
        title="the token may not change workflow files",
        why=(
            "The work touches `.github/workflows/`. A job's own token can never push that, and other tokens need "
            "a permission of their own for it."
        ),
        remedy=(
            "Make that part of the change by hand, or use a token with the permission *Workflows: read and "
            "write*:\n\n" + _OTHER_TOKEN
        ),
        retryable=False,
    ),
    Failure(
        code="pr_forbidden",
        title="GitHub does not let this workflow open pull requests",
        why=(
            "A setting of the repository or organisation keeps GitHub Actions from creating pull requests, or the "
            "token lacks `pull-requests: write`."
        ),
        remedy=(
            "In Settings, Actions, General, tick *Allow GitHub Actions to create and approve pull requests* (the "
            "organisation's setting comes first), or use another token:\n\n" + _OTHER_TOKEN
        ),
        retryable=False,
    ),
    Failure(
        code="pr_closed",
        title="the pull request was closed while Nightjar worked",
        why="Somebody closed it. Nightjar takes that as a decision and does not open it again.",
        remedy=(
            "Nothing, if that was meant. To continue, reopen the pull request and put the label on again; without "
            "it, a fresh branch is made."
        ),
        retryable=False,
    ),
    Failure(
        code="overtaken",
        title="another Run has this issue now",
        why=(
            "Two jobs were at work on one issue, and the one that moved the Record's ref last goes on. The shipped "
            "workflow keeps that from happening by its concurrency group."
        ),
        remedy=(
            "Wait for the other Run. If it happens again, give the workflow's job the group of the shipped one:\n\n"
            "```yaml\nconcurrency:\n  group: nightjar-issue-${{ github.event.issue.number || inputs.issue }}\n"
            "  cancel-in-progress: false\n```"
        ),
        retryable=False,
    ),
    Failure(
        code="handed_over",
        title="somebody else has taken over",
        why=(
            "A person pushed to the Issue branch, or deleted it, meanwhile. Nightjar never overwrites somebody else's "
            "commits."
        ),
        remedy=(
            "Nothing, if that was meant. To let Nightjar continue from the branch as it is now, put the label on again."
        ),
        retryable=True,
    ),
    # -- CI
    Failure(
        code="ci_red",
        title="CI is still red after the last Repair",
        why=(
            "Each Repair changed something and CI failed again, until `max-repairs` was used up. Usually the "
            "failure has a cause outside the change, or needs something the Session cannot see. Where no CI ran, it "
            "is the named test or `check-command`, which Nightjar ran itself."
        ),
        remedy=(
            "Read the comments on the pull request: each Repair says what it tried. Push a fix to the branch, or "
            "write what you know into the issue, and put the label on again."
        ),
        retryable=True,
    ),
    Failure(
        code="ci_declined",
        title="CI is red, and the Repair found nothing to change",
        why=(
            "The Session looked at the failure and left the code as it was. Usually the failure is not the "
            "branch's to fix: an unreliable test, a service that was down, a secret that branches do not get."
        ),
        remedy=(
            "Run the failed checks again on the pull request. If they stay red, the Repair's note there says why "
            "nothing was changed."
        ),
        retryable=True,
    ),
    Failure(
        code="ci_never_started",
        title="CI did not start",
        why=(
            "A push made with the job's own token starts no workflows, and so nothing has checked this commit. So do "
            "Actions being switched off, a skip marker such as `[skip ci]` in the commit's message, and a required "
            "check whose workflow ignores the paths that were changed. The reason names what could be found out."
        ),
        remedy=(
            "Start CI by pushing an empty commit to the branch, or by closing and reopening the pull request. Actions "
            "is switched on in Settings, Actions, General; a required check that this change can never meet is taken "
            "off in the branch's rules, or its workflow is made to run for every path. To have CI start by itself, "
            "give Nightjar a token of its own:\n\n"
            + _OTHER_TOKEN
            + "\n\nor let it start the workflow (which needs `on: workflow_dispatch` and `actions: write`):\n\n"
            + _setting("ci-dispatch: ci.yml")
        ),
        retryable=False,
    ),
    Failure(
        code="ci_needs_approval",
        title="CI waits for somebody to approve it",
        why=(
            "GitHub holds workflow runs back until a person with write access approves them; for pull requests "
            "opened with a job's own token this is the rule."
        ),
        remedy=(
            "Approve the waiting runs on the pull request. To have them start by themselves, give Nightjar a "
            "token of its own:\n\n" + _OTHER_TOKEN
        ),
        retryable=True,
    ),
    Failure(
        code="ci_timeout",
        title="CI was not done in time",
        why=(
            "Nightjar waits `ci-timeout-minutes` for the checks of one commit. They were waiting for a free "
            "runner, or take longer than that."
        ),
        remedy=(
            "Look at the checks on the pull request; they may be green by now. If CI is always this slow, wait "
            "longer:\n\n" + _setting("ci-timeout-minutes: 240")
        ),
        retryable=True,
    ),
    Failure(
        code="ci_no_evidence",
        title="CI is red, and nothing says why",
        why=(
            "The failed check has no steps, no readable log and no summary, and a Repair without evidence would "
            "be a guess. A runner that was lost leaves such a check, and so does a token without `actions: read`."
        ),
        remedy=(
            "Run the failed checks again on the pull request. If logs exist there, let Nightjar read them:\n\n"
            + _PERMISSIONS
        ),
        retryable=True,
    ),
    # -- finish
    Failure(
        code="ci_inherited",
        title="CI is red on the base branch too",
        why=(
            "Every check that fails on the pull request fails by the same name on the commit of the base "
            "branch that it builds on. "
            "The change did not break them, so no Repair was spent on them."
        ),
        remedy=(
            "Make the base branch green, then put the label on again; or look at the pull request and decide"
            " without those checks."
        ),
        retryable=False,
    ),
    Failure(
        code="ci_infrastructure",
        title="CI broke for no fault of the code",
        why=(
            "A job was cancelled, its runner was lost or it could not be set up. It was run once more where "
            "the token may do that, and "
            "broke again."
        ),
        remedy=(
            "Look at the job's page, run it again, and put the label on once it works. To let Nightjar run "
            "failed jobs again, give its "
            "token `actions: write`."
        ),
        retryable=True,
    ),
    Failure(
        code="ci_unreadable",
        title="What CI says cannot be read",
        why="The token may not read checks, commit statuses or workflow runs of this repository.",
        remedy=f"Let the token read them:\n\n{_PERMISSIONS}",
        retryable=False,
    ),
    Failure(
        code="ci_repeats",
        title="The same failure came back",
        why=(
            "A Repair changed the code, and CI failed with the same checks and the same error lines as "
            "before. Another Repair of the "
            "same kind would cost the same and most likely end the same."
        ),
        remedy=(
            "Read what the Repairs tried, write what you know into the issue, and put the label on again. To"
            " allow more tries:\n\n"
            f"{_setting('repeat-limit: 3')}"
        ),
        retryable=False,
    ),
    Failure(
        code="base_moving",
        title="The base branch moves faster than CI",
        why=(
            "Each time CI was green, the base branch had moved on and conflicted again, until the bound on "
            "such rounds was used up."
        ),
        remedy="Put the label on again at a quieter time, or merge the base branch by hand: the work is on the branch.",
        retryable=True,
    ),
    Failure(
        code="protected_path",
        title="The change touches a protected file",
        why=(
            "`protected-paths` names files that a Run may not change, because they decide what is checked "
            "and who may do what. The "
            "change was not pushed; the job's logs folder has it as a patch."
        ),
        remedy=(
            "Make that part of the change yourself. If a Run may touch such files, and should only say so:\n\n"
            f"{_setting('protected-paths-action: flag')}"
        ),
        retryable=False,
    ),
    Failure(
        code="secret_in_diff",
        title="There is a secret in what the session wrote",
        why=(
            "Everything that a push would carry is looked at first: each commit, its message and authors, the names "
            "and the contents of its files, also what a later commit takes out again. What was found is the value of "
            "a secret of the job, or looks like a token or a key that the repository did not hold before. Nothing of "
            "it was pushed; the job's logs folder has the work as a patch with the secret replaced."
        ),
        remedy=(
            "Look the place up in the patch. Is it a real secret, so replace it where it is valid: the session has "
            "seen it, and so has the model's API. Is it an example, so put it on the base branch first, or have the "
            "session write one that is too short for a real one; then put the label on again."
        ),
        retryable=False,
    ),
    Failure(
        code="conflict_unresolved",
        title="the conflict with the base branch was not resolved",
        why=(
            "The base branch changed the same lines meanwhile, and the conflict Repair did not bring both sides "
            "together."
        ),
        remedy="Merge the base branch into the branch by hand, push, and put the label on again.",
        retryable=True,
    ),
    Failure(
        code="not_mergeable",
        title="GitHub says that the pull request cannot be merged",
        why=(
            "Although CI is green, the branch and the base branch do not go together, or GitHub had not worked it "
            "out in time."
        ),
        remedy=(
            "Open the pull request and read what the merge box says. Putting the label on again merges the base "
            "branch anew."
        ),
        retryable=True,
    ),
    Failure(
        code="merge_refused",
        title="GitHub refused the merge",
        why=(
            "The pull request is green, and a rule (a required review, a merge queue, a method that is not "
            "allowed) stood against merging it."
        ),
        remedy=(
            "Merge by hand once the rule is met, or let Nightjar stop at the pull request:\n\n"
            + _setting("merge: never")
        ),
        retryable=True,
    ),
    # -- GitHub
    Failure(
        code="token_expired",
        title="the GitHub token stopped being accepted",
        why=(
            "An App's token lives for one hour and a job's token as long as its job; others can be revoked at any time."
        ),
        remedy=(
            "For Runs of more than an hour, give Nightjar an App's key instead of a token: it then makes its tokens "
            f"itself and renews them.\n\n{_APP_KEY}\n\nWhere it has the key, look whether the App was suspended, taken "
            "off the repository or given another key meanwhile."
        ),
        retryable=True,
    ),
    Failure(
        code="app_refused",
        title="GitHub refused the App",
        why=(
            "The App is not installed on the repository, `app-id` and `app-private-key` do not belong together, or the "
            "App lacks a permission."
        ),
        remedy=(
            "Install the App on this very repository, with read and write access to contents, issues and pull "
            "requests, and read access to checks, commit statuses and actions; a permission that was added later has "
            "to be accepted there. The App's own page shows its id and makes a new key:\n\n" + _APP_KEY
        ),
        retryable=False,
    ),
    Failure(
        code="github_denied",
        title="GitHub refused a request",
        why="The token lacks a permission for what the reason names.",
        remedy=("Give the job what it needs:\n\n" + _PERMISSIONS),
        retryable=False,
    ),
    Failure(
        code="github_unavailable",
        title="GitHub could not be reached",
        why=(
            "GitHub answered with server errors, limited the number of requests or did not answer, and trying "
            "again for a while did not help."
        ),
        remedy="Look at githubstatus.com, and put the label on again later.",
        retryable=True,
    ),
    # -- the Run itself
    Failure(
        code="run_timeout",
        title="the job's time was used up, and no new one could be started",
        why=(
            "A Run that has used up `run-timeout-minutes` goes on in a new job, which it starts by "
            "`workflow_dispatch`. The token may not do that, or the workflow's file has no such event with the inputs "
            "`issue` and `take-up`."
        ),
        remedy=(
            "Give the token `actions: write`, and copy the workflow's `on:` from the newest release:\n\n"
            "```yaml\npermissions:\n  actions: write\n```"
        ),
        retryable=True,
    ),
    Failure(
        code="runner_lost",
        title="the Run's process was killed",
        why=(
            "The process was ended from outside before it could report: the runner ran out of memory or disk, was shut "
            "down, or lost its connection."
        ),
        remedy=(
            "Look at the end of the job's log. If the runner was too small for the repository's own tests, choose a "
            "larger one; otherwise put the label on again."
        ),
        retryable=True,
    ),
    Failure(
        code="cancelled",
        title="the Run was cancelled",
        why="Somebody cancelled the workflow, or the runner was shut down.",
        remedy="Put the label on again when you want it to continue.",
        retryable=True,
        exit_code=130,
    ),
    Failure(
        code="internal",
        title="Nightjar itself made a mistake",
        why="This is a defect in Nightjar, not in your repository.",
        remedy="Put the label on again. If it happens twice, please report it together with the evidence.",
        retryable=True,
    ),
)

CATALOGUE: Mapping[str, Failure] = MappingProxyType({row.code: row for row in _ROWS})
"""Every Failure by its code, in the order a Run can meet them."""


def failure(code: str) -> Failure:
    """The Failure of that code. Raises `ValueError` naming a code that does not exist."""
    try:
        return CATALOGUE[code]
    except KeyError:
        raise ValueError(f"no Failure has the code {code!r}; allowed: {', '.join(CATALOGUE)}") from None
