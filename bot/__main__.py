"""The command line."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from bot import __version__
from bot.command_help import CommandHelp
from bot.output import OutputLost, OwnOutput
from bot.page_command import add_parser as add_page_parser
from bot.rehearse_command import add_parser as add_rehearse_parser

_RUN_EXAMPLE = """\
example, as the workflow calls it:
  INPUT_GITHUB_TOKEN=... INPUT_ANTHROPIC_API_KEY=... GITHUB_REPOSITORY=acme/widget \\
  GITHUB_EVENT_NAME=issues GITHUB_EVENT_PATH=event.json nightjar run

exit codes: 0 ready, merged, parked, queued or skipped; 1 failed; 2 settings or input; 130 cancelled"""

_FINISH_EXAMPLE = """\
example, as the workflow's last step:
  - uses: acme/nightjar@v1
    if: always()
    with: {command: finish, github-token: ..., anthropic-api-key: ...}

exit codes: 0 there was nothing to do, or the Run was reported; 1 it could not be; 2 settings or input; 130 cancelled"""

_SWEEP_EXAMPLE = """\
example, as the second workflow calls it, hourly and when CI has ended:
  - uses: acme/nightjar@v1
    with: {command: sweep, github-token: ..., anthropic-api-key: ...}

exit codes: 0 there was nothing to do, or it was done; 1 a Run that went on here failed, or GitHub was not to be had;
2 settings or input; 130 cancelled"""

_SHOW_EXAMPLE = """\
examples, in a clone of the repository:
  nightjar show 7
  nightjar show 7 --json | jq .failure

The Run is read from refs/nightjar/issue-<n>. With GITHUB_REPOSITORY and a token (INPUT_GITHUB_TOKEN or GITHUB_TOKEN) in
the environment, that repository is asked (on GITHUB_SERVER_URL, or github.com); otherwise the clone's remote, by your
own git and with the credentials that it has. Objects are fetched; no ref is written.

exit codes: 0 it was shown; 1 no Run was begun on that issue; 2 the Record cannot be reached, is damaged or of a newer
Nightjar, or the command line is wrong; 130 interrupted"""

_REPLAY_EXAMPLE = """\
example:
  nightjar replay issue-7-run-42-1-implement.jsonl --exit-code 0

exit codes: 0 done; 2 the file cannot be read, or the command line is wrong; 3 resume; 4 fail; 5 retry; 130 cancelled,
or interrupted"""

_DEMO_EXAMPLE = """\
examples:
  nightjar demo                 all three stories
  nightjar demo background      the one about background work

exit codes: 0 every story went as it should; 1 one did not; 2 the sandbox is not installed, the folder cannot be written
to, or the command line is wrong; 130 interrupted"""

_INIT_EXAMPLE = """\
examples, in a clone of the repository:
  nightjar init
  nightjar init --dry-run                                   changes nothing, shows everything
  GH_TOKEN=$(gh auth token) nightjar init                   creates the labels too
  nightjar init --print .github/nightjar.yml > .github/nightjar.yml

Nothing is ever written over: for a file that is there and says something else, the difference is shown. A token is
looked for in GH_TOKEN and GITHUB_TOKEN for github.com and ghe.com, in GH_ENTERPRISE_TOKEN and GITHUB_ENTERPRISE_TOKEN
for an Enterprise Server.

exit codes: 0 everything is in place; 1 something is left: a file that is there differs or could not be written, or a
label could not be made; 2 there is no clone to work in, or the command line is wrong; 130 interrupted"""

_DOCTOR_EXAMPLE = """\
examples, in a clone of the repository:
  GH_TOKEN=$(gh auth token) nightjar doctor
  nightjar doctor --offline                                 asks neither GitHub nor claude
  nightjar doctor --json | jq '.checks[] | select(.level == "failure")'

In a workflow: the action with `command: doctor`, which writes to the step summary, or Nightjar's own workflow, run by
hand with the command `doctor`. What the token may not look at is `unknown`. A key in ANTHROPIC_API_KEY or
CLAUDE_CODE_OAUTH_TOKEN lets claude answer one question, which costs about a cent.

exit codes: 0 nothing failed; 1 a check failed; 2 there is no clone to look at, or the command line is wrong; 130
interrupted"""

IN_A_JOB = ("run", "finish", "sweep")
"""The commands that a workflow's step runs. `doctor` can be one, too."""


