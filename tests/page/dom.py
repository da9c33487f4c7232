"""A page's DOM, as a browser would have it for well-formed HTML: elements with attributes, text and children."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset({"meta", "link", "br", "img", "input", "hr", "rect"})


@dataclass
class Element:
    """One element; `attributes` in the order in which they stand."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Element | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text in it."""
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def all(self, *tags: str) -> Iterator[Element]:
        """Every element below it with one of these tags (any, without), in the order of the document."""
        for child in self.children:
            if isinstance(child, Element):
                if not tags or child.tag in tags:
                    yield child
                yield from child.all(*tags)

    def by_id(self, name: str) -> Element:
        """The one element with that id."""
        (found,) = [element for element in self.all() if element.attributes.get("id") == name]
        return found

    def skeleton(self) -> list[tuple[str, tuple[str, ...]]]:
        """Tags and names of attributes, in the order of the document."""
        return [(element.tag, tuple(element.attributes)) for element in self.all()]


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("#document")
        self.stack = [self.root]
        self.comments: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice: {names}"
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.stack[-1].children.append(element)
        if tag not in VOID:
            self.stack.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in VOID, f"<{tag}/> is no void element"
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.stack[-1].tag == tag, f"</{tag}> where <{self.stack[-1].tag}> is open"
        self.stack.pop()

    def handle_data(self, data: str) -> None:
        self.stack[-1].children.append(data)

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)


def parse(page: str) -> Element:
    """The document. Fails for a page in which an element is not closed, or that holds a comment."""
    parser = _Parser()
    parser.feed(page)
    parser.close()
    assert parser.stack == [parser.root], f"<{parser.stack[-1].tag}> is not closed"
    assert parser.comments == []
    return parser.root
