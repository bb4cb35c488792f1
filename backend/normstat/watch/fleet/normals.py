"""What is normal for the key series of a host: from the stored profile of its baseline, or from the samples of a short one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from normstat.profiles.profile_codec import BAND, unpack_band, unpack_scales
from normstat.query.minute_means import SpanSamples
from normstat.runtime.units import to_base
from normstat.scoring.change_scale import nearly_largest
from normstat.stats.spec import Kind
from normstat.watch.fleet.key_metrics import KEY_METRICS, KeyField

# Differences below this share of the normal level are not looked at, unless the level is a percentage.
MIN_SHARE: Final = 0.02


class SeriesName(NamedTuple):
    """A series of a host: one of tens of thousands that are looked up at each request."""

    stat: str
    instance: str
    field: str


@dataclass(frozen=True, slots=True)
class SeriesNormal:
    """The band of a series, and the change scales of a minute and of five, in the unit of the field."""

    low: float
    middle: float
    high: float
    minute_scale: float
    recent_scale: float


HostNormals = Mapping[SeriesName, SeriesNormal]


def normals_of_band(body: bytes, known: Mapping[str, Sequence[KeyField]]) -> HostNormals:
    """Return the normals of the key series of a stored profile.

    Raises: BrokenBytes
    """
    band, scales = unpack_band(body), unpack_scales(body)
    found: dict[SeriesName, SeriesNormal] = {}
    offset = 0
    for own in band.stats:
        keys = {key.field.key: key for key in known.get(own.stat, ())}
        codes = {code: keys[name] for code, name in enumerate(own.fields) if name in keys}
        for row in np.flatnonzero(np.isin(own.field, list(codes))).tolist() if codes else ():
            key = codes[int(own.field[row])]
            instance = own.instances[int(own.instance[row])]
            if band.n[offset + row] > 0 and key.takes(own.stat, instance):
                low, middle, high = band.quantiles[offset + row].tolist()
                minute_scale, recent_scale = scales[:, offset + row].tolist()
                name = SeriesName(own.stat, instance, key.field.key)
                found[name] = _with_floors(SeriesNormal(low, middle, high, minute_scale, recent_scale), key)
        offset += len(own.instance)
    return found


def normals_of_samples(
    stat: str, fields: Sequence[KeyField], samples: SpanSamples, names: Mapping[int, tuple[int, str]]
) -> dict[int, dict[SeriesName, SeriesNormal]]:
    """Return the normals of a stat's key series by host, from the samples of baselines too short for a profile.

    The change scale is that of their minutes, for five minutes too. `names`: host id and name of each instance, by its id
    """
    found: dict[int, dict[SeriesName, SeriesNormal]] = {}
    order = np.lexsort((samples.minute, samples.instance_id))
    instance_ids, minutes, values = samples.instance_id[order], samples.minute[order], samples.values[order]
    ids, begins = np.unique(instance_ids, return_index=True)
    ends = np.append(begins, len(instance_ids))[1:]
    for instance_id, begin, end in zip(ids.tolist(), begins.tolist(), ends.tolist(), strict=True):
        host_id, instance = names[instance_id]
        for at, key in enumerate(fields):
            normal = _normal_of(values[begin:end, at], minutes[begin:end])
            if normal is not None and key.takes(stat, instance):
                found.setdefault(host_id, {})[SeriesName(stat, instance, key.field.key)] = _with_floors(normal, key)
    return found


def _normal_of(values: np.ndarray, minutes: np.ndarray) -> SeriesNormal | None:
    is_known = ~np.isnan(values)
    known, own = values[is_known].astype(np.float64), minutes[is_known]
    if not len(known):
        return None
    low, middle, high = np.quantile(known, BAND).tolist()
    begins = np.flatnonzero(np.diff(own, prepend=own[0] - 1))
    means = np.add.reduceat(known, begins) / np.diff(np.append(begins, len(own)))
    scale = float(nearly_largest(np.abs(means - middle).astype(np.float32)[:, None])[0])
    return SeriesNormal(low, middle, high, scale, scale)


def _with_floors(normal: SeriesNormal, key: KeyField) -> SeriesNormal:
    """Return the normal with change scales of at least what matters to a person; an unknown one is the width of the band."""
    least = KEY_METRICS[key.metric].least / (to_base(1.0, key.field.unit) or 1.0)
    if key.field.kind is not Kind.PERCENT:
        least = max(least, MIN_SHARE * abs(normal.middle))
    scales = [
        max(scale if np.isfinite(scale) else normal.high - normal.low, least)
        for scale in (normal.minute_scale, normal.recent_scale)
    ]
    return SeriesNormal(normal.low, normal.middle, normal.high, scales[0], scales[1])
