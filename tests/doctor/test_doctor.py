"""`nightjar doctor`, the real command in a clone: each check says that all is well, or what is not and what to do."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from bot.sandbox.cli import bundled_claude
from bot.sandbox.github import Answer, Drop, Fault, secondary_limit
from bot.sandbox.github.state import ActionsPolicy
from bot.sandbox.model import Conversation, Reply, Script, ScriptedModel
from bot.sandbox.model import Fault as ModelFault
from tests.init.conftest import MakeDesk
from tests.init.desk import CI, FILES, SETTINGS, WAKE, WORKFLOW, Desk, Said

Told = dict[str, tuple[str, str, str]]
"""By check: level, text, remedy."""
CHECKS = (
    *("settings", "git", "workflow", "commands", "wake", "token", "permissions", "actions", "pull-requests"),
    *("job-tokens", "ci", "issue-branch", "base-branch", "labels", "secrets", "paused", "claude", "agent-code"),
)


def told(said: Said) -> Told:
    """What `--json` said."""
    assert said.err == ""
    rows = said.json["checks"]
    assert [row["check"] for row in rows] == list(CHECKS)
    return {row["check"]: (row["level"], row["text"], row["remedy"]) for row in rows}


def levels(found: Told, level: str) -> set[str]:
    """The checks that came out so."""
    return {check for check, (one, _, _) in found.items() if one == level}


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    """A model that says what it is asked to say."""
    answer = Conversation(name="question", replies=(Reply(text="ready"),))
    with ScriptedModel(Script(conversations=(answer,))) as running:
        yield running


@pytest.fixture
def set_up(desk: Desk) -> Desk:
    """A repository where everything is as it should be."""
    desk.init(GH_TOKEN=desk.token)
    desk.write(SETTINGS, f"claude-path: {bundled_claude()}\n")
    desk.push()
    for name in ("ANTHROPIC_API_KEY", "NIGHTJAR_TOKEN"):
        desk.repository.name_secret(name)
    return desk


def doctor(desk: Desk, *words: str, **environ: str) -> Said:
    """The command, with alice's token unless another is given."""
    return desk.run("doctor", *words, environ={"GH_TOKEN": desk.token, **environ})


def test_all_is_well(set_up: Desk, model: ScriptedModel) -> None:
    """Every check is ok, claude's too, which was asked one question by way of the forwarder; exit code 0."""
    said = doctor(set_up, ANTHROPIC_API_KEY="scripted", ANTHROPIC_BASE_URL=model.url)
    assert (said.code, said.err) == (0, "")
    assert [line.split()[:2] for line in said.lines[1:-2]] == [["ok", check] for check in CHECKS]
    assert said.lines[-1] == f"All {len(CHECKS)} checks are ok."
    for text in (
        "a classic token of a person, alice, from GH_TOKEN",
        "its scopes are repo, workflow",
        "nightjar-wake.yml takes Runs up when CI has ended",
        "CI (ci.yml) starts for what Runs push: that is not done with the job's own token",
        "no rule keeps Runs from pushing to nightjar/issue-1",
        "ANTHROPIC_API_KEY is there",
        "CI runs what an agent wrote before a person has read it",
        "answered after",
    ):
        assert text in said.flat
    (asked,) = [request for request in model.requests if request.conversation == "question"]
    assert "Answer with the one word: ready." in asked.first_text
    assert "scripted" not in said.out


def test_nothing_is_there(desk: Desk) -> None:
    """In a fresh clone what is missing is a failure or a warning, and each names what to do; exit code 1."""
    said = doctor(desk, "--json")
    assert said.code == 1
    found = told(said)
    assert levels(found, "failure") == {"workflow", "labels"}
    assert found["workflow"][1:] == (
        f"there is no {WORKFLOW}: nothing starts",
        "Run `nightjar init`, and push the files",
    )
    assert found["wake"][0] == "warning"
    assert found["wake"][2] == "Run `nightjar init`"
    assert "Make it: GH_TOKEN=$(gh auth token) nightjar init" in found["labels"][2]
    assert found["ci"][0] == "unknown"


def test_runs_with_the_jobs_own_token(desk: Desk) -> None:
    """Where the secret is missing CI does not start, and the failure names the secret and where to add it."""
    desk.init()
    page = f"{desk.hub.server_url}/acme/widget"
    found = told(doctor(desk, "--json"))
    assert found["ci"] == (
        "failure",
        "CI (ci.yml) does not start: Runs have the job's own token, and an Enterprise Server starts nothing for it",
        f"Add the secret NIGHTJAR_TOKEN, a token of an App or a person: {page}/settings/secrets/actions/new",
    )
    assert found["workflow"] == (
        "warning",
        f"{WORKFLOW} is not on main yet, and a label starts only what is there",
        "Commit and push it",
    )


