"""The workflow file that act is given: one job of the user's own, in one combination of its matrix. Pure.

What decides whether and when the job starts (`if`, `needs`, concurrency) has been decided by then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.ci.triggers import load
from bot.sandbox.ci.job_task import JobTask

STAND_IN = "nightjar-need"
"""What the stand-ins for needed jobs run on: this machine itself."""
OUTPUTS = "nightjar-outputs"
"""The id of a last step that is added to a job with outputs: act tells what a step puts out, and of a job nothing."""
_CHECKOUT = "actions/checkout@"
_DECIDED = ("if", "needs", "strategy", "concurrency")
_OWN = ("github.repository", "head.repo.full_name")
"""Expressions that name the repository itself."""


def one_job(text: str, task: JobTask, runs_on: str) -> str:
    """The file with the task's job alone. `runs_on` "" leaves what the job says. The `needs` context comes from
    stand-ins that end as the needed jobs did.
    """
    import yaml  # here, because it is slow to import

    class Plain(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:
            return True

    document: dict[str, Any] = load(text)
    job = {key: value for key, value in document["jobs"][task.job.id].items() if key not in _DECIDED}
    job["if"] = "${{ always() }}"
    if runs_on:
        job["runs-on"] = runs_on
    if task.combination:
        job["strategy"] = {"matrix": {"include": [dict(task.combination)]}}
    job["steps"] = [_step(step, task.commit.full_name) for step in job.get("steps", ())]
    if task.job.outputs:
        job["steps"].append(_put_out(task.job.outputs))
    stand_ins: dict[str, Any] = {}
    if "needs" in yaml.safe_dump(job):
        stand_ins = {name: _stand_in(need) for name, need in task.needs.items() if isinstance(need, Mapping)}
        job["needs"] = list(stand_ins)
    whole = {**document, "jobs": {**stand_ins, task.job.id: job}}
    return yaml.dump(whole, Dumper=Plain, sort_keys=False, allow_unicode=True, width=2**16)


def _step(step: Mapping[str, Any], repository: str) -> Mapping[str, Any]:
    """A checkout of the repository itself is always one of the commit that is tested: act makes that one by itself,
    and fetches the action for any other.
    """
    if not str(step.get("uses", "")).startswith(_CHECKOUT):
        return step
    given = {key: value for key, value in (step.get("with") or {}).items() if key != "ref"}
    wanted = str(given.get("repository", ""))
    if wanted.lower() == repository.lower() or any(own in wanted for own in _OWN):
        del given["repository"]
    elif wanted:
        return step
    return {**step, "with": given}


def _put_out(outputs: Mapping[str, str]) -> Mapping[str, Any]:
    values = {f"NIGHTJAR_OUTPUT_{number}": text for number, text in enumerate(outputs.values())}
    lines = [
        f'printf \'{name}<<nightjar-end\\n%s\\nnightjar-end\\n\' "${variable}" >> "$GITHUB_OUTPUT"'
        for name, variable in zip(outputs, values, strict=True)
    ]
    return {"id": OUTPUTS, "if": "${{ always() }}", "shell": "sh", "env": values, "run": "\n".join(lines)}


def _stand_in(need: Mapping[str, Any]) -> Mapping[str, Any]:
    outputs = {key: str(text).replace("${{", "${{ '${{' }}") for key, text in need["outputs"].items()}
    job: dict[str, Any] = {"runs-on": STAND_IN, "outputs": outputs}
    if need["result"] == "skipped":
        return {**job, "if": False, "steps": [{"run": "exit 0"}]}
    return {**job, "if": "${{ always() }}", "steps": [{"run": "exit 0" if need["result"] == "success" else "exit 1"}]}
