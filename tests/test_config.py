"""Settings: what is read, which source wins, and the one line that each mistake is answered with."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.config import Config, ConfigInvalid, Secret, check_claude_path, read_config
from bot.settings import SETTINGS

TOKENS = {"INPUT_GITHUB_TOKEN": "ghs_1", "INPUT_ANTHROPIC_API_KEY": "sk-1"}
FILE = ".github/nightjar.yml"


def read(file_text: str | None = None, inputs: Mapping[str, str] | None = None) -> Config:
    """A `Config` from a file's text and inputs named as in a workflow, beside the two tokens."""
    variables = {f"INPUT_{name.replace('-', '_').upper()}": value for name, value in (inputs or {}).items()}
    return read_config(TOKENS | variables, file_text, FILE)


def problems(file_text: str | None = None, inputs: Mapping[str, str] | None = None) -> list[str]:
    """The lines that these settings are refused with."""
    with pytest.raises(ConfigInvalid) as caught:
        read(file_text, inputs)
    return list(caught.value.problems)


def test_tokens_are_all_that_must_be_given() -> None:
    """With two tokens and nothing else, every setting has its documented default."""
    config = read()
    assert config.label == "nightjar"
    assert config.max_repairs == 5
    assert config.max_cost_usd == 10
    assert config.background_wait_minutes == 20
    assert config.run_timeout_minutes == 330
    assert config.branch_prefix == "nightjar/"
    assert config.reviewers == ("labeller",)
    assert (config.model, config.base_branch, config.check_command, config.claude_path) == (None, None, None, None)
    assert (config.setup, config.claude_args, config.allowed_bots, config.pass_env) == ((), (), (), ())


def test_input_goes_before_file_and_file_before_default() -> None:
    """An input wins over the file, the file over the default, and an empty input says nothing."""
    text = "max-repairs: 2\ndraft: never\n"
    config = read(text, {"max-repairs": "7", "draft": "", "merge": "  "})
    assert (config.max_repairs, config.draft, config.merge) == (7, "never", "never")


def test_file_reads_every_shape() -> None:
    """Lists, block text and mappings of the file arrive whole, and YAML's guesses change no text."""
    config = read(
        """\
# comment
label: yes
model: 1.0
allowed-bots: [dependabot[bot], "renovate[bot]"]
setup:
  - npm ci
  - |
    if true; then
      echo yes
    fi
check-command: make check
claude-args: [--append-system-prompt, "be brief"]
instructions:
  all: Write British English.
  ci-fix: Look at flaky.md first.
background: FALSE
session-timeout-minutes: 0.5
working-directory: ./packages/api/
""".replace("[dependabot[bot], ", "['dependabot[bot]', ")
    )
    assert (config.label, config.model) == ("yes", "1.0")
    assert config.allowed_bots == ("dependabot[bot]", "renovate[bot]")
    assert config.setup == ("npm ci", "if true; then\n  echo yes\nfi")
    assert config.claude_args == ("--append-system-prompt", "be brief")
    assert config.instructions_for("implement") == "Write British English."
    assert config.instructions_for("ci-fix") == "Write British English.\n\nLook at flaky.md first."
    assert config.background is False
    assert config.session_timeout_minutes == 0.5
    assert config.working_directory == "packages/api"


def test_inputs_read_lists_and_arguments() -> None:
    """Lists come with commas or line ends between them, arguments are split as a shell would."""
    config = read(
        None,
        {
            "reviewers": "alice, dana\nbob,alice",
            "claude-args": "--append-system-prompt 'be brief' --add-dir=/srv",
            "pass-env": "AWS_*, NODE_ENV",
            "instructions": "Be kind.",
            "setup": "npm ci\nnpm run build\n",
        },
    )
    assert config.reviewers == ("alice", "dana", "bob")
    assert config.claude_args == ("--append-system-prompt", "be brief", "--add-dir=/srv")
    assert config.pass_env == ("AWS_*", "NODE_ENV")
    assert config.instructions_for("implement") == "Be kind."
    assert config.setup == ("npm ci\nnpm run build",)
    assert read("reviewers: none\n").reviewers == ()


@pytest.mark.parametrize("text", [None, "", "# nothing\n", "---\n"])
def test_empty_file_is_no_file(text: str | None) -> None:
    """A missing, empty or commented-out file leaves the defaults."""
    assert read(text) == read()


