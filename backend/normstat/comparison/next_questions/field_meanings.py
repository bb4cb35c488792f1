"""The meanings of the fields of stats, to look a metric up by what it measures."""

from collections.abc import Mapping, Sequence

from normstat.comparison.next_questions.question_rules import RuleBook
from normstat.stats.spec import Spec, Stat

# (stat, field) -> meanings, each a name and its words.
FieldMeanings = Mapping[tuple[str, str], Sequence[tuple[str, str]]]


def list_field_meanings(stats: Mapping[str, tuple[Spec, Stat]], rules: RuleBook) -> FieldMeanings:
    """Return for each (stat, field) its meanings, each a name and its words.

    A meaning that a field has for some instances only is listed too: `psi_linux` covers CPUs, disks and memory.
    """
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for meaning in rules.meanings.values():
        for pattern in meaning.patterns:
            for stat_name, (_, stat) in stats.items():
                if not pattern.matches_stat(stat_name):
                    continue
                for field in stat.fields:
                    if pattern.matches_field(field.key):
                        own = found.setdefault((stat_name, field.key), [])
                        if (meaning.name, meaning.words) not in own:
                            own.append((meaning.name, meaning.words))
    return found
