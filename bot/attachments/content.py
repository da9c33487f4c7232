"""What an attachment is by its content, whatever its address says, and what of it a Session gets. Pure.

Nothing is unpacked: an archive is given as it is, and the names in it are read from its directory.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from bot import guard
from bot.attachments.hosts import Address

MEGABYTE = 1_000_000
LARGEST = 10 * MEGABYTE
"""Bytes of one file."""
TOGETHER = 30 * MEGABYTE
"""Bytes of all files of a Run."""
KEPT = 256_000
"""Bytes of a longer text that are kept of its beginning, and as many of its end."""
_NAMES = 20
_NAME_CHARACTERS = 100
_WORDS = 40
_UNWANTED = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9._-]+")
_EXTENSION = re.compile(r"\.[a-z0-9]{1,8}")
_NO_TEXT = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf", ".ipynb", ".zip", ".gz"})
"""Extensions under which `claude` reads no text, whatever a file holds."""
_END_OF_DIRECTORY, _ENTRY = b"PK\x05\x06", b"PK\x01\x02"
_KNOWN = (
    (b"%PDF-", "a PDF"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"\x1a\x45\xdf\xa3", "a video"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!", "a RAR archive"),
    (b"SQLite format 3", "a database"),
)


class Unfit(Exception):
    """A Session does not get it; the text says why."""


@dataclass(frozen=True, slots=True)
class Content:
    """What a Session gets."""

    kind: str
    """`image`, `text` or `archive`."""
    extension: str
    """With its dot."""
    data: bytes
    remark: str = ""
    """What is to be said of it beside its size, from a stranger where it is an archive's names."""


def examine(address: Address, data: bytes) -> Content:
    """What `data`, fetched from `address`, is. Raises `Unfit`."""
    if not data:
        raise Unfit("it is empty")
    if extension := _image(data):
        return Content("image", extension, data)
    text = _text(data)
    if address.is_image:
        if text is not None and "<svg" in text[:4000].lower() and "<html" not in text[:4000].lower():
            return _of_text(text, ".svg.txt", "an SVG image, as the text that it is")
        raise Unfit(f"its content is no image but {_said(data, text)}")
    if data.startswith((b"PK\x03\x04", _END_OF_DIRECTORY)):
        return Content("archive", ".zip", data, f"not unpacked; in it: {_listed(_names_of_zip(data))}")
    if data.startswith(b"\x1f\x8b\x08"):
        tar = re.search(r"\.(?:tar\.gz|tgz)$", address.name, re.IGNORECASE)
        name = _name_of_gzip(data)
        remark = f"not unpacked; in it: {_listed(iter([name]))}" if name else "not unpacked"
        return Content("archive", ".tar.gz" if tar else ".gz", data, remark)
    if text is None:
        raise Unfit(f"neither image nor text nor zip or gzip archive: {_said(data, text)}")
    return _of_text(text, _extension_of(address.name), "")


def _extension_of(name: str) -> str:
    """The one under which a text is given: what has it read as something else is not kept."""
    extension = f".{name.lower().rpartition('.')[2]}"
    if extension == ".svg":
        return ".svg.txt"
    return extension if _EXTENSION.fullmatch(extension) and extension not in _NO_TEXT else ".txt"


def file_name(number: int, address: Address, content: Content) -> str:
    """The name that the program gives it: of letters, digits, `.`, `_` and `-`, and no longer than 60 characters."""
    name = _UNWANTED.sub("-", address.name)
    known = name.lower().endswith(content.extension)
    stem = name[: -len(content.extension)] if known else (name.rpartition(".")[0] or name)
    words = re.sub(r"[-.]{2,}", "-", stem).strip("-._").lower()[:_WORDS].strip("-._")
    return f"{number}-{words or ('image' if address.is_image else 'file')}{content.extension}"


def _image(data: bytes) -> str:
    """The extension of an image that `claude` reads, "" for anything else."""
    if data.startswith(b"\x89PNG\r\n\x1a\n") and data[12:16] == b"IHDR" and b"IEND" in data[-64:]:
        return ".png"
    if data.startswith(b"\xff\xd8\xff") and len(data) > 100:
        return ".jpg"
    if data.startswith((b"GIF87a", b"GIF89a")) and len(data) > 20:
        return ".gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP" and len(data) > 20:
        return ".webp"
    return ""


def _text(data: bytes) -> str | None:
    """`data` read as text; None where it is none."""
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _of_text(text: str, extension: str, remark: str) -> Content:
    remarks = [remark] if remark else []
    data = text.encode()
    if len(data) > 2 * KEPT:
        left_out = len(data) - 2 * KEPT
        first, last = data[:KEPT].decode(errors="ignore"), data[-KEPT:].decode(errors="ignore")
        text = f"{first}\n[… {left_out} bytes left out …]\n{last}"
        remarks.append(f"its first and last {KEPT // 1000} kB: {left_out} bytes between them are left out")
    shaped = guard.with_shape(text)
    if len(shaped) != len(text):
        remarks.append("characters that do not show were taken out")
    return Content("text", extension, shaped.encode(), "; ".join(remarks))


def _said(data: bytes, text: str | None) -> str:
    """In a few words, what it is."""
    if text is not None:
        return "a page of HTML" if re.match(r"\s*<(?:!doctype html|html)", text, re.IGNORECASE) else "text"
    if data[4:8] == b"ftyp":
        return "a video"
    return next((said for start, said in _KNOWN if data.startswith(start)), "something else")


def _names_of_zip(data: bytes) -> Iterator[str]:
    """The names in a zip archive's directory; nothing is inflated, and what does not fit together ends it."""
    end = data.rfind(_END_OF_DIRECTORY, max(0, len(data) - 65_600))
    if end < 0 or end + 22 > len(data):
        return
    (at,) = struct.unpack_from("<I", data, end + 16)
    while at + 46 <= end and data[at : at + 4] == _ENTRY:
        name, extra, comment = struct.unpack_from("<HHH", data, at + 28)
        yield data[at + 46 : at + 46 + name].decode("utf-8", "replace")
        at += 46 + name + extra + comment


def _name_of_gzip(data: bytes) -> str:
    """The name that a gzip file's header tells, or ""."""
    if len(data) < 12 or not data[3] & 0x08 or data[3] & 0x04:
        return ""
    return data[10:].split(b"\0", 1)[0][:_NAME_CHARACTERS].decode("latin-1")


def _listed(names: Iterator[str]) -> str:
    """The first names, each in one line and bounded, and how many more there are."""
    shown: list[str] = []
    more = 0
    for name in names:
        if len(shown) < _NAMES:
            shown.append(" ".join(guard.visible(name).split())[:_NAME_CHARACTERS])
        else:
            more += 1
    text = ", ".join(shown) or "no names that can be read"
    return f"{text} and {more} more" if more else text
