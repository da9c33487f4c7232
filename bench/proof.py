"""What a Proof adds to a Run: the same honest case with `proof: show` and with `proof: off`.

    python -m bench.proof [ROUNDS]        (default 3)

One case of each kind of repository, played whole by the real command, in turns. Printed: the median seconds of the
job, what the Proof adds to them, and what of that its Trials are. Sessions take no time here and CI a second or two, so
that the ratio is the worst that there is: beside a Session of minutes, the seconds stay and the ratio goes.
"""

from __future__ import annotations

import sys
from statistics import median

from tests.exam.cases import named
from tests.exam.sitting import Answer, sit

CASES = ("split-keeps-every-cent", "no-page-too-many", "level-in-any-case", "escapes")


def main() -> None:
    """Play, and print."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    print(f"{'case':24} {'sample':18} {'off':>7} {'show':>7} {'adds':>7} {'trials':>7} {'ratio':>6}")
    for name in CASES:
        played: dict[str, list[Answer]] = {"off": [], "show": []}
        for _ in range(rounds):
            for proof, answers in played.items():
                answers.append(sit(named(name), {"proof": proof}))
        off, show = (median(one.seconds for one in answers) for answers in played.values())
        trials = median(one.proving for one in played["show"])
        sample = named(name).sample.name
        adds = show - off
        print(
            f"{name:24} {sample:18} {off:6.1f}s {show:6.1f}s {adds:6.1f}s {trials:6.1f}s {show / off:6.2f}", flush=True
        )


if __name__ == "__main__":
    main()
