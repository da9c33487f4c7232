"""A headless Chromium, where there is one: what it makes of a page, without a network and with a profile of its own."""

from __future__ import annotations

import shutil
import struct
import subprocess
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path

CHROMIUM = shutil.which("chromium")
WHY_NOT = "there is no `chromium` on this machine (Debian's package of that name)"
_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
_SCHEMES = {"dark": "0", "light": "1"}
SECONDS = 120


def dom_of(page: Path) -> str:
    """The document as Chromium has it once it is loaded, as HTML."""
    return _chromium(page, "--dump-dom")


def screenshot(page: Path, to: Path, *, theme: str, width: int = 1100, height: int = 1400) -> None:
    """A PNG of the page from its top, in the `light` or the `dark` theme; sizes in pixels."""
    scheme = f"--blink-settings=preferredColorScheme={_SCHEMES[theme]}"
    _chromium(page, f"--window-size={width},{height}", scheme, f"--screenshot={to}")


def _chromium(page: Path, *words: str) -> str:
    if CHROMIUM is None:
        raise FileNotFoundError(WHY_NOT)
    with tempfile.TemporaryDirectory(prefix="nightjar-chromium-") as profile:
        argv = [CHROMIUM, *_FLAGS, f"--user-data-dir={profile}", *words, page.absolute().as_uri()]
        done = subprocess.run(argv, capture_output=True, timeout=SECONDS, check=True)
    return done.stdout.decode("utf-8")


@dataclass(frozen=True, slots=True)
class Picture:
    """A PNG of 8 bits a channel, without interlacing, as Chromium writes it."""

    width: int
    height: int
    rows: tuple[bytes, ...]
    channels: int

    def at(self, x: int, y: int) -> str:
        """The colour of one pixel, as `#rrggbb`."""
        return "#" + self.rows[y][x * self.channels : x * self.channels + 3].hex()


def picture(path: Path, rows: int = 100_000) -> Picture:
    """The pixels of a PNG, of its first `rows`."""
    data, chunks = path.read_bytes()[8:], b""
    head = data[8:21]
    while data:
        (size,) = struct.unpack(">I", data[:4])
        chunks += data[8 : 8 + size] if data[4:8] == b"IDAT" else b""
        data = data[12 + size :]
    width, height, depth, colour = struct.unpack(">IIBB", head[:10])
    assert (depth, colour in (2, 6), head[12]) == (8, True, 0)
    channels = 4 if colour == 6 else 3
    return Picture(
        width,
        height,
        tuple(_rows(zlib.decompress(chunks)[: rows * (width * channels + 1)], width * channels, channels)),
        channels,
    )


def _rows(raw: bytes, length: int, step: int) -> list[bytes]:
    """Each row is stored as its difference from what is beside it, in one of five ways."""
    rows: list[bytes] = []
    above = bytes(length)
    for start in range(0, len(raw), length + 1):
        way, row = raw[start], bytearray(raw[start + 1 : start + 1 + length])
        for at in range(length):
            left = row[at - step] if at >= step else 0
            corner = above[at - step] if at >= step else 0
            row[at] = (
                row[at] + (0, left, above[at], (left + above[at]) // 2, _nearest(left, above[at], corner))[way]
            ) & 255
        above = bytes(row)
        rows.append(above)
    return rows


def _nearest(left: int, above: int, corner: int) -> int:
    guess = left + above - corner
    return min((left, above, corner), key=lambda one: abs(guess - one))
