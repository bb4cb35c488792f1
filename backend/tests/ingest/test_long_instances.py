"""Names of instances may be as long as a folded stack; longer ones are rejected lines."""

import psycopg

from normstat.ingest.stream_samples import LONG_INSTANCE_REASON, MAX_INSTANCE_LENGTH
from normstat.samples.instance_cache import FIND
from normstat.samples.lookup import find_instances
from tests.database_access import Database, query
from tests.databases import on_either_database
from tests.ingest.sending import Agent
from tests.ingest.test_intake import assert_books_balance

pytestmark = on_either_database

BANNER = b"Linux 6.1.0-40-amd64 (host1) \t11/21/26 \t_x86_64_\t(2 CPU)\n\n"
HEADER = b"# Time          USER       PID    %usr %system  %guest   %wait    %CPU   CPU  Command\n"
SPEC = "pidstat_linux"
# Their commands are summed besides.
OF_PROCESSES = "stat_id = (SELECT id FROM stats WHERE name = 'pidstat_linux')"


def report(time_s: int, *commands: bytes) -> bytes:
    rows = (b"%d      root     %5d    0.00    0.00    0.00    0.98    0.00     1  %s\n" % (time_s, pid, command)
            for pid, command in enumerate(commands, start=1))  # fmt: skip
    return HEADER + b"".join(rows) + b"\n"


def stack(n_chars: int, last: str) -> bytes:
    """Frames that no compression makes short enough for an index entry."""
    frames = ";".join(f"module`function_{number * 7919 % 100_003:x}" for number in range(n_chars // 10))
    return (frames[: n_chars - len(last)] + last).encode()


async def test_ten_kilobytes_are_a_name_like_any_other(agent: Agent, db: Database) -> None:
    commands = [stack(10_000, "a"), stack(10_000, "b"), b"short"]
    text = BANNER + b"".join(report(1795254257 + second, *commands) for second in range(3))
    half = text.index(HEADER, len(text) // 2)
    assert await agent.send_file(text[:half], SPEC) == half
    assert await agent.send_file(text[half:], SPEC, offset=half) == len(text)
    assert_books_balance(db.url)
    found = db.query(f"SELECT id, name FROM instances WHERE {OF_PROCESSES} ORDER BY id")
    assert sorted(str(name) for _, name in found) == sorted(
        f"{pid}/{command.decode()}" for pid, command in enumerate(commands, start=1)
    )
    assert db.query("SELECT count(*) FROM stat.pidstat_linux") == [(9,)]
    (host_id, stat_id) = db.query(f"SELECT host_id, stat_id FROM instances WHERE {OF_PROCESSES} LIMIT 1")[0]
    async with db.sessions() as session:
        (ref,) = await find_instances(session, int(str(host_id)), int(str(stat_id)), [str(found[0][1])])
    assert ref.id == found[0][0]


async def test_longer_ones_are_rejected_lines(agent: Agent, database_url: str) -> None:
    longest = stack(MAX_INSTANCE_LENGTH - len("1/"), "a")
    text = BANNER + report(1795254257, longest, stack(MAX_INSTANCE_LENGTH + 1, "b"), b"short")
    assert await agent.send_file(text, SPEC) == len(text)
    assert_books_balance(database_url)
    assert query(database_url, "SELECT count(*) FROM stat.pidstat_linux") == [(2,)]
    assert query(database_url, "SELECT reason FROM rejected_lines") == [(LONG_INSTANCE_REASON,)]


def test_the_index_finds_names_that_were_seen_before(database_url: str) -> None:
    """Ten thousand processes of a host must not be read through for each of those that a request names."""
    with psycopg.connect(database_url) as connection:
        connection.execute("INSERT INTO hosts (name) VALUES ('h')")
        connection.execute("INSERT INTO stats (name, spec, spec_version) VALUES ('s', 's', 1)")
        connection.execute(
            "INSERT INTO instances (host_id, stat_id, name, first_sample_at, last_sample_at)"
            " SELECT h.id, s.id, n::text, now(), now() FROM hosts AS h, stats AS s, generate_series(1, 20000) AS n"
        )
        connection.execute("ANALYZE instances")
        arguments = {"host_ids": [1, 1], "stat_ids": [1, 1], "names": ["7", "8"]}
        plan = connection.execute("EXPLAIN " + FIND, arguments).fetchall()
    assert any("uq_instances__host_id_stat_id_name_hash" in str(line) and "Index" in str(line) for line in plan), plan
    assert any("Index Cond" in str(line) and "md5" in str(line) for line in plan), plan
