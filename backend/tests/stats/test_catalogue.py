"""Spec files: those that are there are whole; a mistake in one is named with its file and key."""

import doctest
import importlib
import pkgutil
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

import normstat.comparison
import normstat.query
import normstat.runtime
import normstat.stats
from normstat.baselines import recurrence
from normstat.cli.gen_command import QUESTIONS_PAGE, STATS_PAGE, render_stats_page
from normstat.cli.gen_questions import render_questions_page
from normstat.errors import NotFound, SpecError
from normstat.stats.catalogue import load_catalogue, parse_spec, require_spec
from normstat.stats.engine.column_layout import ColumnLayout
from normstat.stats.guess import guess_spec
from normstat.stats.spec import Kind, Semantics, Worse

SHORT = """
name = "short"
tool = "tool"
os = "linux"
title = "A tool"
version = 1
commands = ["tool 1"]
source = "tool(1)"
reader = "columns"

[layout]
since_boot = "first"

[[stats]]
name = "short"
title = "tool"
instance_title = "disk"
tables = [{ header = ["aa", "bb"] }]
defaults = { unit = "%", decimals = 2 }
fields = [
  { key = "aa", worse = "higher", help = "What it is." },
  { key = "bb", column = "b/b", unit = "ms", kind = "time", help = "Another one." },
  { key = "cc", unit = "", decimals = 0, help = "A third.", source = "tool(8)" },
]
panels = [
  { key = "aa", title = "A", section = "cpu", fields = ["aa"] },
]

[[stats]]
name = "short_json"
title = "tool as JSON"
like = "short"
without = ["bb"]
fields = [
  { key = "cc", column = "Cc", decimals = 1 },
  { key = "dd", kind = "counter", unit = "reads", help = "A fourth." , source = "tool(1)" },
]
"""


def test_what_a_spec_leaves_out_has_its_usual_value() -> None:
    aa, bb, cc = parse_spec("short.toml", SHORT).stats[0].fields
    assert (aa.column, aa.printed_key, aa.group, aa.unit, aa.kind, aa.worse) == ("aa", "aa", "", "%", Kind.PERCENT, Worse.HIGHER)
    assert (aa.decimals, aa.source, aa.semantics) == (2, "tool(1)", Semantics.RATE)
    assert (bb.column, bb.unit, bb.kind, bb.worse, bb.semantics) == ("b/b", "ms", Kind.TIME, Worse.NEITHER, Semantics.RATE)
    assert (cc.unit, cc.decimals, cc.kind, cc.source, cc.semantics) == ("", 0, Kind.GAUGE, "tool(8)", Semantics.INSTANT)


def test_a_stat_takes_the_fields_of_another_one() -> None:
    first, second = parse_spec("short.toml", SHORT).stats
    aa, cc, dd = second.fields
    assert aa == first.fields[0]
    assert (cc.key, cc.column, cc.printed_key, cc.decimals, cc.help, cc.source) == ("cc", "Cc", "Cc", 1, "A third.", "tool(8)")
    assert (dd.key, dd.kind, dd.semantics) == ("dd", Kind.COUNTER, Semantics.COUNTER)
    assert (second.panels, second.instance_title) == (first.panels, "disk")


def test_a_stat_takes_the_tables_of_another_one_unless_it_has_its_own() -> None:
    spec = parse_spec("short.toml", SHORT)
    assert isinstance(spec.layout, ColumnLayout)
    assert [(table.stat, *table.header[0]) for table in spec.layout.tables] == [("short", "aa"), ("short_json", "aa")]
    other = parse_spec("short.toml", SHORT.replace('like = "short"', 'like = "short"\ntables = [{ header = ["dd"] }]'))
    assert isinstance(other.layout, ColumnLayout)
    assert [(table.stat, *table.header[0]) for table in other.layout.tables] == [("short", "aa"), ("short_json", "dd")]


def test_a_spec_is_beside_its_reader_or_in_the_folder_of_its_system() -> None:
    """The one rule of where a spec lies (docs/add-ons.md)."""
    root = Path(normstat.stats.__file__).parent
    beside = {path.parent for path in (root / "readers").glob("*/*.toml")}
    for path in [*(root / "specs").rglob("*.toml"), *(root / "readers").glob("*/*.toml")]:
        spec = load_catalogue().specs[path.stem]
        module = next((root / "readers").glob(f"*/{spec.reader}.py"))
        place = module.parent if module.parent in beside else root / "specs" / spec.os
        assert path.parent == place, f"move {path.name} to {place.relative_to(root)}"


