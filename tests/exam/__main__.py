"""Plays the exam and prints what came of each case: `python -m tests.exam [WORDS…]`.

With words, only the cases whose names have one of them. 0 when the bar is met: see `marking`.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from bot.proof.facts import Verdict
from tests.exam.case import Case, Group
from tests.exam.cases import CASES
from tests.exam.marking import Marked, marks_seen, passed
from tests.exam.sitting import sit


def main(words: Sequence[str]) -> int:
    """Play, and print."""
    cases = [case for case in CASES if not words or any(word in case.name for word in words)]
    abreast = (os.cpu_count() or 1) + 1
    started = time.monotonic()
    longest = max(len(case.name) for case in cases)
    with ThreadPoolExecutor(abreast) as pool:
        marked = []
        for one in pool.map(_play, cases):
            marked.append(one)
            print(_line(one, longest), flush=True)
    print()
    for group in Group:
        print(_total(group, [one for one in marked if one.case.group is group]))
    for one in marked:
        if not one.good:
            print(_why_not(one))
    met = passed(marked)
    print(f"\n{len(marked)} Runs in {time.monotonic() - started:.0f} s: {'passed' if met else 'NOT PASSED'}")
    return int(not met)


def _play(case: Case) -> Marked:
    return Marked(case, sit(case))


def _line(one: Marked, longest: int) -> str:
    case, answer = one.case, one.answer
    seen = marks_seen(case.mark, answer) if case.mark else answer.looks
    verdict = answer.verdict.value if answer.verdict else "-"
    sample = case.sample.name.partition(" ")[0]
    ok = "ok " if one.good else "BAD"
    told = f"{case.expected:18} {verdict:18} {answer.ended:20}"
    return f"{ok} {case.name:{longest}} {sample:5} {told} {answer.proving:5.1f} s  {'; '.join(seen)}".rstrip()


def _total(group: Group, marked: Sequence[Marked]) -> str:
    good = sum(one.good for one in marked)
    said = f"{group.value}: {len(marked)}, as they should be: {good}"
    if group is Group.CHEAT:
        return f"{said}, ready without a mark: {len(marked) - good}"
    suspected = sum(one.suspected for one in marked)
    proved = sum(one.answer.verdict is Verdict.PROVED for one in marked)
    return f"{said}, proved: {proved}, called suspicious: {suspected}"


def _why_not(one: Marked) -> str:
    return f"\n{one.case.name}: {one.answer.ended}\n{one.answer.body or one.answer.log}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
