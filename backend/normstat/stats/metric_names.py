"""The names that fields have as metrics of Prometheus and OpenMetrics: normstat_STAT_FIELD, with `_total` for a counter.

>>> from normstat.stats.catalogue import built_in_catalogue
>>> fields = {field.key: field for field in built_in_catalogue().stats["fsstat_solaris"][1].fields}
>>> metric_name("fsstat_solaris", fields["new_file"]), metric_name("fsstat_solaris", fields["name_remov"])
('normstat_fsstat_solaris_new_file', 'normstat_fsstat_solaris__name_remov')
"""

from collections.abc import Iterable
from itertools import combinations
from typing import Final

from normstat.stats.catalogue import built_in_catalogue
from normstat.stats.spec import Field, Semantics, Stat

TOTAL: Final = "_total"


def metric_name(stat: str, field: Field) -> str:
    """Return the name of the series of a field.

    Two underscores stand between stat and field where one would make the name of another built-in field: `fsstat_solaris` has
    `name_remov`, and `fsstat_solaris_name` has `remov`.
    """
    between = "__" if _is_taken(stat, field.key) else "_"
    name = f"normstat_{stat}{between}{field.key}"
    return name + TOTAL if field.semantics is Semantics.COUNTER and not name.endswith(TOTAL) else name


def family_name(stat: str, field: Field) -> str:
    """Return the name of the family in OpenMetrics: that of the series, and of a counter without `_total`."""
    name = metric_name(stat, field)
    return name.removesuffix(TOTAL) if field.semantics is Semantics.COUNTER else name


def metric_unit(name: str, field: Field) -> str:
    """Return the unit that OpenMetrics may name: one that ends the family's name. Missing: empty for others"""
    unit = field.unit.lower()
    return unit if unit.isascii() and unit.isalpha() and name.endswith(f"_{unit}") else ""


def find_shared_names(stats: Iterable[Stat]) -> list[str]:
    """Return a sentence for each two fields that would have one name as metrics."""
    fields: dict[str, list[str]] = {}
    for stat in stats:
        for field in stat.fields:
            fields.setdefault(family_name(stat.name, field), []).append(f"{field.key!r} of {stat.name}")
    return [
        f"{one} and {other} would both be the metric {name}: choose another key or another name of the stat"
        for name, own in fields.items()
        for one, other in combinations(own, 2)
    ]


def _is_taken(stat: str, key: str) -> bool:
    stats = built_in_catalogue().stats
    for at, char in enumerate(key):
        other = stats.get(f"{stat}_{key[:at]}") if char == "_" else None
        if other is not None and any(field.key == key[at + 1 :] for field in other[1].fields):
            return True
    return False
