"""Whatever the machine's git, the repository and the remote are set up to do: one credential, each trouble named."""

from __future__ import annotations

import base64
import os
import socketserver
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from bot.clock import Clock
from bot.credential import FixedToken
from bot.failures import RunFailed
from bot.git import Git, Remote
from bot.sandbox.github import EmbeddedGitHub
from tests.git.bench import REF, Bench


class Listener(socketserver.TCPServer):
    """A git server that only takes down which Authorization headers each request carries."""

    def __init__(self) -> None:
        """On a free port of loopback."""
        super().__init__(("127.0.0.1", 0), _TakeDown)
        self.headers: list[list[str]] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class _TakeDown(BaseHTTPRequestHandler):
    server: Listener

    def do_GET(self) -> None:
        """Refuse, after taking the headers down as they were sent: one line each."""
        self.server.headers.append(self.headers.get_all("Authorization", []))
        self.send_response(403)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on stderr."""


@pytest.fixture
def listener() -> Iterator[Listener]:
    """A server on loopback."""
    with Listener() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def left_by_a_checkout(url: str, folder: Path) -> dict[str, Mapping[str, str]]:
    """Environments in which an earlier step left its own credential for `url`, by where it left it."""
    header = (
        f'[http "{url}/"]\n\textraheader = AUTHORIZATION: basic am9i\n[credential]\n\thelper = "!echo password=job"\n'
    )
    (folder / "included").write_text(header, encoding="utf-8")
    (folder / "global").write_text(header, encoding="utf-8")
    (folder / "home").mkdir()
    include = f"[include]\n\tpath = {folder}/included\n"
    (folder / "home" / ".gitconfig").write_text(include, encoding="utf-8")
    return {
        "home": {"HOME": str(folder / "home")},
        "global": {"GIT_CONFIG_GLOBAL": str(folder / "global")},
        "system": {"GIT_CONFIG_SYSTEM": str(folder / "global")},
        "environment": {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"http.{url}/.extraheader",
            "GIT_CONFIG_VALUE_0": "AUTHORIZATION: basic am9i",
        },
        "parameters": {"GIT_CONFIG_PARAMETERS": f"'http.{url}/.extraheader'='AUTHORIZATION: basic am9i'"},
    }


@pytest.mark.field_case(46, "a")
@pytest.mark.field_case(46, "b")
@pytest.mark.parametrize("where", ["home", "global", "system", "environment", "parameters"])
def test_one_credential_and_it_is_ours(listener: Listener, tmp_path: Path, where: str) -> None:
    """Fetch, push and ls-remote send one Authorization header, our own, whatever another step left in configuration."""
    left = left_by_a_checkout(listener.url, tmp_path)[where]
    environ = {"PATH": os.environ["PATH"], **left}
    git = Git(tmp_path / "run", Remote(f"{listener.url}/acme/widget.git", FixedToken("ghs_ours")), Clock(), environ)
    git.open()
    git.network("ls-remote", git.remote.url)
    git.network("fetch", git.remote.url, "main")
    git.network("push", git.remote.url, ":refs/heads/x")
    own = base64.b64encode(b"x-access-token:ghs_ours").decode()
    assert listener.headers == [[f"basic {own}"]] * 3


@pytest.mark.field_case(46, "a")
def test_credential_in_the_checkout(bench: Bench, listener: Listener) -> None:
    """What a session writes into the checkout's configuration sends nothing, anywhere."""
    bench.session(
        f"git config http.{bench.hub.server_url}/.extraheader 'AUTHORIZATION: basic am9i'; echo x >> a.txt;"
        f" git config url.{listener.url}/.insteadOf {bench.hub.server_url}/"
    )
    head = bench.workspace.collect("Left")
    assert bench.workspace.push() == head
    assert {request.token_kind for request in bench.hub.requests if "receive-pack" in request.target} == {"app"}
    assert listener.headers == []


LFS = "git config filter.lfs.clean 'git-lfs clean -- %f'; git config filter.lfs.process 'git-lfs filter-process';"
LFS += " git config filter.lfs.required true; printf '*.bin filter=lfs\\n' > .gitattributes;"


@pytest.mark.field_case(47, "a")
def test_lfs_is_missing(bench: Bench) -> None:
    """Files that Git LFS keeps are left out by name where it is missing; the rest is committed."""
    bench.session(f"{LFS} head -c 2000 /dev/zero > big.bin; echo x >> a.txt")
    head = bench.workspace.collect("Left")
    assert bench.git.local("diff", "--name-only", f"{head}^", head).out.split() == [".gitattributes", "a.txt"]
    assert bench.workspace.left_out() == ("files that Git LFS keeps: `big.bin`",)


@pytest.mark.field_case(47, "a")
def test_lfs_pointer(bench: Bench) -> None:
    """Git LFS's own pointers are files like any other."""
    pointer = "version https://git-lfs.github.com/spec/v1\\noid sha256:0\\nsize 1\\n"
    bench.session(f"{LFS} printf '{pointer}' > big.bin")
    assert bench.shown(bench.workspace.collect("Left"), "big.bin").startswith("version https://git-lfs")