def test_tables_of_the_layout_come_after_those_of_stats() -> None:
    more = '[[layout.tables]]\nstat = "short"\nheader = ["ee"]\n\n[[stats]]'
    spec = parse_spec("short.toml", SHORT.replace("[[stats]]", more, 1))
    assert isinstance(spec.layout, ColumnLayout)
    assert [min(table.header[0]) for table in spec.layout.tables] == ["aa", "aa", "ee"]


def test_a_stat_calls_the_columns_of_another_one_by_its_own_rules() -> None:
    rules = 'rename_columns = { "*/b" = "*_b", "b*" = "B*" }'
    text = SHORT.replace('without = ["bb"]\n', f'source = "tool-json(1)"\n{rules}\n')
    aa, bb, cc, dd = parse_spec("short.toml", text).stats[1].fields
    assert [field.column for field in (aa, bb, cc, dd)] == ["aa", "B_b", "Cc", "dd"]
    assert [field.source for field in (aa, bb, cc, dd)] == ["tool-json(1)"] * 3 + ["tool(1)"]


REST = 'rest = [{ key = "rest", help = "Another." }]\n\n[layout]'


def test_fields_and_defaults_of_a_file_go_for_its_stats() -> None:
    text = SHORT.replace("[layout]", 'defaults = { unit = "ms" }\n' + REST).replace("\npanels", "\nhas_rest = true\npanels", 1)
    own = parse_spec("short.toml", text).stats[0].fields
    assert [(field.key, field.unit, field.source) for field in own[-2:]] == [("cc", "", "tool(8)"), ("rest", "%", "tool(1)")]
    bare = parse_spec("short.toml", text.replace('defaults = { unit = "%", decimals = 2 }\n', "")).stats[0].fields
    assert [field.unit for field in bare] == ["ms", "ms", "", "ms"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\npanels", "\nhas_rest = true\npanels", "stats[0].has_rest: must be true, in a file that has `rest`"),
        ('like = "short"', 'like = "short"\nhas_rest = true', "stats[1].has_rest: the fields are those of the stat in `like`"),
        ('name = "short"\ntool', 'name = "other"\ntool', "short.toml: name is 'other'"),
        ('os = "linux"', 'os = "plan9"', "os: 'plan9' is none of linux, sunos"),
        ('tool = "tool"\n', "", "short.toml: tool: is missing"),
        ("version = 1", 'version = "1"', "version: must be a whole number"),
        ("version = 1", "version = -1", "version: must be a whole number"),
        ('commands = ["tool 1"]', 'commands = "tool 1"', "commands: must be a list"),
        ('reader = "columns"', 'reader = "magic"', "reader: 'magic' is none of "),
        ('kind = "time"', 'kind = "speed"', "stats[0].fields[1].kind: 'speed' is none of"),
        ('worse = "higher"', 'worse = "up"', "stats[0].fields[0].worse"),
        ('key = "aa", worse', 'key = "Aa", worse', "fields.key"),
        ('help = "What it is."', 'hlep = "What it is."', "stats[0].fields[0].help: is missing"),
        ('unit = "ms"', 'unit = "ms", colour = "red"', "stats[0].fields[1].colour: is not known"),
        ('unit = "", decimals = 0', 'unit = "", decimals = 0, storage = "float4"', "storage: float4 does not fit 0 decimals"),
        ('fields = ["aa"]', 'fields = ["zz"]', "panels[0].fields: 'zz' is no field"),
        ('section = "cpu"', 'section = "cpu", instances = "best"', "panels[0].instances"),
        ('since_boot = "first"', 'since_boot = "always"', "layout: since_boot: 'always' is none of first, same_clock, never"),
        ('tables = [{ header = ["aa", "bb"] }]', "tables = 1", "stats[0].tables: must be a list of tables"),
        ('header = ["aa", "bb"]', 'haeder = ["aa"]', "layout: tables[0].haeder: is not known"),
        ('like = "short"', 'like = "short"\nrename_columns = { "*/*" = "*" }', "stats[1].rename_columns: must be a table of texts"),
        ("[layout]", "[layout", "not a TOML file"),
        ('like = "short"', 'like = "vmstat_linux"', "short.toml: stats[1].like: 'vmstat_linux' is no other stat"),
        ('like = "short"', "like = 7", "stats[1].like: 7 is no other stat"),
        ('like = "short"', 'like = "short_json"', "stats[1].like: 'short_json' is built on itself"),
        ('without = ["bb"]', 'without = ["zz"]', "stats[1].without: 'zz' is not a field of short"),
        ('without = ["bb"]', 'without = "bb"', "stats[1].without: must be a list of texts"),
        ('like = "short"\n', "", "stats[1].without: only a stat with `like` can lack fields"),
        ("defaults = {", "defaults = { help = '?',", "stats[0].defaults: 'help' is none of group, unit"),
        ('defaults = { unit = "%", decimals = 2 }', "defaults = 1", "stats[0].defaults: must be a table"),
        ('source = "tool(1)"\nreader', "reader", "stats[0].fields[0].source: is missing"),
        ('without = ["bb"]', 'without = ["aa"]', "stats[1].panels[0].fields: 'aa' is no field"),
    ],
)
def test_a_mistake_is_named(old: str, new: str, message: str) -> None:
    assert old in SHORT
    with pytest.raises(SpecError, match=re.escape(message)):
        parse_spec("short.toml", SHORT.replace(old, new))


