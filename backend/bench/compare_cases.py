"""Cases for `make bench-compare`, made from a seed: a host's normal, an incident, and what really happened.

    generate("stalls", 7)       a fault of that kind
    generate("none/bursty", 7)  nothing happened

The host is that of compare_host.py, the faults are those of compare_faults.py. A case is some 1,400 series. The same kind and seed
give the same case every time.
"""

import zlib
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from bench.compare_faults import FAULTS, SAME_STORY
from bench.compare_host import N_PROCESSES, UNITS, FloatArray, Plan, Raw, make_host, print_tools
from bench.compare_scene import SIZES, BoolArray, NothingSuitsError, Scene, Size

FAULT_KINDS: Final = tuple(FAULTS)
CALM_KINDS: Final = (*("none/idle", "none/busy", "none/diurnal", "none/bursty", "none/jobs", "none/sparse"),)
KINDS: Final = FAULT_KINDS + CALM_KINDS
# Interval, samples of the baseline, samples of the incident: 10 minutes to 24 hours against 2 to 60 minutes.
SAMPLINGS: Final = (
    (1.0, (600, 2400), (120, 480)),
    (5.0, (720, 1440), (60, 360)),
    (10.0, (720, 1440), (30, 300)),
    (60.0, (720, 1440), (10, 60)),
)
SPARSE: Final = ((60.0, (20, 60), (5, 20)), (300.0, (20, 60), (5, 12)))
SPARSE_KINDS: Final = {"sparse_other_load", "stale_baseline", "none/sparse"}
# Where the baseline is of another time, the time right before the incident is there as well: so many times the incident's length.
BEFORE_LENGTHS: Final = {"stale_baseline": 4}
# Kinds that need samples close together, or many of them, to be there at all.
MAX_INTERVAL_S: Final = {"stalls": 5.0}
MANY_SAMPLES: Final = {"rare_spikes", "second_mode", "oscillation", "wider", "narrower", "frozen", "stalls", "mid_incident"}


@dataclass(frozen=True, slots=True)
class Case:
    """Both sides of a comparison, and the truth.

    Shape: times_baseline (n,), times_incident (m,) epoch seconds; baseline (n_metrics, n), incident (n_metrics, m)
    Missing: NaN. `truths`: the series with the fault, and what the tool computes of them for the same instance: finding any of them
    is a hit. `involved`: all series that the fault touches, truths included: none of them is a false alarm.
    """

    name: str
    kind: str
    flavour: str
    seed: int
    size: Size | None
    times_baseline: FloatArray
    times_incident: FloatArray
    metrics: list[str]
    baseline: FloatArray
    incident: FloatArray
    fields: list[str] = field(default_factory=list)
    truths: frozenset[str] = frozenset()
    involved: frozenset[str] = frozenset()
    # The time right before the incident, None where there is none that is not of the baseline.
    times_before: FloatArray | None = None
    before: FloatArray | None = None


def generate(kind: str, seed: int) -> Case:
    """A case of a kind; the sizes of faults take turns with the seed.

    Raises: KeyError for a kind that there is not
    """
    if kind not in KINDS:
        raise KeyError(kind)
    size = SIZES[seed % len(SIZES)]
    for attempt in range(20):
        rng = np.random.default_rng([zlib.crc32(kind.encode()), seed, attempt])
        plan = make_plan(rng, kind)
        raw = make_host(rng, plan)
        try:
            return _make_case(kind, seed, Scene(rng, plan, raw, {}, size))
        except NothingSuitsError:
            continue
    raise NothingSuitsError(f"{kind} {seed}")


