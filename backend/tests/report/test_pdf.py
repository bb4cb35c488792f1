"""Reports and comparisons as PDF."""

import re
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from normstat.comparison.model import Comparison
from normstat.errors import BadRequest
from normstat.report.block_html import render_document
from normstat.report.block_pdf import render_pdf
from normstat.report.blocks import (
    Block,
    BlockColumn,
    FigureBlock,
    PrintedBlock,
    ReportDocument,
    ReportSection,
    TableBlock,
    TextBlock,
    pack_blocks,
    unpack_blocks,
)
from normstat.report.comparison_blocks import comparison_blocks
from normstat.report.comparison_pdf import render_comparison_pdf
from normstat.report.markdown import safe_link, to_html
from normstat.report.pdf_fonts import printable, shorten_to, text_width
from normstat.report.report_page import Cover
from normstat.report.svg_canvas import read_path
from normstat.report.svg_subset import clean_svg
from tests.report.made import HOSTILE, comparison, group, story

COVER = Cover("CPU trouble", "", "root", datetime(2026, 11, 28, tzinfo=UTC), "http://127.0.0.1:8107/comparison?saved=1")


def pages_of(pdf: bytes) -> int:
    return len(re.findall(rb"/Type /Page\b", pdf))


def document(*blocks: Block, title: str = "Report") -> ReportDocument:
    return ReportDocument(title, [("Hosts", "web1")], [ReportSection("One", list(blocks))], {}, "root", "now", "", "")


def large() -> Comparison:
    groups = [group(rank, *map(str, range(rank % 5 + 1))) for rank in range(1, 300)]
    return comparison(*groups, stories=[story(rank, rank) for rank in range(1, 40)], notes=["a note " * 30] * 3)


@pytest.mark.parametrize(
    ("record", "note"),
    [
        (comparison(), ""),
        (comparison(group()), "short"),
        (large(), "long " * 2000),
        (comparison(group(1, HOSTILE, host=HOSTILE, sentence=HOSTILE * 20), hosts=[HOSTILE] * 40), HOSTILE),
    ],
)
def test_a_comparison_has_two_pages(record: Comparison, note: str) -> None:
    cover = Cover(COVER.title, note, COVER.made_by, COVER.made_at, COVER.address)
    assert pages_of(render_comparison_pdf(record, cover)) == 2


def test_the_pdf_carries_its_fonts_and_no_pictures_of_graphs() -> None:
    pdf = render_pdf(document(*comparison_blocks(large())))
    assert b"/FontFile2" in pdf
    assert b"/Subtype /Image" not in pdf
    # No code, no forms, nothing that opens by itself.
    assert not re.search(rb"/(JavaScript|JS|OpenAction|AA|Launch|EmbeddedFile)\b", pdf)


def test_blocks_come_back_as_they_were_frozen() -> None:
    blocks = comparison_blocks(large())
    assert unpack_blocks(pack_blocks(blocks)) == blocks
    with pytest.raises(BadRequest, match="newer normstat"):
        unpack_blocks(b'[{"kind": "hologram"}]')


def test_what_is_frozen_cannot_carry_scripts_either() -> None:
    # A bundle of somebody else may bring frozen notes.
    svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script><text>ok</text></svg>'
    page = render_document(document(FigureBlock(svg, HOSTILE), TextBlock(HOSTILE), PrintedBlock(HOSTILE)))
    assert "<script" not in page
    assert "<text>ok</text>" in page
    assert pages_of(render_pdf(document(FigureBlock(svg, HOSTILE), TextBlock(HOSTILE), PrintedBlock(HOSTILE)))) == 1


@given(st.text(max_size=300))
def test_any_markdown_is_safe_html_and_a_pdf(text: str) -> None:
    html = to_html(text)
    assert set(re.findall(r"<(\w+)", html)) <= {
        "p", "h3", "h4", "h5", "h6", "ul", "ol", "li", "em", "strong", "code", "pre", "blockquote", "hr", "br", "a", "del", "table",
        "thead", "tbody", "tr", "th", "td",
    }  # fmt: skip
    assert render_pdf(document(TextBlock(text), PrintedBlock(text), title=text or "x")).startswith(b"%PDF-")


@given(st.lists(st.lists(st.text(max_size=400), min_size=3, max_size=3), max_size=6))
@example([["", "", "o " * 2400]])
@example([["", "W" * 300, ""]])
def test_any_table_fits_a_page(rows: list[list[str]]) -> None:
    columns = [BlockColumn("a"), BlockColumn("b", is_number=True), BlockColumn("c")]
    assert render_pdf(document(TableBlock(columns, rows, "t", [0.5] * len(rows)))).startswith(b"%PDF-")


def test_a_table_of_a_hundred_columns_fits_a_page() -> None:
    columns = [BlockColumn(f"c{place}", is_number=place % 2 == 0) for place in range(100)]
    assert render_pdf(document(TableBlock(columns, [["1234"] * 100], "t"))).startswith(b"%PDF-")


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("https://example.org/a?b=1", True),
        ("http://x", True),
        ("/hosts/web1", True),
        ("#n1", True),
        ("javascript:alert(1)", False),
        (" JaVaScRiPt:alert(1)", False),
        ("//evil.example", False),
        ("/\\evil.example", False),
        ("data:text/html,x", False),
        ("vbscript:x", False),
        ("file:///etc/passwd", False),
    ],
)
def test_links_lead_to_the_web_or_into_normstat(address: str, kept: bool) -> None:
    assert (safe_link(address) is not None) == kept


@given(st.text(alphabet="MmLlHhVvCcSsQqTtAaZz0123456789.-e ,", max_size=80))
def test_any_path_is_drawn_or_left_out(text: str) -> None:
    path = read_path(text)
    assert path is None or all(abs(point) < 1e9 for point in path.points)


def test_svg_keeps_only_what_draws() -> None:
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" onload="x()" viewBox="0 0 9 9">'
        "<style>@import url(http://e.example)</style>"
        '<g style="fill:red;background:url(http://e.example/x);stroke:url(#a)"><use xlink:href="#b"/>'
        '<use xlink:href="http://e.example/x.svg#b"/>'
        '<path d="M0 0L9 9" fill="url(http://e.example)"/><animate attributeName="href" to="javascript:x"/></g></svg>'
    )
    clean = clean_svg(svg)
    assert "e.example" not in clean
    assert "onload" not in clean
    assert "animate" not in clean
    assert 'fill="red"' in clean
    assert 'stroke="url(#a)"' in clean
    for bad in ("<html/>", "no", "<svg", '<!DOCTYPE svg [<!ENTITY a "b">]><svg xmlns="http://www.w3.org/2000/svg">&a;</svg>'):
        with pytest.raises(BadRequest):
            clean_svg(bad)


def test_fonts_have_german_and_say_what_they_do_not_have() -> None:
    assert printable("Größe ÄÖÜ ß µs → ▲ ≤ –") == "Größe ÄÖÜ ß µs → ▲ ≤ –"
    assert printable("a\u30c6\u202e") == "a\\u30c6\\u202e"
    assert text_width(shorten_to("x" * 500, 100, 8), 8) <= 100
