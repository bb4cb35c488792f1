"""Spec files: those that are there are whole; a mistake in one is named with its file and key."""

import doctest
import importlib
import pkgutil
import re

import pytest

import normstat.stats
from normstat.commands.gen import STATS_PAGE, render_stats_page
from normstat.errors import NotFound, SpecError
from normstat.stats.catalogue import load_catalogue, parse_spec, require_spec
from normstat.stats.guess import guess_spec
from normstat.stats.spec import Kind

GOOD = """
name = "good"
tool = "tool"
os = "linux"
title = "A tool"
version = 1
commands = ["tool 1"]
reader = "columns"

[layout]
since_boot = "first"

[[layout.tables]]
stat = "good"
header = ["aa", "bb"]

[[stats]]
name = "good"
title = "tool"

[[stats.fields]]
key = "aa"
column = "aa"
group = ""
unit = "1/s"
kind = "rate"
worse = "higher"
help = "What it is."
source = "tool(1)"

[[stats.panels]]
key = "aa"
title = "A"
section = "cpu"
fields = ["aa"]
"""


def test_a_good_spec_is_read() -> None:
    spec = parse_spec("good.toml", GOOD)
    assert [field.key for field in spec.stats[0].fields] == ["aa"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "good"\ntool', 'name = "other"\ntool', "good.toml: name is 'other'"),
        ('os = "linux"', 'os = "plan9"', "os: 'plan9' is none of linux, sunos"),
        ('tool = "tool"\n', "", "good.toml: tool: is missing"),
        ("version = 1", 'version = "1"', "version: must be a whole number"),
        ('commands = ["tool 1"]', 'commands = "tool 1"', "commands: must be a list"),
        ('reader = "columns"', 'reader = "magic"', "reader: 'magic' is none of columns"),
        ('kind = "rate"', 'kind = "speed"', "stats[0].fields[0].kind: 'speed' is none of"),
        ('worse = "higher"', 'worse = "up"', "stats[0].fields[0].worse"),
        ('key = "aa"\ncolumn', 'key = "Aa"\ncolumn', "fields.key"),
        ('help = "What it is."', 'hlep = "What it is."', "stats[0].fields[0].help: is missing"),
        ('unit = "1/s"', 'unit = "1/s"\ncolour = "red"', "stats[0].fields[0].colour: is not known"),
        ('unit = "1/s"', 'unit = "1/s"\nstorage = "float4"', "storage: float4 does not fit 0 decimals"),
        ('fields = ["aa"]', 'fields = ["zz"]', "panels[0].fields: 'zz' is no field"),
        ('section = "cpu"', 'section = "cpu"\ninstances = "best"', "panels[0].instances"),
        ('since_boot = "first"', 'since_boot = "always"', "layout"),
        ('since_boot = "first"', 'since_boot = "first"\nbaner = "x"', "layout: baner: is not known"),
        ('since_boot = "first"', 'since_boot = "first"\nbanner = "("', "layout"),
        ('stat = "good"', 'stat = "bad"', "layout: tables.stat: 'bad' is no stat"),
        ("[layout]", "[layout", "not a TOML file"),
    ],
)
def test_a_mistake_is_named(old: str, new: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(SpecError, match=re.escape(message)):
        parse_spec("good.toml", GOOD.replace(old, new))


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


def test_docs_are_not_stale() -> None:
    assert STATS_PAGE.read_text() == render_stats_page(), "run `make gen`"


def test_examples_in_the_modules_are_true() -> None:
    n_tried = 0
    for module in pkgutil.walk_packages(normstat.stats.__path__, "normstat.stats."):
        result = doctest.testmod(importlib.import_module(module.name))
        assert not result.failed, module.name
        n_tried += result.attempted
    assert n_tried > 8
