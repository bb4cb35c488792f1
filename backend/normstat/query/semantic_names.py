"""The names of OpenTelemetry's semantic conventions for fields that measure the same: the table is semantic_names.toml."""

import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib import resources
from typing import Final

# Units of fields, and the units of the conventions: what a value is multiplied by. Units in braces are words for a count.
FACTORS: Final[Mapping[tuple[str, str], Fraction]] = {
    ("KiB", "By"): Fraction(1024),
    ("%", "1"): Fraction(1, 100),
    ("threads", "{thread}"): Fraction(1),
}
# Units of the conventions as OpenMetrics has them, at the end of a name. A count has none.
OPENMETRICS_UNITS: Final = {"By": "bytes", "1": "ratio"}


@dataclass(frozen=True, slots=True)
class SemanticName:
    """What a field is called: `attributes` are fixed ones; the groups of `instance` are `instance_attributes`.

    Missing: `instance` is None for a stat with one row.
    """

    name: str
    unit: str
    help: str
    attributes: Mapping[str, str]
    instance: re.Pattern[str] | None
    instance_attributes: tuple[str, ...]

    @property
    def openmetrics_unit(self) -> str:
        """The unit in a name of OpenMetrics. Missing: "" for a count."""
        return OPENMETRICS_UNITS.get(self.unit, "")

    @property
    def openmetrics_name(self) -> str:
        """The name as Prometheus and OpenMetrics write it.

        >>> SemanticName("system.memory.usage", "By", "", {}, None, ()).openmetrics_name
        'system_memory_usage_bytes'
        """
        return "_".join(filter(None, [self.name.replace(".", "_"), self.openmetrics_unit]))

    def attributes_of(self, instance: str) -> dict[str, str] | None:
        """Return the attributes of a series. Missing: None for an instance that keeps its own name, such as the sum of all CPUs."""
        if self.instance is None:
            return None if instance else dict(self.attributes)
        found = self.instance.fullmatch(instance)
        return None if found is None else dict(zip(self.instance_attributes, found.groups(), strict=True)) | dict(self.attributes)


# The names of a field's series: by stat and key.
SemanticNames = Mapping[tuple[str, str], SemanticName]


def convert(value: float, unit: str, to: str) -> float:
    """Return a value in the unit of the conventions, with the digits that it was recorded with.

    >>> convert(57.0, "%", "1"), convert(3.0, "KiB", "By")
    (0.57, 3072.0)
    """
    factor = FACTORS[unit, to]
    return value * factor.numerator / factor.denominator


@functools.cache
def load_semantic_names() -> SemanticNames:
    """Return the table; the sources of a metric are in their order."""
    text = (resources.files("normstat.query") / "semantic_names.toml").read_text(encoding="utf-8")
    return {
        (source["stat"], key): SemanticName(
            metric["name"],
            metric["unit"],
            metric["help"],
            attributes,
            re.compile(source["instance"], re.ASCII) if "instance" in source else None,
            tuple(source.get("attributes", ())),
        )
        for metric in tomllib.loads(text)["metrics"]
        for source in metric["sources"]
        for key, attributes in source["fields"].items()
    }
