"""The metrics of the catalogue, each with the texts by which it is found."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from normstat.query.search.search_score import Searchable
from normstat.stats.catalogue import Catalogue
from normstat.stats.spec import Field, Spec, Stat

# Meanings of fields, independent of the tool: (stat, field) -> meanings, each a name and its words.
Meanings = Mapping[tuple[str, str], Sequence[tuple[str, str]]]


@dataclass(frozen=True, slots=True)
class MetricEntry:
    """A field of a stat. `place` is its place in the catalogue; `is_usual`: one of the stat's own panels draws it."""

    stat: str
    stat_title: str
    spec: str
    tool: str
    field: Field
    place: int
    is_usual: bool
    text: Searchable


class MetricIndex:
    """All metrics of one state of the catalogue, in its order."""

    def __init__(self, catalogue: Catalogue, meanings: Meanings) -> None:
        self._catalogue = catalogue
        self._meanings = meanings
        self._words = _words_of_meanings(catalogue, meanings)
        entries = (
            self._entry(spec, stat, field, 1000 * at + place)
            for at, (spec, stat) in enumerate(catalogue.stats.values())
            for place, field in enumerate(stat.fields)
        )
        self.entries: tuple[MetricEntry, ...] = tuple(entries)
        self._by_stat: dict[str, list[MetricEntry]] = {}
        for entry in self.entries:
            self._by_stat.setdefault(entry.stat, []).append(entry)
        self._known = {(entry.stat, entry.field.key) for entry in self.entries}

    def of_stat(self, stat_name: str) -> Sequence[MetricEntry]:
        """Return the metrics of one stat."""
        return self._by_stat.get(stat_name, ())

    def extras(self, stat_name: str, fields: Iterable[Field]) -> list[MetricEntry]:
        """Return the entries of columns that hosts have sent and no spec describes."""
        spec, stat = self._catalogue.stats.get(stat_name, (None, None))
        if spec is None or stat is None:
            return []
        at = 1000 * list(self._catalogue.stats).index(stat_name)
        return [
            self._entry(spec, stat, field, at + 500 + place)
            for place, field in enumerate(fields)
            if (stat_name, field.key) not in self._known
        ]

    def _entry(self, spec: Spec, stat: Stat, field: Field, place: int) -> MetricEntry:
        meanings = self._meanings.get((stat.name, field.key), ())
        said = [part for name, words in meanings for part in (name, words, *self._words.get(name, ()))]
        return MetricEntry(
            stat=stat.name,
            stat_title=stat.title,
            spec=spec.name,
            tool=spec.tool,
            field=field,
            place=place,
            is_usual=any(field.key in panel.fields for panel in stat.panels),
            text=Searchable.of(
                (field.column, field.key, *field.aliases),
                (field.group, field.unit, *said, stat.name, stat.title, spec.tool, stat.instance_title, field.help),
            ),
        )


def _words_of_meanings(catalogue: Catalogue, meanings: Meanings) -> dict[str, list[str]]:
    """Return the columns with each meaning, whichever tool prints them: `wa` of vmstat is found as %iowait."""
    found: dict[str, dict[str, None]] = {}
    for stat_name, (_, stat) in catalogue.stats.items():
        for field in stat.fields:
            for name, _ in meanings.get((stat_name, field.key), ()):
                found.setdefault(name, {})[field.column] = None
    return {name: list(columns) for name, columns in found.items()}
