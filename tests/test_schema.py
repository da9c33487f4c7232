"""The settings file's JSON Schema: what editors allow, and that the reader allows nothing that they refuse."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import regress
from jsonschema import Draft7Validator, ValidationError  # type: ignore[import-untyped]
from jsonschema.validators import extend  # type: ignore[import-untyped]
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from bot.config import ConfigInvalid, read_config
from bot.schema import schema_text, settings_schema
from bot.settings import PROFILES, SCHEMA_URL, SETTINGS, profiles_meaning
from bot.settings_file import FileInvalid, read_entries
from tests.test_settings_files import BAD, GOOD, INPUTS

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = ROOT / "docs" / "nightjar.schema.json"
VALUES = (
    # what YAML makes something of
    *(
        "~",
        "true",
        "True",
        "FALSE",
        "yes",
        "off",
        "'true'",
        '"False"',
        "tRuE",
        "2026-01-01",
        "2026-01-01 10:00:00",
        "12:30",
    ),
    # numbers, and what looks like one
    *(
        "0",
        "00",
        "05",
        "1",
        "2",
        "3.5",
        "5.0",
        "0.0",
        "50",
        "51",
        "100",
        "10000",
        "10080",
        "10080.5",
        "10081",
        "123456789",
    ),
    *("1234567890", "-1", "+5", ".5", "1_000", "0x1F", "0o17", "1e3", ".inf", ".nan", "'5'", "' 5 '", "٣", "0.0000001"),
    # words
    *("none", "auto", "write", "inline", "always", "strict", "squash", "' auto '", "main", "a", "é", '"a b"', '"a,b"'),
    *(
        '"a, b\\nalice ,,"',
        '",none,"',
        '"a\\r\\nb"',
        "alice",
        "robot[bot]",
        '"robot[bot]"',
        "a--b",
        "b@b",
        "a@b.c",
        "x<y",
    ),
    *(
        '""',
        '"  "',
        '"\\u00a0x"',
        '"x\\u0085"',
        '"\\u2028x"',
        '"\\ufeffx"',
        '"x\\0"',
        '"\\x1c5"',
        '"\\t5\\n"',
        "x" * 43,
    ),
    # names of branches, folders, files, variables; commands and arguments
    *(
        "feature/x",
        "bot/",
        "bot//",
        "a..b",
        "'-x'",
        "'@'",
        "refs/heads/x",
        "./a/b/",
        "../x",
        "/etc",
        "~user",
        "a\\b",
        ".git/x",
    ),
    *(
        "ci.yml",
        '"ci.yml, more.yaml"',
        "ci.txt",
        "höhe.yml",
        "'AWS_*, NODE_ENV'",
        "GITHUB_*",
        "2.1.332",
        "'2.1'",
        "claude-opus-4-8",
    ),
    *(
        ".github/workflows/**",
        '"make check && make"',
        "|\n  make\n  make check\n",
        "'--add-dir /srv'",
        "--resume",
        '"\'x"',
    ),
    # lists and mappings
    *(
        "[]",
        "[a]",
        "[alice, bob]",
        "[5, true]",
        "['']",
        "[~]",
        "['a b']",
        "['a,b']",
        "[none]",
        "[none, a]",
        "[[a]]",
        "[{a: b}]",
    ),
    *(
        "[--add-dir, /srv]",
        "['AWS_*']",
        "[ci.yml]",
        "['x\\n']",
        "{}",
        "{a: b}",
        "{all: x}",
        "{all: 5, ci-fix: yes}",
        "{all: ~}",
    ),
    *(
        "{all: [x]}",
        "{fly: x}",
        "{all: ''}",
        "{x: {model: a}, y: {}}",
        "{x: {label: a}}",
        "{x: {max-repairs: 99}}",
        "{x: ~}",
    ),
)
"""Values as they stand in a file: each is given to each setting."""
UNKNOWN_TO_A_SCHEMA = {
    *("an anchor", "a merge key", "NUL, escaped", "a byte order mark in the middle", "huge", "UTF-16"),
    *("a state as a profile", "a state of the file's own label as a profile", "the label itself as a profile"),
    *("one label twice to GitHub", "a label with blanks around it"),
}
"""Kinds of bad files that an editor's schema lets pass."""


NO_TEXT = {"very deep", "half a character"}
"""Kinds of bad files that what stands for the editor here cannot even look at."""


@cache
def compiled(pattern: str) -> regress.Regex:
    """A pattern as JavaScript means it."""
    return regress.Regex(pattern, flags="u")


def matches(validator: Any, pattern: str, text: Any, schema: Any) -> Iterator[ValidationError]:
    """The keyword `pattern`."""
    if isinstance(text, str) and not compiled(pattern).find(text):
        yield ValidationError(f"{text!r} does not match {pattern!r}")


