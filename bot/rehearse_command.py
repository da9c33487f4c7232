"""`nightjar rehearse`: plays a whole Run against the repository that the user stands in, and touches neither that nor
GitHub.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.github.issue_text import IssueText
    from bot.rehearsal.plan import Plan
    from bot.rehearsal.source import Source
    from bot.report.console import Console

_EXAMPLE = """\
examples, in a clone of the repository:
  nightjar rehearse --issue issue.md --scripted             no key, nothing spent: how a Run goes here
  nightjar rehearse --issue https://github.com/acme/widget/issues/7 --max-cost-usd 2
  nightjar rehearse --issue issue.md --scripted --ci act    with jobs played by act
  echo 'Say hello in French' | nightjar rehearse --issue - --yes --set max-repairs=1 -o /tmp/hello

The commit of the current branch goes into a GitHub of Nightjar's own on this machine; settings are read from the file
as committed there. The real claude works with ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN: from `claude-path`, from
PATH, or installed as a Run does. Ends with the comments, the diff, the cost and a folder with the Run page.

CI is played without secrets; what cannot be played is named and counts as skipped.
  --ci steps    from the `run:` steps of the workflows, on this machine
  --ci act      whole jobs by act (nektosact.com), in Docker where that answers, else on this machine
  --ci check    no workflow: only what the setting check-command runs
  --ci auto     act where it has Docker and its image is here, else steps

exit codes: 0 ready; 1 failed; 2 settings, issue or command line; 130 cancelled"""
READY, FAILED, UNUSABLE, CANCELLED = 0, 1, 2, 130
_BASE_MINUTES = 15.0
"""Real minutes that CI on the Base branch is waited for before the Run starts."""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """This command's part of the command line."""
    parser = commands.add_parser(
        "rehearse",
        help="play a whole Run against this repository, without touching it or GitHub",
        description="Play a whole Run against the repository you stand in, without touching it or GitHub.",
        epilog=_EXAMPLE,
    )
    parser.add_argument("--issue", metavar="FILE|URL", help="first line the title, the rest the text; - is stdin")
    parser.add_argument(
        "--scripted", action="store_true", help="a fixed script instead of claude's model: costs nothing"
    )
    parser.add_argument("--base", metavar="BRANCH", help="the Base branch (default: the current branch)")
    parser.add_argument("--set", dest="sets", metavar="NAME=VALUE", action="append", default=[], help="a setting")
    parser.add_argument("--max-cost-usd", metavar="USD", help="what it may cost (default: as in the settings)")
    parser.add_argument("--ci", metavar="WAY", default="auto", help="auto, steps, act or check: how CI is played")
    parser.add_argument("--yes", action="store_true", help="do not ask before money is spent")
    parser.add_argument("-o", "--output", metavar="DIR", help="where it is kept (default: a new temporary folder)")
    parser.add_argument("--remote", default="origin", help="the clone's remote on GitHub (default: origin)")


def rehearse_command(arguments: argparse.Namespace, folder: Path, own_environ: MutableMapping[str, str]) -> int:
    """Rehearse in the clone that `folder` lies in; the exit code. `own_environ` is the process's own, and loses the
    keys: what the Session and CI run must not find them here.
    """
    from bot.clock import BadTimeScale
    from bot.clone.folder import NoClone, find_clone
    from bot.config import ConfigInvalid
    from bot.isolation.hardening import harden, take_environment
    from bot.rehearsal import words
    from bot.rehearsal.issue import read_issue
    from bot.rehearsal.plan import Asked, make_plan
    from bot.rehearsal.source import CannotRehearse, read_source
    from bot.report.console import refuse

    try:
        if sys.platform != "linux":
            raise CannotRehearse(words.NOT_LINUX.format(platform=sys.platform))
        harden()
        environ = take_environment(own_environ)
        if not arguments.issue:
            raise CannotRehearse(words.USAGE)
        clone = find_clone(folder, environ, arguments.remote)
        source = read_source(clone, arguments.base, arguments.remote, environ)
        asked = Asked(tuple(arguments.sets), arguments.max_cost_usd, arguments.scripted, arguments.ci)
        plan = make_plan(asked, source, environ)
        if source.base == f"{plan.config.branch_prefix}issue-1":
            raise CannotRehearse(words.OWN_BRANCH.format(base=source.base))
        issue = read_issue(arguments.issue, environ)
        return _rehearse(arguments, source, plan, issue, environ)
    except ConfigInvalid as invalid:
        for problem in invalid.problems:
            refuse("rehearse", problem, UNUSABLE)
        return UNUSABLE
    except (NoClone, CannotRehearse, BadTimeScale) as problem:
        return refuse("rehearse", str(problem), UNUSABLE)
    except KeyboardInterrupt:
        return CANCELLED


