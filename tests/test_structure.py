"""How `bot/` is built: which room may import which, modules read in one sitting, a command that starts fast."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BOT = ROOT / "bot"

# Room → the rooms it may import; what is not here may not be imported. A room is a module or a folder of `bot/`.
# Data flows one way: event → trigger → run → report; policy is pure, and what touches the world stands behind `ports`.
POLICY = (
    "cancel config ending failures kinds labels parking ports progress proof proving queueing record repetition steps "
    "suspicion sweeping working"
)
TABLE = {
    # facts and pure rules
    "cancel": "",
    "clock": "cancel",
    "failures": "",
    "request": "",
    "record": "proof request",
    "stored": "record request",
    "kinds": "",
    "labels": "",
    "setting": "kinds",
    "settings": "kinds setting",
    "settings_file": "kinds labels",
    "file_values": "labels settings settings_file",
    "schema": "kinds labels setting settings",
    "config": "file_values labels settings",
    "profiles": "config record",
    "commands": "config record",
    "following_up": "record request",
    "ci": "record",
    "clone": "",
    "init": "ci clone config setting settings",
    "doctor": "ci config failures init settings",
    "ports": "ci proof record",
    "steps": "proof record",
    "queueing": "record",
    "sweeping": "record steps",
    "repetition": "record",
    "difference": "ports",
    "suspicion": "difference guard ports proof",
    "patch": "ports",
    "trigger": "labels record",
    "commanded": "commands request trigger",
    "guard": "",
    "attachments": "guard",
    "proof": "",
    "forwarder": "",
    "isolation": "",
    # the Run
    "run": POLICY,
    "progress": "cancel config ending failures ports record request sweeping",
    "working": "cancel difference failures kinds parking ports progress proof proving record repetition suspicion",
    "proving": "difference ports progress proof record repetition steps suspicion",
    "parking": "labels config ending failures ports queueing record steps",
    "ending": "labels config failures ports record suspicion",
    # the edges
    "credential": "failures",
    "git": "clock credential failures isolation",
    "leftovers": "git",
    "outgoing": "git guard",
    "tree": "git ports",
    "workspace": "ci clock failures git guard leftovers outgoing patch ports",
    "journal": "stored failures git open_runs ports record steps",
    "open_runs": "stored git ports record",
    "inbox": "git open_runs request stored",
    "event": "trigger",
    "job_time": "clock",
    "report_files": "",
    "trials": "claude clock config failures git guard proof report_files tree",
    "model_access": "config failures forwarder",
    "handover": "ports proof",
    "gathering": "attachments clock github",
    "claude": "attachments cancel clock config failures guard handover isolation kinds ports proof record request",
    "github": "attachments ci clock credential doctor failures guard ports record",
    "report": "difference failures guard ports proof record request",
    # putting it together
    "wiring": (
        "attachments claude clock config credential event failures gathering git github guard inbox job_time journal "
        "model_access open_runs page progress report settings sweeping tree trials trigger workspace"
    ),
    "signals": "cancel claude clock",
    "own_comments": "ports record report",
    "telling": "commands own_comments record report wiring",
    "taking_up": (
        "commands profiles stored config failures following_up journal record request run telling trigger wiring"
    ),
    "completing": "config ending failures journal own_comments ports profiles record steps wiring",
    "handing_on": (
        "cancel commands completing config failures ports queueing record request stored telling trigger wiring"
    ),
    "beginning": "commands stored config failures guard journal ports record report run trigger wiring",
    "own_runner": "config trigger",
    "answering": (
        "beginning commanded commands completing config failures handing_on journal ports profiles progress record "
        "report request stored taking_up telling trigger wiring"
    ),
    "start": (
        "answering beginning cancel clock commanded config event failures handing_on own_runner record report signals "
        "taking_up trigger wiring"
    ),
    "job_step": "stored cancel clock config failures record report settings signals trigger",
    "finish": (
        "clock completing config event failures handing_on job_step journal progress record report request stored "
        "trigger wiring"
    ),
    "sweep": (
        "clock completing config event failures handing_on job_step own_runner ports queueing record report start "
        "stored sweeping taking_up trigger wiring"
    ),
    # at a terminal, before there is a Run
    "placing": "",
    "own_token": "clone credential failures",
    "init_command": "ci clock clone config failures github init labels own_token placing report",
    "examining": "claude clock config credential doctor failures github guard init kinds model_access",
    "doctor_command": "cancel clock clone config doctor examining github init own_token report sandbox",
    "doctor_step": (
        "clock config credential doctor examining failures github guard job_step record report settings trigger"
    ),
    "bootstrap": "",
    # the sandbox stands beside the product: the commands `demo` and `rehearse` reach it
    "sandbox": "ci clock report settings",
    "rehearsal": "ci clock clone config failures github own_token proof report sandbox settings stored",
    "rehearse_command": "clock clone config github isolation rehearsal report",
    "output": "",
    "command_help": "",
    "replay": "claude report",
    "page": "claude failures git guard record replay report",
    "page_command": "page record show stored",
    "show": "stored clock credential failures git open_runs page record report",
    "__main__": (
        "command_help doctor_command doctor_step finish init_command isolation output page_command rehearse_command "
        "replay sandbox show start sweep"
    ),
    "__init__": "",
}

# Pure rooms: what they may take from the standard library and beyond it. Anything that does I/O is missing.
PURE = {"record", "stored", "failures", "ports", "steps", "trigger", "ci", "repetition", "patch", "run"} | {
    *("attachments", "difference", "doctor", "suspicion"),
    *("progress", "working", "parking", "queueing", "sweeping", "proof"),
    *("request", "commands", "commanded", "following_up"),
}
QUIET_MODULES = {
    *("__future__", "bot", "collections", "dataclasses", "enum", "functools", "hashlib", "re", "types", "typing"),
    *("datetime", "fnmatch", "traceback", "textwrap", "unicodedata", "json", "yaml", "cattrs", "pathlib", "xml"),
    "struct",  # reads bytes, does no I/O
}
# One place each for what the design wants in one place.
ONLY_IN = {
    "github": {"github"},
    "ghapi": {"github"},
    "jwt": {"github"},
    "tenacity": {"github", "git", "claude"},
    "jinja2": {"report", "claude", "page"},
    "cattrs": {"stored"},
    "msgspec": {"claude"},
}
CATALOGUE = {"failures"}
"""Texts rather than code: long, and read by looking one entry up."""
LONGEST = 400


def modules() -> Iterator[tuple[str, Path]]:
    """Every module of `bot/` with its room."""
    for path in sorted(BOT.rglob("*.py")):
        if "samples" not in path.parts:
            yield path.relative_to(BOT).parts[0].removesuffix(".py"), path


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """What a module imports anywhere in it, for types only or inside functions too: line and dotted name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import"
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def room_of(name: str) -> str | None:
    """The room that an imported name belongs to; None for names from elsewhere and for the package's own."""
    first, _, rest = name.partition(".")
    room = rest.partition(".")[0]
    return room if first == "bot" and room in TABLE else None


