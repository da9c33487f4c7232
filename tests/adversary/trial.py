"""All attempts as one script that a Session runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.adversary.attempt import filled
from tests.adversary.attempts import ATTEMPTS, HOST, OWN, asks

MEANS = {
    "finds the program": '[ "$PROGRAM" -gt 1 ] && [ "$GUARD" -gt 1 ] && [ "$PROGRAM" != "$GUARD" ]',
    "passes the forwarder with its own placeholder": asks("b'GET /v1/models HTTP/1.1'", HOST, OWN),
    "reaches the server": "git ls-remote @clone@ | grep -q refs/heads/main",
    "writes its checkout": ": > scratch && rm scratch",
}
"""What has to succeed in every Run: without it no attempt would say anything."""

FIND = r"""
export PROGRAM=0 GUARD=0
process=$PPID
while [ "$process" -gt 1 ]; do
  process=$(sed 's/.*) //' /proc/$process/stat | cut -d' ' -f2)
  tr '\0' ' ' < /proc/$process/cmdline | grep -q -- '-m bot run' || continue
  [ $GUARD != 0 ] && PROGRAM=$process || GUARD=$process
done
"""


def trial(folder: Path, names: Mapping[str, str]) -> str:
    """The commands that make every attempt. Their scripts are put into `folder`, which gets a file `tried` with the
    name of each, and `succeeded`.
    """
    scripts = {attempt.id: attempt.script for attempt in ATTEMPTS} | {f"means {n}": text for n, text in MEANS.items()}
    lines = [FIND]
    for number, (name, script) in enumerate(scripts.items()):
        file = folder / f"{number}.sh"
        file.write_text(f"{filled(script, names)}\n", encoding="utf-8")
        lines.append(f"timeout 60 bash {file} > {folder}/{number}.out 2>&1 && echo '{name}' >> {folder}/succeeded")
        lines.append(f"echo '{name}' >> {folder}/tried")
    (folder / "all.sh").write_text("\n".join([*lines, "rm -f new gone link name", "true\n"]), encoding="utf-8")
    return f"bash {folder}/all.sh; env | sort > {folder}/env"
