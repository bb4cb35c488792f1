"""Put the normal values of many hosts' series beside each other, one table for each stat. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from normstat.comparison.stories.story_table import find_place
from normstat.profiles.profile_codec import Band
from normstat.scoring.summary import Float32Array, FloatArray, IntArray
from normstat.stats.records import Int64Array
from normstat.stats.spec import Field, Kind, Worse

# Subsystems in the order of their columns, in which scores are stored: topics of stories, and one for all else.
OTHER: Final = "other"
SUBSYSTEMS: Final[tuple[str, ...]] = ("cpu", "disk", "memory", "network", "locks", "filesystem", "nfs", OTHER)
NOT_SCORED: Final = -1


@dataclass(frozen=True, slots=True, eq=False)
class HostBand:
    """The stored normal of a host, and its instances now. `instances`: their ids by stat and name"""

    band: Band
    scales: Float32Array
    instances: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True, eq=False)
class StatBands:
    """The normal values of a stat's series: instances of many hosts, those of a host beside each other.

    Shape: instance_id, host (n,), host ascending; instances (n,) names; low, middle, high, scale_1, scale_5 (n, n_fields), in the
    units of the fields; subsystem (n, n_fields), NOT_SCORED for details. Missing: NaN for series without a normal
    """

    stat: str
    fields: tuple[Field, ...]
    instance_id: Int64Array
    instances: tuple[str, ...]
    host: IntArray
    low: FloatArray
    middle: FloatArray
    high: FloatArray
    scale_1: FloatArray
    scale_5: FloatArray
    subsystem: npt.NDArray[np.int8]

    @property
    def is_percent(self) -> npt.NDArray[np.bool_]:
        """Whether a field is a percentage. Shape: (n_fields,)"""
        return np.array([field.kind is Kind.PERCENT for field in self.fields])

    @property
    def digit(self) -> FloatArray:
        """The smallest difference that the tool prints. Shape: (n_fields,)"""
        return np.array([10.0**-field.decimals for field in self.fields])

    @property
    def worse(self) -> IntArray:
        """Which way is worse: 1 higher, -1 lower, 0 neither. Shape: (n_fields,)"""
        sides = {Worse.HIGHER: 1, Worse.LOWER: -1}
        return np.array([sides.get(field.worse, 0) for field in self.fields])


def table_bands(stat: str, fields: Sequence[Field], hosts: Sequence[HostBand]) -> StatBands | None:
    """Return the normal values of a stat, of the hosts in this order. Missing: None where none of its series is scored"""
    rows = [
        (at, name, instance_id)
        for at, host in enumerate(hosts)
        for name, instance_id in sorted(host.instances.get(stat, {}).items(), key=lambda item: item[1])
    ]
    shape = (len(rows), len(fields))
    # Low, middle and high, then the two scales.
    normal = np.full((5, *shape), np.nan)
    row_of = {(at, name): row for row, (at, name, _) in enumerate(rows)}
    column_of = {field.key: column for column, field in enumerate(fields)}
    for at, host in enumerate(hosts):
        _fill(stat, host, {name: row_of[at, name] for name in host.instances.get(stat, {})}, column_of, normal)
    subsystem = np.full(shape, NOT_SCORED, np.int8)
    for row, column in np.argwhere(~np.isnan(normal[1])).tolist():
        subsystem[row, column] = _subsystem_of(stat, fields[column].key, rows[row][1])
    if not (subsystem != NOT_SCORED).any():
        return None
    return StatBands(
        stat=stat,
        fields=tuple(fields),
        instance_id=np.array([instance_id for _, _, instance_id in rows], np.int64),
        instances=tuple(name for _, name, _ in rows),
        host=np.array([at for at, _, _ in rows], np.int64),
        low=normal[0],
        middle=normal[1],
        high=normal[2],
        scale_1=normal[3],
        scale_5=normal[4],
        subsystem=subsystem,
    )


def _fill(stat: str, host: HostBand, row_of: Mapping[str, int], column_of: Mapping[str, int], normal: FloatArray) -> None:
    """Put a host's band into its rows. Shape: normal (5, n, n_fields)"""
    offset = 0
    for own in host.band.stats:
        n = len(own.instance)
        if own.stat == stat:
            rows = _places(own.instances, row_of)[own.instance]
            columns = _places(own.fields, column_of)[own.field]
            places = np.arange(offset, offset + n)
            is_known = (rows >= 0) & (columns >= 0) & (host.band.n[places] > 0)
            rows, columns, places = rows[is_known], columns[is_known], places[is_known]
            normal[:3, rows, columns] = host.band.quantiles[places].T
            normal[3:, rows, columns] = host.scales[:, places]
        offset += n


def _places(names: Iterable[str], place_of: Mapping[str, int]) -> IntArray:
    """Return the place of each name. Missing: -1"""
    return np.array([place_of.get(name, -1) for name in names], np.int64)


def _subsystem_of(stat: str, field: str, instance: str) -> int:
    """Return the column of a series' subsystem. Missing: NOT_SCORED for one that never leads a story"""
    place = find_place(stat, field, instance)
    if place.role == "detail":
        return NOT_SCORED
    return SUBSYSTEMS.index(place.topic if place.topic in SUBSYSTEMS else OTHER)
