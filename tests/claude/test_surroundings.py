"""Where Sessions live on a runner, and what they are told of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.claude.surroundings import Folders, Surroundings
from bot.config import read_config
from bot.failures import RunFailed

KEY = "sk-scripted-0123456789"


class House:
    """Surroundings in a folder, with a job's environment and settings."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.said: list[str] = []

    def build(self, path: str = "/usr/bin:/bin", **settings: str) -> Surroundings:
        """With these settings, by their names in an environment."""
        inputs = {f"INPUT_{name.upper()}": value for name, value in settings.items()}
        keys = {"INPUT_GITHUB_TOKEN": "ghs_x", "INPUT_ANTHROPIC_API_KEY": KEY}
        environ = {**keys, **inputs, "PATH": path, "HOME": str(self.folder / "home"), "NPM_TOKEN": "n"}
        run = self.folder / "temp" / "run"
        folders = Folders(
            checkout=run / "checkout",
            logs=self.folder / "temp" / "logs",
            handover=run / "handover",
            claude_home=run / "claude",
            install=self.folder / "temp" / "cli",
        )
        made = Surroundings(read_config(environ, None), folders, environ, self.said.append)
        made.make_folders()
        return made


@pytest.fixture
def house(tmp_path: Path) -> House:
    """A house that is still empty."""
    return House(tmp_path)


def test_a_home_of_its_own(house: House) -> None:
    """A Session's home, temporary files and the CLI's settings are the Run's, and it gets the model's variables."""
    around = house.build()
    around.settle()
    variables = around.variables({"ANTHROPIC_BASE_URL": "http://127.0.0.1:1", "ANTHROPIC_API_KEY": "placeholder"})
    home = house.folder / "temp/run/claude"
    assert {name: variables[name] for name in ("HOME", "TMPDIR", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_TMPDIR")} == {
        "HOME": str(home),
        "TMPDIR": str(home / "tmp"),
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "CLAUDE_CODE_TMPDIR": str(home / "tmp"),
    }
    assert variables["ANTHROPIC_API_KEY"] == "placeholder"
    assert KEY not in variables.values()
    assert {"NPM_TOKEN", "CLAUDE_CODE_SUBPROCESS_ENV_SCRUB"} & set(variables) == set()


def test_setup_sees_no_model(house: House) -> None:
    """What runs without a model is not told of one."""
    tools = house.build().tools
    assert not [name for name in tools if name.startswith(("ANTHROPIC_", "CLAUDE"))]


def test_log_says_how_sessions_are_isolated(house: House) -> None:
    """The job log has the isolation, and the names of what Sessions do not get."""
    house.build().settle()
    assert house.said[0].startswith("isolation `strict`: Sessions run as ")
    assert house.said[-1] == "Sessions do not get these variables of the job: HOME, NPM_TOKEN, INPUT_* (2)"


def test_relaxed(house: House) -> None:
    """`isolation: relaxed` is said, and starts Sessions as the job is."""
    confinement = house.build(isolation="relaxed").settle()
    assert house.said[0] == (
        "isolation `relaxed`: Sessions run as the job does, with sudo and docker where it has them"
    )
    assert confinement.command(["true"], {}) == (["true"], {})


def test_key_is_not_passed_where_it_cannot_be_hidden(house: House, tmp_path: Path) -> None:
    """`pass-model-key` on a runner that lacks what hides the key ends the Run before a Session, and says what to do."""
    with pytest.raises(RunFailed) as caught:
        house.build(str(tmp_path), pass_model_key="true").settle()
    assert caught.value.failure.code == "config_invalid"
    assert "`pass-model-key` needs bwrap and socat on the runner" in caught.value.reason


def test_key_is_hidden_where_it_is_passed(house: House) -> None:
    """With `pass-model-key` the CLI is told to keep the key from the commands it runs."""
    variables = house.build(pass_model_key="true").variables({"ANTHROPIC_API_KEY": KEY})
    assert (variables["ANTHROPIC_API_KEY"], variables["CLAUDE_CODE_SUBPROCESS_ENV_SCRUB"]) == (KEY, "1")
