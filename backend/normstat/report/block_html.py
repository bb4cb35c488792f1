"""A report as one HTML file: no scripts, nothing fetched, everything it shows is inside."""

import base64
import csv
import io
from typing import Final

from normstat.report.blocks import (
    Block,
    FigureBlock,
    FileBlock,
    HeadingBlock,
    ImageBlock,
    LinkBlock,
    ListBlock,
    PairsBlock,
    PrintedBlock,
    ReportDocument,
    ReportSection,
    SaidBlock,
    SidesBlock,
    StoredFile,
    StoryBlock,
    TableBlock,
    TextBlock,
)
from normstat.report.markdown import safe_link, to_html
from normstat.report.markup import Markup, join, tag
from normstat.report.report_page import page_style, version
from normstat.report.svg_subset import clean_svg
from normstat.runtime.csv_cells import format_csv

# As in a comparison's report, and images that are in the file itself.
POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
SVG_TYPE: Final = "image/svg+xml"


def render_document(document: ReportDocument) -> str:
    """Return the whole file as text."""
    body = tag(
        "body",
        tag("header", tag("h1", document.title), _pairs(document.facts)),
        _contents(document.sections),
        *(_section(place, section, document) for place, section in enumerate(document.sections)),
        tag(
            "footer",
            f"Created by normstat {version()} on {document.made_at} for {document.made_by}. All times are UTC. ",
            _address(document.address),
        ),
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", document.title),
        tag("style", Markup(page_style().replace("normstat: comparison with what is normal", "normstat: report"))),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def _address(address: str) -> Markup | None:
    if not address.startswith(("http://", "https://")):
        return None
    return tag("a", address, href=address, rel="noreferrer noopener")


def _contents(sections: list[ReportSection]) -> Markup | None:
    """Return the table of contents. Missing: None for a short report."""
    titled = [(place, section.title) for place, section in enumerate(sections) if section.title]
    if len(titled) < 4:
        return None
    return tag("nav", tag("ol", *(tag("li", tag("a", title, href=f"#n{place}")) for place, title in titled)), aria_label="Contents")


def _section(place: int, section: ReportSection, document: ReportDocument) -> Markup:
    title = tag("h2", section.title) if section.title else None
    return tag(
        "section", title, *(_block(block, document) for block in section.blocks), id=f"n{place}", data_kind=section.kind or None
    )


def _block(block: Block, document: ReportDocument) -> Markup | None:  # noqa: C901, PLR0912 (a case for each kind)
    match block:
        case HeadingBlock(text):
            return tag("h3", text)
        case TextBlock(markdown):
            return tag("div", to_html(markdown, document.base), class_="prose")
        case SaidBlock(text, tone):
            return tag("p", text, class_={"lead": "verdict", "soft": "soft small-text", "warning": "warning", "plain": None}[tone])
        case FigureBlock():
            return _figure(block)
        case TableBlock():
            return _table(block)
        case PairsBlock(pairs):
            return _pairs(pairs)
        case SidesBlock(baseline, incident):
            return tag("div", _side("Baseline", baseline), _side("Incident", incident), class_="sides")
        case StoryBlock():
            return _story(block)
        case ListBlock(lines):
            return tag("ul", *(tag("li", line) for line in lines))
        case PrintedBlock(text):
            return tag("pre", text)
        case LinkBlock(text, path):
            address = safe_link(path)
            inner: Markup | str = text if address is None else tag("a", text, href=f"{document.base}{address}", rel="noreferrer")
            return tag("p", inner)
        case ImageBlock(file, alt, share):
            return _image(document.files.get(file), alt, share)
        case FileBlock(file):
            return _file(document.files.get(file))


def _figure(block: FigureBlock) -> Markup:
    saved = tag("span", " ", _csv(block.csv, block.csv_name), class_="screen") if block.csv else None
    return tag("figure", clean_svg(block.svg), tag("figcaption", block.caption, saved), class_="whole")


def _csv(text: str, name: str) -> Markup:
    # A block may come from a bundle of unknown origin.
    try:
        safe = format_csv(csv.reader(io.StringIO(text, newline="")))
    except csv.Error as error:
        return tag("span", f"{name} is damaged: {error}")
    packed = base64.b64encode(safe.encode()).decode("ascii")
    return tag("a", name, href=f"data:text/csv;charset=utf-8;base64,{packed}", download=name)


def _table(block: TableBlock) -> Markup:
    def cells(name: str, row: list[str], first: Markup | None, scope: str | None = None) -> Markup:
        texts = (
            tag(name, text, scope=scope, class_="n" if column.is_number else None)
            for column, text in zip(block.columns, row, strict=True)
        )
        return tag("tr", first, *texts)

    has_bars = bool(block.bars)
    shares = [*block.bars, *([0.0] * (len(block.rows) - len(block.bars)))]
    rows = [cells("td", row, _bar(share) if has_bars else None) for row, share in zip(block.rows, shares, strict=True)]
    first = tag("th", tag("span", "share", class_="hidden"), scope="col", class_="barred") if has_bars else None
    head = cells("th", [column.title for column in block.columns], first, "col")
    saved = tag("p", _csv(block.csv, block.csv_name), class_="screen soft") if block.csv else None
    body = tag("table", tag("caption", block.caption) if block.caption else None, tag("thead", head), tag("tbody", *rows))
    # A wide table scrolls, and must be reachable by keyboard.
    return join(tag("div", body, class_="wide", tabindex="0", role="region", aria_label=block.caption or "Table"), saved)


def _bar(share: float) -> Markup:
    return tag("td", tag("span", class_="bar", style=f"width: {max(0.0, min(1.0, share)) * 100:.1f}%"))


def _pairs(pairs: list[tuple[str, str]]) -> Markup | None:
    parts = [part for name, value in pairs if value for part in (tag("dt", name), tag("dd", value))]
    return tag("dl", *parts, class_="facts") if parts else None


def _side(title: str, lines: list[str]) -> Markup:
    return tag(
        "div", tag("b", title), f" {lines[0]}", *(tag("p", line, class_="soft") for line in lines[1:]), class_=title.casefold()
    )


def _story(block: StoryBlock) -> Markup:
    graph = tag("figure", tag("figcaption", block.caption), clean_svg(block.svg)) if block.svg else None
    return tag(
        "div",
        tag(
            "div",
            tag("h3", block.title),
            tag("p", block.facts, class_="soft") if block.facts else None,
            tag("p", tag("b", block.sentence)),
            tag("p", block.values, class_="values") if block.values else None,
            tag("ul", *(tag("li", line) for line in block.lines)) if block.lines else None,
        ),
        graph,
        class_="story",
    )


def _image(file: StoredFile | None, alt: str, share: float) -> Markup:
    if file is None:
        return tag("p", f"The image {alt!r} was removed from this report.", class_="soft")
    # Browsers run nothing of an SVG that is the source of an image.
    packed = base64.b64encode(file.body).decode("ascii")
    return tag("img", src=f"data:{file.media_type};base64,{packed}", alt=alt or file.name, style=f"width: {share * 100:.0f}%")


def _file(file: StoredFile | None) -> Markup:
    if file is None:
        return tag("p", "The file was removed from this report.", class_="soft")
    packed = base64.b64encode(file.body).decode("ascii")
    link = tag("a", file.name, href=f"data:application/octet-stream;base64,{packed}", download=file.name)
    return tag("p", link, f" ({len(file.body):,} bytes)")