PEM_FILE = "the whole .pem file that GitHub made, from -----BEGIN to -----END"
WHOLE = "give a whole number from 0 to 50"
MINUTES = "give minutes above 0, up to 10080"
ARGUMENTS = "give arguments for claude, but none for format, conversation, permission, settings, model or cost"

VARIABLES = "give names of environment variables, * as a wildcard (AWS_*), with commas between them, or none"

BAD_INPUTS = [
    ("max-repairs", "-1", f"'-1' is not allowed; {WHOLE}"),
    ("max-repairs", "51", f"'51' is not allowed; {WHOLE}"),
    ("max-repairs", "1.5", f"'1.5' is not allowed; {WHOLE}"),
    ("max-repairs", "٣", f"'٣' is not allowed; {WHOLE}"),
    ("max-repairs", "9" * 50, f"'{'9' * 37}...' is not allowed; {WHOLE}"),
    ("max-cost-usd", "0", "'0' is not allowed; give US dollars above 0, up to 10000"),
    ("max-cost-usd", "$5", "'$5' is not allowed; give US dollars above 0, up to 10000"),
    ("run-timeout-minutes", "0", f"'0' is not allowed; {MINUTES}"),
    ("session-timeout-minutes", "10m", f"'10m' is not allowed; {MINUTES}"),
    ("silence-timeout-minutes", "٣٠", f"'٣٠' is not allowed; {MINUTES}"),
    ("ci-timeout-minutes", "1e9", f"'1e9' is not allowed; {MINUTES}"),
    ("ci-start-minutes", "nan", f"'nan' is not allowed; {MINUTES}"),
    ("ci-start-minutes", "10081", f"'10081' is not allowed; {MINUTES}"),
    ("background-wait-minutes", "-5", "'-5' is not allowed; give minutes from 0 to 10080"),
    ("background", "yes", "'yes' is not allowed; give true or false"),
    ("draft", "Auto", "'Auto' is not allowed; give auto, always or never"),
    ("merge", "rebase", "'rebase' is not allowed; give never, merge or squash"),
    (
        "required-permission",
        "owner",
        "'owner' is not allowed; give read, triage, write, maintain or admin",
    ),
    (
        "permission-mode",
        "plan",
        "'plan' is not allowed; give acceptEdits, auto, bypassPermissions or dontAsk",
    ),
    ("command", "fly", "'fly' is not allowed; give run, finish, sweep or doctor"),
    ("label", "x" * 43, f"'{'x' * 37}...' is not allowed; give a label of at most 42 characters"),
    ("label", "a\nb", "'a\\nb' is not allowed; give a label of at most 42 characters"),
    ("claude-version", "latest", "'latest' is not allowed; give a version such as 2.1.332"),
    ("base-branch", "-x", "'-x' is not allowed; give a branch's name"),
    ("base-branch", "a..b", "'a..b' is not allowed; give a branch's name"),
    ("base-branch", "refs/heads/main", "'refs/heads/main' is not allowed; give a branch's name"),
    ("branch-prefix", "bot//", "'bot//' is not allowed; give the beginning of a branch's name"),
    (
        "working-directory",
        "../x",
        "'../x' is not allowed; give a folder inside the repository, as a relative path",
    ),
    (
        "working-directory",
        "/etc",
        "'/etc' is not allowed; give a folder inside the repository, as a relative path",
    ),
    ("git-user-email", "dana", "'dana' is not allowed; give an e-mail address"),
    ("git-user-name", "Dana <d>", "'Dana <d>' is not allowed; give a name"),
    (
        "reviewers",
        "alice,b@b",
        "'b@b' is not allowed; give logins, or labeller for whoever set the label, with commas between them, or none",
    ),
    (
        "pass-env",
        "GITHUB_*",
        f"'GITHUB_*' is not allowed, because a Session never gets GITHUB_TOKEN; {VARIABLES}",
    ),
    (
        "pass-env",
        "INPUT_X",
        f"'INPUT_X' is not allowed, because a Session never gets an input; {VARIABLES}",
    ),
    ("claude-args", "'x", f"the quotes do not match (No closing quotation); {ARGUMENTS}"),
    (
        "claude-args",
        "hello",
        f"'hello' is not allowed first, because claude would take it for the prompt; {ARGUMENTS}",
    ),
    ("github-token", "secret token", "the value is not allowed; give a token without blanks"),
    ("app-private-key", "secret", f"the value is not allowed; give {PEM_FILE}"),
    (
        "app-private-key",
        "-----BEGIN PUBLIC KEY-----\nQUJD\n-----END PUBLIC KEY-----",
        f"the value is not allowed; give {PEM_FILE}",
    ),
    ("app-id", "my app", "'my app' is not allowed; give the App's id or client id"),
]


