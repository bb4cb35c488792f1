"""Rows with a column for each of very many CPUs become rows, an instance for each CPU; nothing is lost, whatever their number."""

import pytest

from normstat.samples.table_plan import TablePlan
from normstat.stats.catalogue import require_spec
from normstat.stats.engine.lines import MAX_SIDE_BY_SIDE
from normstat.stats.readers import read
from tests.stats.reading import Row, rows_of_result


def rows_of(spec: str, text: str) -> list[Row]:
    result = read(require_spec(spec), text.encode(), state={}, offset=0, is_final=True)
    assert not result.rejected
    plan = TablePlan([require_spec(spec)], {})
    assert all(plan.admit(block, 1).refusal is None for block in result.blocks)
    return rows_of_result(result)


def values_of(row: Row) -> dict[str, float]:
    return {key: value for (key, _), value in zip(row.columns, row.values, strict=True)}


@pytest.mark.parametrize("n_cpus", [MAX_SIDE_BY_SIDE + 1, 2048])
def test_interrupts_of_many_cpus(n_cpus: int) -> None:
    header = " ".join(f"CPU{number}" for number in range(n_cpus))
    numbers = " ".join(str(number * 7) for number in range(n_cpus))
    rows = rows_of("proc_interrupts", f"   {header}\n 24: {numbers}  IO-APIC   5-edge      eth0\nERR: 3\n")
    assert [(row.instance, values_of(row)) for row in rows] == [
        *((f"24 eth0/CPU{number}", {"n_each": number * 7}) for number in range(n_cpus)),
        ("ERR", {"total": 3}),
    ]


def test_cpus_of_high_numbers_are_rows_however_few_they_are() -> None:
    """Columns of all hosts are in one table."""
    (first, second) = rows_of("proc_softirqs", "   CPU2 CPU1024\n NET_RX: 5 6\n")
    assert [first.instance, second.instance] == ["NET_RX/CPU2", "NET_RX/CPU1024"]
    (side_by_side,) = rows_of("proc_softirqs", "   CPU2 CPU100\n NET_RX: 5 6\n")
    assert values_of(side_by_side) == {"n_cpu2": 5, "n_cpu100": 6}


def test_a_count_and_a_share_of_one_cpu_are_one_row() -> None:
    header = " ".join(f"cpu{number} %tim" for number in (3, 512))
    rows = rows_of("intrstat_solaris", f"device | {header}\n-------+------\n e1000g#0 | 5 0.1 239 0.2\n")
    assert [(row.instance, values_of(row)) for row in rows] == [
        ("e1000g#0/cpu3", {"on_each": 5, "on_each_pct": 0.1}),
        ("e1000g#0/cpu512", {"on_each": 239, "on_each_pct": 0.2}),
    ]
