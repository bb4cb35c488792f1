"""Blocks of samples become exactly those rows, on both databases: types, missing values, words that would not come back."""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
import psycopg
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.db.hypertables import read_storage
from normstat.db.session import driver_of, make_sessions, open_read_session, open_write_session
from normstat.errors import SpecError
from normstat.samples.printed_words import format_printed, parse_printed
from normstat.samples.samples import RowTarget, copy_block, copy_blocks, instance_spans
from normstat.samples.stat_tables import Column, RequiredTable, StoredStat, make_stat_tables, read_stored_stats
from normstat.samples.table_plan import MAX_COLUMNS, MAX_EXTRA_COLUMNS, MAX_EXTRA_OF_HOST, TablePlan
from normstat.samples.wide_columns import find_wider
from normstat.stats.records import SampleBlock, ValueArray
from normstat.stats.spec import Field, Kind, Layout, Spec, Stat, Storage, Worse
from tests.database_access import Database
from tests.databases import TestServer

SECOND_US = 1_000_000
START_US = 1_795_262_400 * SECOND_US  # 2026-11-21 12:00:00 UTC


def make_field(key: str, storage: Storage, decimals: int, *, is_documented: bool = True) -> Field:
    return Field(
        key=key,
        column=key,
        printed_key=key,
        group="",
        unit="%",
        kind=Kind.GAUGE,
        worse=Worse.HIGHER,
        decimals=decimals,
        storage=storage,
        help="What's 100% of it",
        source="own",
        is_documented=is_documented,
    )


COUNT = make_field("n", Storage.INT8, 0)
SHARE = make_field("share_pct", Storage.FLOAT4, 2)
RATE = make_field("order", Storage.FLOAT8, 3)  # a word of SQL
STAT = Stat(name="teststat", title="Test", instance_title="thing", fields=(COUNT, SHARE, RATE), panels=())
SPEC = Spec(
    name="teststat", tool="t", os="linux", title="Test", version=1, commands=(), reader="columns", layout=Layout(), stats=(STAT,)
)


def make_block(
    values: Mapping[Field, Sequence[float | None]], printed: dict[int, str] | None = None, *, instances: str = "abc"
) -> SampleBlock:
    n_rows = len(next(iter(values.values())))
    arrays: list[ValueArray] = []
    for field, column in values.items():
        known = [0 if value is None else value for value in column]
        arrays.append(np.array(known, dtype=np.int64) if field.storage.is_whole else np.array(known, dtype=np.float64))
    return SampleBlock(
        stat=STAT,
        fields=tuple(values),
        time_us=START_US + np.arange(n_rows, dtype=np.int64) * SECOND_US,
        instances=[instances[number % len(instances)] for number in range(n_rows)],
        values=tuple(arrays),
        line_offset=np.arange(n_rows, dtype=np.int64) * 100,
        missing=tuple(np.array([value is None for value in column]) if None in column else None for column in values.values()),
        printed=printed or {},
    )


async def store(engine: AsyncEngine, *blocks: SampleBlock) -> None:
    sessions = make_sessions(engine)
    fields = dict.fromkeys((*STAT.fields, *(field for block in blocks for field in block.fields)))
    async with open_write_session(sessions) as session:
        await make_stat_tables(session, [RequiredTable(SPEC, STAT, tuple({f.key: f for f in fields}.values()))])
    async with open_write_session(sessions) as session:
        stored = (await read_stored_stats(session, [STAT.name]))[STAT.name]
        for block in blocks:
            await copy_block(await driver_of(session), stored, block, RowTarget(7, 9, {"a": 1, "b": 2, "c": 3}))


def rows(url: str, columns: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url, options="-c timezone=UTC") as connection:
        return connection.execute(f"SELECT {columns} FROM samples.teststat ORDER BY time").fetchall()


