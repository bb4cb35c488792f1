"""The documentation as one Markdown file, and its index as llms.txt: made of the pages that docs/README.md lists.

Both are made when they are asked for, so they cannot be older than the pages.
"""

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from normstat.errors import NotFound
from normstat.runtime.installed_files import find_docs_dir

INDEX: Final = "README.md"
ROW: Final = re.compile(r"^\| (?P<subject>[^|]+) \| (?P<links>[^|]*\]\([^|]+\)[^|]*) \|$")
LINK: Final = re.compile(r"\[[^\]]+\]\((?P<path>[a-z0-9-]+\.md)(?:#[^)]*)?\)")
LINK_TARGET: Final = re.compile(r"\]\((?P<file>[a-z0-9-]+\.md)(?:#[^)]*)?\)")
SECTION: Final = re.compile(r"^## (?P<title>.+)$")
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
