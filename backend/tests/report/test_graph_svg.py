"""Graphs of series as SVG."""

import math
import re
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from normstat.report.graph_svg import MAX_LINES, GraphPicture, PictureLine, PictureMark, draw_graph, time_ticks, value_ticks
from tests.report.made import HOSTILE

SVG = "{http://www.w3.org/2000/svg}"


def picture(*lines: PictureLine, marks: tuple[PictureMark, ...] = (), start_ms: int = 0, end_ms: int = 60_000) -> GraphPicture:
    return GraphPicture("web1: vmstat_linux us", start_ms, end_ms, lines, marks)


def paths_of(svg: str) -> list[str]:
    root = ET.fromstring(svg)
    return [path.get("d", "") for path in root.iter(f"{SVG}path") if path.get("stroke-linecap") == "round"]


def texts_of(svg: str) -> list[str]:
    return [text.text or "" for text in ET.fromstring(svg).iter(f"{SVG}text")]


def test_a_gap_is_not_joined_and_a_single_sample_is_seen() -> None:
    line = PictureLine("us", "%", [0, 1000, 2000, 3000, 4000], [1.0, 2.0, None, 5.0, math.nan])
    [path] = paths_of(draw_graph(picture(line)))
    assert path.count("M") == 2
    assert path.endswith("h1.5")


def test_units_do_not_share_an_axis() -> None:
    svg = draw_graph(picture(PictureLine("us", "%", [0, 9000], [1, 2]), PictureLine("bi", "KiB/s", [0, 9000], [1e6, 2e6])))
    assert {"%", "KiB/s", "us", "bi", "2,000,000"} <= set(texts_of(svg))
    assert len(paths_of(svg)) == 2


def test_names_from_hosts_are_text() -> None:
    marks = (PictureMark("event", 1000, None, HOSTILE), PictureMark("incident", 2000, 9000, "incident"))
    svg = draw_graph(picture(PictureLine(HOSTILE, HOSTILE, [0, 1000], [1, 2]), marks=marks))
    assert not list(ET.fromstring(svg).iter("script"))
    assert "\u202e" not in svg
    assert "incident" in texts_of(svg)


def test_without_samples_it_says_so_and_too_many_lines_are_counted() -> None:
    assert "no samples in this window" in texts_of(draw_graph(picture(PictureLine("us", "%", [], []))))
    many = [PictureLine(f"cpu {n}", "%", [0, 1000], [n, n + 1]) for n in range(MAX_LINES + 3)]
    svg = draw_graph(picture(*many))
    assert len(paths_of(svg)) == MAX_LINES
    assert "3 more lines are not drawn" in texts_of(svg)


def test_times_are_full_steps_of_utc() -> None:
    assert [text for _, text in time_ticks(0, 3_600_000)] == ["00:00", "00:10", "00:20", "00:30", "00:40", "00:50", "01:00"]
    assert [text for _, text in time_ticks(86_400_000, 10 * 86_400_000)][:2] == ["1970-01-03", "1970-01-05"]
    assert [text for _, text in time_ticks(500, 8_500)] == [f"00:00:0{n}" for n in range(1, 9)]


@given(
    st.lists(st.floats(allow_nan=True, allow_infinity=True, width=64) | st.none(), max_size=30),
    st.integers(-(2**40), 2**41),
    st.integers(1, 2**36),
)
def test_any_values_give_a_finite_picture(values: list[float | None], start_ms: int, length_ms: int) -> None:
    times = [start_ms + place * length_ms // 30 for place in range(len(values))]
    svg = draw_graph(picture(PictureLine("x", "ms", times, values), start_ms=start_ms, end_ms=start_ms + length_ms))
    ET.fromstring(svg)
    assert not re.search(r'="[^"]*\b(nan|inf)\b', svg)


def test_the_largest_numbers_are_left_out() -> None:
    svg = draw_graph(picture(PictureLine("x", "ms", [0, 1000, 2000], [1.7e308, -1.7e308, 3.0])))
    assert not re.search(r'="[^"]*\b(nan|inf)\b', svg)


@given(st.floats(-1e300, 1e300), st.floats(1e-300, 1e300))
def test_ticks_are_few_and_inside(low: float, span: float) -> None:
    high = low + span
    ticks = value_ticks(low, high)
    assert len(ticks) <= 12
    assert all(low - 1e-6 * max(abs(low), span) <= tick <= high + 1e-6 * max(abs(high), span) for tick in ticks)