def refusals(text: str | bytes) -> dict[str, str]:
    """What an editor shows in the file by the published schema: the dotted key, and why; "" for the file itself."""
    yaml = YAML(typ="safe", pure=True)  # YAML 1.2, in which editors know no dates
    constructors = yaml.constructor.yaml_constructors
    constructors["tag:yaml.org,2002:timestamp"] = constructors["tag:yaml.org,2002:str"]
    try:
        loaded = yaml.load(text)
    except YAMLError as error:
        return {"": f"no YAML: {error}"}
    validator = extend(Draft7Validator, {"pattern": matches})(json.loads(SCHEMA.read_text(encoding="utf-8")))
    return {".".join(map(str, error.absolute_path)): error.message for error in validator.iter_errors(loaded)}


def complaints(text: str) -> list[str]:
    """What the reader says of the file, beginning with the key, where it names one."""
    try:
        read_config(INPUTS, text)
    except ConfigInvalid as refused:
        return [line.split(": ", 1)[1] for line in refused.problems]
    return []


def test_published_schema_is_the_codes() -> None:
    """What is published says what the settings say; `python -m bot.schema > docs/nightjar.schema.json` renews it."""
    assert SCHEMA.read_text(encoding="utf-8") == schema_text()
    assert settings_schema()["$id"] == SCHEMA_URL
    assert SCHEMA_URL.endswith(f"/{SCHEMA.relative_to(ROOT).as_posix()}")


def test_schema_is_a_schema(tmp_path: Path) -> None:
    """It is what draft 7 of JSON Schema allows, and a tool that people use to check files by it can."""
    Draft7Validator.check_schema(settings_schema())
    tool = Path(sys.executable).with_name("check-jsonschema")
    for name, text, code in (("good.yml", "draft: auto\n", 0), ("bad.yml", "draft: perhaps\n", 1)):
        (tmp_path / name).write_text(text, encoding="utf-8")
        command = [str(tool), "--schemafile", str(SCHEMA), str(tmp_path / name)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == code, done.stdout


def test_schema_names_what_a_file_may_hold() -> None:
    """Every setting of a file is there, in a profile those that one may have; no input, no secret, nothing else."""
    schema = settings_schema()
    assert set(schema["properties"]) == {PROFILES, *(name for name, one in SETTINGS.items() if one.in_file)}
    profile = schema["properties"][PROFILES]["additionalProperties"]
    assert set(profile["properties"]) == {name for name, one in SETTINGS.items() if one.in_profile}
    assert schema["additionalProperties"] is profile["additionalProperties"] is False
    assert not any(SETTINGS[name].secret for name in schema["properties"] if name != PROFILES)


def test_schema_and_bad_files() -> None:
    """An editor shows each kind of bad file, but for what no schema can know; it has nothing against good ones."""
    passed = {name for name, (text, _) in BAD.items() if name not in NO_TEXT and not refusals(text)}
    assert passed == UNKNOWN_TO_A_SCHEMA
    assert {name: why for name, text in GOOD.items() if (why := refusals(text))} == {}


@pytest.mark.parametrize("within", ["", f"{PROFILES}.fast."])
def test_reader_takes_nothing_that_the_schema_refuses(within: str) -> None:
    """Whatever value a setting is given: where the schema refuses it, the reader refuses it too."""
    names = [name for name, one in SETTINGS.items() if (one.in_profile if within else one.in_file)]
    indent, head = ("    ", f"{PROFILES}:\n  fast:\n") if within else ("", "")
    taken = shown = 0
    for value in VALUES:
        lines = (f"{name}: {value}\n" for name in (*names, *([] if within else [PROFILES])))
        text = head + "".join(textwrap.indent(line, indent) for line in lines)
        said = complaints(text)
        wrong = [name for name in names if any(line.startswith(f"`{within}{name}`") for line in said)]
        by_schema = [key.removeprefix(within).split(".")[0] for key in refusals(text)]
        with suppress(FileInvalid):  # nothing of the file is read at all then
            read_entries(text)
            assert set(by_schema) - {*wrong, PROFILES} == set(), value
            assert PROFILES not in by_schema or f"`{PROFILES}" in "".join(said), value
        taken += len(names) - len(wrong)
        shown += len(by_schema)
    assert taken > len(names) * 5  # there is something to compare on both sides
    assert shown > len(names) * 30


def test_defaults_pass_the_schema() -> None:
    """A file with every setting at its default is one that the schema and the reader take."""
    text = "".join(f"{name}: {one.default}\n" for name, one in SETTINGS.items() if one.in_file and one.default)
    assert refusals(text) == {}
    assert read_config(INPUTS, text) == read_config(INPUTS, None)


def test_documented_example_of_profiles() -> None:
    """The profiles that the table of settings shows are ones that the schema and the reader take."""
    (example,) = re.findall(rf"`({PROFILES}: .*?)`", profiles_meaning())
    assert refusals(example) == {}
    assert read_config(INPUTS, example).for_label("nightjar:fast").max_repairs == 1