async def test_values_come_out_of_every_type(db: Database) -> None:
    block = make_block(
        {COUNT: [0, -1, 2**63 - 1, -(2**63)], SHARE: [0.0, 99.99, 0.01, 12345.67], RATE: [0.001, -1.5, 123456789.125, 1e300]}
    )
    await store(db.engine, block)
    assert rows(db.url, 'extract(epoch FROM time)::int8, host_id, instance_id, stream_id, line_offset, n, "order"') == [
        (1_795_262_400 + number, 7, id_, 9, number * 100, n, rate)
        for number, (id_, n, rate) in enumerate([(1, 0, 0.001), (2, -1, -1.5), (3, 2**63 - 1, 123456789.125), (1, -(2**63), 1e300)])
    ]
    assert rows(db.url, "share_pct::float8::numeric(9,2)::text, printed") == [
        ("0.00", ""), ("99.99", ""), ("0.01", ""), ("12345.67", "")
    ]  # fmt: skip


async def test_missing_values_are_null_and_nothing_else_moves(db: Database) -> None:
    count: list[int | float | None] = [1, None, 3, None, 5]
    share: list[int | float | None] = [None, None, 0.5, 1.5, 2.5]
    await store(db.engine, make_block({COUNT: count, SHARE: share, RATE: [9.0] * 5}))
    assert rows(db.url, 'n, share_pct, "order", line_offset, printed') == [
        (n, s, 9.0, number * 100, "") for number, (n, s) in enumerate(zip(count, share, strict=True))
    ]


async def test_words_that_would_not_come_back_are_kept_by_key(db: Database) -> None:
    block = make_block(
        {SHARE: [1.0, None, 0.0, 2.0], COUNT: [7, 8, None, 9]},
        {0: "1.00 007", 2: "-0.00 -", 3: "2,00 9"},
    )
    await store(db.engine, block)
    assert rows(db.url, "share_pct, n, printed") == [
        (1.0, 7, "n=007"), (None, 8, ""), (0.0, None, "share_pct=-0.00"), (2.0, 9, "share_pct=2,00")
    ]  # fmt: skip


async def test_column_made_with_other_decimals_keeps_the_words(db: Database) -> None:
    first = make_field("new", Storage.FLOAT8, 0, is_documented=False)
    later = dataclasses.replace(first, decimals=2)
    await store(db.engine, make_block({first: [5.0, 6.0]}))
    block = make_block({later: [5.25, 6.0, None]})
    await store(db.engine, dataclasses.replace(block, time_us=block.time_us + 10 * SECOND_US))
    assert rows(db.url, "new, printed") == [
        (5.0, ""), (6.0, ""), (5.25, "new=5.25"), (6.0, "new=6.00"), (None, "")
    ]  # fmt: skip


async def test_decimals_for_a_column_of_whole_numbers_are_refused(engine: AsyncEngine) -> None:
    changed = dataclasses.replace(COUNT, storage=Storage.FLOAT8, decimals=1)
    await store(engine, make_block({COUNT: [1]}))
    with pytest.raises(SpecError, match="widen it first"):
        await store(engine, make_block({changed: [1.5]}))


async def test_decimals_are_kept_as_whole_numbers_and_shown_as_printed(db: Database) -> None:
    exact = make_field("exact_pct", Storage.DEC4, 2)
    few = make_field("few", Storage.INT4, 0)
    values: list[int | float | None] = [0.0, 12.34, -0.07, 21_474_836.47, None]
    await store(db.engine, make_block({COUNT: [1] * 5, exact: values, few: [0, 2**31 - 1, -(2**31) + 1, None, 5]}))
    assert rows(db.url, "exact_pct, few") == [(0, 0), (1234, 2**31 - 1), (-7, -(2**31) + 1), (2**31 - 1, None), (None, 5)]
    with psycopg.connect(db.url) as connection:
        connection.execute("INSERT INTO hosts (id, name) OVERRIDING SYSTEM VALUE VALUES (7, 'web1')")
        connection.execute(
            "INSERT INTO instances (id, host_id, stat_id, name, first_sample_at, last_sample_at) OVERRIDING SYSTEM VALUE"
            " SELECT number, 7, stats.id, number::text, now(), now() FROM stats, unnest(ARRAY[1, 2, 3]) AS new(number)"
        )
        shown = connection.execute("SELECT exact_pct FROM stat.teststat ORDER BY time").fetchall()
    assert [value for (value,) in shown] == values


