"""Shells for act without Docker, which stops listening to a failing step before it has read all that the step has said.

Each stands in front of the real one on PATH and holds a failure back for a moment, in which act reads on. (act's
`HostEnvironment.exec` returns at once when the command fails, and closes the terminal that it reads from.)
"""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

SHELLS = ("bash", "sh", "python", "node")
"""What steps and actions are started with."""
_SCRIPT = """\
#!/bin/sh
own={own}
PATH=${{PATH%%"$own":*}}${{PATH#*"$own":}}
{real} "$@"
code=$?
[ $code -eq 0 ] || sleep 1
exit $code
"""


def listening_path(folder: Path, path: str) -> str:
    """PATH with such shells before those of `path`, in `folder`, which is made. What they start gets PATH without."""
    folder.mkdir()
    for name in SHELLS:
        real = shutil.which(name, path=path)
        if real is not None:
            file = folder / name
            file.write_text(_SCRIPT.format(own=shlex.quote(str(folder)), real=shlex.quote(real)), encoding="utf-8")
            file.chmod(0o755)
    return f"{folder}:{path}"
