"""Makes the environment that Nightjar runs in, and starts it there. Standard library only, and readable by old Pythons.

On a runner, without arguments: a virtual environment in `$RUNNER_TEMP/nightjar/venv` from `requirements.lock`
(exact versions, hashes), and then this very process becomes `python -I -m bot <command>` in it. In a
checkout, `bootstrap.py FOLDER LOCK` makes an environment and ends.

Either is idempotent: a stamp, written last, holds what the environment was made from. uv does it where it is
installed (under 1 s), else venv and pip (about 10 s). Nothing is ever said on the way but one line when it
fails. Exit codes: 1 the environment could not be made, 2 wrong input.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

COMMANDS = ("run", "finish", "sweep", "doctor")
NEEDED = (3, 11)
NAMES = ("python3.13", "python3.12", "python3.11", "python3.14", "python3", "python")
ROOT = Path(__file__).resolve().parent.parent
LAUNCHER = "import sys\n\nfrom bot.__main__ import main\n\nsys.exit(main())\n"
"""The `nightjar` command, as an installed wheel would have it."""
INSTALL_SECONDS = 600.0
PROBE_SECONDS = 20.0


class CannotPrepare(Exception):
    """The environment could not be made; the text is one line for a person."""


def main(arguments: list[str]) -> int:
    """Make an environment and, on a runner, become the program. Returns only in a checkout, or after a complaint."""
    environ = dict(os.environ)
    try:
        if arguments:
            if len(arguments) != 2:
                return _complain("usage: bootstrap.py [FOLDER LOCK]", 2)
            prepare(Path(arguments[0]).absolute(), Path(arguments[1]).absolute(), environ)
            return 0
        command = environ.get("INPUT_COMMAND", "").strip() or COMMANDS[0]
        if command not in COMMANDS:
            return _complain(
                f"input `command`: {command!r} is not allowed; give {', '.join(COMMANDS[:-1])} or {COMMANDS[-1]}", 2
            )
        if not environ.get("RUNNER_TEMP"):
            return _complain("RUNNER_TEMP is not set; a GitHub Actions runner sets it to a folder of the job's own", 2)
        python = prepare(Path(environ["RUNNER_TEMP"]) / "nightjar" / "venv", ROOT / "requirements.lock", environ)
    except CannotPrepare as error:
        return _complain(str(error), 1)
    return os.execv(str(python), [str(python), "-I", "-m", "bot", command])


def prepare(folder: Path, lock: Path, environ: dict[str, str]) -> Path:
    """The Python of an environment in `folder` that holds what `lock` names and finds `bot`; or `CannotPrepare`."""
    python = folder / "bin" / "python"
    stamp = folder / "nightjar-stamp"
    try:
        wanted = hashlib.sha256(lock.read_bytes() + f"\n{ROOT}\n{LAUNCHER}".encode()).hexdigest()
    except OSError as error:
        raise CannotPrepare(f"cannot read {lock}: {error.strerror}") from error
    if python.exists() and stamp.is_file() and stamp.read_text(encoding="ascii") == wanted:
        return python
    base = find_python(environ)
    # An installer has no use for the action's inputs, and some of them are secrets.
    quiet = {name: value for name, value in environ.items() if not name.startswith("INPUT_")}
    uv = shutil.which("uv", path=environ.get("PATH"))
    failures = []
    for make in (_with_uv, _with_pip) if uv else (_with_pip,):
        shutil.rmtree(folder, ignore_errors=True)
        try:
            make(base, folder, lock, quiet)
            break
        except CannotPrepare as error:
            failures.append(str(error))
    else:
        raise CannotPrepare(f"cannot make Nightjar's Python environment: {'; '.join(failures)}")
    packages = _run(
        [str(python), "-I", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], quiet, PROBE_SECONDS
    )
    (Path(packages.strip()) / "nightjar.pth").write_text(f"{ROOT}\n", encoding="utf-8")
    command = folder / "bin" / "nightjar"
    command.write_text(f"#!{python}\n{LAUNCHER}", encoding="utf-8")
    command.chmod(0o755)
    stamp.write_text(wanted, encoding="ascii")
    return python


def find_python(environ: dict[str, str]) -> str:
    """A Python that is new enough: this one, one on PATH, or one from the runner's tool cache; or `CannotPrepare`."""
    if sys.version_info >= NEEDED:
        return sys.executable
    found = [shutil.which(name, path=environ.get("PATH")) for name in NAMES]
    cache = (
        Path(environ.get("RUNNER_TOOL_CACHE") or environ.get("AGENT_TOOLSDIRECTORY") or "/opt/hostedtoolcache")
        / "Python"
    )
    found += [str(path) for path in sorted(cache.glob("3.*/*/bin/python3"), reverse=True)]
    test = f"import sys; sys.exit(sys.version_info < {NEEDED})"
    for path in found:
        if path is None:
            continue
        try:
            _run([path, "-I", "-c", test], environ, PROBE_SECONDS)
            return path
        except CannotPrepare:
            continue  # too old, or only a launcher for a version that is not installed
    have = ".".join(str(part) for part in sys.version_info[:3])
    raise CannotPrepare(
        f"Nightjar needs Python {NEEDED[0]}.{NEEDED[1]} or newer, and this machine has {have} ({sys.executable}): "
        "put actions/setup-python before it, or use a newer runner image"
    )


def _with_uv(base: str, folder: Path, lock: Path, environ: dict[str, str]) -> None:
    _run(["uv", "venv", "--quiet", "--no-project", "--python", base, str(folder)], environ, INSTALL_SECONDS)
    install = ["uv", "pip", "install", "--quiet", "--require-hashes", "--python", str(folder / "bin" / "python")]
    _run([*install, "--requirement", str(lock)], environ, INSTALL_SECONDS)


def _with_pip(base: str, folder: Path, lock: Path, environ: dict[str, str]) -> None:
    _run([base, "-I", "-m", "venv", str(folder)], environ, INSTALL_SECONDS)
    pip = [str(folder / "bin" / "python"), "-I", "-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet"]
    install = ["install", "--require-hashes", "--only-binary", ":all:", "--retries", "2"]
    _run([*pip, *install, "--requirement", str(lock)], environ, INSTALL_SECONDS)


def _run(command: list[str], environ: dict[str, str], seconds: float) -> str:
    """Run one command in this action's own folder, where uv finds no other project's settings; what it printed."""
    said = " ".join(Path(word).name if word.startswith("/") else word for word in command[:4])
    try:
        done = subprocess.run(
            command, env=environ, cwd=ROOT, timeout=seconds, check=False, stdin=subprocess.DEVNULL, capture_output=True
        )
    except subprocess.TimeoutExpired as error:
        raise CannotPrepare(f"`{said}` was stopped after {seconds:.0f} s") from error
    except OSError as error:
        raise CannotPrepare(f"`{said}` did not start: {error.strerror}") from error
    if done.returncode:
        lines = [line.strip() for line in done.stderr.decode("utf-8", "replace").splitlines()]
        lines = [line for line in lines if line and not line.startswith("WARNING")]
        raise CannotPrepare(
            f"`{said}` ended with {done.returncode}: {' / '.join(lines[-3:])[:400] or 'it said nothing'}"
        )
    return done.stdout.decode("utf-8", "replace")


def _complain(text: str, code: int) -> int:
    line = "nightjar: " + " ".join(text.split())
    in_job = os.environ.get("GITHUB_ACTIONS") == "true"
    print("::error::" + line.replace("%", "%25") if in_job else line, file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
