"""A stream whose spec changes while it grows: read on with the new version, marked as outdated, no header lost."""

import pytest
from sqlalchemy import text as sql_text

from normstat.db.schema.job_models import JobState
from normstat.db.session import open_write_session
from normstat.ingest.reparse import recover_state
from tests.addons import APP_USER
from tests.database_access import Database
from tests.databases import on_either_database
from tests.ingest.rereading import put, reparse
from tests.ingest.sending import Agent, gap
from tests.ingest.test_intake import accounts

pytestmark = on_either_database

MINUTES = APP_USER.replace('unit = "ms"', 'unit = "s"')
VERSIONS = "SELECT spec_version, reader_version FROM streams"
# One header at the beginning, as of tools that never print it again.
ONE_HEADER = b"User Calls Wait\n"


def rows(first: int, n: int) -> bytes:
    return b"".join(b"%d\nanna %d 1.5\n" % (1_795_262_400 + number, number) for number in range(first, first + n))


async def test_the_header_is_still_known_and_the_stream_is_outdated(agent: Agent, db: Database) -> None:
    await put(db.sessions, "app_user", APP_USER)
    text = ONE_HEADER + rows(0, 5)
    await agent.send_file(text, "app_user")
    assert db.query(VERSIONS) == [(1, 1)]
    await put(db.sessions, "app_user", MINUTES)
    more = rows(5, 3)
    await agent.send_file(more, "app_user", offset=len(text))
    assert db.query(VERSIONS) == [(1, 2)]
    await agent.send_file(rows(8, 1), "app_user", offset=len(text + more))
    assert db.query(VERSIONS) == [(1, 2)]
    assert db.query("SELECT calls FROM stat.app_user ORDER BY time") == [(float(number),) for number in range(9)]
    assert accounts(db.url)["n_rejected"] == 0


async def test_a_stream_that_began_without_a_spec_stays_outdated(agent: Agent, db: Database) -> None:
    text = ONE_HEADER + rows(0, 2)
    await agent.send_file(text, "app_user")
    assert db.query(VERSIONS) == [(0, 0)]
    await put(db.sessions, "app_user", APP_USER)
    await agent.send_file(rows(2, 2), "app_user", offset=len(text))
    assert db.query(VERSIONS) == [(0, 1)]
    assert db.query("SELECT calls FROM stat.app_user ORDER BY time") == [(2.0,), (3.0,)]


async def test_of_a_long_stream_only_both_ends_are_read_again(agent: Agent, db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recover_state, "WHOLE_BYTES", 1000)
    monkeypatch.setattr(recover_state, "HEAD_BYTES", 100)
    monkeypatch.setattr(recover_state, "TAIL_BYTES", 200)
    await put(db.sessions, "app_user", APP_USER)
    text = b""
    for number in range(20):
        piece = (ONE_HEADER if not number else b"") + rows(number * 10, 10)
        await agent.send_file(piece, "app_user", offset=len(text))
        text += piece
    await put(db.sessions, "app_user", MINUTES)
    await agent.send_file(rows(200, 3), "app_user", offset=len(text))
    # The first line behind the part that was left out is skipped as behind a gap, long before these.
    assert db.query("SELECT count(*), max(calls) FROM stat.app_user") == [(203, 202.0)]
    assert accounts(db.url)["n_rejected"] == 0
    assert accounts(db.url)["n_sample"] == 203


async def test_decimals_in_a_column_of_whole_numbers_widen_it(agent: Agent, db: Database) -> None:
    """A spec that was added is refused when it says so; a built-in one may say it in the next program."""
    whole = APP_USER.replace('storage = "float8"\n', "")
    await put(db.sessions, "app_user", whole)
    text = ONE_HEADER + rows(0, 5)
    await agent.send_file(text, "app_user")
    async with open_write_session(db.sessions) as session:
        changed = {"toml": APP_USER, "version": 2}
        await session.execute(sql_text("UPDATE user_specs SET toml = :toml, version = :version"), changed)
    more = b"1795262500\nanna 5 1.5\n1795262501\nanna 5.5 1.5\n1795262502\nanna 6.0 1.5\n"
    await agent.send_file(more, "app_user", offset=len(text))
    stored = [(0, None), (1, None), (2, None), (3, None), (4, None), (5, None), (5.5, "calls=5.5"), (6, "calls=6.0")]
    assert db.query("SELECT calls, printed FROM stat.app_user ORDER BY time") == stored
    assert accounts(db.url)["n_rejected"] == 0
    record = await reparse(db.sessions, db.url)
    assert (record.state, record.n_streams_done) == (JobState.DONE, 1)
    assert db.query("SELECT calls, printed FROM stat.app_user ORDER BY time") == stored


async def test_a_field_that_the_spec_forgets_is_an_undocumented_column(agent: Agent, db: Database) -> None:
    whole = APP_USER.replace('storage = "float8"\n', "")
    await put(db.sessions, "app_user", whole)
    text = ONE_HEADER + rows(0, 3)
    await agent.send_file(text, "app_user")
    first = whole.index("[[stats.fields]]")
    await put(db.sessions, "app_user", whole[:first] + whole[whole.index("[[stats.fields]]", first + 1) :])
    await agent.send_file(rows(3, 3), "app_user", offset=len(text))
    assert db.query("SELECT calls, printed FROM stat.app_user ORDER BY time") == [(n, None) for n in range(6)]
    assert accounts(db.url)["n_rejected"] == 0


async def test_a_gap_at_the_end_stays_a_gap(agent: Agent, db: Database) -> None:
    await put(db.sessions, "app_user", APP_USER)
    text = ONE_HEADER + rows(0, 2)
    await agent.send_file(text, "app_user")
    await agent.send(gap(len(text), 100, "app_user"))
    await put(db.sessions, "app_user", MINUTES)
    await agent.send_file(b"2 1.5\n" + rows(9, 1), "app_user", offset=len(text) + 100)
    # What follows lost bytes may be the end of a line, and is never a row.
    assert db.query("SELECT calls FROM stat.app_user ORDER BY time") == [(0.0,), (1.0,), (9.0,)]
    bytes_by_kind = accounts(db.url)["bytes_by_kind"]
    assert isinstance(bytes_by_kind, dict)
    assert bytes_by_kind["rejected"] == len(b"2 1.5\n")
