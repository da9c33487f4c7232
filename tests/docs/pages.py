"""The pages that people read, and the blocks of code in them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = (*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md")))
_BLOCK = re.compile(r"^(?P<indent> *)```(?P<language>\w+)\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)
_SENTENCE = re.compile(r"`(?P<command>(?:\w+=\S+ )?nightjar (?P<name>[a-z-]+)(?P<rest>[^`]*))`")
_LEFT_OUT = "…"


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: where its text begins, and what it is written in."""

    page: Path
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        """`README.md:12`."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def commands(self) -> tuple[str, ...]:
        """What somebody types: each line of `sh`, and of `console` those behind a prompt; without remarks."""
        lines = self.text.replace("\\\n", "").splitlines()
        if self.language == "console":
            lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        return tuple(typed for line in lines if (typed := re.sub(r"(^|\s+)# .*", "", line).strip()))

    @property
    def printed(self) -> tuple[str, ...]:
        """Lines that a `console` block shows as printed, without those that stand for others."""
        if self.language != "console":
            return ()
        return tuple(line for line in self.text.splitlines() if line.strip(_LEFT_OUT) and not line.startswith("$ "))


def blocks(page: Path, *languages: str) -> Iterator[Block]:
    """The page's blocks in these languages, from the top."""
    text = page.read_text(encoding="utf-8")
    for found in _BLOCK.finditer(text):
        if found["language"] in languages:
            line = text.count("\n", 0, found.start("text")) + 1
            yield Block(page, line, found["language"], textwrap.dedent(found["text"]))


@dataclass(frozen=True, slots=True)
class Mention:
    """A `nightjar …` in a sentence."""

    page: Path
    line: int
    command: str
    name: str
    rest: str
    """Arguments; without any, the sentence speaks of the command and shows no call."""

    @property
    def place(self) -> str:
        """`README.md:12`."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def mentions(page: Path) -> Iterator[Mention]:
    """The page's commands that stand in sentences, from the top."""
    text = page.read_text(encoding="utf-8")
    for found in _SENTENCE.finditer(text):
        yield Mention(page, text.count("\n", 0, found.start()) + 1, found["command"], found["name"], found["rest"])


def shell_blocks(page: Path) -> tuple[Block, ...]:
    """What somebody types, page by page."""
    return tuple(blocks(page, "sh", "console"))
