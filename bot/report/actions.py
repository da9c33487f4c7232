"""What the runner reads from a job: output and summary files, and commands on stdout.

Outside GitHub Actions the same calls print plain lines, so that a Run at a terminal reads well.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bot.guard import for_job_log, written

SUMMARY_BYTES = 1024 * 1024 - 1024
"""GitHub drops a step's whole summary at 1 MiB."""
_CUT = "\n\n… shortened: the rest of this summary is left out.\n"


def print_line(line: str) -> None:
    """To stdout at once, so that the job log shows it while the Run works."""
    print(line, flush=True)


@dataclass(frozen=True, slots=True)
class Runner:
    """One job's files and log. A file that is missing is left out."""

    output_file: Path | None
    summary_file: Path | None
    in_actions: bool
    write: Callable[[str], None] = print_line
    """Takes one or more whole lines for the job log."""

    @classmethod
    def from_environment(cls, environ: Mapping[str, str], write: Callable[[str], None] = print_line) -> Runner:
        """The runner that `environ` describes."""
        output, summary = environ.get("GITHUB_OUTPUT", ""), environ.get("GITHUB_STEP_SUMMARY", "")
        return cls(
            output_file=Path(output) if output else None,
            summary_file=Path(summary) if summary else None,
            in_actions=environ.get("GITHUB_ACTIONS") == "true",
            write=write,
        )

    def log(self, text: str) -> None:
        """Lines for the job log, whoever wrote them."""
        self.write(for_job_log(text))

    def outputs(self, values: Mapping[str, str]) -> None:
        """The step's outputs. A value cannot end its own block: the delimiter is made anew for each."""
        blocks = []
        for name, value in values.items():
            delimiter = f"nightjar_{secrets.token_hex(16)}"
            blocks.append(f"{name}<<{delimiter}\n{value}\n{delimiter}\n")
        self._append(self.output_file, "".join(blocks), "outputs")

    def step_summary(self, markdown: str) -> None:
        """One more piece of the step's summary, cut at what the file still takes."""
        path = self.summary_file
        used = path.stat().st_size if path is not None and path.is_file() else 0
        raw = f"{markdown.rstrip()}\n".encode()
        room = SUMMARY_BYTES - used
        if len(raw) > room:
            raw = (
                raw[: max(0, room - len(_CUT.encode()))].decode(errors="ignore").encode() + _CUT.encode()
                if room > len(_CUT.encode())
                else b""
            )
        self._append(path, raw.decode(), "step summary")

    def annotate(self, level: Literal["error", "warning", "notice"], title: str, message: str) -> None:
        """An annotation, shown at the top of the job's page."""
        if self.in_actions:
            self.write(f"::{level} title={_property(title)}::{_data(message)}")
        else:
            self.log(f"{level}: {title}: {message}")

    def group(self, title: str) -> None:
        """Open a fold in the job log."""
        name = " ".join(for_job_log(title).split())
        self.write(f"::group::{_data(name)}" if self.in_actions else name)

    def endgroup(self) -> None:
        """Close the fold."""
        if self.in_actions:
            self.write("::endgroup::")

    def mask(self, value: str) -> None:
        """Have the runner hide `value` from here on, and the other ways of writing it. Outside GitHub Actions this
        would print it, and does nothing.
        """
        if not self.in_actions:
            return
        lines = [line.strip() for line in value.splitlines()]
        for form in dict.fromkeys([*lines, *written(value)]):
            if form:
                self.write(f"::add-mask::{_data(form)}")

    def _append(self, path: Path | None, text: str, what: str) -> None:
        """Add to one of the runner's files; a file that refuses costs a line in the log and nothing else."""
        if path is None:
            return
        try:
            with path.open("a", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            self.log(f"The {what} could not be written: {error.strerror}")


def _data(text: str) -> str:
    """The message of a command: one line, whatever is in it."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """A property of a command."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