def test_imports_follow_the_table() -> None:
    """No room imports what the table does not allow it."""
    wrong = []
    for room, path in modules():
        allowed = {room, *TABLE.get(room, "").split()}
        for line, name in imported(path):
            found = room_of(name)
            if found is not None and found not in allowed:
                wrong.append(f"{path.relative_to(ROOT)}:{line}: {room} imports {found}")
    assert wrong == []


def test_table_is_whole() -> None:
    """Every room stands in the table, and the table names no room that is not there."""
    assert {room for room, _ in modules()} == set(TABLE)
    assert {name for allowed in TABLE.values() for name in allowed.split()} <= set(TABLE)


def test_nothing_goes_round() -> None:
    """The table has no cycle: data flows one way."""
    left = {room: set(allowed.split()) for room, allowed in TABLE.items()}
    while free := [room for room, allowed in left.items() if not allowed]:
        for room in free:
            del left[room]
        for allowed in left.values():
            allowed.difference_update(free)
    assert left == {}


def test_policy_is_pure() -> None:
    """The rooms that decide import nothing that touches the world."""
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for room, path in modules()
        if room in PURE
        for line, name in imported(path)
        if name.partition(".")[0] not in QUIET_MODULES
    ]
    assert wrong == []


def test_guards_know_the_standard_library_only() -> None:
    """What makes strangers' text safe, and what holds the key, depend on nothing a stranger could have published."""
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for room, path in modules()
        if room in ("guard", "forwarder")
        for line, name in imported(path)
        if name.partition(".")[0] not in {*sys.stdlib_module_names, "bot"}
    ]
    assert wrong == []


def test_libraries_have_one_place() -> None:
    """Each library is spoken to from the rooms that are there for it."""
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for room, path in modules()
        for line, name in imported(path)
        if room not in {*ONLY_IN.get(name.partition(".")[0], {room}), "sandbox"}
    ]
    assert wrong == []


def test_only_the_clock_waits() -> None:
    """`time.sleep` is called nowhere but in the clock: every planned wait can be sped up and cancelled."""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for room, path in modules()
        if room != "clock"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "sleep" and ast.unparse(node.value) == "time"
    ]
    assert found == []


def test_modules_can_be_read_in_one_sitting() -> None:
    """No module is longer than 400 lines, but for the catalogue of Failures; and none is called utils."""
    long = {
        str(path.relative_to(ROOT)): lines
        for room, path in modules()
        if room not in CATALOGUE and (lines := len(path.read_text(encoding="utf-8").splitlines())) > LONGEST
    }
    assert long == {}
    assert [path for _, path in modules() if path.stem in ("utils", "util", "helpers", "common", "misc")] == []


def test_every_module_says_what_it_is_for() -> None:
    """Each module begins with a docstring."""
    mute = [path for _, path in modules() if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))]
    assert mute == []


def test_command_starts_fast() -> None:
    """`nightjar --help` imports none of the heavy libraries, and the sandbox only when it is asked for."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "bot", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    names = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert "bot" in names
    heavy = {
        "github",
        "ghapi",
        "jinja2",
        "yaml",
        "cattrs",
        "tenacity",
        "requests",
        "msgspec",
        "bot.sandbox",
        "bot.start",
    }
    assert names & heavy == set()
    assert "run" in done.stdout


@pytest.mark.parametrize("module", ["bot.start", "bot.wiring", "bot.sandbox.demo"])
def test_importing_does_nothing(module: str, tmp_path: Path) -> None:
    """Importing a module prints nothing, starts no thread, opens no socket and leaves no file."""
    code = (
        "import sys\n"
        "def watch(event, args):\n"
        "    if event.startswith('socket.') and event not in ('socket.__new__', 'socket.gethostname'):\n"
        "        raise SystemExit(event)\n"
        "    if event in ('subprocess.Popen', 'os.fork', 'os.mkdir', 'os.remove'): raise SystemExit(event)\n"
        f"sys.addaudithook(watch)\nimport {module}, threading\n"
        "assert threading.active_count() == 1\n"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list(tmp_path.iterdir()) == []