def test_everything_is_wrong_on_github(set_up: Desk) -> None:
    """Each setting of the repository that would make Runs fail is a line of its own, with where it is changed."""
    desk, repository = set_up, set_up.repository
    desk.write(SETTINGS, "wait: park\nmerge: merge\nci-dispatch: ci.yml\nlabel: robot\ngit-user-name: Robot\n")
    desk.write(WAKE, desk.read(WAKE).replace("[CI]", "[Builds]"))
    repository.set_actions_policy(ActionsPolicy("selected", ("else/*",), default_permissions="write"))
    repository.allow_actions_to_open_pull_requests(False)
    repository.add_rules("nightjar/**", "required_signatures")
    repository.add_rules("main", "required_linear_history")
    repository.set_variable("NIGHTJAR_PAUSED", "true")
    desk.write(WORKFLOW, desk.read(WORKFLOW).replace("secrets.ANTHROPIC_API_KEY", "secrets.OTHER_KEY"))
    desk.write(WORKFLOW, desk.read(WORKFLOW).replace("secrets.NIGHTJAR_TOKEN || ", ""))
    desk.write(WORKFLOW, desk.read(WORKFLOW).replace("acme/nightjar", "friends/nightjar"))
    desk.write(".github/workflows/ci.yml", CI.replace('"true"', "deploy ${{ secrets.DEPLOY_KEY }}"))
    found = told(doctor(desk, "--json"))
    page = f"{desk.hub.server_url}/acme/widget"
    wanted = {
        "git": ("warning", "half of it the default", "Set both `git-user-name` and `git-user-email`"),
        "workflow": ("failure", "does not let it through: it starts nothing", "Write robot into the `if`"),
        "wake": ("failure", "waits for Builds: no workflow here is called that", "Name those that are here, CI"),
        "actions": ("failure", "friends/nightjar is not among", f"Add friends/nightjar@*: {page}/settings/actions"),
        "pull-requests": ("failure", "Actions may not create them", "Allow GitHub Actions to create and approve"),
        "job-tokens": ("warning", "they may write", f"Set workflow permissions to read: {page}/settings/actions"),
        "ci": ("failure", "`ci-dispatch` names ci.yml, which", "Add `workflow_dispatch:` there"),
        "issue-branch": ("failure", "the rule required_signatures holds for nightjar/issue-1", "Leave nightjar/** out"),
        "base-branch": ("failure", "required_linear_history holds for main", "Set `merge` to squash"),
        "labels": ("failure", "there is no label robot", f"or by hand at {page}/labels"),
        "secrets": ("failure", "the workflow asks for OTHER_KEY", f"Add it: {page}/settings/secrets/actions/new"),
        "paused": ("warning", "NIGHTJAR_PAUSED", f"Remove it: {page}/settings/variables/actions"),
        "agent-code": ("warning", "hands it the secrets DEPLOY_KEY", "an environment with required reviewers"),
    }
    for check, (level, text, remedy) in wanted.items():
        assert found[check][0] == level, check
        assert text in found[check][1]
        assert remedy in found[check][2]


def test_a_protected_base_branch(set_up: Desk) -> None:
    """What an older protection asks for counts like a rule; who does not administer the repository cannot see it."""
    set_up.repository.protect("main", reviews=1)
    set_up.write(SETTINGS, "merge: squash\n")
    level, text, remedy = told(doctor(set_up, "--json"))["base-branch"]
    assert (level, remedy) == ("warning", "Set `merge` to never where people merge anyway")
    assert text.startswith("the rule pull_request holds for main: `merge: squash` may have to wait for people")
    other = set_up.hub.issue_token("nightjar[bot]", "app")
    assert told(doctor(set_up, "--json", GH_TOKEN=other))["base-branch"] == ("unknown", "the token may not look", "")


def test_bad_settings(desk: Desk) -> None:
    """The settings file is read as a Run reads it: line, name and what is allowed; exit code 1."""
    desk.write(SETTINGS, "max-repairs: many\nlabell: x\n")
    said = doctor(desk, "--offline", "--json")
    assert said.code == 1
    level, text, remedy = told(said)["settings"]
    assert level == "failure"
    assert f"{SETTINGS}:1" in text
    assert "give a whole number from 0 to 50" in text
    assert "did you mean `label`?" in text
    assert f"nightjar init --print {SETTINGS}" in remedy