def _rehearse(
    arguments: argparse.Namespace, source: Source, plan: Plan, issue: IssueText, environ: Mapping[str, str]
) -> int:
    """From the question to the end. Raises `CannotRehearse`, `BadTimeScale`, `KeyboardInterrupt`."""
    from bot.clock import Clock
    from bot.rehearsal import telling, words
    from bot.rehearsal.kept import make_folder
    from bot.report.console import Console

    scale = Clock.from_environment(environ).scale
    console = Console.of(sys.stdout, environ)
    console.lines(telling.beginning(issue, source, plan))
    if not (plan.scripted or arguments.yes or _agreed(plan)):
        console.lines([words.DECLINED])
        return CANCELLED
    kept = make_folder(arguments.output, source.top)
    try:
        with tempfile.TemporaryDirectory(prefix="nightjar-rehearsing-", ignore_cleanup_errors=True) as temp:
            return _play(source, plan, issue, scale, console, kept, Path(temp))
    finally:
        if arguments.output is None and not any(kept.iterdir()):
            kept.rmdir()


def _agreed(plan: Plan) -> bool:
    """Whether somebody at the terminal wants to spend the money. Raises `CannotRehearse` where there is nobody."""
    from bot.rehearsal import words
    from bot.rehearsal.source import CannotRehearse

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise CannotRehearse(words.ASK_FIRST.format(cost=plan.config.max_cost_usd))
    try:
        return input(words.QUESTION).strip().lower() in ("y", "yes")
    except EOFError:
        return False


def _play(source: Source, plan: Plan, issue: IssueText, scale: float, console: Console, kept: Path, temp: Path) -> int:
    from bot.rehearsal import telling, words
    from bot.rehearsal.kept import keep
    from bot.rehearsal.stage import Interrupts, Stage

    shown: list[str] = []

    def line(text: str) -> None:
        # What the Run leaves in its own folder is moved to the one that is kept.
        said = text.replace(f"{temp}/play/job/temp/nightjar/logs", str(kept))
        shown.append(said)
        console.lines([f"  {said}".replace("\t", "    ")])

    interrupts = Interrupts(lambda said: console.lines([said]))
    with Stage(source, plan, temp / "play") as stage, interrupts.listening():
        try:
            telling.section(console, [words.BASE_CI.format(base=source.base)])
            ci, ended = stage.base_ci(_BASE_MINUTES * 60)
            console.lines([*telling.on_base(ci, ended=ended, minutes=_BASE_MINUTES)])
            telling.section(console, [words.RUN])
            found = stage.run(issue, interrupts, scale, line)
        except KeyboardInterrupt:  # before there was a Run
            console.lines([words.CANCELLED_EARLY])
            return CANCELLED
        keep(kept, found, "\n".join([*shown, ""]))
        if interrupts.asked:
            console.lines([words.CANCELLED.format(folder=kept)])
            return CANCELLED
        telling.show(console, found, plan, kept)
    waits = found.job.outputs.get("outcome", "") in ("parked", "queued")
    return FAILED if waits else found.job.exit_code
