"""The desks of `init`: a repository on an embedded GitHub with somebody's clone of it."""

from __future__ import annotations

from tests.init.conftest import desk, make_desk

__all__ = ["desk", "make_desk"]
