"""How much, and for how long, the forwarder puts up with."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Real seconds, bytes and counts. Nothing bounds how long an answer takes: the CLI has its own limits for that."""

    head_bytes: int = 64 * 1024
    """Of a request's or an answer's head."""
    held_bytes: int = 256 * 1024
    """What a client may send ahead of what can be passed on; more is left in its socket."""
    head_seconds: float = 30.0
    """From the connection, or from a later request's first byte, to the end of the request's head."""
    body_seconds: float = 120.0
    """Without one byte of a request's body moving."""
    connect_seconds: float = 30.0
    """Until the upstream is reached, by way of a proxy too."""
    linger_seconds: float = 20.0
    """For a client that reads nothing of the last answer, or does not hang up after it."""
    connections: int = 256
    """At once. When it is reached, the oldest one that has not shown the placeholder makes room."""
