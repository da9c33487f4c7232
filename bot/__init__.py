"""Nightjar: label an issue, read a green pull request, or the reason why not, in the morning."""

from __future__ import annotations

__version__ = "0.1.0"