@pytest.mark.parametrize(("name", "value", "line"), BAD_INPUTS)
def test_bad_input_is_one_line(name: str, value: str, line: str) -> None:
    """A bad input is answered with its name, what was given and what is allowed."""
    wanted = f"input `{name}`: {line}"
    lines = [found for found in problems(None, {name: value}) if "is missing" not in found]
    assert lines == [wanted]
    assert len(wanted.splitlines()) == 1


@pytest.mark.parametrize(
    "flag",
    [
        *("--output-format", "--input-format", "--print", "-p", "--verbose", "--include-partial-messages"),
        *("--resume", "-r", "--continue", "-c", "--session-id", "--fork-session", "--no-session-persistence"),
        *("--permission-mode", "--dangerously-skip-permissions", "--allow-dangerously-skip-permissions"),
        *("--permission-prompt-tool", "--settings", "--setting-sources", "--replay-user-messages", "--model"),
    ],
)
def test_flags_that_nightjar_decides_are_refused(flag: str) -> None:
    """A flag that the Run relies on is refused in every spelling the CLI would accept."""
    wanted = f"input `claude-args`: {flag!r} is not allowed, because Nightjar itself decides that; {ARGUMENTS}"
    for text in (flag, f"--add-dir /srv {flag}", f"{flag}=x", f'"{flag}" x'):
        assert problems(None, {"claude-args": text}) == [wanted]


@pytest.mark.parametrize("name", ["github-token", "app-private-key", "anthropic-api-key", "claude-code-oauth-token"])
def test_secret_in_file_is_refused_unseen(name: str) -> None:
    """A secret in the file is refused, called published, and not repeated."""
    (line,) = problems(f"{name}: sk-very-secret\n")
    assert line == (
        f"{FILE}:1:1: `{name}` must not be in a file; "
        "replace that secret, since it has been published, and give the new one as an input"
    )


def test_every_problem_is_told_at_once() -> None:
    """Mistakes of the file and of the inputs come together, the file's first, in its order."""
    text = "max-repairs: -1\nlabl: x\n"
    with pytest.raises(ConfigInvalid) as caught:
        read_config({"INPUT_DRAFT": "perhaps", "INPUT_MODEL": "a b"}, text, FILE)
    assert [line.partition(";")[0] for line in caught.value.problems] == [
        f"{FILE}:1:14: `max-repairs`: '-1' is not allowed",
        f"{FILE}:2:1: `labl` is not a setting",
        "input `model`: 'a b' is not allowed",
        "input `draft`: 'perhaps' is not allowed",
        "input `github-token`: is missing",
        "input `anthropic-api-key`: is missing",
    ]
    assert str(caught.value).splitlines() == list(caught.value.problems)


def test_broken_file_does_not_hide_bad_inputs() -> None:
    """A file that is no YAML is one problem among the others."""
    assert [line.split(":")[0] for line in problems("a: 'b", {"max-repairs": "x"})] == [FILE, "input `max-repairs`"]


def test_one_model_key_is_enough_and_two_are_too_many() -> None:
    """Either key will do, both are refused, and credentials passed by `pass-env` stand in for a key."""
    token = {"INPUT_GITHUB_TOKEN": "ghs_1"}
    assert read_config(token | {"INPUT_CLAUDE_CODE_OAUTH_TOKEN": "o"}, None).anthropic_api_key is None
    assert read_config(token | {"INPUT_PASS_ENV": "AWS_*"}, None).pass_env == ("AWS_*",)
    assert problems(None, {"claude-code-oauth-token": "o"}) == [
        "inputs `anthropic-api-key` and `claude-code-oauth-token`: both are given; give one of them"
    ]