UNUSABLE = 2
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; its exit code."""
    try:
        with OwnOutput():
            return _command(_arguments(argv))
    except OutputLost as lost:
        print(f"nightjar: {lost}", file=sys.stderr)
        return UNUSABLE
    except KeyboardInterrupt:
        return INTERRUPTED


def _command(arguments: argparse.Namespace) -> int:
    if arguments.command in IN_A_JOB or (arguments.command == "doctor" and _is_a_step("doctor")):
        return _in_a_job(arguments.command)
    if arguments.command == "show":
        from bot.show import show_command

        return show_command(arguments.issue, as_json=arguments.as_json, remote=arguments.remote, environ=os.environ)
    if arguments.command == "doctor":
        return _doctor(arguments)
    if arguments.command == "init":
        from bot.init_command import Options, init_command

        options = Options(arguments.remote, arguments.token_file, arguments.dry_run, arguments.print_path)
        return init_command(options, _here(arguments.command), os.environ)
    if arguments.command == "replay":
        from bot.replay import replay_command

        return replay_command(
            arguments.file, arguments.exit_code, arguments.resumed, arguments.cancelled, arguments.as_json, os.environ
        )
    if arguments.command == "page":
        from bot.page_command import page_command

        return page_command(arguments, os.environ)
    if arguments.command == "rehearse":
        from bot.rehearse_command import rehearse_command

        return rehearse_command(arguments, _here(arguments.command), os.environ)
    from bot.sandbox.demo import demo_command

    return demo_command(arguments.stories, arguments.out, os.environ)


def _here(command: str) -> Path:
    """The folder that the command was called in. Where there is none any more that is said, and the program ends."""
    try:
        return Path.cwd()
    except OSError:
        print(f"nightjar {command}: the folder that it was called in is not there any more", file=sys.stderr)
        raise SystemExit(UNUSABLE) from None


def _in_a_job(command: str) -> int:
    """What a workflow's step runs: it holds the keys, so that it is shut before anything else is looked at."""
    if sys.platform != "linux":
        print(f"::error::nightjar: this runner is no Linux ({sys.platform}); give the job `runs-on: ubuntu-latest`")
        return 2
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until the command listens for it: an end without a traceback
    from bot.isolation.hardening import harden, take_environment

    harden()
    code = _played(command, take_environment(os.environ))
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # what the exit code says is decided
    return code


def _is_a_step(command: str) -> bool:
    """Whether this job's action was called for that command."""
    return os.environ.get("GITHUB_ACTIONS") == "true" and os.environ.get("INPUT_COMMAND", "").strip() == command


def _doctor(arguments: argparse.Namespace) -> int:
    """At a terminal. claude is asked by this process, which has the user's keys: so it is shut like that of a step."""
    from bot.doctor_command import Options, doctor_command

    environ: Mapping[str, str] = os.environ
    if sys.platform == "linux":
        from bot.isolation.hardening import harden, take_environment

        harden()
        environ = take_environment(os.environ)
    options = Options(arguments.as_json, arguments.offline, arguments.token_file, arguments.remote)
    return doctor_command(options, _here(arguments.command), environ)


def _played(command: str, environ: Mapping[str, str]) -> int:
    if command == "doctor":
        from bot.doctor_step import doctor_step

        return doctor_step(environ)
    if command == "finish":
        from bot.finish import finish_command

        return finish_command(environ)
    if command == "sweep":
        from bot.sweep import sweep_command

        return sweep_command(environ)
    from bot.start import run_command

    return run_command(environ)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """The command line, understood. What is wrong with it is told by the command that it names."""
    parser, commands = _parsers()
    arguments, unknown = parser.parse_known_args(argv)
    if arguments.command is None:
        parser.error(f"say which command: {', '.join(commands)}")
    if unknown:
        commands[arguments.command].error(f"unrecognized arguments: {' '.join(unknown)}")
    return arguments