def test_offline(set_up: Desk) -> None:
    """Nothing is asked, and each check that would have asked says so; the files are looked at all the same."""
    before = len(set_up.hub.requests)
    said = doctor(set_up, "--offline", "--json", ANTHROPIC_API_KEY="scripted")
    found = told(said)
    assert said.code == 0
    assert len(set_up.hub.requests) == before
    assert {check for check, (_, text, _) in found.items() if "not asked: --offline" in text} >= {
        "token",
        "claude",
        "ci",
    }
    assert levels(found, "ok") == {"settings", "git", "workflow", "commands", "wake", "agent-code"}


def test_nobody_gave_anything(set_up: Desk) -> None:
    """Without a token and a key each of both says how to give one; nothing failed."""
    said = set_up.run("doctor", "--json")
    found = told(said)
    assert said.code == 0
    assert found["token"] == (
        "unknown",
        "there is no token in GH_TOKEN or GITHUB_TOKEN",
        "Give one: GH_TOKEN=$(gh auth token) nightjar doctor",
    )
    assert found["claude"][1:] == (
        "there is no key in ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN",
        "Give one, and it answers one question",
    )
    assert found["labels"] == ("unknown", "there is no token in GH_TOKEN or GITHUB_TOKEN", "")


def test_what_the_token_may_not_look_at_is_unknown(set_up: Desk) -> None:
    """A token that may only read code gets no guesses: what it may not see is unknown, and that fails nothing."""
    reader = set_up.hub.issue_token("alice", "pat", {"contents": "read"})
    found = told(doctor(set_up, "--json", GH_TOKEN=reader))
    assert levels(found, "failure") == {"permissions"}
    assert found["permissions"][1] == "it may not read issues, pull requests, checks, statuses and actions"
    unseen = {
        check for check, (level, text, _) in found.items() if (level, text) == ("unknown", "the token may not look")
    }
    assert unseen == {"actions", "pull-requests", "job-tokens", "ci", "labels", "secrets", "paused"}
    assert found["token"][:2] == ("ok", "a fine-grained token of a person, alice, from GH_TOKEN")


@pytest.mark.parametrize(
    ("kind", "login", "shown", "permissions"),
    [
        ("job", "github-actions[bot]", "the job's own token", ("ok", "the workflow gives it all that a Run needs")),
        ("app", "nightjar[bot]", "a token of a GitHub App", ("unknown", "it reads all that a Run reads; what it may")),
    ],
)
def test_kinds_of_tokens(set_up: Desk, kind: str, login: str, shown: str, permissions: tuple[str, str]) -> None:
    """The kind is told by whom GitHub takes the token for, and what it may do as far as that can be known."""
    token = set_up.hub.issue_token(login, kind)  # type: ignore[arg-type]  # two of its words
    found = told(doctor(set_up, "--json", GH_TOKEN=token))
    assert found["token"][1] == f"{shown}, {login}, from GH_TOKEN"
    assert found["permissions"][0] == permissions[0]
    assert found["permissions"][1].startswith(permissions[1])


def test_somebody_who_may_not_write(set_up: Desk) -> None:
    """A token of a person who may only read the repository is a failure that names the role."""
    found = told(doctor(set_up, "--json", GH_TOKEN=set_up.hub.issue_token("bob", "pat")))
    assert found["permissions"][0] == "failure"
    assert found["permissions"][2] == "Give bob the role write, or use the token of somebody else"


@pytest.mark.parametrize(
    ("token", "text", "remedy"),
    [("ghp_ofNoUse0000000000000000", "GitHub does not take it", "Make another one, and replace it")],
)
def test_a_token_of_no_use(set_up: Desk, token: str, text: str, remedy: str) -> None:
    """A token that GitHub refuses is one failure, and all that would have been asked with it is unknown."""
    said = doctor(set_up, "--json", GH_TOKEN=token)
    found = told(said)
    assert said.code == 1
    assert levels(found, "failure") == {"token"}
    assert text in found["token"][1]
    assert found["token"][2] == remedy
    assert found["labels"] == ("unknown", "GitHub could not be asked: see token", "")
    assert token not in said.out


def test_github_is_away(set_up: Desk) -> None:
    """A server that does not answer is no failure of the repository's, and is not waited for."""
    set_up.git("remote", "set-url", "origin", "http://127.0.0.1:9/acme/widget.git")
    said = doctor(set_up, "--json")
    assert said.code == 0
    assert told(said)["token"][0] == "unknown"
    assert "GitHub did not answer" in told(said)["token"][1]


