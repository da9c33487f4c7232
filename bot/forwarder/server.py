"""The forwarder as the program starts it: a port of 127.0.0.1 and one thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self

from bot.forwarder.connection import Client, Shared
from bot.forwarder.credential import Credential, Swap, new_placeholder
from bot.forwarder.gate import Gate
from bot.forwarder.limits import Limits
from bot.forwarder.upstream import Upstream, no_proxy

_BACKLOG = 256
"""Connections that the kernel holds until they are taken: a full list would cost a client a second."""


class Forwarder:
    """Passes one Run's requests on to the model's API; a context manager, or `start` and `close`.

    It is a thread of the calling process on purpose: the credential stays in one address space, which nobody can read
    as long as that process is not dumpable, and there is no second process that a Session could kill or that could be
    left behind.
    """

    def __init__(
        self,
        *,
        upstream: Upstream,
        credential: Credential,
        environ: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        tell: Callable[[str], object] = lambda _: None,
    ) -> None:
        """`environ`: the job's variables, for what it has in `NO_PROXY`. `tell` takes lines for the job log, from the
        forwarder's thread. Raises `BadUpstream`.
        """
        self._no_proxy = no_proxy(environ or {})
        self._variable = credential.variable
        self._placeholder = new_placeholder(credential)
        self._shared = Shared(
            gate=Gate(Swap(self._placeholder, credential), upstream.authority, upstream.prefix),
            upstream=upstream,
            trust=upstream.trust(),
            limits=limits or Limits(),
            tell=tell,
        )
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._port = 0

    def start(self) -> Self:
        """Listen on a free port of 127.0.0.1, once. Raises `OSError` if there is none."""
        if self._loop is not None:
            raise RuntimeError("a forwarder is started once; make another one")
        loop = self._loop = asyncio.new_event_loop()
        loop.set_exception_handler(self._tell_of_an_error)
        try:
            listening = loop.create_server(lambda: Client(self._shared), "127.0.0.1", 0, backlog=_BACKLOG)
            server = loop.run_until_complete(listening)
        except OSError:
            loop.close()
            raise
        self._port = server.sockets[0].getsockname()[1]
        self._thread = threading.Thread(target=self._serve, args=(loop, server), name="forwarder", daemon=True)
        self._thread.start()
        return self

    def close(self) -> None:
        """Break off every connection, and end the thread. Closing twice does nothing."""
        if self._loop is None or self._thread is None:
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._thread = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def environment(self) -> Mapping[str, str]:
        """What a Session has to be given: the address, the placeholder, and no proxy on the way to the address (the CLI
        sends requests to 127.0.0.1 to the job's proxy otherwise: measured with 2.1.332). Raises `RuntimeError` before
        `start`.
        """
        if not self._port:
            raise RuntimeError("the forwarder has no address before it is started")
        around = ",".join(part for part in (self._no_proxy, "127.0.0.1") if part)
        return {
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{self._port}",
            self._variable: self._placeholder,
            "NO_PROXY": around,
            "no_proxy": around,
        }

    def _serve(self, loop: asyncio.AbstractEventLoop, server: asyncio.Server) -> None:
        try:
            loop.run_forever()
            server.close()
            loop.run_until_complete(self._drop_all())
        finally:
            loop.close()

    async def _drop_all(self) -> None:
        while self._shared.open:
            for client in tuple(self._shared.open):
                client.drop()
            await asyncio.sleep(0)
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)  # for the ends of the upstream connections

    def _tell_of_an_error(self, _loop: asyncio.AbstractEventLoop, context: Mapping[str, object]) -> None:
        """Say that something broke, without what it broke on: that could hold the credential."""
        self._shared.tell(f"forwarder: {type(context.get('exception')).__name__} broke one connection off")
