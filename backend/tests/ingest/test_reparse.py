"""Reading streams again: what comes out is what reading them fresh would have given, and nothing else changes."""

from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from normstat.db.schema.job_models import JobState
from normstat.errors import BadRequest, NotFound
from normstat.records.reparse_rows import ReparseScope
from normstat.stats.engine.line_engine import TOO_LONG
from tests.addons import APP_USER, app_user_text
from tests.database_access import Database
from tests.databases import on_either_database
from tests.generated import mpstat_text, vmstat_text, vmstat_times
from tests.golden_captures import GOLDEN
from tests.ingest.rereading import books, export, put, reparse, wish
from tests.ingest.sending import Agent, gap, stream

# When the bytes came stays as it was.
RECEIVED = frozenset({"received_at"})


async def send_in_pieces(agent: Agent, data: bytes, spec: str, key: str = "k", *, size: int = 1000, offset: int = 0) -> int:
    """Sends whole lines and what is left of one; gives where the stream stands."""
    acked, end = offset, offset + len(data)
    while True:
        now = await agent.send_file(data[acked - offset : acked - offset + size], spec, key, offset=acked)
        if now == acked and acked + size >= end:
            return now
        size = size if now > acked else size * 2
        acked = now


async def fill(agent: Agent) -> None:
    """Streams of all sorts: many chunks, lines of noise, gaps, a line that is too long, instances that come and go, two runs."""
    vmstat = vmstat_text(vmstat_times(300))
    at = await send_in_pieces(agent, vmstat[:9000], "vmstat_linux")
    assert at < 9000
    await agent.send(gap(at, 9500 - at))
    at = await send_in_pieces(agent, b"of a line\n \0\1\nnoise\n" + vmstat[9500:], "vmstat_linux", offset=9500)
    await agent.send(gap(at, 100))
    mpstat = mpstat_text(40, 3)
    cut = mpstat.index(b"\n", len(mpstat) // 2) + 1
    await send_in_pieces(agent, mpstat[:cut] + b"x" * 1_500_000 + b"\n" + mpstat[cut:], "mpstat_linux", "cpus", size=300_000)
    for folder in ("pidstat_linux", "iostat_solaris"):
        for number, path in enumerate(sorted(GOLDEN.glob(f"*/{folder}/*.txt"), key=lambda path: path.name)[::3]):
            await send_in_pieces(agent, path.read_bytes(), folder, f"{folder}.{number}", size=700)
    await agent.send_file(b"who knows\n", "nothing_any", "nothing")


@on_either_database
async def test_a_stream_whose_raw_bytes_are_not_all_there_keeps_its_samples(agent: Agent, db: Database) -> None:
    """As after a restore of a backup that left out what could not be read; a gap that the agent told of is no loss of ours."""
    text = vmstat_text(vmstat_times(300))
    at = await send_in_pieces(agent, text[:9000], "vmstat_linux")
    await agent.send(gap(at, 9500 - at))
    await send_in_pieces(agent, text[9500:], "vmstat_linux", offset=9500)
    before = await export(db.engine)
    db.query(
        "DELETE FROM chunks WHERE start_offset = (SELECT min(start_offset) FROM chunks WHERE start_offset > 0) RETURNING 1",
    )
    record = await reparse(db.sessions, db.url)
    assert record.state == JobState.FAILED
    assert "raw bytes of the stream are missing; its samples stay as they are" in record.message
    assert await export(db.engine) == before


async def test_with_the_same_spec_nothing_changes(agent: Agent, db: Database) -> None:
    await fill(agent)
    before = await export(db.engine), books(db.url)
    assert len(before[0]) > 100_000
    ids = db.query("SELECT id, name FROM instances ORDER BY id")
    record = await reparse(db.sessions, db.url)
    assert (record.state, record.message) == (JobState.DONE, "")
    after = await export(db.engine), books(db.url)
    assert after[0] == before[0]
    # Of a line that came in several requests only the whole is known now how long it is, not the part that came first.
    (endless,) = [row for row in after[1]["rejected"] if row["reason"] == TOO_LONG]
    assert endless["n_bytes"] == 1_500_001
    next(row for row in before[1]["rejected"] if row["reason"] == TOO_LONG)["n_bytes"] = 1_500_001
    assert after[1] == before[1]
    assert db.query("SELECT id, name FROM instances ORDER BY id") == ids
    n_samples = db.query("SELECT sum(n_sample) FROM streams")[0][0]
    assert record.n_samples_before == record.n_samples_after > 0
    assert record.n_streams == record.n_streams_done == db.query("SELECT count(*) - 1 FROM streams")[0][0]
    assert record.n_bytes == record.n_bytes_done > 0
    assert record.n_rejected_after == db.query("SELECT sum(n_rejected) FROM streams")[0][0]
    assert n_samples is not None


@on_either_database
async def test_rules_and_scores_judge_recent_samples_again(agent: Agent, db: Database) -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    for key, begin, n in (("long", now - timedelta(hours=30), 31), ("old", now - timedelta(days=9), 3)):
        await send_in_pieces(agent, vmstat_text([begin + timedelta(hours=hour) for hour in range(n)]), "vmstat_linux", key)
    await reparse(db.sessions, db.url)
    long, old = db.query(
        "SELECT c.late_from, c.unscored_from FROM stream_changes AS c JOIN streams AS s ON s.id = c.stream_id ORDER BY s.key",
    )
    assert old == (None, None)
    # As far back as what comes late.
    assert long[0] == long[1]
    assert now - timedelta(hours=24) <= long[0] < now - timedelta(hours=23)


# Another key, and users that are no instances any more.
CHANGED = APP_USER.replace('key = "wait"', 'key = "wait_ms"').replace('instance = ["User"]', 'labels = ["User"]')
# Rows that have decimals in this column cannot be read any more.
WHOLE_WAIT = APP_USER.replace("decimals = 1\n", "")


@on_either_database
async def test_a_changed_spec_gives_what_a_fresh_load_gives(agent: Agent, db: Database) -> None:
    await put(db.sessions, "app_user", APP_USER)
    text = app_user_text(50)
    await send_in_pieces(agent, text, "app_user", size=90)
    old = await export(db.engine)
    await put(db.sessions, "app_user", CHANGED)
    fresh = Agent(db.engine, "fresh")
    await send_in_pieces(fresh, text, "app_user", size=90)
    assert await export(db.engine) == old
    record = await reparse(db.sessions, db.url, ReparseScope(is_outdated_only=True))
    assert (record.state, record.n_streams) == (JobState.DONE, 1)
    new = await export(db.engine)
    assert new == await export(db.engine, "fresh")
    assert b"wait_ms" in new
    assert b"user2" not in new
    assert b"user2" in old
    mine, theirs = books(db.url, without=RECEIVED), books(db.url, "fresh", without=RECEIVED)
    assert mine == theirs
    assert mine["streams"][0]["spec_version"] == 2
    again = await reparse(db.sessions, db.url, ReparseScope(is_outdated_only=True))
    assert (again.state, again.n_streams) == (JobState.DONE, 0)


@on_either_database
async def test_a_stream_that_nobody_could_read_gets_its_samples(agent: Agent, db: Database) -> None:
    text = app_user_text(20)
    half = text.index(b"\nUser", len(text) // 2)
    await agent.send_file(text[: half + 1], "app_user")
    await put(db.sessions, "app_user", APP_USER)
    await agent.send_file(text[half + 1 :], "app_user", offset=half + 1)
    await reparse(db.sessions, db.url, ReparseScope(spec="app_user"))
    fresh = Agent(db.engine, "fresh")
    await fresh.send_file(text, "app_user")
    assert await export(db.engine) == await export(db.engine, "fresh")
    assert books(db.url, without=RECEIVED) == books(db.url, "fresh", without=RECEIVED)


async def test_a_stat_that_is_no_more_loses_its_rows_and_instances(agent: Agent, db: Database) -> None:
    await put(db.sessions, "app_user", APP_USER)
    await agent.send_file(app_user_text(10), "app_user")
    await put(db.sessions, "app_user", APP_USER.replace('stat = "app_user"', 'stat = "app_other"').replace(
        '[[stats]]\nname = "app_user"', '[[stats]]\nname = "app_other"'
    ))  # fmt: skip
    await reparse(db.sessions, db.url)
    assert db.query("SELECT count(*) FROM stat.app_user") == [(0,)]
    assert db.query("SELECT count(*) > 0 FROM stat.app_other") == [(True,)]
    assert {row["stat"] for row in books(db.url)["instances"]} == {"app_other"}
    assert db.query("SELECT stat_names FROM streams") == [(["app_other"],)]


def three_users(start_s: int) -> bytes:
    """anna is there all the time, bert at first and carl later; at first with decimals."""
    reports = [
        f"{start_s + 10 * number}\nUser Calls Wait\nanna 1 {wait}\n{other} 1 {wait}\n"
        for number, (other, wait) in enumerate([("bert", "1.5"), ("bert", "2.5"), ("carl", "3"), ("carl", "4")])
    ]
    return "".join(reports).encode()


@on_either_database
async def test_instances_have_the_spans_of_the_rows_that_are_left(agent: Agent, db: Database) -> None:
    await put(db.sessions, "app_user", APP_USER)
    await agent.send_file(three_users(1_795_500_000), "app_user", "second")
    await agent.send_file(three_users(1_795_000_000), "app_user", "first")
    await put(db.sessions, "app_user", WHOLE_WAIT)
    streams = {str(key): int(str(id_)) for key, id_ in db.query("SELECT key, id FROM streams")}
    for key, n_instances in (("first", 3), ("second", 2)):
        await reparse(db.sessions, db.url, ReparseScope(stream_id=streams[key]))
        spans = db.query(
            "SELECT name, min(time), max(time) FROM stat.app_user JOIN instances ON id = instance_id GROUP BY 1 ORDER BY 1",
        )
        assert len(spans) == n_instances
        kept = books(db.url)["instances"]
        assert [(row["name"], row["first_sample_at"], row["last_sample_at"]) for row in kept] == spans
    assert db.query("SELECT sum(n_rejected) FROM streams") == [(8,)]


@on_either_database
async def test_rows_of_other_streams_stay(agent: Agent, db: Database) -> None:
    await put(db.sessions, "app_user", APP_USER)
    await agent.send_file(app_user_text(9), "app_user", "first")
    await agent.send_file(app_user_text(9), "app_user", "second")
    await Agent(db.engine, "beta").send_file(app_user_text(9), "app_user", "first")
    n_rows = db.query("SELECT host_id, stream_id, count(*) FROM stat.app_user GROUP BY 1, 2 ORDER BY 1, 2")
    assert len(n_rows) == 3
    first = int(str(db.query("SELECT id FROM streams ORDER BY id LIMIT 1")[0][0]))
    record = await reparse(db.sessions, db.url, ReparseScope(stream_id=first))
    assert record.n_samples_before == record.n_samples_after == n_rows[0][2]
    assert db.query("SELECT host_id, stream_id, count(*) FROM stat.app_user GROUP BY 1, 2 ORDER BY 1, 2") == n_rows


@on_either_database
async def test_many_reports_of_many_days(agent: Agent, db: Database) -> None:
    """Chunks of a hypertable hold a day each."""
    text = b"".join(app_user_text(2, start_s=1_795_262_400 + day * 86_400) for day in range(40))
    await put(db.sessions, "app_user", APP_USER)
    await agent.send_file(text, "app_user")
    before = await export(db.engine)
    record = await reparse(db.sessions, db.url)
    assert record.state is JobState.DONE
    assert await export(db.engine) == before


@on_either_database
async def test_bytes_that_cannot_be_unpacked_fail_that_stream_alone(agent: Agent, db: Database) -> None:
    await agent.send_file(vmstat_text(vmstat_times(10)), key="broken")
    await agent.send_file(vmstat_text(vmstat_times(10)), key="whole")
    before = await export(db.engine)
    with psycopg.connect(db.url) as connection:
        connection.execute("UPDATE chunks SET body = '\\x00' FROM streams WHERE streams.id = stream_id AND key = 'broken'")
    record = await reparse(db.sessions, db.url)
    assert (record.state, record.n_streams, record.n_streams_done) == (JobState.FAILED, 2, 1)
    assert "(vmstat_linux 'broken')" in record.message
    assert await export(db.engine) == before


@on_either_database
async def test_what_cannot_be_wished_for(agent: Agent, db: Database) -> None:
    await agent.send(stream(b"what\n", "nothing_any"), stream(vmstat_text(vmstat_times(3)), key="v"))
    ids = {str(spec): int(str(id_)) for spec, id_ in db.query("SELECT spec, id FROM streams")}
    for scope, error, message in (
        (ReparseScope(host="nobody"), NotFound, "no host 'nobody'"),
        (ReparseScope(stream_id=9999), NotFound, "no stream 9999"),
        (ReparseScope(spec="nothing_any"), BadRequest, "no spec 'nothing_any'"),
        (ReparseScope(stream_id=ids["nothing_any"]), BadRequest, "no spec 'nothing_any'"),
        (ReparseScope(stream_id=ids["vmstat_linux"], spec="mpstat_linux"), BadRequest, "not of that host and spec"),
    ):
        with pytest.raises(error, match=message):
            await wish(db.sessions, scope)
    assert await wish(db.sessions, ReparseScope(host="alpha")) == await wish(db.sessions, ReparseScope(host="alpha"))
