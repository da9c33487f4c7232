"""What it takes to make the Run page of a Run whose transcript has 50 MB, and to open it.

    python -m bench.page [MEGABYTES]        (default 50)

The transcript is made of the recordings' kinds of frames: words, tool calls, answers of 2 kB, one in a hundred of 300
kB, and Turns of 200 calls. Printed: the sizes, the seconds that the page took and the most memory that its process held
above what it holds with an empty transcript, both as a ratio to the transcript too; and, where there is a `chromium`,
the seconds until it has the whole document, beside those of an empty page.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

from bot.page.history import Fetched
from bot.page.logs import Logs
from bot.page.render import run_html
from bot.page.writer import tell
from tests.page.browser import CHROMIUM, WHY_NOT, dom_of
from tests.page.stage import NOW, PREFIX, answered, call, init, record, result, said, text

_CALLS = 200
_MB = 1_000_000


def frames(size: int) -> Iterator[str]:
    """Lines of `size` bytes together, about."""
    told = number = 0
    while told < size:
        for frame in _turn(number):
            line = f"{json.dumps(frame)}\n"
            told += len(line)
            yield line
        number += 1


def _turn(number: int) -> Iterator[object]:
    yield init()
    for at in range(_CALLS):
        name = f"c{number}-{at}"
        yield said(
            text("text", text=f"I look at part {at} of {number}."), call(name, "Bash", {"command": f"cat part-{at}"})
        )
        yield answered(name, "a line of what a tool printed <&>\n" * (9000 if at % 100 == 50 else 60))
    yield result("Done.", error=False)


def page_of(folder: str) -> tuple[float, int, int]:
    """Make the page of the Run in `folder`: seconds, bytes of the page, and the most kB that this process held."""
    run = record("word")
    run = replace(run, sessions=run.sessions[:1], repairs=())
    began = time.perf_counter()
    page = run_html(tell(run, Logs(Path(folder)), Fetched()), NOW)
    took = time.perf_counter() - began
    Logs(Path(folder)).write(page)
    return took, len(page.encode()), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def alone(act: Callable[[str], tuple[float, int, int]], folder: Path) -> tuple[float, int, int]:
    """`act` in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(act, str(folder)).result()


def opened(page: Path) -> float:
    """Seconds until Chromium has the document, from its start; the best of three."""
    took = []
    for _ in range(3):
        began = time.perf_counter()
        dom_of(page)
        took.append(time.perf_counter() - began)
    return min(took)


def main() -> None:
    """Print the measurements."""
    size = int(sys.argv[1]) * _MB if len(sys.argv) > 1 else 50 * _MB
    with tempfile.TemporaryDirectory(prefix="nightjar-bench-") as temp:
        empty, full = Path(temp) / "empty", Path(temp) / "full"
        for folder, lines in ((empty, frames(1)), (full, frames(size))):
            folder.mkdir()
            with (folder / f"{PREFIX}-implement.jsonl").open("w", encoding="utf-8") as file:
                file.writelines(lines)
        whole = (full / f"{PREFIX}-implement.jsonl").stat().st_size
        _, _, ground = alone(page_of, empty)
        took, bytes_, held = alone(page_of, full)
        held_mb = (held - ground) / 1024
        print(f"transcript {whole:,} bytes, page {bytes_:,} bytes (1 : {whole / bytes_:.0f})")
        print(
            f"made in {took:.2f} s ({whole / _MB / took:.0f} MB/s), "
            f"{held_mb:.1f} MB held (1 : {whole / _MB / held_mb:.0f})"
        )
        if CHROMIUM is None:
            print(f"not opened: {WHY_NOT}")
            return
        blank = Path(temp) / "blank.html"
        blank.write_text("<!doctype html><title>empty</title>", encoding="utf-8")
        print(f"opened in {opened(full / 'run.html'):.2f} s, an empty page in {opened(blank):.2f} s")


if __name__ == "__main__":
    main()
