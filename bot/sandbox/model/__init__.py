"""The scripted model: an Anthropic Messages API on loopback that plays a script to the real `claude` CLI.

`script` holds what a script is, `playback` decides who gets which item, `messages` knows the wire format and `server`
speaks HTTP.
"""

from __future__ import annotations

from bot.sandbox.model.messages import ModelRequest
from bot.sandbox.model.playback import OVERRUN_TEXT
from bot.sandbox.model.script import BadScript, Call, Conversation, Fault, Reply, Script
from bot.sandbox.model.server import ScriptedModel

__all__ = [
    "OVERRUN_TEXT",
    "BadScript",
    "Call",
    "Conversation",
    "Fault",
    "ModelRequest",
    "Reply",
    "Script",
    "ScriptedModel",
]
