"""The catalogue of Failures: complete, readable, and in step with its page."""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path

import pytest
import yaml

from bot.failures import CATALOGUE, Failure, RunFailed, failure
from bot.report.render import failures_page

PAGE = Path(__file__).parents[1] / "docs" / "failures.md"


@pytest.mark.parametrize("row", CATALOGUE.values(), ids=CATALOGUE)
def test_every_failure_says_what_why_and_what_to_do(row: Failure) -> None:
    """Each Failure has a title that completes a heading, a cause in whole sentences, and a remedy."""
    assert row.title
    assert row.title[-1].isalnum()
    assert row.why.endswith(".")
    assert row.remedy.endswith((".", "```"))
    assert "!" not in row.title + row.why + row.remedy


@pytest.mark.parametrize("row", CATALOGUE.values(), ids=CATALOGUE)
def test_snippets_can_be_pasted(row: Failure) -> None:
    """A remedy's snippet is YAML with a key in it."""
    for snippet in row.remedy.split("```yaml\n")[1:]:
        assert isinstance(yaml.safe_load(snippet.split("```")[0]), dict)


def test_exit_codes_tell_settings_and_cancelling_from_failing() -> None:
    """Only a bad setting ends with 2 and only a cancelled Run with 130."""
    special = {code: row.exit_code for code, row in CATALOGUE.items() if row.exit_code != 1}
    assert special == {"config_invalid": 2, "cancelled": 130}


def test_a_code_has_one_row() -> None:
    """No Failure hides another of the same code."""
    source = (PAGE.parents[1] / "bot" / "failures.py").read_text(encoding="utf-8")
    codes = re.findall(r'code="(\w+)"', source)
    assert len(codes) == len(set(codes)) == len(CATALOGUE)


def test_an_unknown_code_is_named() -> None:
    """A code that does not exist is refused where the Run fails, with its name."""
    with pytest.raises(ValueError, match="no Failure has the code 'ci_blue'"):
        RunFailed("ci_blue", "unit failed")


def test_a_failed_run_carries_its_reason() -> None:
    """The exception knows its Failure, the reason and the evidence."""
    failed = RunFailed("ci_red", "unit failed", "assert 1 == 2")
    assert failed.failure is failure("ci_red")
    assert (failed.reason, failed.evidence, str(failed)) == ("unit failed", "assert 1 == 2", "ci_red: unit failed")


def test_every_code_in_the_program_is_in_the_catalogue() -> None:
    """No step ends a Run with a code that nobody has described."""
    calls = [
        node
        for path in (PAGE.parents[1] / "bot").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args
    ]
    codes = {
        call.args[0].value
        for call in calls
        if isinstance(call.func, ast.Name)
        and call.func.id in {"RunFailed", "FailureEntry"}
        and isinstance(call.args[0], ast.Constant)
    }
    assert codes
    assert codes - set(CATALOGUE) == set()


def test_the_page_is_current() -> None:
    """`docs/failures.md` says what the catalogue says; NIGHTJAR_GOLDEN=write writes it anew, for review."""
    if os.environ.get("NIGHTJAR_GOLDEN") == "write":
        PAGE.write_text(failures_page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == failures_page()
