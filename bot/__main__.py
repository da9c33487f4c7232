"""The command line."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from bot import __version__

_RUN_EXAMPLE = """\
example, as the workflow calls it:
  INPUT_GITHUB_TOKEN=… INPUT_ANTHROPIC_API_KEY=… GITHUB_EVENT_NAME=issues GITHUB_EVENT_PATH=event.json \\
  GITHUB_REPOSITORY=acme/widget nightjar run

exit codes: 0 ready, merged or skipped; 1 failed; 2 settings or input; 130 cancelled"""

_FINISH_EXAMPLE = """\
example, as the workflow's last step:
  - uses: acme/nightjar@v1
    if: always()
    with: {command: finish, github-token: ..., anthropic-api-key: ...}

exit codes: 0 there was nothing to do, or the Run was reported; 1 it could not be; 2 settings or input"""

_REPLAY_EXAMPLE = """\
example:
  nightjar replay issue-7-run-42-1-implement.jsonl --exit-code 0

exit codes: 0 done; 3 resume; 4 fail; 5 retry; 130 cancelled; 2 the file cannot be read"""

_DEMO_EXAMPLE = """\
examples:
  nightjar demo                 all three stories
  nightjar demo background      the one about background work

exit codes: 0 every story went as it should; 1 one did not; 2 the sandbox is not installed"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; its exit code."""
    arguments = _parser().parse_args(argv)
    if arguments.command == "run":
        from bot.start import run_command

        return run_command(os.environ)
    if arguments.command == "finish":
        from bot.finish import finish_command

        return finish_command(os.environ)
    if arguments.command == "replay":
        from bot.replay import replay_command

        return replay_command(
            arguments.file, arguments.exit_code, arguments.resumed, arguments.cancelled, arguments.as_json
        )
    from bot.sandbox.demo import demo_command

    return demo_command(arguments.stories, arguments.out)


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


if __name__ == "__main__":
    sys.exit(main())
