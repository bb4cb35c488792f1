"""The newest values as a page of OpenMetrics 1.0, with the names of OpenTelemetry where the conventions have one.

# TYPE system_memory_usage_bytes gauge
# UNIT system_memory_usage_bytes bytes
# HELP system_memory_usage_bytes Memory by state: ...
system_memory_usage_bytes{host_name="web1",system_memory_state="used"} 2147483648 1795262400
# EOF
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

import numpy as np

from normstat.query.newest_values import NewestValues, help_of, labels_of, metric_name
from normstat.query.semantic_names import SemanticNames, convert
from normstat.stats.engine.series.exposition_line import format_series, format_value
from normstat.stats.spec import Semantics

MEDIA_TYPE: Final = "application/openmetrics-text; version=1.0.0; charset=utf-8"
TOTAL: Final = "_total"


@dataclass(slots=True)
class _Family:
    """A metric with its lines, which stand together: several stats may have a part of them."""

    kind: str
    unit: str
    help: str
    lines: list[str] = field(default_factory=list)


def format_openmetrics(found: Sequence[NewestValues], names: SemanticNames) -> bytes:
    """Return the page. A series has one name: that of the conventions, else its own. A value that is missing has no line."""
    families: dict[str, _Family] = {}
    chosen = _choose_sources(found, names)
    for one in found:
        for place, column in enumerate(one.stat.fields):
            semantic = names.get((one.stat.name, column.key))
            own_name = metric_name(one.stat.name, column)
            is_counter = column.semantics is Semantics.COUNTER
            own = own_name.removesuffix(TOTAL) if is_counter else own_name
            for row in one.rows:
                value = row.values[place]
                if np.isnan(value):
                    continue
                attributes = None
                if semantic is not None and chosen[row.host, semantic.name] == one.stat.name:
                    attributes = semantic.attributes_of(row.instance)
                if semantic is not None and attributes is not None:
                    name = semantic.openmetrics_name
                    family = families.setdefault(name, _Family("gauge", semantic.openmetrics_unit, semantic.help))
                    labels = {"host_name": row.host} | {key.replace(".", "_"): text for key, text in attributes.items()}
                    value = convert(value, column.unit, semantic.unit)
                else:
                    name = own + TOTAL if is_counter else own
                    family = families.setdefault(own, _Family("counter" if is_counter else "gauge", "", help_of(column)))
                    labels = labels_of(row)
                family.lines.append(f"{format_series(name, labels)} {format_value(value)} {Decimal(row.time_ms) / 1000}\n")
    parts = []
    for name, family in families.items():
        parts.append(f"# TYPE {name} {family.kind}\n")
        if family.unit:
            parts.append(f"# UNIT {name} {family.unit}\n")
        # Quotes are escaped here too, other than in the older format.
        text = family.help.replace('"', '\\"')
        parts += [f"# HELP {name} {text}\n", *family.lines]
    return "".join([*parts, "# EOF\n"]).encode("utf-8", "backslashreplace")


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