def test_numbers_that_a_column_cannot_hold_plan_a_wider_one() -> None:
    exact, few = make_field("exact_pct", Storage.DEC4, 2), make_field("few", Storage.INT4, 0)
    stat = dataclasses.replace(STAT, fields=(COUNT, exact, few))
    columns = {field.key: Column(field.key, at, field.storage, field.decimals, True) for at, field in enumerate(stat.fields)}

    def widened(values: Mapping[Field, Sequence[float | None]], printed: dict[int, str] | None = None) -> dict[str, Storage]:
        plan = TablePlan([dataclasses.replace(SPEC, stats=(stat,))], {stat.name: StoredStat(1, stat.name, columns)})
        assert plan.admit(dataclasses.replace(make_block(values, printed), stat=stat), 1).refusal is None
        wanted = plan.lacking([stat.name])
        return dict(wanted[0].wider) if wanted else {}

    few_values: list[int | float | None] = [1, 2**31 - 1, None]
    assert widened({exact: [1.0, 21_474_836.47, None], few: few_values}, {2: "- -"}) == {}
    assert widened({exact: [1.0, 21_474_836.48, None]}, {1: "21474836.48", 2: "-"}) == {"exact_pct": Storage.FLOAT8}
    assert widened({few: [1, 2**31, -(2**31)]}) == {"few": Storage.INT8}
    floats = dataclasses.replace(few, storage=Storage.FLOAT8)
    assert widened({floats: [1, 2.5]}) == {"few": Storage.FLOAT8}
    assert widened({floats: [1, 2**31]}) == {"few": Storage.INT8}
    assert widened({dataclasses.replace(COUNT, storage=Storage.FLOAT8): [2.0**64]}) == {"n": Storage.FLOAT8}


def test_a_new_table_has_columns_wide_enough_for_its_first_numbers() -> None:
    few = make_field("few", Storage.INT4, 0)
    stat = dataclasses.replace(STAT, fields=(few,))
    plan = TablePlan([dataclasses.replace(SPEC, stats=(stat,))], {})
    assert plan.admit(dataclasses.replace(make_block({few: [2**40]}), stat=stat), 1).refusal is None
    (wanted,) = plan.lacking([stat.name])
    assert [field.storage for field in wanted.fields] == [Storage.INT8]


async def test_new_columns_join_table_and_view(db: Database) -> None:
    extra = make_field("extra", Storage.FLOAT8, 1, is_documented=False)
    await store(db.engine, make_block({COUNT: [1]}))
    await store(db.engine, make_block({COUNT: [2], extra: [0.5]}))
    with psycopg.connect(db.url) as connection:
        columns = [column.name for column in connection.execute("SELECT * FROM stat.teststat").description or ()]
        fields = connection.execute("SELECT key, position, is_documented FROM stat_fields ORDER BY position").fetchall()
        comment = connection.execute("SELECT col_description('stat.teststat'::regclass, 10)").fetchall()
    assert columns == [
        *("time", "host", "instance", "host_id", "instance_id", "stream_id", "line_offset", "printed"),
        *("n", "share_pct", "order", "extra"),
    ]
    assert fields == [("n", 0, True), ("share_pct", 1, True), ("order", 2, True), ("extra", 3, False)]
    assert comment == [("What's 100% of it [%]",)]


