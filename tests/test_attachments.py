"""What of an issue's text is an attachment, and what a fetched one is.

Field cases that this is about: text that people do not see (comments of HTML, images too small to be seen) steers
nobody; quoted text keeps its fence; an image's bytes that are none never reach the model as an image.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib

import pytest

from bot.attachments.content import KEPT, Unfit, examine, file_name
from bot.attachments.given import Attachments
from bot.attachments.hosts import Address, Hosts
from bot.attachments.plan import MOST, Skipped, plan

GITHUB = Hosts("https://github.com")
SERVER = Hosts("https://github.acme.example")
ONE = "880fbe21-506b-458b-8be6-71ac826d92f5"
TWO = "a0aceacf-8436-4c11-b291-f0fff3a115f2"
ASSET = f"https://github.com/user-attachments/assets/{ONE}"
LOG = "https://github.com/user-attachments/files/1/server.log"
IMAGE = Address(ASSET, is_image=True, key=ONE)


def png() -> bytes:
    """A whole image of one pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b"")


def zipped(*names: str) -> bytes:
    """A zip archive with files of these names."""
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return into.getvalue()


def file(name: str) -> Address:
    """A file of that name."""
    return Address(f"https://github.com/user-attachments/files/1/{name}", is_image=False, name=name)


def wanted(text: str, hosts: Hosts = GITHUB) -> list[str]:
    """The addresses that would be asked for."""
    return [address.url for address in plan([text], hosts).wanted]


@pytest.mark.parametrize(
    "text",
    [
        f"![Screenshot]({ASSET})",
        f'![Screenshot]({ASSET} "a title")',
        f'<img width="601" height="300" alt="Image" src="{ASSET}" />',
        f"See {ASSET}.",
        f"![a][shot]\n\n[shot]: {ASSET}",
        f"<details>\n\n![a]({ASSET})\n\n</details>",
    ],
)
def test_an_image_is_found_however_it_was_put_there(text: str) -> None:
    """Markdown, a tag, a bare address, a reference: each names the attachment."""
    assert wanted(text) == [ASSET]


@pytest.mark.parametrize(
    ("url", "hosts"),
    [
        ("https://github.com/acme/widget/assets/18/" + TWO, GITHUB),
        ("https://github.com/acme/widget/files/9/trace.txt", GITHUB),
        ("https://user-images.githubusercontent.com/18/92-7f480a78.png", GITHUB),
        (f"https://github.acme.example/storage/user/5/files/{TWO}", SERVER),
        (f"https://media.github.acme.example/user/5/files/{TWO}", SERVER),
        (f"https://github.acme.example/user-attachments/assets/{TWO}", SERVER),
    ],
)
def test_older_forms_and_other_servers(url: str, hosts: Hosts) -> None:
    """Addresses of earlier years, and those of an Enterprise server for that server, are attachments."""
    assert wanted(f"[x]({url})", hosts) == [url]


@pytest.mark.parametrize(
    "text",
    [
        f"<!-- ![x]({ASSET}) -->",
        f'<img width="1" height="1" src="{ASSET}">',
        f"[]({LOG})",
        f"https://github.com@evil.example/user-attachments/assets/{ONE}",
        f"https://github.com.evil.example/user-attachments/assets/{ONE}",
        f"https://evil.example/https://github.com/user-attachments/assets/{ONE}x",
        f"http://github.com/user-attachments/assets/{ONE}",
        f"https://github.com:8443/user-attachments/assets/{ONE}",
        "https://github.com/user-attachments/files/1/..",
        "https://github.com/user-attachments/files/1/a/../../../../settings",
        "https://github.com/user-attachments/assets/../../settings",
        "https://github.com/acme/widget/raw/main/logo.png",
        "https://raw.githubusercontent.com/acme/widget/main/logo.png",
        "http://169.254.169.254/latest/meta-data",
        f"https://github.acme.example/user-attachments/assets/{ONE}",
    ],
)
def test_nothing_else_is_asked_for(text: str) -> None:
    """What nobody sees, other hosts, and other pages of GitHub are no attachments."""
    assert wanted(text) == []


