"""A small GitHub on loopback: REST, the GraphQL that Nightjar needs, and git over smart HTTP, on bare
repositories."""

from __future__ import annotations

from bot.sandbox.ci import Annotation
from bot.sandbox.github.apps import SandboxApp
from bot.sandbox.github.faults import Act, Answer, Drop, Fault, Wait, secondary_limit
from bot.sandbox.github.hub import EmbeddedGitHub
from bot.sandbox.github.people import PullRequestView, SandboxRepository
from bot.sandbox.github.state import Comment, Issue, LoggedRequest, TimelineEvent
from bot.sandbox.github.world import Refused

__all__ = [
    "Act",
    "Annotation",
    "Answer",
    "Comment",
    "Drop",
    "EmbeddedGitHub",
    "Fault",
    "Issue",
    "LoggedRequest",
    "PullRequestView",
    "Refused",
    "SandboxApp",
    "SandboxRepository",
    "TimelineEvent",
    "Wait",
    "secondary_limit",
]
