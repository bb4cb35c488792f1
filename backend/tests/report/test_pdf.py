"""Reports and comparisons as PDF."""

import io
import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from PIL import Image
from pypdf import PdfReader
from pypdf.generic import DictionaryObject

from normstat.comparison.model import Comparison
from normstat.errors import BadRequest, TooLarge
from normstat.report import typesetting
from normstat.report.block_html import render_document
from normstat.report.blocks import (
    Block,
    BlockColumn,
    FigureBlock,
    ImageBlock,
    PrintedBlock,
    ReportDocument,
    ReportSection,
    StoredFile,
    TableBlock,
    TextBlock,
    pack_blocks,
    unpack_blocks,
)
from normstat.report.comparison_blocks import comparison_blocks
from normstat.report.markdown import safe_link, to_html
from normstat.report.pdf import render_comparison_pdf, render_pdf
from normstat.report.report_page import Cover
from normstat.report.svg_subset import clean_svg
from normstat.report.typesetting import printable
from tests.report.made import HOSTILE, comparison, group, story

COVER = Cover("CPU trouble", "", "root", datetime(2026, 11, 28, tzinfo=UTC), "http://127.0.0.1:8107/comparison?saved=1")


def read_pdf(pdf: bytes) -> PdfReader:
    return PdfReader(io.BytesIO(pdf))


def text_of(pdf: bytes) -> str:
    """Return the text of all pages, each run of blanks as one."""
    return " ".join(" ".join(page.extract_text() for page in read_pdf(pdf).pages).split())


def document(*blocks: Block, title: str = "Report") -> ReportDocument:
    return ReportDocument(title, [("Hosts", "web1")], [ReportSection("One", list(blocks))], {}, "root", "now", "", "")


def large() -> Comparison:
    groups = [group(rank, *map(str, range(rank % 5 + 1))) for rank in range(1, 300)]
    return comparison(*groups, stories=[story(rank, rank) for rank in range(1, 40)], notes=["a note " * 30] * 3)


def test_a_comparison_is_a_report_with_one_note() -> None:
    cover = Cover(COVER.title, "seen by ann", COVER.made_by, COVER.made_at, COVER.address)
    text = text_of(render_comparison_pdf(large(), cover))
    places = [text.index(part) for part in ("CPU trouble", "seen by ann", "story 1:", "Baseline", "1. Disk I/O", "5. Disk I/O")]
    assert places == sorted(places)
    assert "34 more stories in the comparison on the page." in text
    assert "259 more groups on the page and in comparison.csv." in text


@pytest.mark.parametrize("note", ["", "long " * 2000, HOSTILE])
def test_a_hostile_comparison_is_text(note: str) -> None:
    record = comparison(group(1, HOSTILE, host=HOSTILE, sentence=HOSTILE * 20), hosts=[HOSTILE] * 40)
    text = text_of(render_comparison_pdf(record, replace(COVER, note=note)))
    assert "<script>alert(1)</script>" in text
    assert "\\u202e\\x1b[31m" in text


def test_the_pdf_carries_its_fonts_and_no_pictures_of_graphs() -> None:
    reader = read_pdf(render_pdf(document(*comparison_blocks(large()))))
    size = reader.trailer["/Size"]
    assert isinstance(size, int)
    objects = [each for n in range(1, size) if isinstance(each := reader.get_object(n), DictionaryObject)]
    keys = {key for each in objects for key in each}
    fonts = {str(each["/BaseFont"]).split("+")[1] for each in objects if "/DescendantFonts" in each}
    assert {"/FontFile2"} <= keys
    assert all(name.startswith("DejaVuSans") for name in fonts), fonts
    assert [image for page in reader.pages for image in page.images] == []
    # No code, no forms, nothing that opens by itself.
    assert not keys & {"/JavaScript", "/JS", "/OpenAction", "/AA", "/Launch", "/EmbeddedFile", "/AcroForm"}


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
    assert len(read_pdf(render_pdf(document(FigureBlock(svg, HOSTILE), TextBlock(HOSTILE), PrintedBlock(HOSTILE)))).pages) == 1


