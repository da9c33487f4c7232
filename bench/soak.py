"""Sessions whose background work ends just when something wants to close them: none may lose its Wake turn, be resumed
without need, or leave a process behind.

    python -m bench.soak [--player 2000] [--real 200] [--out build/soak.jsonl] [--seed 1] [--at-once 4]

On the frame player the task ends within ±20 ms of each closer: settle, Wake grace, Hold, Nudge, silence, Session limit
and cancel. On the real CLI of both generations it ends at a random moment around one of them. Each Session is a line in
`--out`. Exit 1 when anything went wrong; the streams of those Sessions are shown.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import os
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path

from bench.trial import CLOSERS, ORDERS, REAL_CLOSERS, SPREAD_SECONDS, Seen, Trial, play
from bot.sandbox.cli import bundled_claude

OLDER_CLAUDE = Path(os.environ.get("NIGHTJAR_OLDER_CLAUDE", ".venv/older/claude_agent_sdk/_bundled/claude")).absolute()


def trials(player_sessions: int, real_sessions: int, chance: random.Random) -> list[Trial]:
    """The Trials, every closer and order in turn."""
    cases = itertools.cycle(itertools.product(ORDERS, CLOSERS))
    on_cue = [
        Trial(number, closer, chance.uniform(-SPREAD_SECONDS, SPREAD_SECONDS), order)
        for number, (order, closer) in zip(range(player_sessions), cases, strict=False)
    ]
    if real_sessions and not OLDER_CLAUDE.exists():
        sys.exit(f"the older claude is not installed ({OLDER_CLAUDE}): make environment, or set NIGHTJAR_OLDER_CLAUDE")
    real = itertools.cycle(itertools.product(REAL_CLOSERS, (bundled_claude(), OLDER_CLAUDE)))
    return on_cue + [
        Trial(number, closer, chance.uniform(-1.0, 0.6), claude=str(claude))
        for number, (closer, claude) in zip(range(real_sessions), real, strict=False)
    ]


def soak(wanted: Sequence[Trial], at_once: int) -> Iterator[Seen]:
    """Play them, several at once; in the order in which they end."""
    with ProcessPoolExecutor(at_once) as pool:
        for done in as_completed([pool.submit(play, trial) for trial in wanted]):
            yield done.result()


def main() -> int:
    """Play, write down, and say how it went; the exit code."""
    parser = argparse.ArgumentParser(prog="soak", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    number = functools.partial(parser.add_argument, type=int)
    number("--player", default=2000, help="Sessions on the frame player")
    number("--real", default=200, help="Sessions on the real CLI, half of them on each generation")
    number("--seed", default=1)
    number("--at-once", default=4)
    parser.add_argument("--out", type=Path, default=Path("build/soak.jsonl"))
    options = parser.parse_args()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    wanted = trials(options.player, options.real, random.Random(options.seed))
    with options.out.open("w", encoding="utf-8") as out:
        return _report(_kept(soak(wanted, options.at_once), lambda seen: print(json.dumps(asdict(seen)), file=out)))


def _kept(all_seen: Iterable[Seen], keep: Callable[[Seen], None]) -> Iterator[Seen]:
    for seen in all_seen:
        keep(seen)
        yield seen


def _report(all_seen: Iterable[Seen]) -> int:
    ends: Counter[tuple[str, str]] = Counter()
    wrong = 0
    for seen in all_seen:
        on = "real" if seen.trial.claude else "player"
        met = ("nudged, " if seen.nudged else "") + ("resumed, " if len(seen.names) > 1 else "")
        how = met + (seen.failure or seen.decision)
        ends[f"{on} {seen.trial.closer}", how] += 1
        if seen.wrong:
            wrong += 1
            print(f"WRONG: {seen.wrong}: {seen.trial}", *seen.stream, sep="\n")
    for (what, how), count in sorted(ends.items()):
        print(f"{what:16} {how:20} {count:5}")
    print(f"{sum(ends.values())} sessions, {wrong} wrong (lost wakes, needless Resumes, survivors, unexplained ends)")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
