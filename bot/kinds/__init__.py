"""The kinds of value a setting can have: each reads text, or a list or mapping of texts, and says what it allows.

A kind's `read` takes what the parser found (`str`, a tuple of `str`, or a mapping of `str` to `str`) and
returns the value or raises `ValueError` with what is wrong; `allowed` is the sentence after "give"; `schema` says it
to an editor. Nothing here is specific to one setting except by its arguments.
"""

from bot.kinds.base import Kind, Raw, Schema, shown
from bot.kinds.lists import NEVER_PASSED, REFUSED_FLAGS, Arguments, Commands, Names, Texts, Variables
from bot.kinds.places import Folder, RefPart
from bot.kinds.scalars import Choice, Decimal, Flag, PrivateKey, Switch, Text, Whole, is_on

__all__ = [
    "NEVER_PASSED",
    "REFUSED_FLAGS",
    "Arguments",
    "Choice",
    "Commands",
    "Decimal",
    "Flag",
    "Folder",
    "Kind",
    "Names",
    "PrivateKey",
    "Raw",
    "RefPart",
    "Schema",
    "Switch",
    "Text",
    "Texts",
    "Variables",
    "Whole",
    "is_on",
    "shown",
]
