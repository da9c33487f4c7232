"""The bootstrap makes a working environment in seconds, once, and says in one line what it cannot do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bot import bootstrap

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / "bot/bootstrap.py"
LOCK = ROOT / "requirements.lock"
IMPORTS = "import bot, github, ghapi.core, msgspec, yaml, tenacity; print(bot.__file__)"


def start(*arguments: str | Path, environ: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """The bootstrap as a runner starts it, in a folder that is not Nightjar's."""
    return subprocess.run(
        [sys.executable, "-I", SCRIPT, *arguments],
        cwd="/", env=dict(os.environ) if environ is None else environ, capture_output=True, text=True, check=False,
        timeout=170,
    )  # fmt: skip


def without_uv(folder: Path) -> dict[str, str]:
    """This environment with a PATH on which there is no uv."""
    return os.environ | {"PATH": str(folder)}


def succeeds(done: subprocess.CompletedProcess[str]) -> None:
    """Exit code 0 and not a word."""
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def finds_everything(folder: Path) -> bool:
    """Whether the environment's Python, isolated, imports the dependencies and this checkout's `bot`."""
    python = folder / "bin/python"
    done = subprocess.run([python, "-I", "-c", IMPORTS], cwd="/", capture_output=True, text=True, check=False)
    return done.stdout.strip() == str(ROOT / "bot/__init__.py")


@pytest.mark.skipif(shutil.which("uv") is None, reason="uv is not installed")
def test_uv_makes_it(tmp_path: Path) -> None:
    """With uv on PATH, the environment is there and complete, and nothing is said on the way."""
    succeeds(start(tmp_path / "env", LOCK))
    assert not (tmp_path / "env/bin/pip").exists()
    shown = subprocess.run([tmp_path / "env/bin/nightjar", "--help"], capture_output=True, text=True, check=True)
    assert "work on the issue that the event of this job names" in shown.stdout
    assert finds_everything(tmp_path / "env")


def test_pip_makes_it(tmp_path: Path) -> None:
    """Without uv, venv and pip make the same."""
    succeeds(start(tmp_path / "env", LOCK, environ=without_uv(tmp_path)))
    assert finds_everything(tmp_path / "env")


def test_second_start_uses_the_first_ones_environment(tmp_path: Path) -> None:
    """A finished environment is used again as it is; one made from another lock, or left half-made, is made anew."""
    folder, lock = tmp_path / "env", tmp_path / "a.lock"
    lock.write_text("", encoding="utf-8")
    trace = folder / "trace"
    succeeds(start(folder, lock))
    trace.touch()
    succeeds(start(folder, lock))
    assert trace.exists()
    lock.write_text("# other\n", encoding="utf-8")
    succeeds(start(folder, lock))
    assert not trace.exists()
    trace.touch()
    (folder / "nightjar-stamp").unlink()
    succeeds(start(folder, lock))
    assert not trace.exists()


def test_wrong_hash_is_refused_in_one_line(tmp_path: Path) -> None:
    """A package that is not the pinned one is not installed, and the line says which step failed."""
    lock = tmp_path / "a.lock"
    lock.write_text(f"tenacity==9.2.1 --hash=sha256:{'0' * 64}\n", encoding="utf-8")
    done = start(tmp_path / "env", lock)
    (line,) = done.stderr.splitlines()
    assert done.returncode == 1
    assert "cannot make Nightjar's Python environment" in line
    assert "python -I -m pip` ended with 1" in line
    assert not (tmp_path / "env/nightjar-stamp").exists()


def test_missing_lock_is_one_line(tmp_path: Path) -> None:
    """A lock that is not there is named."""
    done = start(tmp_path / "env", tmp_path / "no.lock")
    assert done.returncode == 1
    assert done.stderr == f"nightjar: cannot read {tmp_path}/no.lock: No such file or directory\n"


