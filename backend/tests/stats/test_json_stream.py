"""JSON token by token: the events tell all that is in a document, however its lines are broken and its pieces cut."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normstat.stats.engine.json_stream import MAX_DEPTH, MAX_ITEMS, MAX_TEXT, Broken, JsonStream, Node, to_node


class Events(JsonStream):
    """Writes down what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[object, ...]] = []

    def opened(self, node: Node) -> None:
        self.seen.append(("opened", node.name, node.is_list, len(self.nodes)))

    def closed(self, node: Node) -> None:
        self.seen.append(("closed", node.name, node.is_list, dict(node.texts), dict(node.numbers)))

    def told(self, node: Node, key: str) -> None:
        self.seen.append(("told", key, node.texts.get(key), node.numbers.get(key)))


def events_of(*lines: str) -> list[tuple[object, ...]]:
    events = Events()
    for number, line in enumerate(lines):
        events.feed(line, 100 * number)
    return events.seen


def test_a_document() -> None:
    seen = events_of('{"host": "web1", "n": 3, "list": [', '  {"a": 1.50, "b": null, "c": true}, {}', "]}")
    assert seen == [
        ("opened", "", False, 1),
        ("told", "host", "web1", None),
        ("told", "n", None, "3"),
        ("opened", "list", True, 2),
        ("opened", "list", False, 3),
        ("told", "a", None, "1.50"),
        ("told", "b", None, ""),
        # Neither a text nor a number.
        ("told", "c", None, None),
        ("closed", "list", False, {}, {"a": "1.50", "b": ""}),
        ("opened", "list", False, 3),
        ("closed", "list", False, {}, {}),
        ("closed", "list", True, {}, {}),
        ("closed", "", False, {"host": "web1"}, {"n": "3"}),
    ]


KEYS = st.text('abé "\\/{}[],:\t', max_size=4)
OBJECTS = st.recursive(
    st.dictionaries(KEYS, st.integers() | st.text('x"\\ü}', max_size=4), max_size=3),
    lambda children: st.dictionaries(KEYS, children | st.lists(children, max_size=3), max_size=3),
    max_leaves=8,
)


def told(document: dict[str, object]) -> list[tuple[str, str | None, str | None]]:
    """What must be told of an object, in its order."""
    found: list[tuple[str, str | None, str | None]] = []
    for key, value in document.items():
        if isinstance(value, dict):
            found += told(value)
        elif isinstance(value, list):
            found += [item for child in value for item in told(child)]
        else:
            found.append((key, value, None) if isinstance(value, str) else (key, None, str(value)))
    return found


@given(OBJECTS, st.sampled_from([None, 0, 1]), st.booleans())
def test_all_is_told_however_the_lines_are_broken(document: dict[str, object], indent: int | None, is_ascii: bool) -> None:
    lines = json.dumps(document, indent=indent, ensure_ascii=is_ascii).split("\n")
    seen = events_of(*lines)
    assert [event[1:] for event in seen if event[0] == "told"] == told(document)
    assert [event[0] for event in seen].count("opened") == [event[0] for event in seen].count("closed")


@given(OBJECTS, st.data())
def test_the_state_between_two_lines_is_all_that_must_be_known(document: dict[str, object], data: st.DataObject) -> None:
    lines = json.dumps(document, indent=0, separators=(",", "\n:\n")).split("\n")
    cut = data.draw(st.integers(0, len(lines)))
    first, second = Events(), Events()
    for line in lines[:cut]:
        first.feed(line, 7)
    second.nodes = [to_node(json.loads(json.dumps(node.to_state()))) for node in first.nodes]
    assert [node.offset for node in second.nodes] == [7] * len(first.nodes)
    for line in lines[cut:]:
        second.feed(line, 9)
    assert first.seen + second.seen == events_of(*lines)
    assert second.nodes == []


@pytest.mark.parametrize("item", [None, [], 7, ["x"] * 3])
def test_a_state_that_is_none_is_an_empty_object(item: object) -> None:
    assert to_node(item) == Node(is_list=False, name="", offset=0)


@pytest.mark.parametrize(
    "text",
    [
        "7", "{7", "{{", '{"a" 7', '{"a" "b"', '{"a": :', "{:", '{"a":}', '{"a",', "[}", "{]", '{"a": [}', '{"a": 1 "b": "',
        '{"a": "b', '{"a": {"b"}}', '{"a": 1 2', '{"a"{',
    ],
)  # fmt: skip
def test_what_cannot_be_json_is_broken(text: str) -> None:
    with pytest.raises(Broken):
        events_of(text)


@pytest.mark.parametrize("text", ['{"a": 1,}', '{"a": [{"b": 2},]}', '{"a": 1 "b": 2}', "[{} {}]", "[1, [2], true]"])
def test_commas_of_tools_that_were_stopped_do_no_harm(text: str) -> None:
    seen = events_of(text)
    assert seen[-1][0] == "closed"


def test_what_is_left_of_an_object_is_read_to_its_end() -> None:
    """After a gap the stream goes on in the middle."""
    assert events_of('"b": 2}', '{"c": 3}') == [
        ("told", "b", None, "2"),
        ("closed", "", False, {}, {"b": "2"}),
        ("opened", "", False, 1),
        ("told", "c", None, "3"),
        ("closed", "", False, {}, {"c": "3"}),
    ]


def test_a_lone_backslash_stands_as_it_is() -> None:
    assert events_of(r'{"disk": "C:\windows", "tab": "a\tb"}')[1:3] == [
        ("told", "disk", r"C:\windows", None),
        ("told", "tab", "a\tb", None),
    ]


def test_a_state_has_an_end() -> None:
    with pytest.raises(Broken):
        events_of("[" * (MAX_DEPTH + 1))
    assert len(events_of("[" * MAX_DEPTH)) == MAX_DEPTH
    with pytest.raises(Broken):
        events_of("{" + ",".join(f'"{number}": 1' for number in range(MAX_ITEMS + 1)))
    long = "x" * (MAX_TEXT + 1)
    assert events_of(f'{{"a": "{long}"')[1] == ("told", "a", "x" * MAX_TEXT, None)
