"""The first thing that a confined child runs: it shuts itself in and becomes the program that was asked for.

    python -I -S -B entry.py RULES ENVIRONMENT PROGRAM [ARGUMENT ...]

RULES is JSON; ENVIRONMENT is the path of a JSON file that is removed when it has been read, or "" for the environment
as it is. Started without `site`, so that it costs a few milliseconds. Exit codes: 126 it could not be shut in, 127 the
program could not be run; else the program's own.
"""

from __future__ import annotations

import os
import resource
import signal
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bot.isolation import kernel
from bot.isolation.paths import all_but
from bot.isolation.rules import Rules

NOT_CONFINED = 126
NOT_RUN = 127


def main(arguments: Sequence[str]) -> int:
    """Become the program; returns only an exit code for a complaint."""
    rules, environment, *argv = arguments
    env = _environment(environment)
    try:
        confine(Rules.from_json(rules))
    except (OSError, ValueError, TypeError) as error:
        return _complain(f"{argv[0]} was not started, because it could not be isolated: {error}", NOT_CONFINED)
    for ignored in (
        signal.SIGPIPE,
        signal.SIGXFSZ,
    ):  # by Python, and by all that it becomes: `yes | head` would complain
        signal.signal(ignored, signal.SIG_DFL)
    try:
        os.execvpe(argv[0], argv, env)
    except OSError as error:
        return _complain(f"{argv[0]} could not be run: {error.strerror}", NOT_RUN)


def confine(rules: Rules) -> None:
    """Put this very process under `rules`, for good. Raises `OSError` where the kernel refuses any of it."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if rules.covered:
        kernel.cover(Path(path) for path in rules.covered)
    if rules.no_new_privileges:
        kernel.forbid_new_privileges()
    if rules.landlock:
        _restrict_files(rules)
    if rules.user >= 0:
        kernel.empty_bounding_set()
    if rules.group >= 0:
        os.setgroups(())
        os.setresgid(rules.group, rules.group, rules.group)
    if rules.user >= 0:
        for stream in range(3):  # else nobody but root could open /dev/stdout
            if stat.S_ISFIFO(os.fstat(stream).st_mode):
                os.fchown(stream, rules.user, rules.group)
        os.setresuid(rules.user, rules.user, rules.user)
    if rules.user >= 0 or not rules.capabilities:
        kernel.drop_capabilities()


def _restrict_files(rules: Rules) -> None:
    # Listed here and not where the rules are made: what is there when the child starts is what counts.
    sealed, hidden, shown, opened = (map(Path, some) for some in (rules.sealed, rules.hidden, rules.shown, rules.open))
    exceptions, unreadable = [*opened], [*hidden]
    writable = [*all_but([*sealed, *unreadable]), *exceptions]
    kernel.restrict_files(writable, [*all_but(unreadable), *shown, *exceptions])


def _environment(path: str) -> dict[str, str]:
    if not path:
        return dict(os.environ)
    import json

    file = Path(path)
    env: dict[str, str] = json.loads(file.read_text(encoding="utf-8"))
    file.unlink()
    return env


def _complain(text: str, code: int) -> int:
    print(f"nightjar: {text}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
