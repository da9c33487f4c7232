"""What watching CI costs, and how late its verdict comes: 20 shapes of CI, watched by the real client on the sandbox.

    python -m bench.ci_watch [SCALE]        (default 15: a planned minute takes four seconds)

For each shape: planned minutes, requests, those that count against the rate limit, and the planned seconds from the
last check's end to the verdict. All shapes are watched at the same time. A request takes some milliseconds of real
time, which the scale multiplies: a lower scale is nearer to the truth.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from bot.sandbox.github import EmbeddedGitHub
from tests.github.simulated_ci import NAME, JobPlan, Shape, Watched, watch


def jobs(
    count: int, minutes: float, *, workflow: str = "ci.yml", changes: float = 0, spread: float = 0
) -> list[JobPlan]:
    """`count` checks that end `spread` seconds apart, the last of them after `minutes`."""
    return [
        JobPlan(
            f"{workflow or 'app'} {number}",
            3 + number * 0.2,
            minutes * 60 - (count - 1 - number) * spread,
            workflow=workflow,
            changes=changes,
        )
        for number in range(count)
    ]


def failing(plans: list[JobPlan]) -> list[JobPlan]:
    """The same, the last of them red."""
    last = plans[-1]
    return [*plans[:-1], JobPlan(last.name, last.begins, last.ends, "failure", last.workflow)]


def status(name: str, begins: float, ends: float) -> JobPlan:
    """A commit status."""
    return JobPlan(name, begins, ends, workflow="", status=True)


SHAPES = [
    Shape("one job, 10 s", tuple(jobs(1, 1 / 6))),
    Shape("one job, 1 min", tuple(jobs(1, 1))),
    Shape("one job, 1 min, red", tuple(failing(jobs(1, 1)))),
    Shape("one job, 5 min", tuple(jobs(1, 5))),
    Shape("five jobs, 3 min", tuple(jobs(5, 3, spread=10))),
    Shape("five jobs, 3 min, red", tuple(failing(jobs(5, 3, spread=10)))),
    Shape("a job that needs another", (JobPlan("build", 3, 60), JobPlan("deploy", 64, 120))),
    Shape("a chain of four jobs", tuple(JobPlan(f"stage {n}", 3 + 50 * n, 50 * (n + 1)) for n in range(4))),
    Shape("two workflows", tuple(jobs(3, 2) + jobs(2, 4, workflow="e2e.yml"))),
    Shape(
        "four workflows, starting late",
        tuple(JobPlan(f"job {n}", 20.0 * n + 3, 100.0 + 40 * n, workflow=f"w{n}.yml") for n in range(4)),
    ),
    Shape("a matrix of 20, 8 min", tuple(jobs(20, 8, spread=12))),
    Shape("a matrix of 40, 8 min, rows change", tuple(jobs(40, 8, spread=5, changes=60))),
    Shape("40 jobs, 30 min, rows change", tuple(jobs(40, 30, spread=20, changes=200))),
    Shape("40 jobs, 30 min, rows and run change", tuple(jobs(40, 30, spread=20, changes=200)), run_changes=True),
    Shape("40 checks of an app, 30 min, rows change", tuple(jobs(40, 30, workflow="", spread=20, changes=200))),
    Shape("an app's check, 2 min", tuple(jobs(1, 2, workflow=""))),
    Shape("a commit status, 2 min", (status("ci/ext", 3, 120),)),
    Shape("Actions, then a status", (*jobs(2, 2), status("coverage", 60, 140))),
    Shape("slow to start, 4 min", (JobPlan("test", 240, 300),)),
    Shape("one job, 60 min", tuple(jobs(1, 60))),
]


def main() -> None:
    """Print the table and the curve's ends."""
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 15.0
    print(f"{'shape':42} {'minutes':>7} {'requests':>8} {'counted':>7} {'delay s':>7}  verdict")
    found: list[tuple[Shape, Watched]] = []
    with ThreadPoolExecutor(len(SHAPES)) as pool:
        for shape, one in zip(SHAPES, pool.map(partial(measure, scale=scale), SHAPES), strict=True):
            found.append((shape, one))
            row = (
                f"{shape.name:42} {one.lasted / 60:7.1f} {one.requests:8} {one.counted:7} {one.delay:7.1f}  {one.state}"
            )
            print(row, flush=True)
    for title, chosen in (("all", found), ("Actions alone", [one for one in found if actions_alone(one[0])])):
        delays = sorted(one.delay for _, one in chosen)
        p95 = statistics.quantiles(delays, n=20, method="inclusive")[-1]
        print(f"{title}: delay median {statistics.median(delays):.1f} s, p95 {p95:.1f} s, longest {delays[-1]:.1f} s")
    print(f"counted: most {max(one.counted for _, one in found)}, together {sum(one.counted for _, one in found)}")


def measure(shape: Shape, scale: float) -> Watched:
    """One shape on a GitHub of its own."""
    with tempfile.TemporaryDirectory() as folder, EmbeddedGitHub(Path(folder), ci=False) as hub:
        return watch(hub, hub.create_repository(NAME, {"README.md": "widget\n"}), shape, scale)


def actions_alone(shape: Shape) -> bool:
    """Whether nothing but Actions reports."""
    return all(job.workflow for job in shape.jobs)


if __name__ == "__main__":
    main()
