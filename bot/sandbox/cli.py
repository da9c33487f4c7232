"""Where the sandbox's `claude` is, and the environment in which it talks to nobody but the scripted model."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

BUNDLING_PACKAGE = "claude_agent_sdk"


class ClaudeNotBundled(RuntimeError):
    """The package that ships the CLI is not installed, or ships none for this machine."""


def bundled_claude(package: str = BUNDLING_PACKAGE) -> Path:
    """The CLI that `package` ships, found without importing it. Raises `ClaudeNotBundled`."""
    remedy = "install it with: pip install 'nightjar-bot[sandbox]'"
    sought = f"the sandbox runs the claude that the package {package} ships"
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ClaudeNotBundled(f"{sought}, which is not installed; {remedy}")
    name = "claude.exe" if os.name == "nt" else "claude"
    binary = Path(spec.submodule_search_locations[0], "_bundled", name)
    if not os.access(binary, os.X_OK):
        raise ClaudeNotBundled(f"{sought}, but the installed one has none ({binary}); {remedy}")
    return binary


def offline_environment(model_url: str, home: Path, path: str, api_key: str = "scripted") -> dict[str, str]:
    """The whole environment of a CLI that must reach `model_url` only: no telemetry, no update, no remote flags.

    Its files, the output of background work too, stay under `home`. `IS_SANDBOX` lets it skip permissions
    as root, which it refuses otherwise (measured with CLI 2.1.332).
    """
    return {
        "ANTHROPIC_API_KEY": api_key,
        "ANTHROPIC_BASE_URL": model_url,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_TMPDIR": str(home),
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_TELEMETRY": "1",
        "HOME": str(home),
        "IS_SANDBOX": "1",
        "PATH": path,
    }
