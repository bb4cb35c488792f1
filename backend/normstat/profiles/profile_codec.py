"""Encode a profile as bytes, and its band, which is drawn behind graphs."""

import zlib
from dataclasses import dataclass
from typing import Final

import numpy as np

from normstat.codecs.array_codec import BrokenBytes, Sections, pack_sections, stored_fields, stored_name
from normstat.profiles.profile_builder import BuiltProfile, StatSeries
from normstat.profiles.sketch import SKETCH_METHOD, SketchKeys
from normstat.scoring.change_scale import VALUE, Ends, NaturalChange, SeriesStats, change_scale_of
from normstat.scoring.host_profile import HostProfile, WindowModel, window_model_at
from normstat.scoring.load_model import LoadModel
from normstat.scoring.significance import Calibration
from normstat.scoring.summary import PROBABILITIES, Float32Array, FloatArray, IntArray, Summary, add_levels

# Increase it with every change of how profiles are built.
PROFILE_METHOD: Final = 4
BAND: Final = (0.05, 0.5, 0.95)
# The fleet page judges windows of these lengths.
SCALED_LENGTHS_S: Final = (60.0, 300.0)


@dataclass(frozen=True, slots=True)
class Facts:
    """What a profile was built from. `days`: the local days of a seasonal slot, in words such as `12 working days`"""

    n_samples: int
    covered_s: float
    n_left_out: int
    days: str


@dataclass(frozen=True, slots=True)
class Band:
    """The bands of all series. Shape: quantiles (n_series, 3), those of BAND; n (n_series,) samples"""

    stats: tuple[StatSeries, ...]
    quantiles: FloatArray
    n: IntArray


@dataclass(frozen=True, slots=True)
class BandQuantiles:
    """The band of one series."""

    p5: float
    p50: float
    p95: float
    n: int


@dataclass(frozen=True, slots=True)
class ProfileBody:
    """A decoded profile."""

    stats: tuple[StatSeries, ...]
    profile: HostProfile
    facts: Facts


TYPES: Final = (
    StatSeries, HostProfile, SeriesStats, Summary, WindowModel, NaturalChange, Ends, Calibration, LoadModel, Facts, Band,
)  # fmt: skip
# Stored rows carry this number of two bytes. Another method, or other fields in a record, changes it, and profiles are built again.
METHOD: Final = (
    zlib.crc32(
        repr(
            (SKETCH_METHOD, PROFILE_METHOD, [(stored_name(type_), list(stored_fields(type_))) for type_ in (SketchKeys, *TYPES)])
        ).encode()
    )
    % 2**15
)


def pack_profile(built: BuiltProfile, days: str) -> tuple[bytes, bytes]:
    """Return the bytes of a profile, and of its band."""
    facts = Facts(built.n_samples, built.covered_s, built.n_left_out, days)
    body = pack_sections({"series": built.stats, "profile": built.profile, "facts": facts})
    # Beside the band, so that pages of many hosts need not read whole profiles.
    scales = make_scales(built.profile, built.covered_s)
    return body, pack_sections({"band": make_band(built.stats, built.profile), "scales": scales})


def unpack_profile(body: bytes) -> ProfileBody:
    """Return the profile from its bytes.

    Raises: BrokenBytes, also for a profile whose records had other fields
    """
    sections = Sections(body, TYPES)
    profile = sections.read("profile")
    if not isinstance(profile, HostProfile):
        raise BrokenBytes("The packed bytes do not hold a profile")
    return ProfileBody(sections.read("series"), profile, sections.read("facts"))


def make_band(stats: tuple[StatSeries, ...], profile: HostProfile) -> Band:
    """Return the band of a profile, in the units of the series."""
    places = np.array(BAND) * (len(PROBABILITIES) - 1)
    low = places.astype(np.intp)
    part = places - low
    values = add_levels(profile.baseline.quantiles, profile.series_stats.level[:, None])
    quantiles = values[:, low] * (1 - part) + values[:, np.minimum(low + 1, values.shape[1] - 1)] * part
    return Band(stats, quantiles, profile.baseline.n)


def make_scales(profile: HostProfile, covered_s: float) -> Float32Array:
    """Return the change scales of the level in windows of SCALED_LENGTHS_S, as a comparison has them.

    Shape: (n_lengths, n_series), in the units of the series. Missing: infinity where the windows do not show it
    """
    scales = []
    for length_s in SCALED_LENGTHS_S:
        natural_change = window_model_at(profile.window_models, length_s).natural_change
        n_window = np.maximum(profile.baseline.n * (length_s / max(covered_s, length_s)), 1)
        scales.append(change_scale_of(natural_change, profile.baseline, profile.series_stats, n_window)[VALUE])
    return np.stack(scales)


def unpack_scales(body: bytes) -> Float32Array:
    """Return the change scales from the bytes of a band.

    Raises: BrokenBytes
    """
    scales = Sections(body, TYPES).read("scales")
    if not isinstance(scales, np.ndarray):
        raise BrokenBytes("The packed bytes do not hold change scales")
    return scales


def unpack_band(body: bytes) -> Band:
    """Return the band from its bytes.

    Raises: BrokenBytes
    """
    band = Sections(body, TYPES).read("band")
    if not isinstance(band, Band):
        raise BrokenBytes("The packed bytes do not hold a band")
    return band


def find_in_band(band: Band, stat: str, instance: str, field: str) -> BandQuantiles | None:
    """Return one series of a band. Missing: None where it has no such series, or no sample of it."""
    offset = 0
    for own in band.stats:
        if own.stat == stat and instance in own.instances and field in own.fields:
            is_it = (own.instance == own.instances.index(instance)) & (own.field == own.fields.index(field))
            for row in np.flatnonzero(is_it) + offset:
                if band.n[row] > 0:
                    p5, p50, p95 = band.quantiles[row].tolist()
                    return BandQuantiles(p5, p50, p95, int(band.n[row]))
        offset += len(own.instance)
    return None
