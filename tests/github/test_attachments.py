"""Fetching what people attached, from the embedded GitHub: who is shown the token, where requests may lead, bounds.

Field cases that this is about: an attachment of a private repository is 404 for a job's token and needs the signed
address of the rendered issue; files of one are 404 for it altogether; a token that is sent on with a redirect.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from bot.attachments.given import Attachments
from bot.attachments.hosts import Address, Hosts
from bot.attachments.plan import plan
from bot.cancel import Cancel, Cancelled
from bot.clock import Clock
from bot.credential import FixedToken
from bot.failures import RunFailed
from bot.gathering import Fetch, Gathering
from bot.github.attachments import AttachmentSource, NotFetched, TooLarge
from bot.github.client import Client
from bot.github.repository import GitHubRepository
from bot.sandbox.github import Answer, Drop, EmbeddedGitHub, Fault, SandboxRepository, Wait
from bot.sandbox.github.state import TokenKind
from tests.test_attachments import png, zipped

SCALE = 60
MEGABYTE = 1_000_000


class Town:
    """The embedded GitHub with one repository, and who fetches from it."""

    def __init__(self, hub: EmbeddedGitHub, folder: Path, *, private: bool) -> None:
        self.hub = hub
        self.folder = folder
        self.repository: SandboxRepository = hub.create_repository("acme/widget", {"a": "b"}, private=private)
        self.repository.set_permission("alice", "write")
        self.hosts = Hosts(hub.server_url)
        self.said: list[str] = []

    def source(
        self, issue: int, addresses: Sequence[Address], kind: TokenKind = "job", clock: Clock | None = None
    ) -> AttachmentSource:
        """With a token of that kind."""
        token = self.hub.issue_token("alice" if kind == "pat" else "github-actions[bot]", kind)
        client = Client(self.hub.api_url, "acme/widget", FixedToken(token), clock or Clock(SCALE), attempts=1)
        return AttachmentSource(client, self.hosts, issue, addresses, GitHubRepository(client).is_public)

    def fetch(self, url: str, kind: TokenKind = "job", *, body: str | None = None, limit: int = MEGABYTE) -> bytes:
        """What is at `url`, which the issue names."""
        issue = self.repository.open_issue("Look", f"![x]({url})" if body is None else body)
        (address,) = plan([f"![x]({url})"], self.hosts).wanted
        source = self.source(issue, [address], kind)
        return source.fetch(address, limit, Clock.reaction("attachments", 240))

    def gather(self, text: str, *, seconds: float = 240) -> Attachments:
        """All that `text` names, as a Run does it."""
        clock = Clock(SCALE)
        issue = self.repository.open_issue("Look", text)

        def source(number: int, addresses: Sequence[Address]) -> Fetch:
            return self.source(number, addresses, clock=clock).fetch

        folder = self.folder / "attachments"
        return Gathering(self.hosts, source, folder, clock, self.said.append, seconds)(issue, [text])

    def web(self) -> list[tuple[str, bool]]:
        """Requests to the server for attachments: path, and whether it carried a credential."""
        return [(one.path, one.authorized) for one in self.hub.requests if not one.counted and "/info/" not in one.path]

    def counted(self) -> list[str]:
        """Requests that cost rate budget."""
        return [f"{one.method} {one.path}" for one in self.hub.requests if one.counted]


Make = Callable[[bool], Town]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Makes a town with a private or a public repository."""
    with EmbeddedGitHub(tmp_path / "hub", ci=False) as hub:
        yield lambda private: Town(hub, tmp_path, private=private)


@pytest.fixture
def public(make: Make) -> Town:
    """With a public repository."""
    return make(False)


@pytest.fixture
def private(make: Make) -> Town:
    """With a private repository."""
    return make(True)


def test_of_a_public_repository_no_token_is_shown(public: Town) -> None:
    """What everybody can read is fetched as everybody: no credential, and no request that counts."""
    url = public.repository.attach_image(png())
    assert public.fetch(url) == png()
    assert public.fetch(public.repository.attach_file("a.log", b"hello")) == b"hello"
    assert public.fetch(public.repository.attach_image(png(), older=True)) == png()
    assert [authorized for _, authorized in public.web()] == [False] * 3
    assert public.counted() == []
    assert not any(one.authorized for one in public.hub.store_requests)


def test_what_a_public_repository_lacks_is_not_asked_for_with_the_token(public: Town) -> None:
    """What is not there for everybody is in a public repository for nobody: a token that sees more is not shown, and
    no signed address is asked for, so that no stranger's issue reaches what is private elsewhere.
    """
    elsewhere = public.hub.create_repository("acme/secret", {"a": "b"}, private=True)
    elsewhere.set_permission("alice", "read")
    for url in (elsewhere.attach_file("keys.log", b"x"), elsewhere.attach_image(png())):
        with pytest.raises(NotFetched, match="GitHub answered 404"):
            public.fetch(url, "pat")
    assert [authorized for _, authorized in public.web()] == [False, False]
    assert set(public.counted()) == {"GET /repos/acme/widget"}


