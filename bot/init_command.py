"""`nightjar init`: puts Nightjar's files into a clone and makes its labels. Nothing that is there is written over."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.ci.found import FoundCi
from bot.clock import BadTimeScale, Clock
from bot.clone.folder import Clone, NoClone, find_clone
from bot.config import Config, ConfigInvalid
from bot.failures import RunFailed
from bot.github.client import Client
from bot.github.labels import RepositoryLabels
from bot.init import words
from bot.init.files import SETTINGS_FILE, Wanted, wanted_files
from bot.init.plan import Planned, Standing, planned
from bot.init.reading import ci_of, settings_alone
from bot.labels import Labels
from bot.own_token import NoToken, OwnToken, own_token
from bot.placing import CannotPlace, place, there
from bot.report.console import Console, refuse

LEFT = 1
UNUSABLE = 2
INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Options:
    """The command line."""

    remote: str = "origin"
    token_file: str | None = None
    dry_run: bool = False
    print_path: str | None = None


def init_command(options: Options, folder: Path, environ: Mapping[str, str]) -> int:
    """Put what is missing into the clone that `folder` lies in; the exit code."""
    try:
        clone = find_clone(folder, environ, options.remote)
        return Init(clone, options, environ, Clock.from_environment(environ)).go()
    except (NoClone, NoToken, BadTimeScale) as problem:
        return refuse("init", str(problem), UNUSABLE)
    except KeyboardInterrupt:
        return INTERRUPTED


class Init:
    """One call of the command."""

    def __init__(self, clone: Clone, options: Options, environ: Mapping[str, str], clock: Clock) -> None:
        self._clone = clone
        self._options = options
        self._environ = environ
        self._console = Console.of(sys.stdout, environ)
        self._clock = clock

    def go(self) -> int:
        """Do it; the exit code. Raises `NoToken`, and has then done nothing."""
        address = self._clone.address
        token = own_token(address, self._environ, self._options.token_file) if address else None
        config, problems = self._settings()
        found = ci_of(self._clone.files(), config, self._clone.default_branch)
        wanted = wanted_files(found)
        if self._options.print_path is not None:
            return self._print(wanted, self._options.print_path)
        files = [self._file(one) for one in wanted]
        labels = self._labels(config.asking, token)
        if all(part.in_place for part in (*files, labels)) and not problems:
            self._console.lines([words.NOTHING.format(labels=" and so are the labels" if labels.asked else "")])
            return 0
        self._console.lines([self._heading(), *(part.line for part in (*files, labels)), *problems])
        self._tell(files, found)
        return LEFT if problems or any(part.left for part in (*files, labels)) else 0

    def _settings(self) -> tuple[Config, Sequence[str]]:
        """Those of the clone, or the defaults with what is wrong with those."""
        try:
            return settings_alone(self._clone.read(SETTINGS_FILE)), ()
        except ConfigInvalid as bad:
            return settings_alone(None), bad.problems

    def _tell(self, files: Sequence[_Part], found: FoundCi) -> None:
        """The differences, and what is left to do."""
        for part in files:
            self._show(part)
        self._console.lines(
            [
                "",
                words.ci_line(found),
                *(f"Left out, because it cannot be read: {why}." for why in found.unreadable),
                *words.left_to_do(found, self._clone.address, self._clone.default_branch),
                *([words.DETACHED] if self._clone.detached else []),
            ]
        )

    def _heading(self) -> str:
        address = self._clone.address
        where = f"{address.repository}, in {self._clone.top}" if address else str(self._clone.top)
        return f"{where} (nothing is changed):" if self._options.dry_run else f"{where}:"

    def _print(self, wanted: Sequence[Wanted], path: str) -> int:
        """One file as it would be written, to stdout. The path may be relative to where the user is."""
        by_path = {one.path: one for one in wanted}
        name = os.path.relpath(Path(path).resolve(), self._clone.top.resolve())
        if name not in by_path:
            return refuse("init", f"{path!r} is none of the files that are written: {', '.join(by_path)}", UNUSABLE)
        self._console.exact(by_path[name].text)
        return 0

    def _file(self, wanted: Wanted) -> _Part:
        """Put one file there, unless there is one."""
        try:
            one = planned(wanted, there(self._clone.top, wanted.path))
            if one.standing is Standing.NEW and not self._options.dry_run:
                place(self._clone.top, wanted.path, wanted.text)
        except CannotPlace as problem:
            return _Part(f"  failure\t{wanted.path}: {problem}", left=True)
        match one.standing:
            case Standing.SAME:
                return _Part(f"  there\t{wanted.path}", in_place=True)
            case Standing.OTHER:
                return _Part(f"  differs\t{wanted.path}: left as it is, see below", left=True, planned=one)
        did = "would be written" if self._options.dry_run else "written"
        return _Part(f"  {did}\t{wanted.path}: {wanted.about}", planned=one)

    def _show(self, part: _Part) -> None:
        """The difference of a file that is another; of a new one where nothing is written."""
        one = part.planned
        if one is None or (one.standing is Standing.NEW and not self._options.dry_run):
            return
        self._console.lines([""])
        self._console.verbatim(one.diff)
        if one.standing is Standing.OTHER:
            self._console.lines([words.TAKE.format(path=os.path.relpath(self._clone.top / one.wanted.path))])

    def _labels(self, asking: Labels, token: OwnToken | None) -> _Part:
        """Make the labels that are missing, those of profiles too, where there is a token."""
        address = self._clone.address
        if address is None or token is None:
            variables = " or ".join(address.variables(self._environ)) if address else ""
            why = f"there is no token in {variables}" if address else self._clone.no_address
            by_hand = ", ".join((asking.asked, *asking.profiles))
            return _Part(words.NO_LABELS.format(why=why, asking=by_hand), in_place=True)
        names = asking.all
        api = address.api(self._environ)
        client = Client(api, address.repository, token.credential, self._clock, attempts=1)
        labels = RepositoryLabels(client)
        try:
            if self._options.dry_run:
                new = [name for name in names if not labels.exists(name)]
            else:
                new = [name for name in names if labels.ensure(name)]
        except RunFailed as failed:
            return _Part(f"  failure\tlabels, with the token from {token.source}: {failed.reason}", left=True)
        finally:
            client.close()
        if not new:
            return _Part("  there\tlabels", in_place=True, asked=True)
        did = "would be made" if self._options.dry_run else "made"
        return _Part(f"  {did}\tlabels: {', '.join(new)}", asked=True)


@dataclass(frozen=True, slots=True)
class _Part:
    """A file, or the labels: what is said of it, whether nothing was to do, and whether something is left to do."""

    line: str
    in_place: bool = False
    left: bool = False
    asked: bool = False
    """Of the labels: GitHub was asked about them."""
    planned: Planned | None = None
