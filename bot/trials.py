"""The `Trials` port: commands on commits, each in a clean tree and a home that no Session ever saw.

What a Session may have planted lies where a Trial does not look: in its checkout with ignored files, hooks and
configuration, in its home, in its Handover. git makes a Trial's tree anew from the program's own repository, and what
is run there is confined like a Session.
"""

from __future__ import annotations

import os
import secrets
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from bot.claude.setup import run_setup
from bot.claude.shell import Place, run_script
from bot.claude.surroundings import Surroundings
from bot.clock import Clock, Deadline
from bot.config import Config
from bot.failures import RunFailed
from bot.git import Git
from bot.guard import Redactor
from bot.proof.facts import Ran
from bot.report_files import written_reports
from bot.tree import GitTree

_PYTEST_OPTIONS = "PYTEST_ADDOPTS"
_NOBODY = ("-c", "user.name=nobody", "-c", "user.email=nobody@localhost")
_REGULAR = frozenset(("100644", "100755"))
_UNREADABLE = "\N{REPLACEMENT CHARACTER}"
"""Stands in a path that is no UTF-8, which cannot be named."""


class ConfinedTrials:
    """The `Trials` port on real git and real processes."""

    def __init__(
        self,
        config: Config,
        surroundings: Surroundings,
        clock: Clock,
        deadline: Deadline,
        *,
        git: Git,
        redactor: Redactor,
        say: Callable[[str], None],
        set_up: Callable[[], None],
    ) -> None:
        """`surroundings` are of Trials alone: its checkout, home and Handover lie in one folder, which is removed and
        made anew for each. `deadline` is the Run's own; `git` has the program's repository; `redactor` makes what a
        Trial printed and wrote free of secrets; `say` takes lines for the job log; `set_up`
        hears of each time that the `setup` commands have run for one.
        """
        self._config = config
        self._surroundings = surroundings
        self._clock = clock
        self._deadline = deadline
        self._git = git
        self._redactor = redactor
        self._say = say
        self._set_up = set_up
        self._tree = surroundings.folders.checkout
        self._home = surroundings.folders.claude_home
        self._reports = surroundings.folders.handover
        self._settled = False

    def run(self, commit: str, command: str, *, laid_over: Sequence[str] = (), of: str = "", minutes: float) -> Ran:
        """`setup` and then `command` in a clean tree of `commit`, with the files `laid_over` as the commit `of` has
        them; those that `of` lacks, or has as something else than a regular file, are left out.

        Both together get at most `minutes`, planned ones, and no more than the Run has left. Raises `Cancelled`, and
        `RunFailed` when git cannot make the tree.
        """
        self._say(f"trial on {commit[:10]} begins")
        started = self._clock.now()
        own = self._clock.deadline("the trial", minutes * 60)
        with self._clean_folders():
            self._check_out(commit, laid_over, of)
            ran = self._run(command, min(own, self._deadline, key=lambda limit: limit.at))
        self._say(f"trial on {commit[:10]}: {_how(ran)}, {self._clock.now() - started:.1f} s")
        return ran

    # ── the place ───────────────────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def _clean_folders(self) -> Iterator[None]:
        """An empty home beside the place for the tree; nothing of them is left for a Session to find."""
        root = self._tree.parent
        remove(root)
        (self._home / "tmp").mkdir(parents=True)
        try:
            if not self._settled:
                self._surroundings.settle()
                self._settled = True
            self._surroundings.hand_over(self._home)
            yield
        finally:
            remove(root)

    def _check_out(self, commit: str, laid_over: Sequence[str], of: str) -> None:
        """A clone without a remote that has only read access to the program's objects, its files committed as if they
        had always been there: a test that asks git learns nothing of which of the two commits it is on. Raises
        `RunFailed`.
        """
        options = ("--quiet", "--shared", "--no-checkout", "--no-tags")
        self._git.local("clone", *options, str(self._git.bare), str(self._tree))
        self._git.local("remote", "remove", "origin", where=self._tree)
        self._git.local("checkout", "--quiet", "--detach", commit, where=self._tree)
        if laid_over:
            self._lay_over(frozenset(laid_over), of)
        self._forget_history()
        self._surroundings.hand_over(self._tree)

    def _forget_history(self) -> None:
        """One commit without a parent, by nobody; and no other name for any commit."""
        tree = self._git.local("write-tree", where=self._tree).out.strip()
        commit = self._git.local(*_NOBODY, "commit-tree", tree, "-m", "The files", where=self._tree).out.strip()
        self._git.local("update-ref", "--no-deref", "HEAD", commit, where=self._tree)
        names = self._git.local("for-each-ref", "--format=delete %(refname)", where=self._tree).out
        self._git.local("update-ref", "--stdin", where=self._tree, given=names)
        shutil.rmtree(self._tree / ".git" / "logs", ignore_errors=True)

    def _lay_over(self, wanted: frozenset[str], of: str) -> None:
        """git puts a folder where the tree has a link or a file in the way, and writes through neither."""
        entries = GitTree(self._git).entries(of)
        found = [one.path for one in entries if one.path in wanted and one.mode in _REGULAR]
        given = "".join(f"{path}\0" for path in found if _UNREADABLE not in path)
        if given:
            options = ("--pathspec-from-file=-", "--pathspec-file-nul")
            self._git.local("--literal-pathspecs", "checkout", "--quiet", of, *options, where=self._tree, given=given)

    # ── the command ─────────────────────────────────────────────────────────────────────────────────────────────

    def _run(self, command: str, limit: Deadline) -> Ran:
        folder = self._directory()
        if folder is None:
            return self._not_set_up(f"`working-directory`: no folder {self._config.working_directory!r} in this commit")
        place = Place(folder, self._surroundings.tools, self._surroundings.confinement)
        if self._config.setup:
            self._set_up()
            try:
                run_setup(self._config.setup, place, self._clock, limit)
            except RunFailed as failed:
                return self._not_set_up(failed.reason, failed.evidence)
        return self._command(command, place, limit)

    def _directory(self) -> Path | None:
        """The folder that commands are run in; None when this commit has no such folder."""
        directory = (self._tree / self._config.working_directory).resolve()
        return directory if directory.is_dir() and directory.is_relative_to(self._tree.resolve()) else None

    def _not_set_up(self, why: str, output: str = "") -> Ran:
        clean = self._redactor.clean
        return Ran(None, 0.0, clean(output), setup_failed=clean(why))

    def _command(self, command: str, place: Place, limit: Deadline) -> Ran:
        """What `command` did, with the JUnit files that it left: pytest's, asked for here, and others in the tree."""
        remove(self._reports)  # a setup command may have been there
        self._reports.mkdir()
        self._surroundings.hand_over(self._reports)
        begun = self._reports.lstat().st_ctime_ns
        ended = run_script(command, replace(place, environment=self._reporting(place.environment)), self._clock, limit)
        reports = (*written_reports(self._reports, 0), *written_reports(self._tree, begun))
        output, *told = map(self._readable, (ended.output, *reports))
        return Ran(ended.exit_code, ended.seconds, output, tuple(told))

    def _readable(self, text: str) -> str:
        """Without secrets, and with paths as they are in the repository: whoever reads it has another tree."""
        return self._redactor.clean(text.replace(f"{self._tree}/", ""))

    def _reporting(self, environment: Mapping[str, str]) -> dict[str, str]:
        """With what makes pytest write a report. Nothing does so for go: `-json` in GOFLAGS would change what `go list`
        prints, too, and commands are made of that.
        """
        option = shlex.quote(f"--junitxml={self._reports / 'pytest.xml'}")
        return {**environment, _PYTEST_OPTIONS: f"{environment.get(_PYTEST_OPTIONS, '')} {option}".strip()}


def _how(ran: Ran) -> str:
    if ran.setup_failed:
        return "not set up"
    return "its time was over" if ran.exit_code is None else f"exit code {ran.exit_code}"


def remove(folder: Path) -> None:
    """Remove `folder` and all in it, whatever modes a stranger has given it. What cannot be removed, because another
    user has made it, is moved aside.
    """
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    if not folder.exists():
        return
    folder.chmod(0o700)
    for path, names, _ in os.walk(folder):
        for inner in (Path(path, name) for name in names):
            if not inner.is_symlink():
                with suppress(PermissionError):
                    inner.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        folder.rename(folder.with_name(f"{folder.name}-left-{secrets.token_hex(4)}"))