KEY = f"-----BEGIN RSA PRIVATE KEY-----\n{'A' * 64}\n{'B' * 64}\nCC==\n-----END RSA PRIVATE KEY-----\n"


@pytest.mark.parametrize(
    "written",
    [
        KEY,
        KEY.strip(),
        KEY.replace("\n", "\r\n"),
        KEY.replace("\n", r"\n"),
        KEY.replace("\n", r"\r\n"),
        KEY.replace("\n", " "),
    ],
    ids=["as it is", "stripped", "CRLF", "written", "written CRLF", "blanks"],
)
def test_a_key_is_read_however_its_lines_end(written: str) -> None:
    """A key in lines, with line ends that are written out, or with blanks for them, is the same key."""
    config = read(None, {"app-id": "Iv1.0123abcd", "app-private-key": written})
    assert config.app_id == "Iv1.0123abcd"
    assert config.app_private_key == Secret(KEY)
    assert Secret(KEY) in config.secrets()


def test_an_app_needs_id_and_key_and_no_token() -> None:
    """One without the other is one line; both stand for a token."""
    app = {"INPUT_APP_ID": "1", "INPUT_APP_PRIVATE_KEY": KEY, "INPUT_ANTHROPIC_API_KEY": "sk-1"}
    assert read_config(app, None).github_token is None
    assert problems(None, {"app-id": "1"}) == [
        "input `app-private-key`: is missing; give it together with `app-id`, or none of the two"
    ]
    assert problems(None, {"app-private-key": KEY}) == [
        "input `app-id`: is missing; give it together with `app-private-key`, or none of the two"
    ]


def test_secrets_do_not_show() -> None:
    """A printed or formatted `Config` holds no secret; `reveal` and `secrets` do."""
    config = read()
    assert "ghs_1" not in repr(config)
    assert "sk-1" not in f"{config} {config.anthropic_api_key} {config.github_token!r}"
    assert config.github_token == Secret("ghs_1")
    assert config.secrets() == (Secret("ghs_1"), Secret("sk-1"))


def test_claude_path_must_be_a_program(tmp_path: Path) -> None:
    """A `claude-path` that is not there, or is no program, is told before anything starts."""
    program = tmp_path / "claude"
    config = read(None, {"claude-path": str(program)})
    line = f"`claude-path`: there is no program {str(program)!r}; give the path of a program"
    with pytest.raises(ConfigInvalid) as missing:
        check_claude_path(config)
    program.touch()
    with pytest.raises(ConfigInvalid) as no_program:
        check_claude_path(config)
    assert missing.value.problems == no_program.value.problems == (line,)
    program.chmod(0o755)
    check_claude_path(config)
    check_claude_path(read())


def test_config_has_a_field_for_each_setting() -> None:
    """The table and `Config` name the same settings in the same order, and `Config` adds the profiles alone."""
    fields = dataclasses.fields(Config)
    assert [field.name for field in fields] == [*(setting.field for setting in SETTINGS.values()), "labels", "profile"]
    assert all(field.default is dataclasses.MISSING for field in fields)


def test_values_have_the_types_that_config_declares() -> None:
    """Whatever a kind reads is what the field's annotation promises."""
    annotations = inspect.get_annotations(Config)
    names = {str: "str", bool: "bool", int: "int", float: "float", tuple: "tuple[str, ...]", Secret: "Secret"}
    config = read()
    for field, annotation in annotations.items():
        value = getattr(config, field)
        if value is None:
            assert annotation.endswith(" | None"), field
        elif field not in ("instructions", "labels"):
            assert annotation.removesuffix(" | None") == names[type(value)], field


def lines(file_text: str | None, inputs: Mapping[str, str] | None = None) -> list[str]:
    """The lines that these settings are refused with, none if they are fine."""
    try:
        read(file_text, inputs)
    except ConfigInvalid as error:
        return list(error.problems)
    return []


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    """No file makes the reader do anything but answer or list problems that are one line each."""
    assert all(len(line.splitlines()) == 1 for line in lines(text))


@given(st.sampled_from(sorted(SETTINGS)), st.text(max_size=60))
def test_any_input_is_read_or_refused(name: str, text: str) -> None:
    """No input does anything but be read or be refused, in one line each."""
    assert all(len(line.splitlines()) == 1 for line in lines(None, {name: text}))
