"""YAML in the docs can be pasted: settings are read, inputs exist, parts of workflows are what GitHub takes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.config import SETTINGS_FILE, read_config
from bot.settings import SETTINGS
from tests.docs.pages import PAGES, Block, blocks

KEYS = {"INPUT_GITHUB_TOKEN": "ghs_1", "INPUT_ANTHROPIC_API_KEY": "sk-1"}
SNIPPETS = [block for page in PAGES for block in blocks(page, "yaml", "yml")]
STEP = {"uses": "acme/nightjar@v1"}
JOB: Mapping[str, Any] = {"runs-on": "ubuntu-latest", "steps": [STEP]}


def is_settings(block: Block) -> bool:
    """Whether it is the settings file's, which its first line says."""
    return block.text.startswith(f"# {SETTINGS_FILE}\n")


def place(block: Block) -> str:
    """Where it stands, as tests are told apart."""
    return block.place


def workflow(block: Block, loader: type[Any] = yaml.SafeLoader) -> dict[str, Any]:
    """A whole workflow with the snippet in the place for it: a step's `with`, else a job's keys."""
    snippet = yaml.load(block.text, loader)
    assert isinstance(snippet, dict), block.place
    job = {**JOB, "steps": [{**STEP, **snippet}]} if snippet.keys() == {"with"} else {**JOB, **snippet}
    dispatch = {"inputs": {"issue": {"type": "number"}}}
    events = {"issues": {"types": ["labeled"]}, "workflow_dispatch": dispatch}
    return {"on": events, "permissions": {}, "jobs": {"run": job}}


@pytest.mark.parametrize("block", [block for block in SNIPPETS if is_settings(block)], ids=place)
def test_settings_are_read(block: Block) -> None:
    """A settings file of the docs is one that Nightjar takes."""
    read_config(KEYS, block.text)


@pytest.mark.parametrize("block", [block for block in SNIPPETS if not is_settings(block)], ids=place)
def test_inputs_exist(block: Block) -> None:
    """What is given to the action is one of its settings, and a value that it takes."""
    (job,) = workflow(block, yaml.BaseLoader)["jobs"].values()
    for step in job["steps"]:
        given = step.get("with", {}) if step.get("uses") == STEP["uses"] else {}
        assert given.keys() <= SETTINGS.keys()
        plain = {SETTINGS[name].variable: text for name, text in given.items() if "${{" not in text}
        read_config({**KEYS, **plain}, None)


def test_parts_of_workflows_are_valid(tmp_path: Path) -> None:
    """Put into a workflow, each is clean for GitHub's schema and for actionlint."""
    files = []
    for number, block in enumerate(block for block in SNIPPETS if not is_settings(block)):
        file = tmp_path / f"{number}-{block.page.stem}-{block.line}.yml"
        file.write_text(yaml.safe_dump(workflow(block), sort_keys=False), encoding="utf-8")
        files.append(str(file))
    assert files
    for words in (("check-jsonschema", "--builtin-schema", "vendor.github-workflows"), ("actionlint",)):
        tool = Path(sys.executable).with_name(words[0])
        done = subprocess.run([tool, *words[1:], *files], capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr
