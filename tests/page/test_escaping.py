"""A transcript is hostile input: whatever stands in it, or in the Record, is text on the page and nothing else."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.guard import Redactor
from bot.page.history import Fetched
from bot.page.logs import Logs
from bot.page.model import RepairTold, Told
from bot.page.render import run_html
from bot.page.texts import shown
from bot.page.writer import tell
from bot.record import PullRequest
from bot.request import Request, Wants
from tests.page.dom import parse
from tests.page.stage import ACTIONS, NOW, PREFIX, page, record, said, text, told, write_logs

PLAIN = "word"
HOSTILE = [
    '"><script>alert(1)</script>',
    "'><img src=x onerror=alert(1)>",
    "</pre></style></title></textarea><svg onload=alert(1)>",
    '" onmouseover="alert(1)" x="',
    "<!-- ]]> --!> <![CDATA[ <?php",
    "{{ 7 * 7 }}{% include 'run.css' %}{# no #}",
    "&lt;script&gt;&#60;b&#62;&quot;",
    "[now](javascript:alert(1)) ![x](https://evil.example/x.png) <https://evil.example>",
    "\x00<b>\x00</b>\x07\x08",
    "\x1b[31mred\x1b[0m\x1b]8;;https://evil.example\x07link\x1b]8;;\x07",
    "\u202egnp.exe\u2066 \u200b\u2060\U000e0041\ufeff",
    "<" * 300,
    "\ud800 half a pair",
    "a\u2028b\u0085c",
]
TAGS = {
    *("html", "head", "meta", "title", "style", "body", "header", "nav", "main", "section", "article", "footer"),
    *("h1", "h2", "h3", "h4", "p", "a", "b", "strong", "code", "span", "time", "pre", "div", "details", "summary"),
    *("ul", "ol", "li", "dl", "dt", "dd", "table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td"),
    *("svg", "rect"),
}


@pytest.mark.parametrize("strange", HOSTILE)
def test_markup_is_text(tmp_path: Path, strange: str) -> None:
    """With hostile text in every field the page has the very elements and attributes that it has with a plain word."""
    plain, hostile = (parse(page(tmp_path / name, words)) for name, words in (("plain", PLAIN), ("hostile", strange)))
    assert hostile.skeleton() == plain.skeleton()
    assert {element.tag for element in hostile.all()} <= TAGS


@pytest.mark.parametrize("strange", HOSTILE)
def test_requests_are_text(strange: str) -> None:
    """What somebody asked for by a comment adds no element to the page."""
    plain, hostile = (parse(asked_for(words)) for words in (PLAIN, strange))
    assert hostile.skeleton() == plain.skeleton()


def test_a_request_can_be_read() -> None:
    """What looks like markup in what somebody asked for is shown as it stands."""
    assert any(element.text == HOSTILE[0] for element in parse(asked_for(HOSTILE[0])).all("div"))


def asked_for(text: str) -> str:
    """The page of a Run with a Repair that was asked for with this text."""
    run = record(PLAIN)
    (repair,) = run.repairs
    request = Request(Wants.FIX, 77, text, text, text, text, text)
    asked = replace(run, repairs=(replace(repair, request=request),))
    return run_html(Told(asked, (), (RepairTold(asked.repairs[0], "", ""),)), NOW)


def test_markup_can_be_read(tmp_path: Path) -> None:
    """What looks like markup is shown as it stands, in what was said, given to tools and answered by them."""
    document = parse(page(tmp_path, HOSTILE[0]))
    blocks = [element.text for element in document.all("pre", "div") if element.text == HOSTILE[0]]
    assert len(blocks) > 10


def test_nothing_invisible_is_left(tmp_path: Path) -> None:
    """No control character, no terminal sequence, no mark that turns text round reaches the page."""
    whole = page(tmp_path, "a\x00b\x1b[31mc\u202ed\u2066e\u200bf\U000e0041g\x9bh")
    assert "abcdefgh" in whole
    assert [char for char in set(whole) if not (char.isprintable() or char == "\n")] == []


def test_only_web_addresses_are_linked(tmp_path: Path) -> None:
    """An address that a check, a job or a pull request has is a link only where it is one of the web's."""
    bad = [
        "javascript:alert(1)",
        'https://x.example/"onload=1',
        "data:text/html,x",
        "//x.example",
        "https://x.example/\u202e",
    ]
    run = record(PLAIN)
    assert run.ci is not None
    (check, _), (job, _) = run.ci.checks, run.jobs
    run = replace(
        run,
        ci=replace(run.ci, checks=tuple(replace(check, url=url) for url in bad)),
        jobs=tuple(replace(job, url=url) for url in bad),
        pull_request=PullRequest(12, bad[0], draft=False),
    )
    document = parse(run_html(Told(run, (), ()), NOW))
    assert {link.attributes["href"][0] for link in document.all("a")} == {"#"}
    linked = parse(page(tmp_path, PLAIN))
    assert {link.attributes["href"] for link in linked.all("a") if link.attributes["href"][0] != "#"} == {
        "https://github.example/acme/widget/pull/12",
        f"{ACTIONS}/4711",
        f"{ACTIONS}/4711/job/9",
    }


