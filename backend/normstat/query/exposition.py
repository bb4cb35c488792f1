"""The newest values as a page for a scrape: OpenMetrics 1.0, or the Prometheus text format 0.0.4. Both have the same names.

# TYPE system_memory_usage_bytes gauge
# UNIT system_memory_usage_bytes bytes
# HELP system_memory_usage_bytes Memory by state: ...
system_memory_usage_bytes{host_name="web1",system_memory_state="used"} 2147483648 1795262400
# EOF

No family has exemplars: OpenMetrics has them for counters and histograms, and no sample of a tool refers to a trace.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

import numpy as np

from normstat.errors import Conflict
from normstat.query.newest_values import NewestValues, help_of, labels_of
from normstat.query.semantic_names import SemanticNames, convert
from normstat.stats.engine.series.exposition_line import format_series, format_value
from normstat.stats.metric_names import TOTAL, family_name, metric_unit
from normstat.stats.spec import Semantics

OPENMETRICS: Final = "application/openmetrics-text; version=1.0.0; charset=utf-8"
TEXT: Final = "text/plain; version=0.0.4; charset=utf-8"
# The names of fields themselves, for all of them.
OWN_NAMES: Final[SemanticNames] = {}


@dataclass(slots=True)
class _Family:
    """A metric with its samples, which stand together: of the conventions' names several stats have a part.

    `source`: stat and field of a name of normstat's own, which no other may have. `samples`: series, value, time in ms
    """

    source: tuple[str, str] | None
    unit: str
    help: str
    is_counter: bool = False
    samples: list[tuple[str, str, int]] = field(default_factory=list)


def format_page(found: Sequence[NewestValues], names: SemanticNames, media_type: str) -> bytes:
    """Return the page, as OPENMETRICS or as TEXT. A value that is missing has no line.

    `names`: those of the conventions, for the fields that have one; OWN_NAMES for none.
    Raises: Conflict, where two fields have one name: one of them is of a user's spec or unknown to its spec
    """
    families = _collect(found, names)
    text = _to_openmetrics(families) if media_type == OPENMETRICS else _to_text(families)
    return text.encode("utf-8", "backslashreplace")


def _collect(found: Sequence[NewestValues], names: SemanticNames) -> dict[str, _Family]:
    families: dict[str, _Family] = {}
    chosen = _choose_sources(found, names)
    for one in found:
        # The braces of a row are the same for all of its fields.
        own_labels = [format_series("m", labels_of(row)).removeprefix("m") for row in one.rows]
        for place, column in enumerate(one.stat.fields):
            semantic = names.get((one.stat.name, column.key))
            source = (one.stat.name, column.key)
            own = family_name(one.stat.name, column)
            is_counter = column.semantics is Semantics.COUNTER
            own_name = own + TOTAL if is_counter else own
            own_family = _Family(source, metric_unit(own, column), help_of(column), is_counter=is_counter)
            for row, braces in zip(one.rows, own_labels, strict=True):
                value = row.values[place]
                if np.isnan(value):
                    continue
                attributes = None
                if semantic is not None and chosen[row.host, semantic.name] == one.stat.name:
                    attributes = semantic.attributes_of(row.instance)
                if semantic is not None and attributes is not None:
                    name = semantic.openmetrics_name
                    family = families.setdefault(name, _Family(None, unit=semantic.openmetrics_unit, help=semantic.help))
                    labels = {"host_name": row.host} | {key.replace(".", "_"): text for key, text in attributes.items()}
                    series = format_series(name, labels)
                    value = convert(value, column.unit, semantic.unit)
                else:
                    family = families.setdefault(own, own_family)
                    series = own_name + braces
                    if family.source != source:
                        raise _shared(own, family.source, source)
                family.samples.append((series, format_value(value), row.time_ms))
    return families


def _shared(name: str, one: tuple[str, str] | None, other: tuple[str, str]) -> Conflict:
    text = " and ".join(".".join(each) for each in (one or ("the semantic conventions",), other))
    return Conflict(f"{text} have the same name as metrics, {name}; choose stats with `stat`, so that only one is asked for")


def _to_openmetrics(families: Mapping[str, _Family]) -> str:
    parts = []
    for name, family in families.items():
        parts.append(f"# TYPE {name} {'counter' if family.is_counter else 'gauge'}\n")
        if family.unit:
            parts.append(f"# UNIT {name} {family.unit}\n")
        # Quotes are escaped here too, other than in the older format.
        parts.append("# HELP {} {}\n".format(name, family.help.replace('"', '\\"')))
        parts += [f"{series} {value} {_to_seconds(time_ms)}\n" for series, value, time_ms in family.samples]
    return "".join([*parts, "# EOF\n"])


@functools.lru_cache(1024)
def _to_seconds(time_ms: int) -> str:
    """Return a time as OpenMetrics has it. Rows of a report have one time."""
    return str(Decimal(time_ms) / 1000)


def _to_text(families: Mapping[str, _Family]) -> str:
    parts = []
    for family_of, family in families.items():
        name = family_of + TOTAL if family.is_counter else family_of
        parts.append(f"# HELP {name} {family.help}\n# TYPE {name} {'counter' if family.is_counter else 'gauge'}\n")
        parts += [f"{series} {value} {time_ms}\n" for series, value, time_ms in family.samples]
    return "".join(parts)


def _choose_sources(found: Sequence[NewestValues], names: SemanticNames) -> Mapping[tuple[str, str], str]:
    """Return the stat that a metric of a host is taken from: the first one of the table that has a row."""
    rows: dict[str, set[str]] = {}
    for one in found:
        rows.setdefault(one.stat.name, set()).update(row.host for row in one.rows)
    chosen: dict[tuple[str, str], str] = {}
    for (stat, _), semantic in names.items():
        for host in rows.get(stat, ()):
            chosen.setdefault((host, semantic.name), stat)
    return chosen