@pytest.mark.field_case(47, "b")
@pytest.mark.parametrize("hooks", [".git/hooks", ".husky"])
def test_hooks_of_the_repository(bench: Bench, hooks: str) -> None:
    """Hooks that the repository brings neither stop nor change the program's commit, and do not run."""
    flag = bench.folder / "flag"
    bench.session(
        f"mkdir -p {hooks}; printf '#!/bin/sh\\ntouch {flag}; echo changed > a.txt; git add a.txt; exit 1\\n' > hook;"
        f" for name in pre-commit commit-msg post-commit pre-push post-checkout; do install -m 755 hook {hooks}/$name;"
        f" done; rm hook; git config core.hooksPath {hooks}; echo x >> a.txt"
    )
    head = bench.workspace.collect("Left")
    assert bench.workspace.push() == head
    assert bench.shown(head, "a.txt") == "one\nx\n"
    assert not flag.exists()


@pytest.mark.parametrize("key", ["clean", "process"])
def test_planted_filter(bench: Bench, key: str) -> None:
    """A filter that a session plants does not run when the program commits."""
    flag = bench.folder / "flag"
    evil = bench.folder / "evil"
    evil.write_text(f"#!/bin/sh\ntouch {flag}\ncat\n", encoding="utf-8")
    evil.chmod(0o755)
    bench.session(f"git config filter.evil.{key} {evil}; git config filter.evil.required true")
    bench.session("echo '* filter=evil' > .gitattributes; echo x >> a.txt")
    assert bench.shown(bench.workspace.collect("Left"), "a.txt") == "one\nx\n"
    assert not flag.exists()


@pytest.mark.field_case(47, "c")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a checkout to somebody else")
def test_checkout_of_another_user(bench: Bench) -> None:
    """A checkout that belongs to another uid is committed and pushed like any, and no configuration is changed."""
    bench.session("echo x >> a.txt")
    for path in [bench.git.checkout, *bench.git.checkout.rglob("*")]:
        os.chown(path, 12345, 12345, follow_symlinks=False)
    head = bench.workspace.collect("Left")
    assert bench.shown(head, "a.txt") == "one\nx\n"
    assert bench.workspace.push() == head


REFUSES = """\
#!/bin/sh
while read old new ref; do
    case $ref in refs/heads/nightjar/*) ;; *) continue ;; esac
    sizes=$(git rev-list --objects $new --not --all | git cat-file --batch-check='%(objectsize) %(rest)')
    largest=$(echo "$sizes" | sed 's/ .*//' | sort -n | tail -1)
    [ $largest -gt 2000000 ] && echo 'error: GH001: Large files detected.' >&2 && exit 1
done
exit 0
"""


@pytest.mark.field_case(47, "d")
def test_blob_that_the_remote_refuses(bench: Bench) -> None:
    """A file that the remote does not take, in an earlier commit of the branch, is named with its path; the commits are
    kept as a patch.
    """
    hook = bench.repository.path / "hooks" / "pre-receive"
    hook.write_text(REFUSES, encoding="utf-8")
    hook.chmod(0o755)
    bench.session("mkdir 'd d'; head -c 3000000 /dev/urandom > 'd d/core'; git add -A; git commit -qm Big")
    bench.session("git rm -q 'd d/core'; echo x >> a.txt; git commit -qam Small")
    bench.workspace.collect("Left")
    with pytest.raises(RunFailed) as caught:
        bench.workspace.push()
    assert caught.value.code == "push_rejected"
    assert "pre-receive hook declined" in caught.value.reason
    assert "GH001: Large files detected" in caught.value.reason
    assert "`d d/core` with 2.9 MB" in caught.value.reason
    assert REF not in bench.repository.refs()
    assert "Subject: [PATCH 2/2] Small" in (bench.folder / "patches" / bench.workspace.keep_patch()).read_text()


@pytest.mark.field_case(47, "e")
@pytest.mark.field_case(47, "f")
def test_no_identity_and_signing_on(hub: EmbeddedGitHub, tmp_path: Path) -> None:
    """Without a name or an address of the machine's, and with signing switched on in the checkout and globally, the
    program commits and merges all the same.
    """
    bench = Bench(hub, tmp_path / "run")
    bench.prepare()
    bench.session("git config --unset user.name; git config --unset user.email; git config commit.gpgsign true")
    bench.session("git config --global commit.gpgsign true; git config gpg.program /bin/false; echo x >> a.txt")
    bench.workspace.collect("Left")
    bench.repository.commit("main", {"c.txt": "c\n"}, "Main goes on")
    merge = bench.workspace.merge(bench.workspace.sample_base("main"))
    assert bench.shown(merge.head, "c.txt") == "c\n"
    assert bench.git.local("log", "-1", "--format=%an %G?", merge.head).out.strip() == "nightjar N"