def test_an_image_elsewhere_is_named_as_skipped() -> None:
    """An image on another host is told as one that was not asked for; an ordinary link is not worth a word."""
    planned = plan([f"![x](https://elsewhere.example/a.png) [docs](https://docs.example) ![y]({ASSET})"], GITHUB)
    assert [one.url for one in planned.skipped] == ["https://elsewhere.example/a.png"]
    assert "not asked for" in planned.skipped[0].why
    assert [one.url for one in planned.wanted] == [ASSET]


def test_an_image_that_nobody_sees_is_named_as_skipped() -> None:
    """An image of one pixel is not fetched, and the Run says so."""
    planned = plan([f'<img width=1 src="{ASSET}">'], GITHUB)
    assert planned.skipped == (Skipped(ASSET, "nobody sees it on the page"),)


def test_a_thousand_links_are_bounded() -> None:
    """Of a thousand images twenty are fetched, each once, in the text's order; the others are counted."""
    urls = [f"https://github.com/user-attachments/assets/{number:08x}{ONE[8:]}" for number in range(1000)]
    planned = plan([" ".join(f"![x]({url})" for url in urls + urls)], GITHUB)
    assert [address.url for address in planned.wanted] == urls[:MOST]
    assert len(planned.skipped) == 1000 - MOST
    assert Attachments((), planned.skipped).notes() == (
        "980 attachments were not given to the Sessions: more than 20 attachments.",
    )


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("https://github-production-user-asset-6210df.s3.amazonaws.com/1/2.png?X-Amz-Signature=x", True),
        ("https://objects.githubusercontent.com/github-production-repository-file-5c1aeb/1", True),
        (f"https://private-user-images.githubusercontent.com/1/2-{ONE}.png?jwt=x", True),
        (f"{ASSET}?again=1", True),
        ("http://objects.githubusercontent.com/x", False),
        ("https://objects.githubusercontent.com:8443/x", False),
        ("https://github.com@169.254.169.254/x", False),
        ("http://169.254.169.254/latest", False),
        ("https://[::1]/x", False),
        ("https://my-own-bucket.s3.amazonaws.com/x", False),
        ("https://github.com/login?return_to=x", False),
        ("file:///etc/passwd", False),
    ],
)
def test_where_a_request_may_lead(url: str, *, allowed: bool) -> None:
    """Only to where GitHub keeps attachments, over https, at the usual port."""
    assert GITHUB.may_lead_to(url) is allowed


def test_a_server_leads_to_its_own_hosts_only() -> None:
    """An Enterprise server sends on to itself and to hosts below its name."""
    assert SERVER.may_lead_to("https://media.github.acme.example/user/5/files/x")
    assert not SERVER.may_lead_to("https://objects.githubusercontent.com/x")
    assert not SERVER.may_lead_to("https://evilgithub.acme.example/x")


def test_signed_addresses_are_those_of_the_approved_text() -> None:
    """Of a rendered page only the images that the approved text names are taken, and only from GitHub's own host."""
    there = "https://private-user-images.githubusercontent.com/1/2-"
    page = (
        f'<img src="{there}{ONE}.png?jwt=a&amp;b=1"><img src="{there}{TWO}.png?jwt=c">'
        f'<a href="https://evil.example/{ONE}.png?jwt=d">x</a>'
    )
    assert GITHUB.signed(page, [IMAGE]) == {ONE: f"{there}{ONE}.png?jwt=a&b=1"}
    assert GITHUB.signed(f'<img src="https://evil.example/{ONE}.png?jwt=d">', [IMAGE]) == {}


