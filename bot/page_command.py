"""`nightjar page RUN`: writes the Run page on this machine, of the Run on an issue or of a Record in a file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.page.history import History
    from bot.record import Record
    from bot.show import Found, Repository

_EXAMPLE = """\
examples, in a clone of the repository:
  nightjar page 7                                           the newest Run on issue #7, without transcripts
  nightjar page 7 --logs ~/Downloads/nightjar-run           with those of an artifact, unpacked
  nightjar page $RUNNER_TEMP/nightjar/record.json -o run.html

The Run on an issue is read from its ref, as `nightjar show` reads it, and the diffs of its Repairs come with it. Beside
a record.json the folder `logs` is looked for. The page loads nothing and runs nothing, whatever a transcript holds.

exit codes: 0 the page was written; 1 no Run was begun on that issue; 2 the Record cannot be read or the page cannot be
written, or the command line is wrong; 130 interrupted"""
UNUSABLE = 2


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """This command's part of the command line."""
    parser = commands.add_parser(
        "page",
        help="write a Run as one HTML file: verdict, timeline, Sessions, Repairs",
        description="Write a Run as one HTML file that needs nothing else: verdict, timeline, Sessions, Repairs.",
        epilog=_EXAMPLE,
    )
    parser.add_argument("run", metavar="RUN", help="an issue's number, or the path of a record.json")
    parser.add_argument("--logs", metavar="DIR", help="the folder with the Sessions' transcripts")
    parser.add_argument("-o", "--output", metavar="FILE", default="run.html", help="default: run.html")
    parser.add_argument("--remote", default="origin", help="the clone's remote that is asked (default: origin)")


def page_command(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Write the page; the exit code."""
    logs = Path(arguments.logs) if arguments.logs else None
    if logs is not None and not logs.is_dir():
        return _refuse(f"{logs} is no folder; give the one that holds the transcripts")
    number = arguments.run.removeprefix("#")
    if number.isascii() and number.isdigit() and int(number):
        from bot.show import on_the_run

        write = partial(_of_an_issue, logs=logs, output=Path(arguments.output))
        return on_the_run("page", int(number), write, remote=arguments.remote, environ=environ)
    return _of_a_file(Path(arguments.run), logs, Path(arguments.output))


def _of_an_issue(found: Found, repository: Repository, *, logs: Path | None, output: Path) -> int:
    from bot.page.history import Fetched

    history = Fetched(lambda *words: repository.local(*words, check=False).out, found.saves)
    return _write(found.record, logs, history, found.as_of, output)


def _of_a_file(file: Path, logs: Path | None, output: Path) -> int:
    from bot.page.history import Fetched
    from bot.stored import UnreadableRecord, from_json

    try:
        record = from_json(file.read_text(encoding="utf-8"))
        written = datetime.fromtimestamp(file.stat().st_mtime, UTC)
    except OSError as error:
        return _refuse(f"cannot read {file}: {error.strerror or error}; give an issue's number or a record.json")
    except UnicodeDecodeError:
        return _refuse(f"{file} is no text; give an issue's number or a record.json")
    except UnreadableRecord as error:
        return _refuse(f"{file}: {error}")
    beside = file.parent / "logs"
    logs = logs or (beside if beside.is_dir() else None)
    return _write(record, logs, Fetched(), written if record.told else datetime.now(UTC), output)


def _write(record: Record, logs: Path | None, history: History, now: datetime, output: Path) -> int:
    from bot.page.logs import Logs, write_file
    from bot.page.render import run_html
    from bot.page.writer import tell

    page = run_html(tell(record, Logs(logs), history), now)
    try:
        write_file(output, page)
    except OSError as error:
        return _refuse(f"cannot write {output}: {error.strerror or error}")
    print(output)
    return 0


def _refuse(line: str) -> int:
    print(f"nightjar page: {line}", file=sys.stderr)
    return UNUSABLE
