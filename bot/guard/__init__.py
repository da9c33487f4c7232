"""Text from strangers made safe to read and safe to post; text for the world made free of secrets."""

from __future__ import annotations

from bot.guard.files import clean_file, clean_folder
from bot.guard.posting import clean_commit_text, closing, code, fenced, for_job_log, inert, inert_line, shorten
from bot.guard.reading import as_data, hidden_in, visible, with_shape
from bot.guard.secrets import Redactor, written

__all__ = [
    "Redactor",
    "as_data",
    "clean_commit_text",
    "clean_file",
    "clean_folder",
    "closing",
    "code",
    "fenced",
    "for_job_log",
    "hidden_in",
    "inert",
    "inert_line",
    "shorten",
    "visible",
    "with_shape",
    "written",
]
