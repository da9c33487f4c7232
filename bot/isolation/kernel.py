"""The system calls that confine a process, by number and by name. Each raises `OSError` where the kernel refuses."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

LANDLOCK_LEAST = 3
"""The first version of Landlock that knows of renames between folders and of truncation (Linux 6.2)."""

_PR_SET_DUMPABLE, _PR_CAPBSET_READ, _PR_CAPBSET_DROP, _PR_SET_SECUREBITS = 4, 23, 24, 28
_PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT, _AMBIENT_CLEAR = 38, 47, 4
_CAPABILITY_VERSION_3 = 0x20080522
_CAPABILITIES = 64
_CAP_SETPCAP = 8
_CLONE_NEWNS = 0x20000
_MS_BIND, _MS_REC, _MS_PRIVATE = 1 << 12, 1 << 14, 1 << 18
_NO_ROOT_LOCKED = 0b101111
"""SECBIT_NOROOT, NO_SETUID_FIXUP, their locks, KEEP_CAPS_LOCKED: user 0 gets no capability, not by exec either."""

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG = 1
_PATH_BENEATH = 1
_READ_FILE = 1 << 2
_WRITE_TO_FILE = 1 << 1 | 1 << 14
"""WRITE_FILE and TRUNCATE: what can be granted on a file itself."""
_WRITE = _WRITE_TO_FILE | sum(1 << bit for bit in range(4, 14))
"""And to remove, make and move every kind of entry in a folder."""
_SCOPED_SIGNALS_AND_ABSTRACT_SOCKETS = 0b11
_SCOPED_FROM = 6


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Sets(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("access", ctypes.c_uint64), ("folder", ctypes.c_int32))


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(answer: int, what: str) -> int:
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return answer


def _prctl(what: str, option: int, *arguments: int) -> int:
    words = [ctypes.c_ulong(value) for value in (*arguments, 0, 0, 0, 0)[:4]]
    return _checked(_libc().prctl(option, *words), what)


def forbid_dumps() -> None:
    """This process's memory and environment can be read, and it can be traced, by nobody without CAP_SYS_PTRACE."""
    _prctl("PR_SET_DUMPABLE", _PR_SET_DUMPABLE, 0)


def forbid_new_privileges() -> None:
    """No program that this process becomes gains a privilege: sudo and every other setuid file do nothing."""
    _prctl("PR_SET_NO_NEW_PRIVS", _PR_SET_NO_NEW_PRIVS, 1)


def empty_bounding_set() -> None:
    """No program that this process becomes can hold a capability. Takes CAP_SETPCAP; without it nothing is done, and
    `forbid_new_privileges` is what keeps capabilities away.
    """
    if not _holds(_CAP_SETPCAP):
        return
    for capability in range(_CAPABILITIES):
        with suppress(OSError):  # the kernel knows fewer of them
            if _prctl("PR_CAPBSET_READ", _PR_CAPBSET_READ, capability):
                _prctl("PR_CAPBSET_DROP", _PR_CAPBSET_DROP, capability)
    _prctl("PR_SET_SECUREBITS", _PR_SET_SECUREBITS, _NO_ROOT_LOCKED)


def drop_capabilities() -> None:
    """Give up every capability for good, though the user be root."""
    empty_bounding_set()
    _prctl("PR_CAP_AMBIENT_CLEAR_ALL", _PR_CAP_AMBIENT, _AMBIENT_CLEAR)
    header = _Header(_CAPABILITY_VERSION_3, 0)
    _checked(_libc().capset(ctypes.byref(header), (_Sets * 2)()), "capset")
    left = [name for name in ("CapInh", "CapPrm", "CapEff", "CapAmb") if _set_of(name)]
    if left:
        raise PermissionError(f"there are capabilities left in {', '.join(left)}")


def _holds(capability: int) -> bool:
    return bool(_set_of("CapEff") >> capability & 1)


def _set_of(name: str) -> int:
    """One of this process's sets of capabilities."""
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    return next(int(line.split()[1], 16) for line in status.splitlines() if line.startswith(f"{name}:"))


def cover(paths: Iterable[Path]) -> None:
    """Put the null device over each of `paths` that is there, for this process and what it starts. Takes CAP_SYS_ADMIN,
    and stays when it is given up.
    """
    _checked(_libc().unshare(_CLONE_NEWNS), "unshare")
    _mount(None, Path("/"), _MS_REC | _MS_PRIVATE)
    for path in paths:
        if path.exists():
            _mount(Path(os.devnull), path, _MS_BIND)


def _mount(source: Path | None, target: Path, flags: int) -> None:
    given = os.fsencode(source) if source else b"none"
    _checked(_libc().mount(given, os.fsencode(target), None, ctypes.c_ulong(flags), None), f"mount on {target}")


def landlock_version() -> int:
    """The kernel's version of Landlock; 0 where there is none, it is switched off, or a container forbids it."""
    return max(0, int(_libc().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION_FLAG))))


def restrict_files(writable: Iterable[Path], readable: Iterable[Path]) -> None:
    """From now on, in this process and all that it starts, files can be written beneath `writable` and read beneath
    `readable` only. Folders can be listed and programs run as before.

    With that, processes outside cannot be traced or read; from version 6 of Landlock on, they get no signal either.
    Needs `forbid_new_privileges` before it.
    """
    version = landlock_version()
    scoped = _SCOPED_SIGNALS_AND_ABSTRACT_SOCKETS if version >= _SCOPED_FROM else 0
    ruleset = _Ruleset(_WRITE | _READ_FILE, 0, scoped)
    size = 24 if version >= _SCOPED_FROM else 8
    made = _libc().syscall(_CREATE_RULESET, ctypes.byref(ruleset), ctypes.c_size_t(size), ctypes.c_uint32(0))
    rules = _checked(made, "landlock_create_ruleset")
    try:
        for access, paths in ((_WRITE, writable), (_READ_FILE, readable)):
            for path in paths:
                _allow(rules, path, access)
        _checked(_libc().syscall(_RESTRICT_SELF, ctypes.c_int(rules), ctypes.c_uint32(0)), "landlock_restrict_self")
    finally:
        os.close(rules)


def _allow(rules: int, path: Path, access: int) -> None:
    with suppress(FileNotFoundError, PermissionError, NotADirectoryError):  # gone meanwhile, or closed to us anyway
        opened = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            granted = access if path.is_dir() else access & (_WRITE_TO_FILE | _READ_FILE)
            rule = _PathBeneath(granted, opened)
            done = _libc().syscall(
                _ADD_RULE, ctypes.c_int(rules), ctypes.c_int(_PATH_BENEATH), ctypes.byref(rule), ctypes.c_uint32(0)
            )
            _checked(done, f"landlock_add_rule for {path}")
        finally:
            os.close(opened)