# One document takes 0.2 s of CPU, whatever it holds.
@settings(max_examples=4)
@given(st.lists(st.text(max_size=300), min_size=1, max_size=30))
def test_any_markdown_is_safe_html_and_a_pdf(texts: list[str]) -> None:
    tags = {tag for text in texts for tag in re.findall(r"<(\w+)", to_html(text))}
    assert tags <= {
        "p", "h3", "h4", "h5", "h6", "ul", "ol", "li", "em", "strong", "code", "pre", "blockquote", "hr", "br", "a", "del", "table",
        "thead", "tbody", "tr", "th", "td",
    }  # fmt: skip
    blocks = [block for text in texts for block in (TextBlock(text), PrintedBlock(text))]
    assert render_pdf(document(*blocks, title=texts[0] or "x")).startswith(b"%PDF-")


@settings(max_examples=4)
@given(st.lists(st.lists(st.text(max_size=400), min_size=3, max_size=3), max_size=20))
@example([["", "", "o " * 2400]])
@example([["", "W" * 300, ""]])
def test_any_table_fits_a_page(rows: list[list[str]]) -> None:
    columns = [BlockColumn("a"), BlockColumn("b", is_number=True), BlockColumn("c")]
    assert render_pdf(document(TableBlock(columns, rows, "t", [0.5] * len(rows)))).startswith(b"%PDF-")


def test_uploaded_pictures_are_in_the_pdf() -> None:
    files = {}
    for number, (format_, media_type) in enumerate((("PNG", "image/png"), ("JPEG", "image/jpeg")), 1):
        body = io.BytesIO()
        Image.new("RGB", (40, 20), "red").save(body, format_)
        files[number] = StoredFile(number, f"shot {number}", media_type, body.getvalue())
    made = replace(document(*(ImageBlock(number, "a shot", 0.5) for number in files), ImageBlock(9, "lost", 1)), files=files)
    pdf = render_pdf(made)
    assert [image.image.size for page in read_pdf(pdf).pages for image in page.images if image.image] == [(40, 20)] * 2
    assert "The image 'lost' was removed from this report." in text_of(pdf)


def test_a_document_that_takes_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typesetting, "MAX_S", 0.01)
    with pytest.raises(TooLarge, match="Shorten its notes, or take the HTML file"):
        render_pdf(document(TextBlock("text")))


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


@pytest.mark.parametrize(
    "svg",
    [
        '<svg xmlns="http://www.w3.org/2000/svg"/>',
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 0 9"><path d="M1e999 0L"/></svg>',
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 -1 nan" width="0" height="x"><path d="no"/></svg>',
        '<svg xmlns="http://www.w3.org/2000/svg" class="graph" viewBox="0 0 9999999 1"><rect width="-1" height="1"/></svg>',
        "<svg",
    ],
)
def test_any_svg_is_drawn_or_named(svg: str) -> None:
    assert "caption" in text_of(render_pdf(document(FigureBlock(svg, "caption"))))


def test_references_that_multiply_are_left_out() -> None:
    # 10 to the power of 8 squares.
    levels = "".join(f'<g id="a{n + 1}">' + f'<use href="#a{n}"/>' * 10 + "</g>" for n in range(8))
    start = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect id="a0" width="1" height="1"/>'
    svg = f'{start}{levels}<use href="#a8"/></svg>'
    assert "caption" in text_of(render_pdf(document(FigureBlock(svg, "caption"))))


@pytest.mark.parametrize("mark", ["> ", "- ", "1. ", "- > "])
def test_markdown_nested_as_deep_as_it_is_read_is_drawn(mark: str) -> None:
    depth = max(n for n in range(30) if "deep" in to_html(mark * n + "deep"))
    assert depth > 3
    assert "deep" in text_of(render_pdf(document(TextBlock(mark * depth + "deep"))))


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
