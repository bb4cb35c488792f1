"""The documentation as HTML pages and as one Markdown file, and its index as llms.txt: made of the pages that docs/README.md lists.

All are made when they are asked for, so they cannot be older than the pages.
"""

import functools
import html
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from normstat.errors import NotFound, shorten
from normstat.runtime.installed_files import find_docs_dir

INDEX: Final = "README.md"
ROW: Final = re.compile(r"^\| (?P<subject>[^|]+) \| (?P<links>[^|]*\]\([^|]+\)[^|]*) \|$")
LINK: Final = re.compile(r"\[[^\]]+\]\((?P<path>[a-z0-9-]+\.md)(?:#[^)]*)?\)")
LINK_TARGET: Final = re.compile(r"\]\((?P<file>[a-z0-9-]+\.md)(?:#[^)]*)?\)")
SECTION: Final = re.compile(r"^## (?P<title>.+)$")
HTML: Final = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} - normstat</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; padding: 1rem; max-width: 60rem; }}
pre, code {{ font-family: ui-monospace, monospace; font-size: 13px; }}
pre, table {{ display: block; overflow-x: auto; }}
pre {{ padding: 0.6rem; border: 1px solid color-mix(in srgb, currentColor 25%, transparent); }}
table {{ border-collapse: collapse; }}
th, td {{ text-align: left; vertical-align: top; padding: 0.25rem 0.6rem; }}
th, td {{ border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); }}
</style>
</head>
<body>
<nav><a href="/docs">Documentation</a> | <a href="/docs/glossary">Glossary</a> | <a href="/">normstat</a></nav>
<main>
{content}</main>
</body>
</html>
"""
ABOUT: Final = """\
# normstat

> normstat keeps every sample of the *stat tools of Solaris and Linux hosts, remembers what is normal, and ranks what changed \
in an incident.

Agents ship the raw output of vmstat, iostat, mpstat, prstat, pidstat and others. A *baseline* is a period marked as normal, a \
*comparison* ranks what changed against it. Assistants ask a running server by the Model Context Protocol under `/mcp`, with an \
API token of the role viewer.
"""


@dataclass(frozen=True, slots=True)
class DocsPage:
    """A page of the index: its file, what it is for, and the section that lists it first."""

    file: str
    subject: str
    section: str


def require_docs() -> Path:
    """Return the folder of the documentation.

    Raises: NotFound where this installation has none
    """
    found = find_docs_dir()
    if found is None:
        raise NotFound("This installation has no documentation; it is in docs/ of the source")
    return found


def list_pages(docs: Path) -> list[DocsPage]:
    """Return the pages that the index lists, each once, in its order."""
    pages: dict[str, DocsPage] = {}
    section = ""
    for line in (docs / INDEX).read_text(encoding="utf-8").splitlines():
        if title := SECTION.match(line):
            section = title["title"]
        elif row := ROW.match(line):
            for link in LINK.finditer(row["links"]):
                pages.setdefault(link["path"], DocsPage(link["path"], row["subject"].strip(), section))
    return list(pages.values())


def render_index(docs: Path, public_url: str) -> str:
    """Return llms.txt as the server has it: what normstat is, and where each page is in the one file."""
    one_file = f"{public_url.rstrip('/')}/docs.md"
    return _index(docs, f"- [docs.md]({one_file}): all of it", lambda page: f"{one_file}#{anchor_of(page.file)}")


def render_checkout_index(docs: Path) -> str:
    """Return docs/llms.txt: the same with the files beside it."""
    return _index(docs, "A server has all pages in one file, `/docs.md`.", lambda page: page.file)


def _index(docs: Path, first: str, address_of: Callable[[DocsPage], str]) -> str:
    lines = [ABOUT, first]
    section = ""
    for page in list_pages(docs):
        if page.section != section:
            section = page.section
            lines += ["", f"## {section}", ""]
        lines.append(f"- [{page.file}]({address_of(page)}): {page.subject}")
    return "\n".join(lines) + "\n"


def anchor_of(file: str) -> str:
    """Return the anchor of a page in the one file."""
    return f"page-{file.removesuffix('.md')}"


def render_docs(docs: Path) -> str:
    """Return all pages as one Markdown file; links between pages lead to their places in it."""
    return _render(docs, max((docs / page.file).stat().st_mtime_ns for page in list_pages(docs)))


@functools.lru_cache(maxsize=1)
def _render(docs: Path, changed_ns: int) -> str:
    del changed_ns
    pages = list_pages(docs)
    names = {page.file for page in pages}

    def lead_inside(link: re.Match[str]) -> str:
        return f"](#{anchor_of(link['file'])})" if link["file"] in names else link[0]

    texts = (
        f'<a id="{anchor_of(page.file)}"></a>\n\n' + LINK_TARGET.sub(lead_inside, (docs / page.file).read_text(encoding="utf-8"))
        for page in pages
    )
    return f"{ABOUT}\n" + "\n".join(texts)


def render_html(docs: Path, name: str | None) -> str:
    """Return a page as HTML, or the list of all pages for None. Links to what is not served, such as sources, are text.

    Raises: NotFound for a page that the index does not list
    """
    if name is None:
        return _to_html(render_checkout_index(docs))
    page = next((page for page in list_pages(docs) if page.file == f"{name}.md"), None)
    if page is None:
        raise NotFound(f"The documentation has no page {shorten(name)}; /docs lists all pages")
    return _to_html((docs / page.file).read_text(encoding="utf-8"))


# All of them: the page of stats takes a second.
@functools.lru_cache(maxsize=64)
def _to_html(text: str) -> str:
    from markdown_it import MarkdownIt  # noqa: PLC0415  # 30 ms that no start of a server needs
    from markdown_it.token import Token  # noqa: PLC0415

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    # Marks of what `make gen` writes.
    tokens = parser.parse(re.sub(r"<!--.*?-->\n?", "", text))
    title = "Documentation"
    for heading, content in pairwise(tokens):
        if heading.type == "heading_open":
            heading.attrSet("id", re.sub(r"[^\w -]", "", content.content.lower()).replace(" ", "-"))
            title = content.content if heading.tag == "h1" else title
    for token in tokens:
        kept: list[Token] = []
        is_open = False
        for child in token.children or ():
            if child.type == "link_open":
                target = _served_target(str(child.attrGet("href")))
                is_open = target is not None
                child.attrSet("href", target or "")
            # Pictures are in docs/ of the source only.
            if child.type != "image" and (child.type not in {"link_open", "link_close"} or is_open):
                kept.append(child)
        if token.children:
            token.children = kept
    content_html = parser.renderer.render(tokens, parser.options, {})
    return HTML.format(title=html.escape(title.replace("`", "")), content=content_html)


def _served_target(target: str) -> str | None:
    """Return where a link of a page leads on a server. Missing: None where it leads out of the documentation.

    >>> _served_target("run.md#metrics"), _served_target("#words"), _served_target("../README.md")
    ('/docs/run#metrics', '#words', None)
    """
    if target.startswith(("https://", "http://", "#")):
        return target
    found = re.fullmatch(r"(?P<name>[a-z0-9-]+)\.md(?P<anchor>#.*)?", target)
    return f"/docs/{found['name']}{found['anchor'] or ''}" if found else None