def test_a_private_image_comes_by_its_signed_address(private: Town) -> None:
    """A job's token gets an image of a private repository through the rendered issue, and is not shown for it."""
    url = private.repository.attach_image(png())
    assert private.fetch(url) == png()
    assert private.counted() == ["GET /repos/acme/widget", "GET /repos/acme/widget/issues/1"]
    assert [authorized for _, authorized in private.web()] == [False]
    (stored,) = private.hub.store_requests
    assert "jwt=" in stored.target
    assert not stored.authorized


def test_an_image_that_the_issue_no_longer_has(private: Town) -> None:
    """An image of the approved text, or of a comment, that the issue does not show comes rendered by itself."""
    url = private.repository.attach_image(png(), older=True)
    assert private.fetch(url, body="edited since") == png()
    assert private.counted()[-1] == "POST /markdown"


def test_a_private_file_comes_with_a_token_that_may(private: Town) -> None:
    """A person's older token gets a file: shown to the server alone, dropped where it sends on."""
    url = private.repository.attach_file("a.log", b"hello")
    assert private.fetch(url, "pat") == b"hello"
    assert [authorized for _, authorized in private.web()] == [False, True]
    assert [one.authorized for one in private.hub.store_requests] == [False]


def test_a_private_file_is_not_to_be_had_with_a_jobs_token(private: Town) -> None:
    """GitHub gives a private repository's files to no job's token: the reason says so."""
    with pytest.raises(NotFetched, match=r"does not give it to this token \(GitHub answered 404\)"):
        private.fetch(private.repository.attach_file("a.log", b"hello"))


def test_another_repositorys_attachment_is_not_asked_for_with_the_token(private: Town) -> None:
    """An address that names another repository is never asked for with the token, which might open it."""
    url = f"{private.hub.server_url}/acme/other/files/5/a.log"
    with pytest.raises(NotFetched, match="another repository"):
        private.fetch(url, "pat")
    assert [authorized for _, authorized in private.web()] == [False]


def test_no_attachment_makes_no_request(public: Town) -> None:
    """A text without attachments costs no request at all, and makes no folder."""
    issue = public.repository.open_issue("Look", "Nothing here: https://docs.example/x")
    before = len(public.hub.requests)
    assert public.gather("Nothing here: https://docs.example/x") == Attachments()
    assert issue == 1
    assert len(public.hub.requests) == before
    assert not (public.folder / "attachments").exists()


def test_files_lie_in_their_folder(public: Town) -> None:
    """An image, a log and an archive become read-only files with the program's own names, bytes as they were."""
    add, archive = public.repository, zipped("a.log")
    text = (
        f"![x]({add.attach_image(png())}) [l]({add.attach_file('server.log', b'boom')}) "
        f"[z]({add.attach_file('logs.zip', archive)})"
    )
    gathered = public.gather(text)
    folder = public.folder / "attachments"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        "1-image.png": png(),
        "2-server.log": b"boom",
        "3-logs.zip": archive,
    }
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o444}
    assert [given.path for given in gathered.given] == sorted(str(path) for path in folder.iterdir())
    assert gathered.notes() == ()
    assert public.said[0] == f"attachment: 1-image.png, {len(png())} bytes"


def test_a_file_over_the_limit_is_skipped(public: Town) -> None:
    """Eleven megabytes are too many for one file, and four files of nine too many together: told, not cut."""
    eleven = public.gather(public.repository.attach_file("big.log", b"x" * 11 * MEGABYTE))
    assert [one.why for one in eleven.skipped] == ["larger than 10 MB"]
    assert list((public.folder / "attachments").iterdir()) == []
    urls = [public.repository.attach_file(f"{number}.log", b"x" * 9 * MEGABYTE) for number in range(4)]
    four = public.gather(" ".join(urls))
    assert [given.size for given in four.given] == [9 * MEGABYTE] * 3
    assert [one.why for one in four.skipped] == ["all together are larger than 30 MB"]


