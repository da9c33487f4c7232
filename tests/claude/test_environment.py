"""What a Session gets to see of the job's environment."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.claude.environment import listed, session_environment, toolchains
from bot.kinds import NEVER_PASSED

KEY = "k3y-of-the-model-0123456789"
TOKEN = "installation token of 2026 + more/than=that"

HARMLESS = {
    "PATH": "/usr/bin",
    "CI": "true",
    "GITHUB_ACTIONS": "true",
    "RUNNER_TOOL_CACHE": "/opt/hostedtoolcache",
    "JAVA_HOME": "/usr/lib/jvm/17",
    "GOROOT": "/opt/go",
    "LANG": "C.UTF-8",
    "DATABASE_URL": "postgres://postgres:postgres@localhost/test",
    "TOKENIZERS_PARALLELISM": "false",
    "PIP_INDEX_URL": "https://pypi.example.org/simple",
    "KEYBOARD": "us",
    "AUTHOR": "alice",
    "MONKEY": "yes",
    "CARGO_TERM_COLOR": "always",
}


def kept(environ: dict[str, str], pass_env: tuple[str, ...] = ()) -> dict[str, str]:
    """The variables that a Session gets."""
    return dict(session_environment(environ, [KEY, TOKEN], pass_env).variables)


def test_what_builds_need_stays() -> None:
    """Toolchains and ordinary variables reach a Session as the job has them."""
    assert session_environment(HARMLESS, [KEY, TOKEN], ()).variables == HARMLESS
    assert session_environment(HARMLESS, [KEY, TOKEN], ()).dropped == ()


@pytest.mark.parametrize(
    "name",
    [
        *("GITHUB_TOKEN", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"),
        *("ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_URL", "RUNNER_TEMP", "INPUT_LABEL", "STATE_isPost"),
        *("ANTHROPIC_CUSTOM_HEADERS", "CLAUDE_CODE_OAUTH_TOKEN", "NIGHTJAR_TIME_SCALE", "GIT_CONFIG_VALUE_0"),
        *("HOME", "XDG_CONFIG_HOME", "NPM_CONFIG_USERCONFIG", "DOCKER_CONFIG", "SSH_AUTH_SOCK", "TMPDIR"),
        *("NPM_TOKEN", "npm_config__authToken", "DEPLOY_KEY", "DB_PASSWORD", "AWS_SECRET_ACCESS_KEY", "API_KEY_2"),
        *(
            "SENTRY_DSN",
            "GH_PAT",
            "SERVICE_ACCOUNT_CREDENTIALS",
            "TWINE_PASSWORD",
            "MYAPP_SECRETS",
            "PGPASSFILE_TOKENS",
        ),
    ],
)
def test_what_does_not_reach_a_session(name: str) -> None:
    """What is the runner's, where its user lives and what is named like a credential is dropped and listed."""
    found = session_environment({**HARMLESS, name: "value"}, [KEY, TOKEN], ())
    assert (found.variables, found.dropped) == (HARMLESS, (name,))


@pytest.mark.parametrize(
    "value",
    [
        TOKEN,
        quote(TOKEN, safe=""),
        f"https://x-access-token:{quote(TOKEN, safe='')}@github.example.org/acme/widget.git",
        json.dumps({"auths": {"a": {"password": TOKEN}}, "b": 1}, indent=2),
        base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode(),
        f"before\n{KEY}\nafter",
        f"{KEY[:9]}\n{KEY[9:]}",
    ],
)
def test_known_values_are_found_however_they_are_written(value: str) -> None:
    """A known secret takes its variable away whatever that is called, and `pass-env` does not bring it back."""
    for pass_env in ((), ("HARMLESS",), ("*",)):
        assert "HARMLESS" not in kept({**HARMLESS, "HARMLESS": value}, pass_env)


@pytest.mark.parametrize(
    "token", ["ghp_0123456789abcdefghij", "ghs_1234567_" + "eyJ0eXAi.A1-_" * 40], ids=["short", "long"]
)
def test_a_github_token_of_somebody_else(token: str) -> None:
    """What has the form of GitHub's tokens is dropped by its value, and passed where the owners say so."""
    environ = {"BOT": token}
    assert kept(environ) == {}
    assert kept(environ, ("BOT",)) == environ


def test_pass_env() -> None:
    """Names and patterns bring back what looks like a credential, but never what steers the job."""
    environ = {
        **dict.fromkeys(NEVER_PASSED, "x"),
        "AWS_ACCESS_KEY_ID": "a",
        "AWS_SECRET_ACCESS_KEY": "b",
        "X_TOKEN": "c",
    }
    assert kept(environ, ("AWS_*",)) == {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
    assert kept(environ, ("*",)) == {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "X_TOKEN": "c"}


_NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,20}", fullmatch=True) | st.sampled_from(NEVER_PASSED)
_TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)
_VALUES = _TEXT | st.tuples(_TEXT, st.sampled_from([KEY, TOKEN]), _TEXT).map("".join)


@given(st.dictionaries(_NAMES, _VALUES, max_size=8), st.lists(st.sampled_from(["*", "A*", "GITHUB_*"]), max_size=2))
def test_any_environment(environ: dict[str, str], pass_env: list[str]) -> None:
    """Nothing is invented, changed or unaccounted for, and no known secret is ever in what stays."""
    found = session_environment(environ, [KEY, TOKEN], pass_env)
    assert {**found.variables, **{name: environ[name] for name in found.dropped}} == environ
    assert not set(found.variables) & {*found.dropped, *NEVER_PASSED}
    assert not any(secret in value for value in found.variables.values() for secret in (KEY, TOKEN))


def test_log_names_what_was_dropped() -> None:
    """The job log lists names, those of the runner's own by family, and no value."""
    dropped = ("GITHUB_REF", "GITHUB_SHA", "INPUT_LABEL", "NPM_TOKEN", "SSH_AUTH_SOCK")
    assert listed(dropped) == "NPM_TOKEN, SSH_AUTH_SOCK, GITHUB_* (2), INPUT_* (1)"


def test_toolchains_are_found_from_another_home(tmp_path: Path) -> None:
    """A version manager that looks in the home is told where its own is, unless the job did."""
    for name in (".rustup", ".nvm", ".pyenv"):
        (tmp_path / name).mkdir()
    environ = {"HOME": str(tmp_path), "NVM_DIR": "/opt/nvm"}
    wanted = {"PYENV_ROOT": str(tmp_path / ".pyenv"), "RUSTUP_HOME": str(tmp_path / ".rustup")}
    assert toolchains(environ, Path.is_dir) == wanted
    assert toolchains({}, Path.is_dir) == {}
