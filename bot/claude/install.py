"""Where the `claude` CLI comes from: the setting `claude-path`, else npm where node is, else the wheel on PyPI that
bundles it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from bot.failures import RunFailed

NPM_PACKAGE = "@anthropic-ai/claude-code"
WHEELS = {"2.1.332": "0.2.189", "2.1.211": "0.2.120"}
"""CLI version → the version of `claude-agent-sdk` whose wheel bundles it (measured)."""
INSTALL_SECONDS = 600
PROBE_SECONDS = 30
_EVIDENCE = 2000


def find_claude(path: str | None, version: str, folder: Path, environ: Mapping[str, str]) -> Path:
    """The CLI, installed into `folder` unless `path` names one; it has answered `--version`. Raises `RunFailed`
    (`claude_missing`).
    """
    claude = Path(path) if path else _installed(version, folder, environ)
    _run([str(claude), "--version"], environ, PROBE_SECONDS, "the claude command does not answer")
    return claude


def _installed(version: str, folder: Path, environ: Mapping[str, str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    npm = shutil.which("npm", path=environ.get("PATH"))
    if npm:
        words = [npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--no-save", "--loglevel=error"]
        _run([*words, f"{NPM_PACKAGE}@{version}"], environ, INSTALL_SECONDS, f"npm could not install claude {version}")
        return folder / "node_modules" / ".bin" / "claude"
    wheel = WHEELS.get(version)
    if wheel is None:
        known = " or ".join(WHEELS)
        raise RunFailed(
            "claude_missing", f"without npm on the runner only claude {known} can be installed, not {version}"
        )
    pip = [sys.executable, "-I", "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:"]
    uv = shutil.which("uv", path=environ.get("PATH"))
    words = [uv, "pip", "install", "--quiet", "--no-deps", "--python", sys.executable] if uv else pip
    _run(
        [*words, "--target", str(folder), f"claude-agent-sdk=={wheel}"],
        environ,
        INSTALL_SECONDS,
        f"the wheel with claude {version} could not be installed",
    )
    return folder / "claude_agent_sdk" / "_bundled" / "claude"


def _run(words: list[str], environ: Mapping[str, str], seconds: float, what: str) -> None:
    try:
        done = subprocess.run(
            words, env=dict(environ), stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise RunFailed("claude_missing", f"{what}: no end within {seconds:.0f} s") from error
    except OSError as error:
        raise RunFailed("claude_missing", f"{what}: {error.strerror or error}") from error
    if done.returncode:
        said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
        telling = [
            line.strip() for line in said.splitlines() if line.strip() and "complete log of this run" not in line
        ]
        last = telling[-1] if telling else "it printed nothing"
        raise RunFailed("claude_missing", f"{what} (exit code {done.returncode}): {last}", said[-_EVIDENCE:])
