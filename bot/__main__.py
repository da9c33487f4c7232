"""The command line."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Mapping, Sequence

from bot import __version__

_RUN_EXAMPLE = """\
example, as the workflow calls it:
  INPUT_GITHUB_TOKEN=… INPUT_ANTHROPIC_API_KEY=… GITHUB_EVENT_NAME=issues GITHUB_EVENT_PATH=event.json \\
  GITHUB_REPOSITORY=acme/widget nightjar run

exit codes: 0 ready, merged, parked, queued or skipped; 1 failed; 2 settings or input; 130 cancelled"""

_FINISH_EXAMPLE = """\
example, as the workflow's last step:
  - uses: acme/nightjar@v1
    if: always()
    with: {command: finish, github-token: ..., anthropic-api-key: ...}

exit codes: 0 there was nothing to do, or the Run was reported; 1 it could not be; 2 settings or input"""

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

exit codes: 0 done; 3 resume; 4 fail; 5 retry; 130 cancelled; 2 the file cannot be read"""

_DEMO_EXAMPLE = """\
examples:
  nightjar demo                 all three stories
  nightjar demo background      the one about background work

exit codes: 0 every story went as it should; 1 one did not; 2 the sandbox is not installed"""


IN_A_JOB = ("run", "finish", "sweep")
"""The commands that a workflow's step runs."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; its exit code."""
    arguments = _parser().parse_args(argv)
    if arguments.command in IN_A_JOB:
        return _in_a_job(arguments.command)
    if arguments.command == "show":
        from bot.show import show_command

        return show_command(arguments.issue, as_json=arguments.as_json, remote=arguments.remote, environ=os.environ)
    if arguments.command == "replay":
        from bot.replay import replay_command

        return replay_command(
            arguments.file, arguments.exit_code, arguments.resumed, arguments.cancelled, arguments.as_json
        )
    from bot.sandbox.demo import demo_command

    return demo_command(arguments.stories, arguments.out)


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


def _played(command: str, environ: Mapping[str, str]) -> int:
    if command == "finish":
        from bot.finish import finish_command

        return finish_command(environ)
    if command == "sweep":
        from bot.sweep import sweep_command

        return sweep_command(environ)
    from bot.start import run_command

    return run_command(environ)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="nightjar",
        description="Label an issue, read a green pull request in the morning, or the reason why not.",
        epilog="`nightjar COMMAND --help` shows an example of each.",
    )
    parser.add_argument("--version", action="version", version=f"nightjar {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    shape = argparse.RawDescriptionHelpFormatter
    commands.add_parser(
        "run",
        help="work on the issue that the event of this job names",
        description="Work on the issue that the event of this GitHub Actions job names, to a pull request or a reason.",
        epilog=_RUN_EXAMPLE,
        formatter_class=shape,
    )
    commands.add_parser(
        "finish",
        help="report a Run of this job whose process was killed",
        description="Complete the ending of a Run that this job began and that could not report itself.",
        epilog=_FINISH_EXAMPLE,
        formatter_class=shape,
    )
    commands.add_parser(
        "sweep",
        help="take up Runs that wait, and end those whose runner was lost",
        description="Look at the Runs that are not over: take up those that have waited long enough, end lost ones.",
        epilog=_SWEEP_EXAMPLE,
        formatter_class=shape,
    )
    show = commands.add_parser(
        "show",
        help="print the newest Run on an issue, with its journal",
        description="Print the newest Run on an issue from its ref: how it stands, and what it did when.",
        epilog=_SHOW_EXAMPLE,
        formatter_class=shape,
    )
    show.add_argument("issue", type=_issue, metavar="N", help="the issue's number")
    show.add_argument("--json", action="store_true", dest="as_json", help="the Record as one JSON object")
    show.add_argument("--remote", default="origin", help="the clone's remote that is asked (default: origin)")
    demo = commands.add_parser(
        "demo",
        help="three short stories on this machine: real CLI, real git, a GitHub and a model of our own",
        description="Play short stories against an embedded GitHub and a scripted model, with the real claude CLI.",
        epilog=_DEMO_EXAMPLE,
        formatter_class=shape,
    )
    demo.add_argument("stories", nargs="*", metavar="STORY", help="repair, background, red; all of them by default")
    demo.add_argument("--out", default="demo/out", help="folder for the stories as Markdown (default: demo/out)")
    replay = commands.add_parser(
        "replay",
        help="say what the supervisor makes of a Session's log",
        description="Fold a Session's log (a transcript of a Run) and say what the supervisor would decide at its end.",
        epilog=_REPLAY_EXAMPLE,
        formatter_class=shape,
    )
    replay.add_argument("file", help="the log: issue-<n>-run-<id>-<attempt>-<kind>.jsonl")
    replay.add_argument(
        "--exit-code", type=int, default=0, help="the CLI's exit code; -N: killed by signal N, not by us"
    )
    replay.add_argument("--resumed", action="store_true", help="the one Resume was used up already")
    replay.add_argument("--cancelled", action="store_true", help="the Run was cancelled")
    replay.add_argument("--json", action="store_true", dest="as_json", help="one JSON object instead of text")
    return parser


def _issue(text: str) -> int:
    """An issue's number, as people write it."""
    digits = text.removeprefix("#")
    if not (digits.isascii() and digits.isdigit() and int(digits)):
        raise argparse.ArgumentTypeError(f"{text!r} is not the number of an issue; give a number such as 7")
    return int(digits)


if __name__ == "__main__":
    sys.exit(main())