def _parsers() -> tuple[argparse.ArgumentParser, Mapping[str, argparse.ArgumentParser]]:
    """The program's, and those of its commands."""
    parser = argparse.ArgumentParser(
        prog="nightjar",
        description="Label an issue, read a green pull request in the morning, or the reason why not.",
        epilog="`nightjar COMMAND --help` shows an example of each.",
        formatter_class=CommandHelp,
    )
    parser.add_argument("--version", action="version", version=f"nightjar {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    commands.add_parser(
        "run",
        help="work on the issue that the event of this job names",
        description="Work on the issue that the event of this GitHub Actions job names, to a pull request or a reason.",
        epilog=_RUN_EXAMPLE,
    )
    commands.add_parser(
        "finish",
        help="report a Run of this job whose process was killed",
        description="Complete the ending of a Run that this job began and that could not report itself.",
        epilog=_FINISH_EXAMPLE,
    )
    commands.add_parser(
        "sweep",
        help="take up Runs that wait, and end those whose runner was lost",
        description="Look at the Runs that are not over: take up those that have waited long enough, end lost ones.",
        epilog=_SWEEP_EXAMPLE,
    )
    init = commands.add_parser(
        "init",
        help="put Nightjar's workflows and settings into a clone, and make its labels",
        description="Write the two workflows and a commented settings file, make the labels, and say what is left.",
        epilog=_INIT_EXAMPLE,
    )
    init.add_argument("--dry-run", action="store_true", help="change nothing, show everything")
    init.add_argument("--print", dest="print_path", metavar="PATH", help="print one file as it would be written")
    doctor = commands.add_parser(
        "doctor",
        help="look for what would make Runs fail, before they do",
        description="Check tokens, settings, permissions, rules, labels, secrets and claude: one line each.",
        epilog=_DOCTOR_EXAMPLE,
    )
    doctor.add_argument("--json", action="store_true", dest="as_json", help="one JSON object instead of text")
    doctor.add_argument("--offline", action="store_true", help="ask neither GitHub nor claude")
    for command in (init, doctor):
        command.add_argument("--token-file", metavar="FILE", help="a file with the token for GitHub")
        command.add_argument("--remote", default="origin", help="the clone's remote on GitHub (default: origin)")
    show = commands.add_parser(
        "show",
        help="print the newest Run on an issue, with its journal",
        description="Print the newest Run on an issue from its ref: how it stands, and what it did when.",
        epilog=_SHOW_EXAMPLE,
    )
    show.add_argument("issue", type=_issue, metavar="N", help="the issue's number")
    show.add_argument("--json", action="store_true", dest="as_json", help="the Record as one JSON object")
    show.add_argument("--remote", default="origin", help="the clone's remote that is asked (default: origin)")
    add_page_parser(commands)
    add_rehearse_parser(commands)
    demo = commands.add_parser(
        "demo",
        help="three short stories on this machine: real CLI, real git, a GitHub and a model of our own",
        description="Play short stories against an embedded GitHub and a scripted model, with the real claude CLI.",
        epilog=_DEMO_EXAMPLE,
    )
    demo.add_argument("stories", nargs="*", metavar="STORY", help="repair, background, red; all of them by default")
    demo.add_argument("--out", default="demo/out", help="folder for the stories as Markdown (default: demo/out)")
    replay = commands.add_parser(
        "replay",
        help="say what the supervisor makes of a Session's log",
        description="Fold a Session's log (a transcript of a Run) and say what the supervisor would decide at its end.",
        epilog=_REPLAY_EXAMPLE,
    )
    replay.add_argument("file", help="the log: issue-<n>-run-<id>-<attempt>-<kind>.jsonl")
    replay.add_argument(
        "--exit-code", type=int, default=0, metavar="N", help="the CLI's exit code; -N: killed by signal N, not by us"
    )
    replay.add_argument("--resumed", action="store_true", help="the one Resume was used up already")
    replay.add_argument("--cancelled", action="store_true", help="the Run was cancelled")
    replay.add_argument("--json", action="store_true", dest="as_json", help="one JSON object instead of text")
    for each in commands.choices.values():
        each.formatter_class = CommandHelp
    return parser, commands.choices


def _issue(text: str) -> int:
    """An issue's number, as people write it."""
    digits = text.removeprefix("#")
    if not (digits.isascii() and digits.isdigit() and int(digits)):
        raise argparse.ArgumentTypeError(f"{text!r} is not the number of an issue; give a number such as 7")
    return int(digits)


if __name__ == "__main__":
    sys.exit(main())