async def test_table_is_a_hypertable_where_there_are_any(db: Database, server: TestServer) -> None:
    await store(db.engine, make_block({COUNT: [1]}))
    async with open_read_session(make_sessions(db.engine)) as session:
        assert await read_storage(session) == server.storage
    with psycopg.connect(db.url) as connection:
        indexes = connection.execute("SELECT indexname FROM pg_indexes WHERE schemaname = 'samples' ORDER BY 1").fetchall()
        assert indexes == [("ix_teststat__host_time",)]
        if server.storage != "postgresql":
            assert connection.execute(
                "SELECT hypertable_name, column_name, time_interval::text FROM timescaledb_information.dimensions"
            ).fetchall() == [("teststat", "time", "1 day")]


async def test_names_that_every_table_has_are_no_keys(engine: AsyncEngine) -> None:
    with pytest.raises(SpecError, match="line_offset"):
        await store(engine, make_block({make_field("line_offset", Storage.INT8, 0): [1]}))


def extras(n_fields: int, first: int = 0) -> dict[Field, Sequence[float | None]]:
    return {make_field(f"x{number}", Storage.FLOAT8, 0, is_documented=False): [1] for number in range(first, first + n_fields)}


def test_a_host_that_makes_columns_up_loses_only_those() -> None:
    """The rows keep their other columns, and the other hosts have room for theirs."""
    plan = TablePlan([SPEC], {})
    first = plan.admit(make_block({COUNT: [1], **extras(MAX_EXTRA_OF_HOST + 2)}, {0: "+1 " + "1 " * MAX_EXTRA_OF_HOST + "2 3"}), 1)
    assert first.block is not None
    assert [field.key for field in first.block.fields] == ["n", *(f"x{number}" for number in range(MAX_EXTRA_OF_HOST))]
    assert first.block.printed == {0: "+1" + " 1" * MAX_EXTRA_OF_HOST}
    assert first.refusal == (
        f"stored without the columns x{MAX_EXTRA_OF_HOST}, x{MAX_EXTRA_OF_HOST + 1}: this host brought {MAX_EXTRA_OF_HOST} columns"
        " unknown to the spec already"
    )
    known = plan.admit(make_block(extras(MAX_EXTRA_OF_HOST)), 1)
    assert (known.block is not None, known.refusal) == (True, None)
    assert plan.admit(make_block(extras(1, 500)), 1).block is None
    other = plan.admit(make_block(extras(2, 500)), 2)
    assert (other.block is not None, other.refusal) == (True, None)
    (wanted,) = plan.lacking([STAT.name])
    assert len(wanted.fields) == len(STAT.fields) + MAX_EXTRA_OF_HOST + 2
    assert set(wanted.brought_by.values()) == {1, 2}


def test_all_hosts_together_bring_so_many_columns() -> None:
    plan = TablePlan([SPEC], {})
    n_hosts = MAX_EXTRA_COLUMNS // MAX_EXTRA_OF_HOST
    for host in range(n_hosts):
        assert plan.admit(make_block(extras(MAX_EXTRA_OF_HOST, 1000 * host)), host).refusal is None
    late = plan.admit(make_block({COUNT: [1], **extras(1, 999_000)}), n_hosts)
    assert late.block is not None
    assert "the most that a table has" in (late.refusal or "")
    reserved = plan.admit(make_block({COUNT: [1], make_field("time", Storage.FLOAT8, 0, is_documented=False): [1]}), 1)
    assert reserved.block is not None
    assert reserved.refusal == "stored without the column time: every table has a column of that name"


async def test_a_column_unknown_to_the_spec_is_its_hosts(db: Database) -> None:
    plan = TablePlan([SPEC], {})
    plan.admit(make_block({COUNT: [1], **extras(MAX_EXTRA_OF_HOST)}), 7)
    async with open_write_session(make_sessions(db.engine)) as session:
        await make_stat_tables(session, plan.lacking([STAT.name]))
    with psycopg.connect(db.url) as connection:
        owners = connection.execute("SELECT DISTINCT is_documented, host_id FROM stat_fields ORDER BY 1").fetchall()
    assert owners == [(False, 7), (True, None)]
    async with open_read_session(make_sessions(db.engine)) as session:
        stored = await read_stored_stats(session, [STAT.name])
    assert TablePlan([SPEC], stored).admit(make_block(extras(1, 500)), 7).block is None
    assert TablePlan([SPEC], stored).admit(make_block(extras(1, 500)), 8).refusal is None


