"""Profiles: settings of their own for the Runs that one label asks for."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from bot.config import Config, Profile, read_config
from bot.labels import Labels
from bot.profiles import settings_of
from bot.record import Record, Trigger
from bot.settings import SETTINGS, profiles_meaning

TOKENS = {"INPUT_GITHUB_TOKEN": "ghs_1", "INPUT_ANTHROPIC_API_KEY": "sk-1"}
FILE = """\
model: opus
max-repairs: 3
instructions: {all: Be brief., ci-fix: Be patient.}
labels:
  nightjar:fast:
    model: haiku
    max-repairs: 1
    setup: [npm ci, npm test]
    instructions: {implement: Be quick.}
  slow: {}
"""


def read(file: str = FILE, inputs: Mapping[str, str] | None = None) -> Config:
    """The settings of a file and inputs named as in a workflow."""
    variables = {SETTINGS[name].variable: value for name, value in (inputs or {}).items()}
    return read_config(TOKENS | variables, file)


def test_profile_goes_before_the_rest_of_the_file() -> None:
    """A Run that the profile's label asks for has its settings; what it leaves out is the file's or the default."""
    config = read().for_label("nightjar:fast")
    assert (config.model, config.max_repairs, config.setup) == ("haiku", 1, ("npm ci", "npm test"))
    assert config.max_cost_usd == SETTINGS["max-cost-usd"].default_value
    assert config.instructions_for("implement") == "Be quick."
    assert config.instructions_for("ci-fix") == ""
    assert config.profile is not None
    assert config.profile.names == ("model", "instructions", "max-repairs", "setup")


@pytest.mark.parametrize("label", ["nightjar", "slow", "Nightjar:Fast", "unknown"])
def test_other_labels_have_the_files_settings(label: str) -> None:
    """No profile, or one that sets nothing, leaves the file's own settings."""
    config = read().for_label(label)
    assert (config.model, config.max_repairs, config.label) == ("opus", 3, "nightjar")
    assert config.profile == (Profile("slow", {}, ()) if label == "slow" else None)


def test_input_goes_before_a_profile() -> None:
    """The workflow's author has the last word for every Run; the profile says which of its settings do not count."""
    config = read(inputs={"model": "sonnet", "max-cost-usd": "2"}).for_label("nightjar:fast")
    assert (config.model, config.max_repairs, config.max_cost_usd) == ("sonnet", 1, 2)
    assert config.profile is not None
    assert config.profile.overridden == ("model",)
    assert "model" not in config.profile.names


def test_labels_of_profiles_are_among_the_labels() -> None:
    """Of the label, the profiles' labels and the states exactly one is shown; the states are named by the label."""
    assert read().asking == Labels("nightjar", ("nightjar:fast", "slow"))
    assert read("label: robot\n" + FILE).asking.all == (
        *("robot", "nightjar:fast", "slow"),
        *("robot:working", "robot:parked", "robot:queued", "robot:ready", "robot:failed"),
    )


def test_the_label_may_be_an_input() -> None:
    """What a profile may be called is measured by the label that counts."""
    text = "label: robot\nlabels: {robot:ready: {}, robot: {}}\n"
    assert tuple(read(text, {"label": "night"}).labels) == ("robot:ready", "robot")


def test_settings_of_all_runs_are_in_no_profile() -> None:
    """Who may ask, the keys, how many Runs there are and what they are called are alike for all; the README says so."""
    alike = {name for name, setting in SETTINGS.items() if not setting.in_profile}
    assert {
        "label",
        "required-permission",
        "allowed-bots",
        "max-working",
        "paused",
        "command",
        "branch-prefix",
    } <= alike
    assert {name for name, setting in SETTINGS.items() if setting.secret} <= alike
    assert {"pass-env", "pass-model-key", "app-id", "public-self-hosted"} <= alike
    assert {"model", "max-repairs", "setup", "merge", "instructions"} & alike == set()
    assert all(f"`{name}`" in profiles_meaning() for name in alike if SETTINGS[name].in_file)


def record(label: str) -> Record:
    """A Run that this label asked for."""
    trigger = Trigger("acme/widget", 7, "t", "b", label, "alice", "2026-05-01T10:00:00+00:00", "42", 1, "https://x")
    return Record(trigger=trigger, base="main", branch="nightjar/issue-7", max_repairs=5)


@pytest.mark.parametrize(
    ("label", "model", "notes"),
    [
        ("nightjar", "opus", ()),
        ("nightjar:fast", "haiku", ()),
        ("gone", "opus", ("The label `gone` stands for no settings any more: those of the file itself count.",)),
    ],
)
def test_run_keeps_its_profile(label: str, model: str, notes: tuple[str, ...]) -> None:
    """Whoever goes on with a Run has the settings of the label that asked for it; if it is gone, that is noted."""
    known, config = settings_of(record(label), read())
    assert config.model == model
    assert known.notes == notes
