"""`normstat gen`: rewrites generated pages of docs/ (stats, next questions, rules, the table of settings), the settings that the
Helm chart knows, and the table of the API's routes.

Tests check that they are current.
"""

import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import typer
from pydantic import SecretStr
from pydantic_core import PydanticUndefined

import normstat
from normstat.api.http.router import render_route_table
from normstat.cli.config_command import write_value
from normstat.cli.gen_questions import render_questions_page
from normstat.cli.gen_rules import render_rules_page
from normstat.runtime.documentation import render_checkout_index
from normstat.runtime.readable import format_bytes
from normstat.runtime.units import MIB
from normstat.settings import Settings, setting_variable
from normstat.stats.catalogue import load_catalogue
from normstat.stats.spec import Field, Shape, Spec, Stat

SETTINGS_PAGE: Final = Path(normstat.__file__).parents[2] / "docs/configure.md"
BEGIN: Final = "<!-- settings: written by make gen -->\n"
END: Final = "<!-- end of settings -->\n"


def render_settings_page() -> str:
    """Return the page with the table as the settings are; the text around it is written by hand."""
    before, _, rest = SETTINGS_PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    lines = ["| setting | default | meaning |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        text = (field.description or "").replace("|", "\\|")
        lines.append(f"| `{setting_variable(name)}` | {_say_default(field.default)} | {text} |")
    return before + BEGIN + "\n".join(lines) + "\n" + END + after


def _say_default(value: object) -> str:
    """Return a default as it would be set, and large sizes in MiB too."""
    text = "" if value is PydanticUndefined or isinstance(value, SecretStr) else write_value(value)
    size = f" ({format_bytes(value)})" if isinstance(value, int) and value >= MIB and value % MIB == 0 else ""
    return f"`{text}`{size}" if text else ""


VALUES_SCHEMA: Final = Path(normstat.__file__).parents[2] / "packaging/helm/normstat/values.schema.json"


# Where the version, or the licence of backend/pyproject.toml, stands once more: each pattern finds it as its only group.
COPIED_VERSION: Final = {
    "packaging/helm/normstat/Chart.yaml": r"^(?:version|appVersion): (.+)$",
    "agents/src/00-head.sh": r"^readonly VERSION=(.+)$",
    "backend/client/pyproject.toml": r'^version = "(.+)"$',
    "frontend/package.json": r'"name": "normstat-page",\s+"version": "(.+)"',
    "frontend/package-lock.json": r'"name": "normstat-page",\s+"version": "(.+)"',
}
COPIED_LICENCE: Final = {
    "packaging/helm/normstat/Chart.yaml": r"^  artifacthub.io/license: (.+)$",
    "backend/client/pyproject.toml": r'^license = "(.+)"$',
}


def render_copies() -> dict[Path, str]:
    """Return the files that name the version and the licence, as they should be."""
    checkout = DOCS.parent
    project = tomllib.loads((checkout / "backend/pyproject.toml").read_text(encoding="utf-8"))["project"]
    pages: dict[Path, str] = {}
    for copies, value in ((COPIED_VERSION, normstat.__version__), (COPIED_LICENCE, project["license"])):
        for name, pattern in copies.items():
            text = pages.get(checkout / name) or (checkout / name).read_text(encoding="utf-8")
            for found in reversed(list(re.finditer(pattern, text, re.MULTILINE))):
                text = f"{text[: found.start(1)]}{value}{text[found.end(1) :]}"
            pages[checkout / name] = text
    return pages


def list_settings() -> dict[str, str]:
    """Return the variables of the server's settings with their descriptions."""
    named = {setting_variable(name): field.description or "" for name, field in Settings.model_fields.items()}
    return {variable: text for variable, text in named.items() if variable.startswith("NORMSTAT_")}


def render_values_schema() -> str:
    """Return the schema with the settings as they are."""
    schema = json.loads(VALUES_SCHEMA.read_text(encoding="utf-8"))
    schema["$defs"]["settings"]["properties"] = {
        name: {"type": "string", "description": text} for name, text in sorted(list_settings().items())
    }
    return json.dumps(schema, indent=2) + "\n"


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
DOCS: Final = Path(normstat.__file__).parents[2] / "docs"
STATS_PAGE: Final = DOCS / "stats.md"
PACKAGE: Final = Path(normstat.__file__).parent
# Folders with captures that tests read: recorded/SPEC/*.txt and synthetic/SPEC/*.txt. A tool's own folder may have them, too.
CAPTURES: Final = (PACKAGE.parent / "tests" / "golden", *(PACKAGE / "stats" / "readers").iterdir())
QUESTIONS_PAGE: Final = DOCS / "next-questions.md"
RULES_PAGE: Final = DOCS / "rules.md"
LLMS_INDEX: Final = DOCS / "llms.txt"
ROUTE_TABLE: Final = PACKAGE / "api" / "http" / "route_table.py"

INTRODUCTION: Final = """\
# Stats

What normstat reads, and what every column means. This page is generated from `backend/normstat/stats/specs/*.toml` by `make gen`:
change the spec, not the page. A *key* is the name in SQL, JSON, CSV and URLs; a *column* is what the tool prints. A column that is
not listed here is kept anyway, as a field marked undocumented.

The samples of a stat are rows of a table unless its heading says otherwise: the instance of *keys* is what was counted,
that of *stacks* is the frames from the root on, joined by `;`, and a row of a *histogram* is one printed bucket, with the instance
`KEY{LABEL}`. *Semantics* says which span of time a number covers: a *counter* counts since boot (or since the process
started), an *instant* is the state at the report, a *rate* covers the report's interval. A number with a suffix (`1.5K`) is stored
as its value, and is exported as it was printed.

*Captures* counts the outputs that the tests of a spec read: *recorded* ones were printed by the tool, on our machines or in a
published text; *synthetic* ones were written by hand from the layout of a release, a manual page or source code.
"""
SHAPES: Final = {
    Shape.TABLE: "",
    Shape.KEYS: " (counted keys)",
    Shape.STACKS: " (counted stacks)",
    Shape.HISTOGRAM: " (buckets of distributions)",
}


@app.command()
def gen(*, check: Annotated[bool, typer.Option("--check", help="Change nothing; exit 1 when a page is stale.")] = False) -> None:
    """Rewrite docs/stats.md from the specs, docs/next-questions.md from its rule file, docs/rules.md from the built-in rules,
    the settings in docs/configure.md and in the schema of the Helm chart, the table of the API's routes from their modules,
    docs/llms.txt from the index of the documentation, and the version and the licence where they stand once more.
    """
    pages = (
        (STATS_PAGE, render_stats_page()),
        (QUESTIONS_PAGE, render_questions_page()),
        (RULES_PAGE, render_rules_page()),
        (SETTINGS_PAGE, render_settings_page()),
        (VALUES_SCHEMA, render_values_schema()),
        (ROUTE_TABLE, render_route_table()),
        (LLMS_INDEX, render_checkout_index(DOCS)),
        *render_copies().items(),
    )
    for path, page in pages:
        is_stale = not path.exists() or path.read_text(encoding="utf-8") != page
        if check and is_stale:
            sys.stderr.write(f"{path.relative_to(DOCS.parent)} is stale: run make gen\n")
            raise typer.Exit(1)
        if is_stale:
            path.write_text(page, encoding="utf-8")


def render_stats_page() -> str:
    """Return the page as text."""
    parts = [INTRODUCTION, *_index_lines(), ""]
    for spec in load_catalogue().specs.values():
        parts.extend(_spec_lines(spec))
    return "\n".join(parts) + "\n"


def _index_lines() -> Iterator[str]:
    """Yield a table of all specs, by tool."""
    yield "| tool | spec | system | what it shows | captures |"
    yield "|---|---|---|---|---|"
    for spec in sorted(load_catalogue().specs.values(), key=lambda spec: (spec.tool, spec.name)):
        yield f"| {spec.tool} | [{spec.name}](#{spec.name}) | {spec.os} | {spec.title} | {_captures(spec)} |"


def _captures(spec: Spec) -> str:
    """Return how many captures of a spec are recorded, and how many synthetic."""
    counts = {
        kind: sum(len(list((folder / kind / spec.name).glob("*.txt"))) for folder in CAPTURES) for kind in ("recorded", "synthetic")
    }
    return ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)