def test_the_page_may_load_and_run_nothing(tmp_path: Path) -> None:
    """Its policy forbids all but its own style sheet; it has no script, no inline style, and asks no other file."""
    document = parse(page(tmp_path, PLAIN))
    (policy,) = [one for one in document.all("meta") if one.attributes.get("http-equiv") == "Content-Security-Policy"]
    directives = dict(part.strip().split(" ", 1) for part in policy.attributes["content"].split(";"))
    assert directives["default-src"] == "'none'"
    assert re.fullmatch(r"'sha256-[A-Za-z0-9+/]{43}='", directives["style-src"])
    assert directives.keys() == {"default-src", "style-src", "base-uri", "form-action"}
    attributes = {name for element in document.all() for name in element.attributes}
    assert not {name for name in attributes if name.startswith("on") or name in ("style", "src", "srcset", "action")}
    (style,) = document.all("style")
    assert not re.search(r"url\(|@import", style.text)


def test_secrets_are_taken_out(tmp_path: Path) -> None:
    """A secret that is still in what is read is not on the page, even where a text is cut in it."""
    secret = "ghs_" + "S3cr3tS3cr3t" * 3
    strange = f"{'x' * 1456}{secret}{'y' * 4000}"
    redactor = Redactor([secret])
    logs = Logs(write_logs(tmp_path, strange), redactor.clean)
    whole = run_html(tell(record(strange), logs, Fetched()), NOW, redactor)
    assert "***" in whole
    assert secret[:10] not in whole


BROKEN = {
    "an empty line": b"",
    "noise": b"not JSON <b>",
    "a torn line": b'{"type": "assistant", "message": {"content": [',
    "no UTF-8": b"\xff\xfe\x00<b>",
    "another value": b"[1, 2]",
    "a number for blocks": b'{"type": "assistant", "message": {"content": 7}}',
    "other blocks": b'{"type": "assistant", "message": {"content": [7, null, {"type": 7, "text": {}}]}}',
    "another answer": b'{"type": "user", "message": {"content": [{"type": "tool_result", "content": 7}]}}',
    "another result": b'{"type": "result", "num_turns": "many", "errors": 7}',
    "a deep nest": b'{"type": "assistant", "message": ' + b"[" * 100_000 + b"}",
    "half a character": b'{"type": "assistant", "message": {"content": [{"type": "text", "text": "\\ud800"}]}}',
    "a huge line": b'{"type": "assistant", "message": {"content": [{"type": "text", "text": "'
    + b"<" * 9_000_000
    + b'"}]}}',
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_lines(tmp_path: Path, name: str) -> None:
    """A line that is no frame, or one of a shape that nobody has seen, costs nothing of what stands around it."""
    before, after = (json.dumps(said(text("text", text=words))).encode() for words in ("said before", "said after"))
    lines = [before, BROKEN[name], after, BROKEN[name]]
    (tmp_path / f"{PREFIX}-implement.jsonl").write_bytes(b"\n".join(lines))
    run = replace(record(PLAIN), sessions=record(PLAIN).sessions[:1])
    (session, *_) = parse(run_html(tell(run, Logs(tmp_path), Fetched()), NOW)).all("article")
    assert session.text.index("said before") < session.text.index("said after")
    assert "<<" not in session.text


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(title=st.text(min_size=1, max_size=280))
def test_any_text_comes_through(tmp_path: Path, title: str) -> None:
    """Whatever the title is, the page's heading reads as what shows of it."""
    run = record(PLAIN)
    document = parse(run_html(Told(replace(run, trigger=replace(run.trigger, title=title)), (), ()), NOW))
    (heading,) = document.all("h1")
    assert heading.text == shown(title)


def test_the_run_is_read_once(tmp_path: Path) -> None:
    """The page's Run has its Sessions in the order in which they ran, and then what left a transcript alone."""
    assert [session.name for session in told(tmp_path, PLAIN).sessions] == [
        *("implement", "implement-resume", "repair-1"),
        "repair-2",
    ]
