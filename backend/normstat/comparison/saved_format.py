"""The JSON of saved comparisons: what `model.Comparison` serialises to, and the keys that earlier versions wrote."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import TypeAdapter
from pydantic_core import from_json

from normstat.comparison.findings.classify import anomaly_score_of
from normstat.comparison.model import Comparison, FindingGroup
from normstat.stats.catalogue import load_catalogue
from normstat.storage.saved_comparison_rows import SavedComparisonInfo

_ADAPTER: Final = TypeAdapter(Comparison)

# Keys of the first format, without `appeared` and `disappeared`, and what they are called now.
_GROUP_KEYS: Final = {"score": "change_ratio", "surprise": "significance", "weight": "anomaly_score"}
_MEMBER_KEYS: Final = {
    "usual": "change_scale", "score": "change_ratio", "surprise": "significance", "explained": "explained_by_load",
    "parts": "change_ratios", "figure": "sparkline",
}  # fmt: skip

Json = dict[str, Any]

# Until KiB was told from kB.
_OLD_UNIT: Final = re.compile(r"\bkB\b")
_OLD_UNIT_OF_NUMBER: Final = re.compile(r"(?<=\d )kB\b")


@dataclass(frozen=True, slots=True)
class SavedComparison(SavedComparisonInfo):
    """A saved comparison with its result."""

    result: Comparison


def to_json(result: Comparison, *, indent: int | None = None) -> bytes:
    """Return a comparison as JSON, in the form of GET /comparison."""
    return _ADAPTER.dump_json(result, indent=indent)


def read_json(body: bytes) -> Comparison:
    """Return a comparison from JSON that this or an earlier version wrote.

    Raises: ValueError (pydantic's ValidationError) for any other JSON
    """
    value = from_json(body)
    if isinstance(value, dict) and "one_sided" in value:
        return _correct_units(_ADAPTER.validate_python(_upgrade(value)))
    return _correct_units(_ADAPTER.validate_json(body))


def _correct_units(saved: Comparison) -> Comparison:
    """Return the comparison with KiB where the unit was called kB and the field is known to count in 1024 bytes today."""
    groups = [_correct_group(group) if is_now_kib(group.stat, group.field, group.unit) else group for group in saved.groups]
    return replace(saved, groups=groups) if groups != saved.groups else saved


def is_now_kib(stat: str, field: str, unit: str) -> bool:
    """Return whether the catalogue has the same unit of that field, with KiB instead of kB.

    >>> [is_now_kib("iostat_linux", "kb_read_per_s", unit) for unit in ("kB/s", "KiB/s", "kB")], is_now_kib("gone", "x", "kB")
    ([True, False, False], False)
    """
    known = load_catalogue().stats.get(stat)
    units = {each.unit for each in known[1].fields if each.key == field} if known is not None else set()
    return _OLD_UNIT.search(unit) is not None and units == {_OLD_UNIT.sub("KiB", unit)}


def _correct_group(group: FindingGroup) -> FindingGroup:
    """Return the group with KiB; its numbers were right."""
    members = [replace(member, sentence=_correct_sentence(member.sentence)) for member in group.members]
    return replace(group, unit=_OLD_UNIT.sub("KiB", group.unit), sentence=_correct_sentence(group.sentence), members=members)


def _correct_sentence(sentence: str) -> str:
    # Only after a number: a field may well have the word in its name.
    return _OLD_UNIT_OF_NUMBER.sub("KiB", sentence)


def _upgrade(old: Json) -> Json:
    """Return a comparison of the first format in today's keys."""
    new = {key: value for key, value in old.items() if key not in ("one_sided", "thin")}
    one_sided = old["one_sided"]
    new["appeared"] = [_without(item, "side") for item in one_sided if item["side"] == "incident"]
    new["disappeared"] = [_without(item, "side") for item in one_sided if item["side"] == "baseline"]
    new["insufficient_data"] = old["thin"]
    new["muted"] = [{**_without(item, "score"), "change_ratio": None, "significance": item["score"]} for item in old["muted"]]
    new["groups"] = [_upgrade_group(group) for group in old["groups"]]
    # Only the sum was stored, and at most 1,000 series: those beyond the list count as disappeared.
    counts, n_appeared = old["counts"], len(new["appeared"])
    new["counts"] = {
        "appeared": n_appeared,
        "disappeared": counts["one_sided"] - n_appeared,
        "insufficient_data": counts["thin"],
        "muted": counts["muted"],
    }
    new["sides"] = {name: {"n_rows_skipped": 0, **side} for name, side in old["sides"].items()}
    return new


def _upgrade_group(old: Json) -> Json:
    new = _renamed({"surprise": 0.0, **old}, _GROUP_KEYS)
    new["members"] = [_upgrade_member(member, old) for member in old["members"]]
    return new


def _upgrade_member(old: Json, group: Json) -> Json:
    new = _renamed({"surprise": 0.0, "explained": 0.0, **old}, _MEMBER_KEYS)
    new["change_ratios"] = {"load": 0.0, **old["parts"]}
    # Stored with the group only.
    is_worse = group["is_worse"]
    score = anomaly_score_of(new["significance"], old["impact"], is_worse=is_worse)
    return {**new, "direction": group["direction"], "is_worse": is_worse, "anomaly_score": score}


def _renamed(old: Json, names: Mapping[str, str]) -> Json:
    return {names.get(key, key): value for key, value in old.items()}


def _without(old: Json, key: str) -> Json:
    return {name: value for name, value in old.items() if name != key}