def make_plan(rng: np.random.Generator, kind: str) -> Plan:
    """When the samples are taken and how the host is used."""
    is_sparse = kind in SPARSE_KINDS
    samplings = SPARSE if is_sparse else tuple(s for s in SAMPLINGS if s[0] <= MAX_INTERVAL_S.get(kind, 60.0))
    interval_s, (least, most), (least_incident, most_incident) = samplings[rng.integers(len(samplings))]
    n = round(float(np.exp(rng.uniform(np.log(least), np.log(most)))))
    if kind in MANY_SAMPLES:
        least_incident = max(least_incident, min(40, most_incident))
    m = round(float(np.exp(rng.uniform(np.log(least_incident), np.log(most_incident)))))
    m = min(m, n // 2)
    length_s = n * interval_s
    start = 1.7672256e9 + float(rng.integers(0, 300 * 24)) * 3600 + float(rng.integers(3600))
    gap_s = interval_s * float(rng.choice([0, 0, 5, 60, 1000]))
    n_before = m * BEFORE_LENGTHS.get(kind, 0)
    times: FloatArray = start + interval_s * np.arange(1, n + n_before + m + 1, dtype=np.float64)
    times[n:] += gap_s
    swing = float(rng.uniform(0.2, 0.8)) if rng.random() < 0.6 or kind in {"none/diurnal", "level_in_swing"} else 0.0
    plan = Plan(
        times=times,
        n_baseline=n,
        interval_s=interval_s,
        load=min(float(np.exp(rng.uniform(np.log(0.04), np.log(0.7)))), 0.9 * float(np.exp(-swing))),
        swing=swing,
        # The baseline has seen the whole swing, so that the incident is within it.
        period_s=min(86400.0, length_s * float(rng.uniform(0.4, 1.0))),
        phase=float(rng.random()),
        restless=float(rng.uniform(0.04, 0.25)),
        memory_s=length_s * 10 ** float(rng.uniform(-2.2, -1.2)),
        burst_rate=float(rng.choice([0.0, 1 / 900, 1 / 200])),
        has_jobs=bool(rng.random() < 0.5),
        percent_decimals=int(rng.choice([0, 0, 1])),
        n_before=n_before,
    )
    return _for_kind(rng, kind, plan)


def _for_kind(rng: np.random.Generator, kind: str, plan: Plan) -> Plan:
    """What makes the kind that kind."""
    if kind == "fleet_load":
        more = float(rng.uniform(1.8, 3.5))
        return replace(plan, load=min(plan.load, 0.8 / more), swing=min(plan.swing, 0.25), more_load=more)
    if kind == "sparse_other_load":
        more = float(rng.choice([rng.uniform(0.3, 0.55), rng.uniform(1.8, 3.0)]))
        return replace(plan, load=min(plan.load, 0.8 / max(more, 1.0)), swing=min(plan.swing, 0.3), more_load=more)
    if kind == "stale_baseline":
        more = float(rng.uniform(0.6, 1.5))
        return replace(plan, load=min(plan.load, 0.5), swing=min(plan.swing, 0.3), more_load=more)
    if kind == "level_in_swing":
        # At one end of its swing, or near it, in the middle of the incident.
        middle = float(np.median(plan.times[plan.n_baseline :]))
        end = float(rng.choice([0.25, 0.75])) + float(rng.uniform(-0.07, 0.07))
        return replace(plan, swing=max(plan.swing, 0.4), load=min(plan.load, 0.4), phase=(end - middle / plan.period_s) % 1.0)
    calm = {
        "none/idle": {"load": 0.01, "swing": 0.0, "burst_rate": 0.0, "restless": 0.1},
        "none/busy": {"load": 0.75, "swing": 0.0},
        "none/diurnal": {"swing": float(rng.uniform(0.5, 1.0)), "load": 0.3},
        "none/bursty": {"burst_rate": 1 / 60, "load": 0.15, "restless": 0.3},
        "none/jobs": {"has_jobs": True},
    }
    return replace(plan, **calm.get(kind, {}))  # type: ignore[arg-type]


def _make_case(kind: str, seed: int, scene: Scene) -> Case:
    plan, rng = scene.plan, scene.rng
    names, values = print_tools(scene.raw, plan)
    truths: frozenset[str] = frozenset()
    involved: frozenset[str] = frozenset()
    lost = _lost_rows(rng, names, values)
    newcomers, newcomer_values = _newcomers(rng, plan)
    if kind in FAULTS:
        without = values
        values, truths = _inject(kind, scene, names, without)
        touched = names_of(names, ~((without == values) | (np.isnan(without) & np.isnan(values))).all(axis=1))
        truths &= touched
        if not truths:
            raise NothingSuitsError(kind)
        involved = touched
        if plan.more_load != 1.0:
            involved |= names_of(names, np.ptp(without, axis=1) > 0)
    values[lost] = np.nan
    order = rng.permutation(len(names) + len(newcomers))
    values, names = np.concatenate([values, newcomer_values])[order], [(names + newcomers)[place] for place in order]
    n, first = plan.n_baseline, plan.n_baseline + plan.n_before
    return Case(
        name=f"{kind.replace('/', '-')}-{seed}",
        kind=kind.split("/", maxsplit=1)[0],
        flavour=kind,
        seed=seed,
        size=scene.size if kind in FAULTS else None,
        times_baseline=plan.times[:n],
        times_incident=plan.times[first:],
        metrics=names,
        baseline=np.ascontiguousarray(values[:, :n]),
        incident=np.ascontiguousarray(values[:, first:]),
        fields=[UNITS.get(name.rsplit("/", 1)[1], "1/s") for name in names],
        truths=truths,
        involved=involved,
        times_before=plan.times[n:first] if plan.n_before else None,
        before=np.ascontiguousarray(values[:, n:first]) if plan.n_before else None,
    )


def _inject(kind: str, scene: Scene, names: list[str], values: FloatArray) -> tuple[FloatArray, frozenset[str]]:
    """What the tools print with the fault, and the series that have it."""
    scene.printed = _by_field(scene.raw, names, values)
    scene.raw = dict(scene.raw)
    FAULTS[kind](scene)
    _, values = print_tools(scene.raw, scene.plan)
    truths = _truths(scene)
    if scene.gone is not None:
        is_truth = np.array([name in truths for name in names])
        values[:, scene.n :][is_truth[:, None] & scene.gone] = np.nan
    return values, truths


def names_of(names: list[str], chosen: BoolArray) -> frozenset[str]:
    return frozenset(name for name, is_chosen in zip(names, chosen, strict=True) if is_chosen)


def _by_field(raw: Raw, names: list[str], values: FloatArray) -> Raw:
    """The printed rows that have a counterpart among what the host counts: "stat/field" -> (n_times, n_instances)."""
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        parts = name.split("/")
        places.setdefault(f"{parts[0]}/{parts[-1]}", []).append(place)
    return {key: values[at].T for key, at in places.items() if key in raw}


def _truths(scene: Scene) -> frozenset[str]:
    found = set()
    for key, column in scene.injected:
        stat, name = key.split("/")
        instance = {"mpstat": f"{column}/", "iostat": f"sd{column}/", "vmstat": "", "prstat": f"{1000 + 37 * column}/"}
        found |= {f"{stat}/{instance.get(stat, f'net{column}/')}{shown}" for shown in (name, *SAME_STORY.get(key, ()))}
    return frozenset(found)


def _lost_rows(rng: np.random.Generator, names: list[str], values: FloatArray) -> BoolArray:
    """Reports that a tool skipped, on some hosts: all series of the stat miss that sample. Shape: like values, bool."""
    lost: BoolArray = np.zeros(values.shape, dtype=bool)
    if rng.random() < 0.4:
        stats = np.array([name.split("/")[0] for name in names])
        for stat in np.unique(stats):
            lost |= (stats == stat)[:, None] & (rng.random((1, values.shape[1])) < 0.004)
    return lost


def _newcomers(rng: np.random.Generator, plan: Plan) -> tuple[list[str], FloatArray]:
    """Short-lived processes, on some hosts: series of which a side has few samples or none."""
    n_times = len(plan.times)
    names, rows = [], []
    for number in range(int(rng.choice([0, 0, 1, 3]))):
        row = np.full(n_times, np.nan)
        first = int(rng.integers(n_times))
        row[first : first + max(3, n_times // 20)] = np.round(rng.gamma(1.0, 2.0), 1)
        names.append(f"prstat/{1000 + 37 * (N_PROCESSES + number)}/cpu")
        rows.append(row)
    return names, np.array(rows).reshape(len(rows), n_times)
