"""Read JSON token by token, independent of lines: keeps open nodes between two pieces of a stream, reports complete ones.

No token of JSON holds a newline, so that lines can be broken anywhere between two. Only what the tools need is kept: for each open
object its texts and its numbers; lists of bare values are passed over.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Final

TOKEN: Final = re.compile(r'[ \t]*(?:("(?:[^"\\]|\\.)*")|([{}\[\]:,])|([^\s{}\[\]:,"]+))')
# Limits of the state; a stream beyond them is not from a stat tool.
MAX_DEPTH: Final = 32
MAX_ITEMS: Final = 10_000
MAX_TEXT: Final = 2000
BROKEN: Final = "broken JSON"


class Broken(Exception):
    """A token in an invalid place."""


@dataclass(slots=True)
class Node:
    """An object or a list.

    `name` is its key, or that of the list it is in; `offset` that of its first line; `key` the key whose value comes next.
    """

    is_list: bool
    name: str
    offset: int
    key: str | None = None
    has_colon: bool = False
    texts: dict[str, str] = field(default_factory=dict)
    numbers: dict[str, str] = field(default_factory=dict)

    def to_state(self) -> list[object]:
        """Return the state as JSON values."""
        return [
            self.is_list, self.name, self.offset, self.key, self.has_colon, list(self.texts.items()), list(self.numbers.items()),
        ]  # fmt: skip


def to_node(item: object) -> Node:
    """Return the node that to_state gave."""
    if not isinstance(item, list) or len(item) != 7:
        return Node(is_list=False, name="", offset=0)
    is_list, name, offset, key, has_colon, texts, numbers = item
    return Node(
        is_list is True, str(name), int(offset), None if key is None else str(key), has_colon is True, dict(texts), dict(numbers)
    )


class JsonStream:
    """The open objects and lists, outermost first. Readers derive from it and handle the events."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []

    def opened(self, node: Node) -> None:
        """Handle the start of an object or a list; it is the last of `nodes`."""

    def closed(self, node: Node) -> None:
        """Handle the end of an object or a list; it is no longer one of `nodes`."""

    def told(self, node: Node, key: str) -> None:
        """Handle a value of an open object."""

    def feed(self, text: str, offset: int) -> None:
        """Take the tokens of a line. Raises: Broken."""
        at = 0
        while at < len(text):
            found = TOKEN.match(text, at)
            if found is None:
                if text[at:].strip():
                    raise Broken(BROKEN)
                return
            at = found.end()
            string, mark, word = found.groups()
            if mark is not None:
                self._take_mark(mark, offset)
            else:
                if not self.nodes and string is not None:
                    # The rest of an object whose beginning was not seen.
                    self.nodes.append(Node(is_list=False, name="", offset=offset))
                self._take_value(_text(string) if string is not None else word, is_text=string is not None)

    def _take_mark(self, mark: str, offset: int) -> None:
        node = self.nodes[-1] if self.nodes else None
        awaits_value = node is None or node.is_list or node.has_colon
        if mark in "{[":
            if not awaits_value or len(self.nodes) >= MAX_DEPTH:
                raise Broken(BROKEN)
            name = "" if node is None else node.name if node.is_list else node.key or ""
            if node is not None:
                node.key, node.has_colon = None, False
            self.nodes.append(Node(is_list=mark == "[", name=name, offset=offset))
            self.opened(self.nodes[-1])
        elif mark == ":":
            if node is None or node.key is None or node.has_colon:
                raise Broken(BROKEN)
            node.has_colon = True
        elif node is not None:
            # A stopped tool leaves a comma before a bracket, or none between two reports.
            if node.key is not None or (mark != "," and node.is_list != (mark == "]")):
                raise Broken(BROKEN)
            if mark != ",":
                self.closed(self.nodes.pop())

    def _take_value(self, value: str, *, is_text: bool) -> None:
        node = self.nodes[-1] if self.nodes else None
        if node is None:
            raise Broken(BROKEN)
        if node.is_list:
            return
        if node.key is None:
            if not is_text:
                raise Broken(BROKEN)
            node.key = value[:MAX_TEXT]
            return
        if not node.has_colon or len(node.texts) + len(node.numbers) >= MAX_ITEMS:
            raise Broken(BROKEN)
        key, node.key, node.has_colon = node.key, None, False
        if is_text:
            node.texts[key] = value[:MAX_TEXT]
        elif value not in ("true", "false"):
            node.numbers[key] = "" if value == "null" else value[:MAX_TEXT]
        self.told(node, key)


def _text(string: str) -> str:
    """Return the value of a JSON string; one that is not quite JSON (a lone backslash in a name) is taken literally."""
    if "\\" not in string:
        return string[1:-1]
    try:
        return str(json.loads(string))
    except ValueError:
        return string[1:-1]
