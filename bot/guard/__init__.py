"""Text from strangers made safe to read and safe to post; text for the world made free of secrets."""

from __future__ import annotations

from bot.guard.posting import clean_commit_text, code, fenced, for_job_log, inert, inert_line, shorten
from bot.guard.reading import as_data, visible
from bot.guard.secrets import Redactor

__all__ = [
    "Redactor",
    "as_data",
    "clean_commit_text",
    "code",
    "fenced",
    "for_job_log",
    "inert",
    "inert_line",
    "shorten",
    "visible",
]
