"""The one gate between a stranger's text and the page: only characters that show, no secret, nothing that is markup.

Every value that a template puts into the page passes `Gate.finalize`, and then Jinja escapes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from bot.guard import Redactor, shorten, with_shape
from bot.guard.posting import plain_lines

if TYPE_CHECKING:
    from markupsafe import Markup

_LINK = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)")
_CODE = re.compile(r"`([^`]*)`")
_LONGEST = 50_000
"""Characters of any one value; most are bounded to far fewer before they come here."""
_ADDRESS = re.compile(r"https?://[^\s<>\"'`\\]{1,2000}")


def shown(text: str) -> str:
    """What shows of `text`: no terminal sequences, no control characters, nothing invisible or turning text round."""
    return with_shape(plain_lines(text))


class Gate:
    """What templates may put into a page."""

    def __init__(self, redactor: Redactor | None = None) -> None:
        """`redactor`: knows the secrets, where there are any to know."""
        self._clean: Callable[[str], str] = redactor.clean if redactor else str

    def finalize(self, value: object) -> object:
        """A value on its way into the page; it is escaped afterwards, unless it is markup that the program wrote."""
        if hasattr(value, "__html__"):
            return value
        return "" if value is None else shown(shorten(self._clean(str(value)), _LONGEST))

    def inline(self, text: str) -> Markup:
        """A sentence of Nightjar's own, in Markdown: code as code, links as their text, all else as it stands."""
        from markupsafe import Markup, escape

        text = shown(self._clean(_LINK.sub(r"\1", text).replace("\\|", "|")))
        pieces = _CODE.split(text)
        marked = [
            Markup("<code>{}</code>").format(piece) if at % 2 else escape(piece) for at, piece in enumerate(pieces)
        ]
        return Markup("").join(marked)

    def link(self, text: str, url: str) -> Markup:
        """A link to a web address; the text alone where `url` is none."""
        from markupsafe import Markup, escape

        label = shown(self._clean(text))
        if not _ADDRESS.fullmatch(url) or shown(url) != url:
            return escape(label)
        return Markup('<a href="{}" rel="noreferrer">{}</a>').format(self._clean(url), label)
