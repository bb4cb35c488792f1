"""Odd input: a rejected line or a clear error, nothing lost, nothing stopped."""

import datetime as dt
import itertools

import pytest

from normstat.errors import TooLarge
from normstat.samples.stream_rows import MAX_KEPT_PER_REASON, MAX_KEPT_PER_STREAM
from tests.database_access import query
from tests.databases import TestServer, on_either_database
from tests.generated import START, VMSTAT_HEADER, vmstat_text, vmstat_times
from tests.ingest.sending import Agent, gap, stream
from tests.ingest.test_intake import VMSTAT_ROWS, accounts, assert_books_balance, raw_bytes, vmstat_rows

pytestmark = on_either_database

MIB = 1 << 20
SOLARIS_HEADER = (
    " kthr      memory            page            disk          faults      cpu\n"
    " r b w   swap  free  re  mf pi po fr de sr s0 s1 s2 s3   in   sy   cs us sy id\n"
)
SOLARIS_ROW = " 0 0 0 882244 233300 35 62 0 1 1 0 36 5 3 5 3 2260 5736 1933 2 3 95\n"


def with_lines(text: bytes, *lines: bytes) -> bytes:
    """The text with these lines in its middle."""
    at = text.index(b"\n", len(text) // 2) + 1
    return text[:at] + b"".join(lines) + text[at:]


async def test_binary_in_a_stream_is_rejected_lines_between_samples(agent: Agent, database_url: str) -> None:
    text = vmstat_text(vmstat_times(20))
    odd = [b"\0\0\0\n", b"\xff\xfe 1 2 3\n", b"\x1b[31m 1 2\n", bytes(range(256)) + b"\n", b"\xed\xa0\x80 surrogate\n"]
    mixed = with_lines(text, *odd)
    assert await agent.send_file(mixed) == len(mixed)
    assert query(database_url, VMSTAT_ROWS) == vmstat_rows(text)
    assert raw_bytes(database_url) == mixed
    assert_books_balance(database_url)
    kept = query(database_url, "SELECT line_no, n_bytes, line_text FROM rejected_lines ORDER BY line_offset")
    assert len(kept) == accounts(database_url)["n_rejected"] == sum(line.count(b"\n") for line in odd)
    first_no = text[: text.index(b"\n", len(text) // 2) + 1].count(b"\n") + 1
    assert kept[0][:2] == (first_no, 4)
    assert "\\x00" in str(kept[0][2])


async def test_bytes_that_are_no_text_stand_in_commands_and_names(agent: Agent, database_url: str) -> None:
    text = vmstat_text(vmstat_times(2))
    await agent.send(stream(text, command="vmstat \0 \ud800 ä"))
    assert query(database_url, "SELECT command FROM streams") == [("vmstat \\x00 \\ud800 ä",)]


async def test_endless_line_of_unknown_spec_is_taken(agent: Agent, database_url: str) -> None:
    data = b"x" * (2 * MIB)
    acked = await agent.send_file(data, "fancystat_beos")
    assert acked == len(data)
    assert raw_bytes(database_url) == data


async def test_times_far_away_are_stored_as_printed(agent: Agent, database_url: str) -> None:
    times = [START, START, dt.datetime(1970, 1, 1, tzinfo=dt.UTC), dt.datetime(2106, 2, 7, 6, 28, 15, tzinfo=dt.UTC), START]
    text = vmstat_text(times)
    assert await agent.send_file(text) == len(text)
    assert query(database_url, VMSTAT_ROWS) == vmstat_rows(text)
    assert accounts(database_url)["last_sample_at"] == times[3]


async def test_rows_without_a_time_are_rejected_and_kept(agent: Agent, database_url: str) -> None:
    text = (SOLARIS_HEADER + SOLARIS_ROW * 3).encode()
    assert await agent.send_file(text, "vmstat_solaris") == len(text)
    assert query(database_url, "SELECT line_no, line_text, n_bytes, reason FROM rejected_lines ORDER BY line_offset") == [
        (line_no, SOLARIS_ROW.rstrip("\n"), len(SOLARIS_ROW), "no time known: no date or time was printed before this line")
        for line_no in (4, 5)
    ]
    found = accounts(database_url)
    assert (found["n_header"], found["n_since_boot"], found["n_sample"], found["n_rejected"]) == (2, 1, 0, 2)
    assert_books_balance(database_url)
    assert query(database_url, "SELECT count(*) FROM stats") == [(0,)]


async def test_times_that_no_calendar_has_are_rejected(agent: Agent, database_url: str) -> None:
    text = (
        SOLARIS_HEADER + "".join(f"{epoch}\n{SOLARIS_ROW}" for epoch in (1, START.timestamp().__trunc__(), 10**14, 10**18))
    ).encode()
    assert await agent.send_file(text, "vmstat_solaris") == len(text)
    assert query(database_url, "SELECT time FROM stat.vmstat_solaris") == [(START,)]
    assert_books_balance(database_url)


async def test_columns_that_the_spec_does_not_know_are_kept(agent: Agent, database_url: str) -> None:
    lines = VMSTAT_HEADER.replace(" st ", " st zz ").splitlines(keepends=True)
    rows = [f" 1  0      0 402200 267968 846360    0    0    44     0  381  615  2  2 96  0  0 {zz} 2026-11-21 12:00:0{at}\n"
            for at, zz in enumerate(("5", "6", "7.25", "x"))]  # fmt: skip
    text = ("".join(lines) + "".join(rows)).encode()
    assert await agent.send_file(text) == len(text)
    ((key,),) = query(database_url, "SELECT key FROM stat_fields WHERE NOT is_documented")
    assert query(database_url, f"SELECT {key}, printed FROM stat.vmstat_linux ORDER BY time") == [
        (6.0, None), (7.25, f"{key}=7.25"), (None, f"{key}=x")
    ]  # fmt: skip


@pytest.mark.slow
async def test_texts_of_rejected_lines_are_bounded_and_all_are_counted(agent: Agent, database_url: str) -> None:
    text = VMSTAT_HEADER.encode() + b"1 2 3\n" * (MAX_KEPT_PER_REASON + 500)
    acked = 0
    while acked < len(text):
        acked = await agent.send_file(text[acked : acked + 4000], offset=acked)
    assert accounts(database_url)["n_rejected"] == MAX_KEPT_PER_REASON + 500
    assert query(database_url, "SELECT count(*) FROM rejected_lines") == [(MAX_KEPT_PER_REASON,)]
    # Reasons that quote what was found are many.
    many = "".join(
        f" {word} 0 0 402200 267968 846360 0 0 44 0 381 615 2 2 96 0 0 2026-11-21 12:00:00\n"
        for word in itertools.islice(map("".join, itertools.product("ghjkmnpq", repeat=5)), MAX_KEPT_PER_STREAM + 500)
    ).encode()
    many = VMSTAT_HEADER.encode() + many
    assert await agent.send_file(many, key="many") == len(many)
    assert (
        query(database_url, "SELECT max(n) FROM (SELECT count(*) AS n FROM rejected_lines GROUP BY stream_id)")[0][0]
        <= MAX_KEPT_PER_STREAM
    )


@pytest.mark.slow
async def test_hundreds_of_days_at_once_are_taken_or_refused_as_too_large(
    agent: Agent, database_url: str, server: TestServer
) -> None:
    """A transaction can make only so many chunks of a hypertable; an agent that hears 413 sends less at once."""
    times = [START + dt.timedelta(days=number) for number in range(600)]
    text = vmstat_text(times)
    piece, acked = len(text), 0
    while acked < len(text):
        try:
            acked = await agent.send_file(text[acked : acked + piece], offset=acked)
        except TooLarge:
            piece //= 2
            assert piece > 4096
    # How many locks the server of the community edition has is not ours to say.
    assert server.name == "community" or (piece < len(text)) == (server.name == "timescaledb")
    assert query(database_url, VMSTAT_ROWS) == vmstat_rows(text)


async def test_rows_behind_a_gap_wait_for_the_next_stamp(agent: Agent, database_url: str) -> None:
    """The stamp before the gap may be that of a report long ago."""
    before = SOLARIS_HEADER + f"{START.timestamp():.0f}\n" + SOLARIS_ROW + f"{START.timestamp() + 1:.0f}\n" + SOLARIS_ROW
    after = SOLARIS_ROW[7:] + SOLARIS_ROW + f"{START.timestamp() + 9:.0f}\n" + SOLARIS_ROW
    begin = len(before) + 1000
    answer = await agent.send(
        stream(before.encode(), "vmstat_solaris"),
        gap(len(before), 1000, "vmstat_solaris"),
        stream(after.encode(), "vmstat_solaris", offset=begin),
    )
    assert answer == {"k": begin + len(after)}
    found = query(database_url, "SELECT time, line_offset FROM stat.vmstat_solaris ORDER BY line_offset")
    assert found == [
        (START + dt.timedelta(seconds=1), before.rindex(" 0 0 0")),
        (START + dt.timedelta(seconds=9), begin + after.rindex(" 0 0 0")),
    ]
    assert query(database_url, "SELECT line_offset, reason FROM rejected_lines") == [
        (begin + len(SOLARIS_ROW[7:]), "no time known: no date or time was printed before this line")
    ]
    assert_books_balance(database_url)