async def test_a_table_has_room_for_a_column_for_each_of_many_cpus(engine: AsyncEngine) -> None:
    fields = {make_field(f"cpu{number}", Storage.INT8, 0): [2**60 + number] for number in range(MAX_COLUMNS - len(STAT.fields))}
    assert TablePlan([SPEC], {}).admit(make_block(fields), 1).refusal is None
    await store(engine, make_block(fields))
    more = {make_field(f"cpu{number}", Storage.INT8, 0): [1] for number in range(MAX_COLUMNS)}
    admission = TablePlan([SPEC], {}).admit(make_block(more), 1)
    assert admission.block is not None
    assert len(admission.block.fields) == MAX_COLUMNS - len(STAT.fields)
    assert "the most that a table has" in (admission.refusal or "")


async def test_blocks_of_several_streams_are_written_as_each_alone(db: Database) -> None:
    ids = {"a": 1, "b": 2, "c": 3}
    other_share = dataclasses.replace(SHARE, decimals=1)
    blocks = [
        make_block({COUNT: [1, 2, 3], SHARE: [0.25, 1.5, 99.99]}),
        make_block({COUNT: [4, None], SHARE: [None, 7.0]}),
        # The second row was printed as +5 7.00.
        make_block({COUNT: [4, 5, 6], SHARE: [6.0, 7.0, 8.0]}, printed={1: "+5 7.00"}, instances="ca"),
        # Rows of another number of digits keep their words.
        make_block({COUNT: [8], other_share: [0.5]}),
        make_block({COUNT: [9]}),
    ]
    parts = [(block, RowTarget(number, 10 + number, ids)) for number, block in enumerate(blocks)]
    await store(db.engine, blocks[0])
    columns = "host_id, stream_id, instance_id, time, line_offset, n, share_pct, printed"
    found = []
    for together in (False, True):
        with psycopg.connect(db.url) as connection:
            connection.execute("DELETE FROM samples.teststat")
        async with open_write_session(make_sessions(db.engine)) as session:
            stored = (await read_stored_stats(session, [STAT.name]))[STAT.name]
            driver = await driver_of(session)
            if together:
                await copy_blocks(driver, stored, parts)
            else:
                for block, place in parts:
                    await copy_block(driver, stored, block, place)
        found.append(sorted(rows(db.url, columns), key=str))
    alone, joined = found
    assert joined == alone
    assert len(alone) == sum(map(len, blocks))
    assert sum(row[-1] != "" for row in alone) == 2


def test_spans_are_of_all_blocks() -> None:
    first = make_block({COUNT: [1, 2, 3]}, instances="ab")
    second = dataclasses.replace(make_block({COUNT: [1, 2]}, instances="ac"), time_us=np.array([5, START_US + 99]))
    assert instance_spans([first, second]) == {
        "a": (5, START_US + 2 * SECOND_US),
        "b": (START_US + SECOND_US, START_US + SECOND_US),
        "c": (START_US + 99, START_US + 99),
    }


def test_printed_words_come_back() -> None:
    words = {"a": "007", "b": "x=y", "c": "1,5"}
    assert parse_printed(format_printed(words)) == words
    assert parse_printed("") == {}


def test_the_least_number_of_64_bits_needs_eight_bytes() -> None:
    least = np.array([np.iinfo(np.int64).min, 1])
    assert find_wider(Storage.INT4, 0, least) is Storage.INT8
    assert find_wider(Storage.INT8, 0, least) is None
    assert find_wider(Storage.INT4, 0, least, np.array([True, False])) is None