def test_job_becomes_the_program(tmp_path: Path) -> None:
    """On a runner it ends as `python -I -m bot run` in the environment it made, whatever `bot` the target has."""
    checkout = tmp_path / "action"
    (checkout / "bot").mkdir(parents=True)
    shutil.copy(SCRIPT, checkout / "bot/bootstrap.py")
    (checkout / "requirements.lock").touch()
    program = "import os, sys; print(sys.argv[1:], sys.flags.isolated, os.getpid(), os.environ['INPUT_LABEL'])\n"
    (checkout / "bot/__main__.py").write_text(program, encoding="utf-8")
    target = tmp_path / "target"
    (target / "bot").mkdir(parents=True)
    (target / "bot/__main__.py").write_text("print('the target')\n", encoding="utf-8")
    environ = os.environ | {"RUNNER_TEMP": str(tmp_path / "temp"), "INPUT_LABEL": "x", "PYTHONPATH": str(target)}
    with subprocess.Popen(
        [sys.executable, "-I", checkout / "bot/bootstrap.py"],
        cwd=target,
        env=environ,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        said, _ = process.communicate(timeout=60)
    assert said == f"['run'] 1 {process.pid} x\n"
    assert (tmp_path / "temp/nightjar/venv/nightjar-stamp").is_file()


@pytest.mark.parametrize(
    ("environ", "line"),
    [
        (
            {"INPUT_COMMAND": "fly"},
            "nightjar: input `command`: 'fly' is not allowed; give run, finish, sweep or doctor\n",
        ),
        ({}, "nightjar: RUNNER_TEMP is not set; a GitHub Actions runner sets it to a folder of the job's own\n"),
        (
            {"GITHUB_ACTIONS": "true", "INPUT_COMMAND": "%0A::x"},
            "::error::nightjar: input `command`: '%250A::x' is not allowed; give run, finish, sweep or doctor\n",
        ),
    ],
)
def test_wrong_input_is_one_line(environ: dict[str, str], line: str) -> None:
    """What a job gives wrongly is answered in one line, an annotation in a job, before anything is installed."""
    done = start(environ=environ)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", line)


def old_python() -> str | None:
    """A Python from before 3.11 on this machine, if there is one."""
    found = [Path(sys.base_prefix).parent.glob(f"3.{minor}.*/bin/python3") for minor in (8, 9, 10)]
    return next((str(path) for paths in found for path in paths), None)


@pytest.mark.skipif(old_python() is None, reason="there is no Python before 3.11 here")
def test_old_python_is_told_or_replaced(tmp_path: Path) -> None:
    """Under an old Python it uses a newer one from the tool cache, or says in one line that there is none."""
    old = str(old_python())
    lock = tmp_path / "a.lock"
    lock.touch()
    cache = tmp_path / "cache"
    environ = {"PATH": str(tmp_path), "RUNNER_TOOL_CACHE": str(cache)}
    command = [old, "-I", str(SCRIPT), str(tmp_path / "env"), str(lock)]
    alone = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert alone.returncode == 1
    assert len(alone.stderr.splitlines()) == 1
    assert alone.stderr.startswith("nightjar: Nightjar needs Python 3.11 or newer, and this machine has 3.")
    (cache / "Python/3.12.1/x64/bin").mkdir(parents=True)
    (cache / "Python/3.12.1/x64/bin/python3").symlink_to(Path(sys.base_prefix) / "bin/python3")
    succeeds(subprocess.run(command, env=environ, capture_output=True, text=True, check=False))
    assert (tmp_path / "env/nightjar-stamp").is_file()


def test_inputs_are_kept_from_installers(tmp_path: Path) -> None:
    """No installer sees an input, because some of them are secrets."""
    spy = tmp_path / "uv"
    spy.write_text(f"#!/bin/sh\nenv > {tmp_path}/seen\nexit 1\n", encoding="utf-8")
    spy.chmod(0o755)
    lock = tmp_path / "a.lock"
    lock.touch()
    environ = os.environ | {"PATH": f"{tmp_path}:/usr/bin:/bin", "INPUT_GITHUB_TOKEN": "ghs_secret"}
    succeeds(start(tmp_path / "env", lock, environ=environ))
    seen = (tmp_path / "seen").read_text(encoding="utf-8")
    assert "PATH=" in seen
    assert "ghs_secret" not in seen


def test_names_cover_what_is_needed() -> None:
    """The oldest Python that the package accepts is the one that the bootstrap asks for."""
    assert f'requires-python = ">={bootstrap.NEEDED[0]}.{bootstrap.NEEDED[1]}"' in (ROOT / "pyproject.toml").read_text()
