"""Commands that the docs show and no test runs, each with why."""

from __future__ import annotations

from collections.abc import Mapping

NOT_RUN: Mapping[str, str] = {
    "pipx install git+https://github.com/acme/nightjar@v1": "fetches a release; `make wheel` installs what one is",
    "make environment": "makes anew what the test runs in",
    ".venv/bin/python -m pytest -q tests/test_guard.py": "is in the suite that this is in",
    "make check": "runs the suite that this is in",
    "make test": "runs the suite that this is in",
    "make demo": "is `nightjar demo`, which is run, and makes the environment anew",
    "make format": "changes the checkout",
    "make lock": "needs uv, and changes the checkout",
    "make wheel": "takes minutes; each release runs it",
}
