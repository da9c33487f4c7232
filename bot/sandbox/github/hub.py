"""The embedded GitHub as a service: start it, give it repositories, users and tokens, read the requests it got."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType

from bot.clock import Clock
from bot.sandbox.github import git_http, storage
from bot.sandbox.github.apps import SandboxApp
from bot.sandbox.github.ci_desk import CiDesk
from bot.sandbox.github.edge import HttpServer, Request
from bot.sandbox.github.faults import Faults
from bot.sandbox.github.http import Reply
from bot.sandbox.github.people import SandboxRepository
from bot.sandbox.github.rates import RATE_LIMIT, RateLimits
from bot.sandbox.github.server import Application
from bot.sandbox.github.state import LoggedRequest, TokenKind
from bot.sandbox.github.views import Site
from bot.sandbox.github.world import RUN_PERMISSIONS, Repository, World

SOMEBODY = "octo"  # who commits what a repository starts with


class EmbeddedGitHub:
    """A GitHub on loopback. A context manager: leaving it stops the servers and whatever CI still runs."""

    def __init__(
        self,
        directory: Path,
        *,
        ci: bool = True,
        prefix: str = "",
        rate_limit: int = RATE_LIMIT,
        rate_window: int = 3600,
        scale: float = 1.0,
    ) -> None:
        """`directory` is made when missing and holds the bare repositories and CI's checkouts. `prefix` is where REST
        paths start: "" as on github.com, "/api/v3" as on an Enterprise server. `rate_limit` is requests in
        `rate_window` planned seconds for each token, of which `scale` pass in a real one."""
        repositories = directory / "repositories"
        repositories.mkdir(parents=True, exist_ok=True)
        self._world = World(repositories, RateLimits(rate_limit, rate_window, scale))
        self._workroom = directory / "ci" if ci else None
        self._desks: list[CiDesk] = []
        self._main, self._storage = HttpServer(), HttpServer()
        self._site = Site(self._main.host, prefix, self._storage.host)
        self.server_url = self._site.host
        self.api_url = self._site.api
        self.faults = Faults()
        self._storage.serve(self._store)
        self._main.serve(Application(self._world, self._site, self.faults).answer)

    def __enter__(self) -> EmbeddedGitHub:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop serving, and end every job that still runs."""
        self.faults.close()
        self._main.close()
        self._storage.close()
        for desk in self._desks:
            desk.engine.close()

    def create_repository(
        self, full_name: str, files: Mapping[str, str], *, private: bool = False, default_branch: str = "main"
    ) -> SandboxRepository:
        """A repository with one commit of `files` on its default branch, which starts CI like any push. Raises
        `ValueError` for a bad name."""
        with self._world.lock:
            handle = SandboxRepository(self._opened(full_name, private, default_branch), self._site)
            handle.commit(default_branch, files, "Start", SOMEBODY)
            return handle

    def import_repository(self, full_name: str, source: Path, commit: str, default_branch: str) -> SandboxRepository:
        """A private repository whose default branch is `commit` of the repository in the folder `source`, with its
        history; nothing is written there, and no CI starts. Raises `ValueError` for a bad name, `GitError`.
        """
        with self._world.lock:
            repository = self._opened(full_name, True, default_branch)
            wanted = f"{commit}:refs/heads/{default_branch}"
            serve = "git -c uploadpack.allowAnySHA1InWant=true upload-pack"
            # What a partial clone lacks is not to be fetched into it.
            quietly = {"GIT_NO_LAZY_FETCH": "1"}
            repository.git.run("fetch", "--quiet", f"--upload-pack={serve}", str(source), wanted, env=quietly)
            return SandboxRepository(repository, self._site)

    def _opened(self, full_name: str, private: bool, default_branch: str) -> Repository:
        """A new repository without commits, with its CI."""
        repository = self._world.create_repository(full_name, private, default_branch)
        git_http.install_hook(repository.git.path)
        if self._workroom is not None:
            desk = CiDesk(repository, self._site, self._workroom / full_name.replace("/", "-"))
            repository.ci = desk
            self._desks.append(desk)
        return repository

    def ci_of(self, repository: SandboxRepository) -> CiDesk:
        """The CI of a repository. Raises `ValueError` where this GitHub has none."""
        for desk in self._desks:
            if desk.full_name == repository.full_name:
                return desk
        raise ValueError(f"{repository.full_name} has no CI: this embedded GitHub was made without")

    def add_user(self, login: str) -> None:
        """Make `login` known."""
        with self._world.lock:
            self._world.user(login)

    def issue_token(self, login: str, kind: TokenKind = "app", permissions: Mapping[str, str] | None = None) -> str:
        """A token for `login`; without `permissions` it may do all that a Run needs."""
        with self._world.lock:
            return self._world.issue_token(login, kind, permissions).secret

    def create_app(
        self,
        slug: str,
        public_key: str,
        *,
        token_seconds: float = 3600.0,
        permissions: Mapping[str, str] = RUN_PERMISSIONS,
    ) -> SandboxApp:
        """A GitHub App that signs with the key to `public_key` (PEM), not installed anywhere. Its tokens live for real
        `token_seconds`."""
        return SandboxApp(self._world, slug, public_key, permissions, token_seconds)

    def _store(self, asked: Request) -> Reply:
        """Answer and log one request to the host where logs and attachments are kept."""
        reply = self.faults.answer(asked, lambda: storage.answer(self._world, asked))
        with self._world.lock:
            carried = "authorization" in asked.headers
            self._world.store_requests.append(
                LoggedRequest(asked.method, asked.target, reply.status, "", counted=False, authorized=carried)
            )
        return reply

    def wait_until(self, seen: Callable[[], bool], timeout: float) -> bool:
        """Wait up to `timeout` real seconds until `seen()`, which is asked whenever something was recorded or
        answered; its last answer."""
        with self._world.changed:
            return self._world.changed.wait_for(seen, timeout)

    def idle(self, timeout: float) -> bool:
        """Wait up to `timeout` real seconds until no CI runs; whether that came."""
        limit = Clock.reaction("CI idle", timeout)
        return all(desk.engine.idle(limit.left()) for desk in list(self._desks))

    @property
    def requests(self) -> tuple[LoggedRequest, ...]:
        """Every request answered so far, in order."""
        with self._world.lock:
            return tuple(self._world.requests)

    @property
    def store_requests(self) -> tuple[LoggedRequest, ...]:
        """Every request so far to the host where logs and attachments are kept, in order."""
        with self._world.lock:
            return tuple(self._world.store_requests)