@pytest.mark.parametrize("trouble", [Answer(502), Answer(429), secondary_limit(), Drop()])
def test_github_stumbles(set_up: Desk, trouble: Answer | Drop) -> None:
    """What GitHub does not answer, or answers with a rate limit, leaves its own checks unknown, and no others."""
    set_up.hub.faults.add(Fault("GET", r"/actions/secrets", trouble, times=0))
    found = told(doctor(set_up, "--json"))
    assert levels(found, "unknown") == {"secrets", "ci", "claude"}
    assert found["secrets"][1].startswith("GitHub did not tell (GET /repos/acme/widget/actions/secrets")


def test_what_is_hidden_is_not_missing(set_up: Desk) -> None:
    """Where GitHub answers 404 for a whole kind of things, what is among them is unknown, and not called missing."""
    hidden = r"/(issues|labels|commits|branches|contents)\b"
    set_up.hub.faults.add(Fault("GET", hidden, Answer(404), times=0))
    found = told(doctor(set_up, "--json"))
    assert found["permissions"][1] == "it may not read contents, issues, checks and statuses"
    for check in ("labels", "base-branch"):
        assert found[check] == ("unknown", "the token may not look", "")
    assert found["workflow"][0] == "ok"


def test_a_token_that_ends_meanwhile(set_up: Desk) -> None:
    """A token that GitHub stops taking half-way is a failure of the token, and nothing is guessed about the rest."""
    set_up.hub.faults.add(Fault("GET", r"/rules/branches/", Answer(401), times=0))
    found = told(doctor(set_up, "--json"))
    assert levels(found, "failure") == {"token"}
    assert found["issue-branch"] == ("unknown", "GitHub could not be asked: see token", "")


def test_a_repository_that_the_token_does_not_see(desk: Desk) -> None:
    """A private repository of somebody else's is a failure that says to give the token this repository."""
    desk.hub.create_repository("other/hidden", FILES, private=True)
    desk.git("remote", "set-url", "origin", f"{desk.hub.server_url}/other/hidden.git")
    found = told(doctor(desk, "--json", GH_TOKEN=desk.hub.issue_token("alice", "pat")))
    assert found["token"][0] == "failure"
    assert "Give it this repository" in found["token"][2]


def test_claude_that_fails(set_up: Desk) -> None:
    """A key that the model's API refuses is a failure with the remedy of a Run's own, and the key is shown nowhere."""
    refused = Conversation(name="question", replies=(ModelFault(status=401, times=20),))
    with ScriptedModel(Script(conversations=(refused,))) as model:
        said = doctor(set_up, "--json", ANTHROPIC_API_KEY="scripted-key-0000", ANTHROPIC_BASE_URL=model.url)
    level, text, remedy = told(said)["claude"]
    assert (said.code, level) == (1, "failure"), text
    assert remedy
    assert "scripted-key" not in said.out


def test_claude_that_is_not_there(set_up: Desk) -> None:
    """A `claude-path` without a program is a failure that says which."""
    set_up.write(SETTINGS, "claude-path: /nowhere/claude\n")
    level, text, remedy = told(doctor(set_up, "--json", ANTHROPIC_API_KEY="scripted"))["claude"]
    assert level == "failure"
    assert "the claude command does not answer" in text
    assert remedy


def test_no_git(set_up: Desk) -> None:
    """Without git one line says so, with exit code 2."""
    said = set_up.run("doctor", environ={"PATH": "/nonexistent"})
    assert (said.code, said.out) == (2, "")
    assert said.err == "nightjar doctor: git cannot be run; install it first\n"


def test_how_it_looks(make_desk: MakeDesk) -> None:
    """Piped it is one line a check without colours; a narrow terminal folds; `--json` is JSON and nothing else."""
    desk = make_desk(FILES)
    said = desk.run("doctor", "--offline")
    assert len(said.lines) == len(CHECKS) + 3
    assert said.lines[-1].startswith("1 failure, 1 warning, 13 unknown; ")
    narrow = desk.run("doctor", "--offline", environ={"COLUMNS": "40"})
    assert max(len(line) for line in narrow.lines if " " in line.strip() and "/" not in line) <= 40
    assert (
        json.loads(desk.run("doctor", "--offline", "--json", environ={"COLUMNS": "40"}).out)["counts"]["failure"] == 1
    )
    assert "\x1b[31mfailure\x1b[0m" in desk.on_a_terminal("doctor", "--offline")
    assert "\x1b" not in desk.on_a_terminal("doctor", "--offline", NO_COLOR="1")
