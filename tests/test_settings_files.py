"""Bad settings files, read from GitHub like a Run's: one line for each mistake, its place and what is allowed."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from bot.clock import Clock
from bot.config import SETTINGS_FILE, Config, ConfigInvalid, read_config
from bot.credential import FixedToken
from bot.failures import RunFailed
from bot.github.client import Client
from bot.github.repository import GitHubRepository
from bot.sandbox.github import EmbeddedGitHub

INPUTS = {"INPUT_GITHUB_TOKEN": "ghs_1", "INPUT_ANTHROPIC_API_KEY": "sk-1"}
Read = Callable[[str], Config]

WHOLE = "give a whole number from 0 to 50"
TEXTS = "give text, or in the file a mapping with the keys all, implement, continue, conflict, ci-fix, request"
TAB = "found character '\\t' that cannot start any token; indent with spaces, not tabs"
AT = "found character '@' that cannot start any token; put such text in quotes"
OPEN = "close the quotes or the bracket that begins here"
COLON = "give each setting a line, and put text with a colon in it in quotes"
BACKSLASH = "write \\\\ for a backslash, or take single quotes"
LINES = "write a line `setting: value` for each setting, and indent what belongs to it by spaces, all of it alike"
PUBLISHED = "replace that secret, since it has been published, and give the new one as an input"
NAME = "a name must be plain text of at most 50 characters in one line"
MAPPING = "must be a mapping, a line `setting: value` for each setting"
PROFILE = "give settings for the Runs that this label asks for, as a mapping"
ITSELF = "is the setting `label`, whose settings are the file's own; give them at the top of the file"
SHOWS = "is a label by which Nightjar shows how a Run stands; give the profile another than"
STATES = "`nightjar:working`, `nightjar:parked`, `nightjar:queued`, `nightjar:ready`, `nightjar:failed`"
ALL_RUNS = "must not be in a profile, because it is for all Runs alike; give it at the top of the file"
BOMB = "a: &a [x, x]\n" + "".join(
    f"{new}: &{new} [*{old}, *{old}]\n" for old, new in zip("abcdefg", "bcdefgh", strict=True)
)

BAD: Mapping[str, tuple[str | bytes, tuple[str, ...]]] = {
    # keys
    "almost a setting": ("max-repair: 3\n", ("1:1: `max-repair` is not a setting; did you mean `max-repairs`?",)),
    "a setting in capitals": (
        "draft: never\nMAX_REPAIRS: 3\n",
        ("2:1: `MAX_REPAIRS` is not a setting; did you mean `max-repairs`?",),
    ),
    "nothing like a setting": ("zebra: 3\n", ("1:1: `zebra` is not a setting; the README lists them all",)),
    "a profile out of place": (
        "nightjar:fast: {model: haiku}\n",
        ("1:1: `nightjar:fast` is not a setting; a label's profile stands under `labels`",),
    ),
    "a key twice": ("draft: never\ndraft: auto\n", ("2:1: `draft`: is given twice, first on line 1",)),
    "a key of a mapping twice": (
        "instructions: {all: x, all: y}\n",
        ("1:24: `instructions.all`: is given twice, first on line 1",),
    ),
    "a name with a line end": ('"a\\nb": c\n', (f"1:1: {NAME}",)),
    "a list as a name": ("? [a, b]\n: c\n", (f"1:3: {NAME}",)),
    "a mapping as a name": ("{a: b}: c\n", (f"1:1: {NAME}",)),
    # values
    "too small a number": ("\n\nmax-repairs: -1\n", (f"3:14: `max-repairs`: '-1' is not allowed; {WHOLE}",)),
    "a list for a number": ("max-repairs: [1]\n", (f"1:14: `max-repairs`: a list is not allowed; {WHOLE}",)),
    "a mapping for a number": ("max-repairs: {a: 1}\n", (f"1:14: `max-repairs`: a mapping is not allowed; {WHOLE}",)),
    "text for a number": (
        "max-cost-usd: ten\n",
        ("1:15: `max-cost-usd`: 'ten' is not allowed; give US dollars above 0, up to 10000",),
    ),
    "a number for a word": ("draft: 1\n", ("1:8: `draft`: '1' is not allowed; give auto, always or never",)),
    "another word for true": ("background: yes\n", ("1:13: `background`: 'yes' is not allowed; give true or false",)),
    "no value": ("max-repairs:\n", ("1:13: `max-repairs`: has no value; leave the line out for the default",)),
    "no value in a list": ("setup:\n  - make\n  -\n", ("3:4: `setup`: has no value there; leave it out",)),
    "an unknown kind of Session": (
        "instructions: {fly: x}\n",
        (f"1:15: `instructions`: the key 'fly' is not allowed; {TEXTS}",),
    ),
    "a list in a list": ("setup: [[x]]\n", ("1:9: `setup`: is nested too deeply; give plain text there",)),
    "too deep": (
        "setup: [[[[[[x]]]]]]\n",
        ("1:11: `setup`: is nested deeper than any setting; at most 4 levels are allowed",),
    ),
    "very deep": ("[" * 60_000, ("1:5: is nested deeper than any setting; at most 4 levels are allowed",)),
    "NUL, escaped": (
        'setup: ["a\\0b"]\n',
        ("1:8: `setup`: there is a character that no text can have; give shell commands, as text or as a list",),
    ),
    "half a character": (
        'check-command: "\\ud800"\n',
        ("1:16: `check-command`: there is a character that no text can have; give a shell command",),
    ),
    # YAML
    "a tab": (
        "setup:\n\t- x\n",
        (f"2:1: `setup`: is not valid YAML: {TAB}",),
    ),
    "quotes left open": ("label: 'x\n", (f"1:8: `label`: is not valid YAML: found unexpected end of stream; {OPEN}",)),
    "a bracket left open": (
        "reviewers: [alice\n",
        (f"1:12: `reviewers`: is not valid YAML: expected ',' or ']', but got '<stream end>'; {OPEN}",),
    ),
    "a colon too many": (
        "label: a: b\n",
        (f"1:9: `label`: is not valid YAML: mapping values are not allowed here; {COLON}",),
    ),
    "lines that are not in one column": (
        "draft: never\nsetup:\n  - x\n - y\n",
        (f"4:2: `setup`: is not valid YAML: expected <block end>, but found '<block sequence start>'; {LINES}",),
    ),
    "a character that YAML keeps for itself": (
        "labels:\n  fast: {model: @x}\n",
        (f"2:17: `labels`: is not valid YAML: {AT}",),
    ),
    "a backslash in double quotes": (
        'check-command: "grep \\d"\n',
        (f"1:23: `check-command`: is not valid YAML: found unknown escape character 'd'; {BACKSLASH}",),
    ),
    "a tag that runs code": (
        "label: !!python/name:os.system x\n",
        ("1:8: `label`: the tag 'python/name:os.system' is not allowed; write plain text",),
    ),
    "a tag of one's own": ("model: !env MODEL\n", ("1:8: `model`: the tag '!env' is not allowed; write plain text",)),
    "an anchor": (
        "label: &x a\nmodel: *x\n",
        ("1:8: `label`: the anchor &x is not allowed; write values out wherever they are needed",),
    ),
    "an alias": ("label: *x\n", ("1:8: `label`: the alias *x is not allowed; write the value out",)),
    "a bomb": (BOMB, ("1:4: `a`: the anchor &a is not allowed; write values out wherever they are needed",)),
    "a merge key": ("<<: {draft: never}\n", ("1:1: `<<` is not a setting; the README lists them all",)),
    "two documents": ("draft: never\n---\ndraft: auto\n", ("2:1: a second document begins here; only one is allowed",)),
    "a list": ("- label\n", (f"1:1: {MAPPING}",)),
    "a text": ("just text\n", (f"1:1: {MAPPING}",)),
    # bytes
    "Latin-1": (
        "draft: never\ngit-user-name: Zoë\n".encode("latin-1"),
        ("2:18: `git-user-name`: is not UTF-8: there is the byte 0xeb; save the file as UTF-8",),
    ),
    "UTF-16": (
        "draft: never\n".encode("utf-16"),
        ("1:1: is not UTF-8: there is the byte 0xff; save the file as UTF-8",),
    ),
    "NUL": (
        "draft: ne\0ver\n",
        ("1:10: `draft`: there is the character U+0000, which YAML does not allow; take it out",),
    ),
    "a bell": (
        "label: \x07\n",
        ("1:8: `label`: there is the character U+0007, which YAML does not allow; take it out",),
    ),
    "a byte order mark in the middle": (
        "label: a\ufeffb\n",
        ("1:8: `label`: there is a character that no text can have; give a label of at most 42 characters",),
    ),
    "huge": (
        "# more\n" * 10_000,
        ("9363:3: has 70000 characters, and this is the first too many; at most 65536 are allowed",),
    ),
    # what must not be in a file
    "a secret": ("github-token: ghp_very_secret\n", (f"1:1: `github-token` must not be in a file; {PUBLISHED}",)),
    "an input": ("command: run\n", ("1:1: `command` must not be in the file; give it as an input",)),
    "a secret in a profile": (
        "labels: {nightjar:fast: {anthropic-api-key: sk-very-secret}}\n",
        (f"1:26: `labels.nightjar:fast.anthropic-api-key` must not be in a file; {PUBLISHED}",),
    ),
    # profiles
    "a state as a profile": (
        "labels:\n  nightjar:Working: {model: haiku}\n",
        (f"2:3: `labels.nightjar:Working`: {SHOWS} {STATES}",),
    ),
    "a state of the file's own label as a profile": (
        "labels: {robot:ready: {}}\nlabel: robot\n",
        (f"1:10: `labels.robot:ready`: {SHOWS} {STATES.replace('nightjar', 'robot')}",),
    ),
    "the label itself as a profile": (
        "labels:\n  nightjar: {model: haiku}\n",
        (f"2:3: `labels.nightjar`: {ITSELF}",),
    ),
    "one label twice to GitHub": (
        "labels:\n  fast: {}\n  Fast: {}\n",
        ("3:3: `labels.Fast`: is the same label to GitHub as `fast` on line 2; give the profile a label of its own",),
    ),
    "too long a label": (f"labels:\n  {'x' * 51}: {{}}\n", (f"2:3: `labels`: {NAME}",)),
    "a label with blanks around it": ('labels: {" fast": {}}\n', (f"1:10: `labels`: {NAME}",)),
    "a profile twice": (
        "labels:\n  fast: {}\n  fast: {}\n",
        ("3:3: `labels.fast`: is given twice, first on line 2",),
    ),
    "no profiles": (
        "labels: [fast]\n",
        ("1:9: `labels`: a list is not allowed; give a mapping with a label's name and its settings in each entry",),
    ),
    "a profile without settings": ("labels:\n  fast:\n", (f"2:8: `labels.fast`: has no value; {PROFILE}",)),
    "a profile of text": ("labels:\n  fast: haiku\n", (f"2:9: `labels.fast`: text is not allowed; {PROFILE}",)),
    "almost a setting of a profile": (
        "labels: {fast: {max-repair: 1}}\n",
        ("1:17: `labels.fast.max-repair` is not a setting; did you mean `max-repairs`?",),
    ),
    "a setting that no profile may have": (
        "labels: {fast: {max-working: 1}}\n",
        (f"1:17: `labels.fast.max-working` {ALL_RUNS}",),
    ),
    "profiles in a profile": ("labels: {fast: {labels: {}}}\n", (f"1:17: `labels.fast.labels` {ALL_RUNS}",)),
    "a bad value in a profile": (
        "labels:\n  nightjar:fast:\n    max-repairs: many\n",
        (f"3:18: `labels.nightjar:fast.max-repairs`: 'many' is not allowed; {WHOLE}",),
    ),
    # all at once, in the file's order
    "many": (
        "labels:\n  fast: {modl: x, max-repairs: 99}\nmax-repairs: -1\nlabl: x\nsetup: [a, !b c]\nlabl: y\n",
        (
            "2:10: `labels.fast.modl` is not a setting; did you mean `model`?",
            f"2:32: `labels.fast.max-repairs`: '99' is not allowed; {WHOLE}",
            f"3:14: `max-repairs`: '-1' is not allowed; {WHOLE}",
            "4:1: `labl` is not a setting; did you mean `label`?",
            "5:12: `setup`: the tag '!b' is not allowed; write plain text",
            "6:1: `labl`: is given twice, first on line 4",
        ),
    ),
}
GOOD: Mapping[str, str | bytes] = {
    "empty": "",
    "a comment": "# nothing\n",
    "an empty document": "---\n",
    "null": "~\n",
    "a byte order mark": "draft: auto\n".encode("utf-8-sig"),
    "lines of Windows": "draft: auto\r\nmax-repairs: 5\r\n",
}
TOO_LARGE = "# more\n" * 200_000


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Read]:
    """The settings of one of these files, as a Run reads them: each file is on a branch of its own on the GitHub."""
    folder = tmp_path_factory.mktemp("settings")
    files = {**{name: text for name, (text, _) in BAD.items()}, **GOOD, "too large": TOO_LARGE}
    branches = {name: f"case-{number}" for number, name in enumerate(files)}
    with EmbeddedGitHub(folder / "hub", ci=False) as hub:
        repository = hub.create_repository("acme/widget", {"README.md": "# widget\n"})
        put(repository.path, {branches[name]: text for name, text in files.items()})
        client = Client(hub.api_url, "acme/widget", FixedToken(hub.issue_token("nightjar[bot]")), Clock())
        github = GitHubRepository(client)
        yield lambda name: read_config(INPUTS, github.read_file(SETTINGS_FILE, branches[name]))
        client.close()


def put(repository: Path, files: Mapping[str, str | bytes]) -> None:
    """Commit a settings file on each of these branches, in one go."""
    stream = b""
    for branch, text in files.items():
        content = text if isinstance(text, bytes) else text.encode()
        stream += f"commit refs/heads/{branch}\ncommitter dana <dana@example.com> 0 +0000\ndata 0\n".encode()
        stream += f"M 100644 inline {SETTINGS_FILE}\ndata {len(content)}\n".encode() + content + b"\n"
    subprocess.run(["git", "-C", repository, "fast-import", "--quiet"], input=stream, check=True, timeout=60)


@pytest.mark.parametrize("kind", BAD)
def test_bad_file(read: Read, kind: str) -> None:
    """Each mistake in the file is one line: the file, line and column, the key, what is wrong and what is allowed."""
    with pytest.raises(ConfigInvalid) as refused:
        read(kind)
    assert list(refused.value.problems) == [f"{SETTINGS_FILE}:{line}" for line in BAD[kind][1]]
    assert all(line.isprintable() for line in refused.value.problems)


@pytest.mark.parametrize("kind", GOOD)
def test_file_that_says_nothing_new(read: Read, kind: str) -> None:
    """An empty file is no mistake, and how the file is saved changes nothing."""
    assert read(kind) == read_config(INPUTS, None)


def test_file_beyond_what_github_gives_out(read: Read) -> None:
    """A file of which GitHub tells no content is refused, not taken for an empty one."""
    with pytest.raises(RunFailed) as refused:
        read("too large")
    assert refused.value.code == "config_invalid"
    assert "is larger than the 1 MB that GitHub gives out" in refused.value.reason