def test_a_short_text_cannot_stand_for_millions_of_fields() -> None:
    fields = "".join(f'  {{ key = "f{number}", help = "One." }},\n' for number in range(400))
    text = SHORT.replace("fields = [\n", f"fields = [\n{fields}", 1)
    text += "".join(f'[[stats]]\nname = "s{number}"\ntitle = "t"\nlike = "short"\n' for number in range(2000))
    with pytest.raises(SpecError, match="more than 5000 fields in all"):
        parse_spec("short.toml", text)


def test_counters_are_counters_and_shares_of_space_are_states() -> None:
    stats = {name: {field.key: field for field in stat.fields} for name, (_, stat) in load_catalogue().stats.items()}
    for fields in stats.values():
        for field in fields.values():
            assert (field.kind is Kind.COUNTER) == (field.semantics is Semantics.COUNTER), field.key
    assert stats["df_linux"]["used_pct"].semantics is Semantics.INSTANT
    assert stats["iostat_linux"]["util_pct"].semantics is Semantics.RATE
    assert stats["iostat_linux"]["aqu_sz"].semantics is Semantics.RATE
    assert stats["vmstat_linux"]["procs_r"].semantics is Semantics.INSTANT


def test_every_field_says_what_it_is() -> None:
    for spec, stat in load_catalogue().stats.values():
        for field in stat.fields:
            where = f"{spec.name}.toml, field {field.key}"
            assert field.help.endswith("."), f"{where}: help is a sentence"
            # A section of the manual, or what there is instead of one: IOzone and LKST have documents of their own.
            is_manual = re.search(r"\(\d[A-Za-z]*\)", field.source) is not None
            assert is_manual or len(field.source.split()) > 1, f"{where}: source names a manual page or a document"
            is_counted = field.kind in (Kind.GAUGE, Kind.COUNT, Kind.COUNTER)
            assert field.unit or is_counted, f"{where}: only numbers that measure nothing, or count things, have no unit"


def test_panels_name_instances_where_there_are_some() -> None:
    for spec, stat in load_catalogue().stats.values():
        for panel in stat.panels:
            assert bool(panel.instances) == bool(stat.instance_title), f"{spec.name}.toml, panel {panel.key}"


def test_unknown_spec_is_not_found() -> None:
    with pytest.raises(NotFound, match="vmstat_linux"):
        require_spec("vmstat_plan9")


def test_nothing_is_guessed_from_text_of_other_tools() -> None:
    assert guess_spec(b"") is None
    assert guess_spec(b"total 12\ndrwxr-xr-x 2 root root 4096 Nov 21 09:43 .\n") is None
    assert guess_spec(b"\0\xff" * 1000) is None


@pytest.mark.parametrize(("page", "render"), [(STATS_PAGE, render_stats_page), (QUESTIONS_PAGE, render_questions_page)])
def test_docs_are_not_stale(page: Path, render: Callable[[], str]) -> None:
    assert page.read_text() == render(), "run `make gen`"


@pytest.mark.parametrize(
    ("package", "n_least"),
    [(normstat.stats, 9), (normstat.comparison, 4), (normstat.query, 2), (normstat.runtime, 9), (recurrence, 1)],
)
def test_examples_in_the_modules_are_true(package: ModuleType, n_least: int) -> None:
    names = [module.name for module in pkgutil.walk_packages(getattr(package, "__path__", []), f"{package.__name__}.")]
    results = [(name, doctest.testmod(importlib.import_module(name))) for name in (package.__name__, *names)]
    assert [name for name, result in results if result.failed] == []
    assert sum(result.attempted for _, result in results) >= n_least