def _spec_lines(spec: Spec) -> Iterator[str]:
    commands = ", ".join(f"`{command}`" for command in spec.commands)
    yield f"## {spec.name}\n"
    yield f"{spec.title}. Command of the agent: {commands}.\n"
    for stat in spec.stats:
        yield from _stat_lines(stat)


def _stat_lines(stat: Stat) -> Iterator[str]:
    what = f"one row for each {stat.instance_title}" if stat.instance_title else "one row a report"
    yield f"### Stat `{stat.name}`: {stat.title}, {what}{SHAPES[stat.shape]}\n"
    yield "| key | column | unit | kind | semantics | worse | meaning | source |"
    yield "|---|---|---|---|---|---|---|---|"
    for field in stat.fields:
        column = f"`{field.column}`" + "".join(f", `{alias}`" for alias in field.aliases)
        yield _field_line(field, field.key, f"= {' x '.join(field.derived)}" if field.derived else column)
    for family in stat.families:
        yield _field_line(family.template, f"{family.template.key}...", f"matches `{family.pattern}`")
    yield ""


def _field_line(field: Field, key: str, column: str) -> str:
    unit = f" {field.unit} " if field.unit else " "
    return f"| `{key}` | {column} |{unit}| {field.kind} | {field.semantics} | {field.worse} | {field.help} | {field.source} |"