def test_what_does_not_say_its_size_is_bounded_too(public: Town) -> None:
    """A body without a length ends where the limit is."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        thread = threading.Thread(target=_at_length, args=(server,), daemon=True)
        thread.start()
        url = public.repository.attach_file("a.log", b"x")
        public.hub.faults.add(
            Fault("GET", "/user-attachments/", Answer(302, headers={"Location": f"http://127.0.0.1:{port}/x"}))
        )
        with pytest.raises(TooLarge):
            public.fetch(url)
        thread.join(5)
        assert not thread.is_alive()


def _at_length(server: socket.socket) -> None:
    """Serves one connection until it hangs up, with 33 MB at most."""
    connection, _ = server.accept()
    with connection:
        connection.recv(65_536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        try:
            for _ in range(500):
                connection.sendall(b"x" * 65_536)
        except OSError:
            return


@pytest.mark.parametrize(
    ("location", "why"),
    [
        ("http://169.254.169.254/latest/meta-data", "keeps no attachments; not followed"),
        ("https://127.0.0.1:1/x", "keeps no attachments; not followed"),
        ("file:///etc/passwd", "keeps no attachments; not followed"),
        ("/login?return_to=x", "asks for a login"),
    ],
)
def test_a_redirect_to_elsewhere_is_not_followed(public: Town, location: str, why: str) -> None:
    """A redirect to another host, another scheme or a login page ends it, and the others are fetched."""
    urls = [public.repository.attach_file("a.log", b"hello"), public.repository.attach_file("b.log", b"hello")]
    public.hub.faults.add(Fault("GET", r"/a\.log", Answer(302, headers={"Location": location}), times=0))
    gathered = public.gather(" ".join(urls))
    assert [Path(given.path).name for given in gathered.given] == ["2-b.log"]
    assert [why in one.why for one in gathered.skipped] == [True]


def test_a_circle_ends(public: Town) -> None:
    """An attachment that is sent on to itself again and again is given up."""
    url = public.repository.attach_file("a.log", b"hello")
    public.hub.faults.add(Fault("GET", r"/a\.log", Answer(302, headers={"Location": url}), times=0))
    with pytest.raises(NotFetched, match="sent on and on"):
        public.fetch(url)


@pytest.mark.parametrize("kind", [Answer(502), Drop()])
def test_a_passing_fault_is_tried_once_more(public: Town, kind: Answer | Drop) -> None:
    """A server error and a dropped connection cost a second request, and a lasting one is told."""
    url = public.repository.attach_file("a.log", b"hello")
    public.hub.faults.add(Fault("GET", r"/a\.log", kind))
    assert public.fetch(url) == b"hello"
    public.hub.faults.add(Fault("GET", r"/a\.log", kind, times=0))
    with pytest.raises(NotFetched, match=r"GitHub answered 502|the connection failed"):
        public.fetch(url)


def test_a_slow_server_costs_the_time_for_attachments(public: Town) -> None:
    """A server that does not answer is given up when the time for attachments is over, and so is what comes after."""
    urls = [public.repository.attach_file("a.log", b"hello"), public.repository.attach_file("b.log", b"hello")]
    public.hub.faults.add(Fault("GET", r"/a\.log", Wait(), times=0))
    gathered = public.gather(" ".join(urls), seconds=1)
    assert gathered.given == ()
    assert [one.why for one in gathered.skipped] == ["its server was too slow", "the time for attachments was over"]


def test_an_expired_signature_is_refused(private: Town) -> None:
    """A signed address that is no longer good is a skipped attachment with its reason."""
    url = private.repository.attach_image(png())
    private.hub.faults.add(Fault("GET", r"jwt=", Answer(403)))
    gathered = private.gather(f"![x]({url})")
    assert [one.why for one in gathered.skipped] == ["GitHub answered 403"]
    assert gathered.notes() == ("1 attachment was not given to the Sessions: GitHub answered 403.",)


def test_a_stopped_run_fetches_no_further(public: Town) -> None:
    """Whoever stops the Run stops this too."""
    cancel = Cancel()
    url = public.repository.attach_file("a.log", b"hello")
    (address,) = plan([url], public.hosts).wanted
    source = public.source(1, [address], clock=Clock(SCALE, cancel))
    cancel.request()
    with pytest.raises(Cancelled):
        source.fetch(address, MEGABYTE, Clock.reaction("attachments", 240))


def test_one_that_is_fetched_is_not_fetched_again(public: Town) -> None:
    """Every Session of a job gets the same files, fetched once."""
    text = public.repository.attach_image(png())
    clock = Clock(SCALE)

    def source(number: int, addresses: Sequence[Address]) -> Fetch:
        return public.source(number, addresses).fetch

    gathering = Gathering(public.hosts, source, public.folder / "attachments", clock, public.said.append)
    first = gathering(1, [text])
    assert gathering(1, [text]) is first
    assert len(public.hub.store_requests) == 1


class NoToken:
    """A credential that has no token to give."""

    def current(self) -> str:
        """None."""
        raise RunFailed("token_expired", "the App is refused")

    def renew(self, refused: str) -> bool:
        """No."""
        return False

    def fall_back(self) -> None:
        """There is nothing to fall back to."""


def test_without_a_token_what_is_private_is_skipped(private: Town) -> None:
    """Where no token is to be had, an attachment is skipped with that reason: nothing is raised through the Run."""
    url = private.repository.attach_file("a.log", b"hello")
    (address,) = plan([url], private.hosts).wanted
    clock = Clock(SCALE)
    client = Client(private.hub.api_url, "acme/widget", NoToken(), clock, attempts=1)
    source = AttachmentSource(client, private.hosts, 1, [address], lambda: False)
    with pytest.raises(NotFetched, match="the App is refused"):
        source.fetch(address, MEGABYTE, Clock.reaction("attachments", 60))
