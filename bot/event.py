"""The event's file, as the runner wrote it down."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from bot.trigger import BadEvent


def read_payload(environ: Mapping[str, str]) -> object:
    """The event, as the runner wrote it down. Raises `BadEvent`."""
    path = environ.get("GITHUB_EVENT_PATH", "")
    if not path:
        raise BadEvent("GITHUB_EVENT_PATH is not set; Nightjar runs in a job of GitHub Actions, which sets it")
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise BadEvent(
            f"GITHUB_EVENT_PATH: {path} cannot be read: {error.strerror}; give the event's JSON file"
        ) from error
    except ValueError as error:
        raise BadEvent(f"GITHUB_EVENT_PATH: {path} is not JSON; give the event's JSON file") from error
