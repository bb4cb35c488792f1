"""Properties that every comparison has, whatever the numbers."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from normstat.baseline.compare import FloatArray, InstanceInput, Outcome, StatInput, compare_stat, rank
from normstat.stats.spec import Field, Kind, Storage, Worse

GAUGE = Field("g", "g", "g", "", "kB", Kind.GAUGE, Worse.HIGHER, 2, Storage.FLOAT8, "", "")
FIELDS = (
    GAUGE,
    replace(GAUGE, key="pct", unit="%", kind=Kind.PERCENT, worse=Worse.LOWER, storage=Storage.FLOAT4),
    replace(GAUGE, key="n", unit="1/s", kind=Kind.RATE, worse=Worse.NEITHER, decimals=0, storage=Storage.INT8),
)

# Numbers as tools print them: mostly small, often the same, now and then huge or missing.
numbers = st.one_of(
    st.integers(0, 10).map(float), st.integers(0, 10**7).map(lambda n: n / 100), st.just(0.0), st.just(float("nan"))
)


@st.composite
def sides(draw: st.DrawFn, n_most: int = 80) -> FloatArray:
    """Shape: (n, 3)."""
    seed = draw(st.lists(numbers, min_size=3, max_size=30))
    n = draw(st.integers(0, n_most))
    order = np.random.default_rng(draw(st.integers(0, 99))).integers(0, len(seed), (n, len(FIELDS)))
    return np.array(seed)[order]


stats = st.lists(st.tuples(sides(), sides()), min_size=1, max_size=5).map(
    lambda rows: StatInput("s", FIELDS, [InstanceInput(f"i{number}", *pair) for number, pair in enumerate(rows)])
)


def names(outcome: Outcome) -> list[tuple[str, str]]:
    return [(finding.series.instance, finding.series.field.key) for finding in outcome.findings]


@given(stats)
def test_every_series_with_a_value_is_counted_once(given: StatInput) -> None:
    outcome = rank([compare_stat(given)])
    n_with_values = sum(
        bool(np.isfinite(instance.baseline[:, column]).any() or np.isfinite(instance.incident[:, column]).any())
        for instance in given.instances
        for column in range(len(FIELDS))
    )
    assert outcome.n_series == n_with_values
    for finding in outcome.findings:
        assert np.isfinite([finding.score, finding.scale, finding.ks, finding.weight, finding.shift]).all()
        assert finding.scale > 0
        assert 0 < finding.ks <= 1
        assert 0 <= finding.weight <= 1
        assert finding.baseline.n >= 10
        assert finding.incident.n >= 5


@given(st.lists(sides(), min_size=1, max_size=5))
def test_a_window_compared_with_itself_shows_nothing(rows: list[FloatArray]) -> None:
    outcome = compare_stat(StatInput("s", FIELDS, [InstanceInput(f"i{n}", side, side) for n, side in enumerate(rows)]))
    assert not outcome.findings
    assert not outcome.one_sided


@given(stats, st.integers(-3, 3))
def test_other_units_give_the_same_ranking(given: StatInput, decades: int) -> None:
    scalable = [number for number, field in enumerate(FIELDS) if field.kind is not Kind.PERCENT]
    factor = 10.0**decades
    # Kilobytes as megabytes: values divided by a thousand, printed with three digits more.
    scaled = StatInput(
        given.stat,
        [replace(FIELDS[number], decimals=FIELDS[number].decimals - decades) for number in scalable],
        [
            InstanceInput(item.name, item.baseline[:, scalable] * factor, item.incident[:, scalable] * factor)
            for item in given.instances
        ],
    )
    plain = StatInput(
        given.stat,
        [FIELDS[number] for number in scalable],
        [InstanceInput(item.name, item.baseline[:, scalable], item.incident[:, scalable]) for item in given.instances],
    )
    before, after = rank([compare_stat(plain)]), rank([compare_stat(scaled)])
    assert sorted(names(before)) == sorted(names(after))
    weights = {(f.series.instance, f.series.field.key): f.weight for f in before.findings}
    for finding in after.findings:
        assert np.isclose(finding.weight, weights[finding.series.instance, finding.series.field.key], rtol=1e-6, atol=1e-9)


@given(stats, st.floats(-1e6, 1e6), st.integers(5, 60))
def test_a_constant_series_adds_no_finding(given: StatInput, value: float, n: int) -> None:
    constant = InstanceInput("constant", np.full((2 * n, len(FIELDS)), value), np.full((n, len(FIELDS)), value))
    with_it = StatInput(given.stat, FIELDS, [*given.instances, constant])
    # It may change the order: what the host has in all is a part of how much a change matters.
    assert sorted(names(rank([compare_stat(with_it)]))) == sorted(names(rank([compare_stat(given)])))


@given(stats, st.integers(0, 40))
def test_missing_samples_change_no_verdict(given: StatInput, n_missing: int) -> None:
    """NaN never becomes zero: rows without any value are as if they were not there."""
    nothing = np.full((n_missing, len(FIELDS)), np.nan)
    padded = [
        InstanceInput(item.name, np.concatenate([item.baseline, nothing]), np.concatenate([nothing, item.incident]))
        for item in given.instances
    ]
    before, after = (rank([compare_stat(StatInput("s", FIELDS, items))]) for items in (given.instances, padded))
    assert before.findings == after.findings
    assert before.thin == after.thin
    assert [(s.series, s.side) for s in sorted(before.one_sided, key=str)] == [
        (s.series, s.side) for s in sorted(after.one_sided, key=str)
    ]


@given(stats)
def test_the_order_of_instances_changes_nothing(given: StatInput) -> None:
    backwards = StatInput(given.stat, FIELDS, given.instances[::-1])
    assert names(rank([compare_stat(given)])) == names(rank([compare_stat(backwards)]))


def test_normal_against_normal_is_quiet() -> None:
    """Autocorrelated load, five-minute jobs, bursts: in 1000 comparisons of quiet with quiet few are called unusual."""
    rng = np.random.default_rng(7)
    n_findings = 0
    for _ in range(250):
        n = 720
        noise = rng.normal(0, 1, n)
        drift = np.empty(n)
        drift[0] = 0.0
        for i in range(1, n):
            drift[i] = 0.95 * drift[i - 1] + noise[i]
        columns = [
            np.clip(30 + 3 * drift, 0, 100),
            np.where(np.arange(n) % 60 < 6, 55.0, 5.0) + rng.normal(0, 1, n),
            np.where(rng.random(n) < 0.05, rng.exponential(200, n), 0.0),
            rng.lognormal(3, 1, n),
        ]
        rows = np.round(np.stack(columns, axis=1), 2)
        fields = [replace(GAUGE, key=key) for key in ("drift", "job", "rare", "heavy")]
        n_findings += len(compare_stat(StatInput("s", fields, [InstanceInput("", rows[:600], rows[600:])])).findings)
    assert n_findings <= 10, f"{n_findings} of 1000"
