"""The one table of settings: what may be set, how it is read, its default and its meaning.

`action.yml`, the `Config` of `bot/config.py` and the table in the README say the same; a test compares them
with this table. Defaults are text, read by the same kind as what a user gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from bot.kinds import (
    Arguments,
    Choice,
    Commands,
    Decimal,
    Flag,
    Folder,
    Kind,
    Names,
    PrivateKey,
    RefPart,
    Switch,
    Text,
    Texts,
    Variables,
    Whole,
)
from bot.setting import Setting

LOGIN = r"[A-Za-z0-9](-?[A-Za-z0-9]){0,38}"
"""A GitHub login, as the sign-up form allows it."""

EVERY_KIND = "all"
"""The key of `instructions` for Sessions of every kind."""

PROFILES = "labels"
"""The key of the settings file under which profiles stand, by their labels."""

SCHEMA_URL = "https://raw.githubusercontent.com/acme/nightjar/v1/docs/nightjar.schema.json"
"""Where editors find the settings file's JSON Schema; the first line of a file names it:
`# yaml-language-server: $schema=…`.
"""

_WEEK = 7 * 24 * 60


def _minutes(name: str, default: str, help_: str, zero: bool = False) -> Setting:
    return Setting(name, Decimal("minutes", _WEEK, zero), default, help_)


_TOKEN = Text("a token without blanks", r"[!-~]+")


def _secret(name: str, help_: str, expression: str = "", kind: Kind = _TOKEN) -> Setting:
    return Setting(
        name,
        kind,
        "",
        help_,
        unset="the job's token" if expression else "none",
        secret=True,
        in_file=False,
        expression=expression,
    )


_SETTINGS = (
    # Who and when
    Setting(
        "label",
        Text("a label of at most 42 characters", r".{1,42}"),
        "nightjar",
        "The label that asks for a Run; the workflow's own `if` must name it too.",
        one_run=False,
    ),
    Setting(
        "required-permission",
        Choice(("read", "triage", "write", "maintain", "admin")),
        "write",
        "The least permission on the repository that whoever sets the label must have.",
        one_run=False,
    ),
    Setting(
        "allowed-bots",
        Names("logins of apps such as dependabot[bot]", rf"{LOGIN}(\[bot\])?"),
        "none",
        "Apps whose label counts too.",
        one_run=False,
    ),
    Setting(
        "max-working",
        Whole(1, 100),
        "3",
        "How many Runs of the repository may be at work at once. Others are queued, in the order of their labels.",
        one_run=False,
    ),
    Setting(
        "paused",
        Switch(),
        "",
        "Whether new spend is stopped: the variable `NIGHTJAR_PAUSED`, as the job found it. Where the token may read "
        "variables, it is asked for again before each Session.",
        unset="not paused",
        absent=False,
        in_file=False,
    ),
    Setting(
        "public-self-hosted",
        Choice(("refuse", "allow")),
        "refuse",
        "Whether a public repository's Runs may use a self-hosted runner, which strangers' code could change for later "
        "jobs. Allow it where each job has a fresh one.",
        in_file=False,
    ),
    # Keys
    _secret(
        "github-token",
        "The token for GitHub. A push with the job's own token may start no CI; an App's token or a personal one does.",
        "${{ github.token }}",
    ),
    Setting(
        "app-id",
        Text("the App's id or client id", r"[A-Za-z0-9._-]+"),
        "",
        "A GitHub App to work as: Nightjar makes the App's tokens itself and renews them, so that a Run may last more "
        "than the hour of a token. `github-token` is then only what tells that the App was refused.",
        in_file=False,
    ),
    _secret(
        "app-private-key",
        "That App's private key. Line ends may be written as `\\n`.",
        kind=PrivateKey(),
    ),
    _secret("anthropic-api-key", "The key `claude` works with. Give this or `claude-code-oauth-token`."),
    _secret("claude-code-oauth-token", "The token of a Claude subscription (`claude setup-token`), instead of a key."),
    Setting(
        "pass-env",
        Variables(),
        "none",
        "Variables of the job that a Session gets although they look like credentials or are the runner's.",
        one_run=False,
    ),
    Setting(
        "pass-model-key",
        Flag(),
        "false",
        "Whether Sessions get the key itself instead of a placeholder. `claude` then hides it from the commands it "
        "runs, which takes bubblewrap and socat on the runner.",
        one_run=False,
    ),
    # Claude
    Setting(
        "model",
        Text("a model's name or alias", r"[A-Za-z0-9][A-Za-z0-9_.:/@\[\]-]*"),
        "",
        "The model that Sessions use.",
        unset="the CLI's own",
    ),
    Setting(
        "claude-version",
        Text("a version such as 2.1.332", r"[0-9]+\.[0-9]+\.[0-9]+"),
        "2.1.332",
        "The version of the `claude` CLI to install. Nightjar is tested with the default.",
    ),
    Setting(
        "claude-path",
        Text("the path of a program"),
        "",
        "An installed `claude` to use, instead of installing one.",
        unset="installed",
        one_run=False,
    ),
    Setting("claude-args", Arguments(), "", "More arguments for `claude`.", absent=()),
    Setting(
        "permission-mode",
        Choice(("acceptEdits", "auto", "bypassPermissions", "dontAsk")),
        "bypassPermissions",
        "What a Session may do without asking; there is nobody to ask.",
    ),
    Setting(
        "isolation",
        Choice(("strict", "relaxed")),
        "strict",
        "What Sessions, `setup` and `check-command` are kept from on the runner. `relaxed` leaves them sudo and "
        "docker, and with them every secret of the job.",
    ),
    Setting(
        "background", Flag(), "true", "Whether a Session may leave work running in the background while it goes on."
    ),
    _minutes(
        "background-wait-minutes",
        "20",
        "How long a Session is held open for its background work. 0 stops the work at once.",
        zero=True,
    ),
    _minutes(
        "nudge-minutes",
        "2",
        "How long a held Session may be silent before it is asked once to settle its background work. 0 never asks.",
        zero=True,
    ),
    Setting(
        "instructions",
        Texts((EVERY_KIND, "implement", "continue", "conflict", "ci-fix", "request")),
        "",
        "Text for the prompt, in the words of the repository's owners, for every kind of Session or by kind.",
        absent=MappingProxyType({}),
    ),
    # Bounds
    Setting("max-repairs", Whole(0, 50), "5", "How many Repairs a Run may make."),
    Setting(
        "repeat-limit",
        Whole(0, 50),
        "2",
        "How often the same failure may come back in a row before the Run stops early. 0 never stops for that.",
    ),
    Setting("max-cost-usd", Decimal("US dollars", 10_000), "10", "What the Sessions of a Run may cost together."),
    _minutes(
        "run-timeout-minutes",
        "330",
        "How long a Run may work in one job; then it goes on in another. Keep it below the job's `timeout-minutes`.",
    ),
    _minutes(
        "usage-wait-minutes",
        "360",
        "How far off the reset of a usage limit may be for the Run to wait for it, parked. 0 never waits.",
        zero=True,
    ),
    _minutes("session-timeout-minutes", "60", "How long one Session may take."),
    _minutes("silence-timeout-minutes", "15", "How long a Session may say nothing at all."),
    _minutes("ci-start-minutes", "5", "How long CI may take to start after a push."),
    _minutes("ci-timeout-minutes", "120", "How long CI may take to end."),
    # Work
    Setting(
        "base-branch",
        RefPart("a branch's name"),
        "",
        "The branch that the pull request goes to.",
        unset="the repository's default branch",
    ),
    Setting(
        "branch-prefix",
        RefPart("the beginning of a branch's name", "issue-1"),
        "nightjar/",
        "How the Issue branch's name begins.",
        one_run=False,
    ),
    Setting(
        "working-directory", Folder(), ".", "Where in the repository a Session, `setup` and `check-command` start."
    ),
    Setting("setup", Commands(), "", "Run once before the first Session, without credentials.", absent=()),
    Setting(
        "check-command",
        Text("a shell command", r".+", lines=True),
        "",
        "How the repository is checked: the prompt asks Sessions to run it, and it is run before the first push.",
    ),
    Setting(
        "proof",
        Choice(("show", "require", "off")),
        "show",
        "Whether the test that a Session names is run on the base and on the head, and `check-command` on the head, "
        "before the first push. `require` makes a Failure of work that is not proved.",
    ),
    Setting(
        "protected-paths",
        Names("patterns of paths such as .github/workflows/**", r"[^\s,]+"),
        ".github/workflows/**, .github/CODEOWNERS, CODEOWNERS, docs/CODEOWNERS, .github/nightjar.yml",
        "Files that a Run may not change.",
    ),
    Setting(
        "protected-paths-action",
        Choice(("refuse", "flag")),
        "refuse",
        "What a change of such a file does: ends the Run, or is shown at the top of the pull request.",
    ),
    Setting(
        "draft",
        Choice(("auto", "always", "never")),
        "auto",
        "Whether the pull request is a draft: until CI is green, even then, or at no time.",
    ),
    Setting(
        "git-user-name",
        Text("a name", r"[^<>]+"),
        "github-actions[bot]",
        "Who the program's own commits are by.",
        one_run=False,
    ),
    Setting(
        "git-user-email",
        Text("an e-mail address", r"[^<>\s@]+@[^<>\s@]+"),
        "41898282+github-actions[bot]@users.noreply.github.com",
        "Their address.",
        one_run=False,
    ),
    Setting("sign-off", Flag(), "false", "Whether commits carry `Signed-off-by`.", one_run=False),
    Setting(
        "merge",
        Choice(("never", "merge", "squash")),
        "never",
        "Whether a green pull request is merged, and how.",
    ),
    Setting(
        "repair-on-review",
        Flag(),
        "false",
        "Whether a review that requests changes, by somebody with the permission, starts a Repair by request.",
    ),
    Setting(
        "reviewers",
        Names("logins, or labeller for whoever set the label", LOGIN),
        "labeller",
        "Who is asked for a review of a green pull request.",
    ),
    # CI
    Setting(
        "wait",
        Choice(("inline", "park")),
        "inline",
        "Where CI is waited for: in the job, or parked, without a runner, until CI has ended; that needs a workflow "
        "with `command: sweep`.",
    ),
    Setting(
        "ci-dispatch",
        Names("names of workflow files such as ci.yml", r"[^\s,/]+\.ya?ml"),
        "none",
        "Workflows that are started by `workflow_dispatch` after each push, for a token whose pushes start none; it "
        "needs `actions: write`.",
    ),
    # Else
    Setting(
        "transcripts",
        Choice(("auto", "always", "never")),
        "auto",
        "Whether the job keeps the Run page and the Sessions' transcripts as an artifact; `auto` keeps none in a "
        "public repository, where everybody could read them.",
    ),
    Setting(
        "command",
        Choice(("run", "finish", "sweep", "doctor")),
        "run",
        "What this step does: `run`; `finish`, which reports a Run whose process is gone; `sweep`, which takes up Runs "
        "that wait; or `doctor`, which looks for what would make Runs fail.",
        in_file=False,
    ),
    Setting(
        "job-status",
        Choice(("success", "failure", "cancelled", "skipped")),
        "success",
        "For `finish`: how the job went so far.",
        in_file=False,
        expression="${{ job.status }}",
    ),
)

SETTINGS: Mapping[str, Setting] = {setting.name: setting for setting in _SETTINGS}

OUTPUTS: Mapping[str, str] = {
    "outcome": "How the Run ended: ready, merged, failed, cancelled or skipped; or that it waits: parked or queued.",
    "reason": "One sentence that says why.",
    "pr-url": "The pull request's address; empty when there is none.",
    "branch": "The Issue branch; empty when there is none.",
    "repairs": "How many Repairs were made.",
    "resumes": "How many Sessions were resumed.",
    "cost-usd": "What the Sessions cost together, in US dollars.",
    "logs": "The folder to keep as an artifact, with the Run page and the transcripts; empty where none is to be kept.",
    "transcripts": "The paths of the Sessions' logs, one a line.",
}


def profiles_meaning() -> str:
    """What profiles are, in one line."""
    never = ", ".join(f"`{one.name}`" for one in SETTINGS.values() if one.in_file and not one.in_profile)
    return (
        "Profiles: more labels that ask for a Run, each with settings that go before the rest of the file; an input "
        "goes before both. The shipped workflow starts for labels that begin with `nightjar:`. For all Runs alike, and "
        f"so in no profile: {never}. "
        f"In the file only: `{PROFILES}: {{nightjar:fast: {{model: haiku, max-repairs: 1}}}}`."
    )


def action_inputs() -> dict[str, dict[str, Any]]:
    """The `inputs` of `action.yml`. Defaults stay empty there: an input that is given goes before the settings file."""
    return {
        setting.name: {
            "description": f"{setting.meaning} Default: {setting.default or setting.unset}.",
            "required": False,
            "default": setting.expression,
        }
        for setting in SETTINGS.values()
    }