@pytest.mark.parametrize(
    ("data", "extension"),
    [
        (png(), ".png"),
        (b"\xff\xd8\xff\xe0" + bytes(200), ".jpg"),
        (b"GIF89a" + bytes(30), ".gif"),
        (b"RIFF\x20\0\0\0WEBPVP8 " + bytes(20), ".webp"),
    ],
)
def test_images_are_known_by_their_content(data: bytes, extension: str) -> None:
    """An image is what its first bytes say, whatever the address calls it."""
    content = examine(file("notes.txt"), data)
    assert (content.kind, content.extension, content.data) == ("image", extension, data)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"<!DOCTYPE html><html><script>alert(1)</script></html>", "no image but a page of HTML"),
        (b"\x89PNG\r\n\x1a\n<html>", "no image but something else"),
        (png()[:40], "no image but something else"),
        (b"\0\0\0\x20ftypisom" + bytes(50), "no image but a video"),
        (b"", "it is empty"),
    ],
)
def test_an_image_that_is_none_is_not_given(data: bytes, why: str) -> None:
    """A page of HTML, half an image or a video under an image's address reaches no Session."""
    with pytest.raises(Unfit, match=why):
        examine(IMAGE, data)


def test_an_svg_is_given_as_text() -> None:
    """An SVG image can hold scripts: it is given as the text that it is."""
    content = examine(IMAGE, b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>")
    assert (content.kind, content.extension) == ("text", ".svg.txt")


def test_a_text_keeps_what_shows() -> None:
    """A log is given as it is, but for characters that do not show; a text that calls itself an image is none."""
    content = examine(file("server.log"), "ok\u200b\U000e0041\n".encode())
    assert (content.extension, content.data) == (".log", b"ok\n")
    assert "do not show" in content.remark
    assert examine(file("x.png"), b"plain").extension == ".txt"
    assert examine(file("x.log"), "größer".encode("utf-16")).data == "größer".encode()


def test_a_long_log_is_cut_in_its_middle() -> None:
    """Of a long text its beginning and its end are given, and what is left out is said."""
    content = examine(file("server.log"), b"first\n" + "é".encode() * KEPT + b"last\n")
    assert content.data.startswith(b"first\n")
    assert content.data.endswith(b"last\n")
    assert len(content.data) < 2 * KEPT + 100
    assert b"bytes left out" in content.data
    assert "256 kB" in content.remark


def test_an_archive_is_listed_and_not_unpacked() -> None:
    """A zip archive's names are read from its directory, one line each, and the archive stays as it is."""
    data = zipped("a.log", "../../etc/passwd", "x\ny", *(f"{number}.log" for number in range(40)))
    content = examine(file("logs.zip"), data)
    assert (content.kind, content.extension, content.data) == ("archive", ".zip", data)
    assert content.remark.startswith("not unpacked; in it: a.log, ../../etc/passwd, x y, 0.log")
    assert content.remark.endswith("and 23 more")


def test_a_broken_archive_tells_no_names() -> None:
    """A directory that does not fit together ends the list, not the Run."""
    broken = b"PK\x03\x04" + b"PK\x05\x06" + b"\xff" * 18
    assert examine(file("a.zip"), broken).remark == "not unpacked; in it: no names that can be read"
    assert examine(file("a.log.gz"), b"\x1f\x8b\x08\x08" + bytes(6) + b"a.log\0" + bytes(9)).remark.endswith("a.log")


@pytest.mark.parametrize("name", ["report.pdf", "core", "tool.exe"])
def test_anything_else_is_skipped(name: str) -> None:
    """What is neither image nor text nor archive is not given, and the reason says what is."""
    with pytest.raises(Unfit, match="neither image nor text nor zip or gzip archive"):
        examine(file(name), b"\x7fELF\x02\xff\xfe\x00")


@pytest.mark.parametrize(
    ("address", "name"),
    [
        (IMAGE, "3-image.png"),
        (file("Screenshot%202026-01-01%20at%2010.01.png"), "3-screenshot-2026-01-01-at-10.01.png"),
        (file("..%2f..%2f.bashrc"), "3-file.png"),
        (file("..%2f..%2fetc%2fpasswd.png"), "3-etc-passwd.png"),
        (file("%2e%2e%2f"), "3-file.png"),
        (file("-rf.png"), "3-rf.png"),
        (file("x" * 250 + ".png"), f"3-{'x' * 40}.png"),
        (file("CON.png.html"), "3-con.png.png"),
    ],
)
def test_names_are_the_programs_own(address: Address, name: str) -> None:
    """A file's name is of harmless characters, begins with its number and ends as its content is."""
    assert file_name(3, address, examine(address, png())) == name
