"""Retention of the results of watching: each kind by its own rule, and nothing that still counts."""

from datetime import timedelta

import psycopg
import pytest

from normstat.db.schema.job_models import JobState
from normstat.errors import BadRequest
from normstat.retention import result_removal
from normstat.retention.retention_rules import RESULTS, RetentionRulePut
from tests.database_access import Database, query
from tests.databases import Sessions, on_either_database
from tests.retention.test_retention import NOW, apply

pytestmark = on_either_database
DAY = timedelta(days=1)
# Rules count from midnight.
BEFORE = NOW.replace(hour=0, minute=0, second=0, microsecond=0) - 30 * DAY
FILL = """
    INSERT INTO hosts (name) VALUES ('web1'), ('web2');
    INSERT INTO host_scores (host_id, minute_at, method, baseline_id, version, n_judged, scores_1, scores_5, scores_15)
    SELECT h.id, t, 1, 1, 1, 1, '{}', '{}', '{}'
    FROM hosts AS h, generate_series('%(start)s'::timestamptz, '%(end)s'::timestamptz, '1 minute') AS t;
    INSERT INTO watched_states (host_id, source, from_at, colour)
    SELECT h.id, s, '%(before)s'::timestamptz + d * interval '1 day', d
    FROM hosts AS h, unnest(ARRAY['disk', 'cpu']) AS s, unnest(ARRAY[-9, -5, -2, 3]) AS d;
    INSERT INTO episodes (source, source_version, start_at, last_at, ended_at, colour, worst_at, title, sentence, action, saw)
    SELECT 'r' || n, 1, start, start, ended, 'red', start, '', '', '', '[]' FROM (VALUES
        (1, '%(before)s'::timestamptz - interval '9 days', '%(before)s'::timestamptz - interval '1 second'),
        (2, '%(before)s'::timestamptz - interval '9 days', '%(before)s'::timestamptz),
        (3, '%(before)s'::timestamptz - interval '9 days', NULL)
    ) AS own(n, start, ended);
    INSERT INTO jobs (kind, state, finished_at) VALUES
        ('backtest', 'done', '%(before)s'::timestamptz - interval '1 day'), ('backtest', 'running', NULL),
        ('backtest', 'failed', '%(before)s'::timestamptz + interval '1 day'),
        ('import', 'done', '%(before)s'::timestamptz - interval '1 day');
    INSERT INTO backtests (job_id, rule, toml, hosts, start_at, end_at)
    SELECT id, 'r', '', '[]', now(), now() FROM jobs WHERE kind = 'backtest';
"""


def fill(url: str) -> None:
    start, end = BEFORE - timedelta(minutes=90), BEFORE + timedelta(minutes=9)
    run_all(url, FILL % {"start": start, "end": end, "before": BEFORE})


def run_all(url: str, statements: str) -> None:
    with psycopg.connect(url) as connection:
        for statement in statements.split(";"):
            if statement.strip():
                connection.execute(statement.encode())


def kept(url: str) -> list[object]:
    return [
        query(url, "SELECT host_id, count(*), min(minute_at) FROM host_scores GROUP BY 1 ORDER BY 1"),
        query(url, "SELECT host_id, source, array_agg(colour ORDER BY from_at) FROM watched_states GROUP BY 1, 2 ORDER BY 1, 2"),
        query(url, "SELECT source FROM episodes ORDER BY 1"),
        query(
            url,
            "SELECT j.kind, j.state, b.rule FROM jobs AS j LEFT JOIN backtests AS b ON b.job_id = j.id"
            " WHERE kind <> 'retention' ORDER BY j.id",
        ),
    ]


async def test_each_kind_goes_by_its_own_rule(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_removal, "ROWS_AT_ONCE", 7)
    fill(db.url)
    before = kept(db.url)
    # Not by the rule for all other stats.
    run = await apply(db.sessions, RetentionRulePut(stat=None, samples_days=10, chunks_days=10))
    assert (run.state, run.n_results) == (JobState.DONE, 0)
    assert kept(db.url) == before
    run = await apply(db.sessions, *(RetentionRulePut(stat=name, samples_days=30, chunks_days=None) for name in RESULTS))
    assert kept(db.url) == [
        [(1, 10, BEFORE), (2, 10, BEFORE)],
        # What held on that day stays.
        [(host, source, [-2, 3]) for host in (1, 2) for source in ("cpu", "disk")],
        [("r2",), ("r3",)],
        [("backtest", "running", "r"), ("backtest", "failed", "r"), ("import", "done", None)],
    ]
    assert (run.state, run.message, run.n_results) == (JobState.DONE, "", 2 * 90 + 2 * 2 * 2 + 1 + 1)
    again = await apply(db.sessions, *(RetentionRulePut(stat=name, samples_days=30, chunks_days=None) for name in RESULTS))
    assert again.n_results == 0


async def test_what_is_no_rule_for_results(sessions: Sessions) -> None:
    for request, why in (
        (RetentionRulePut(stat="@scores", samples_days=7, chunks_days=None), "at least 8 days"),
        (RetentionRulePut(stat="@episodes", samples_days=30, chunks_days=30), "no raw bytes"),
        (RetentionRulePut(stat="@nothing", samples_days=30, chunks_days=None), "no stat '@nothing'"),
    ):
        with pytest.raises(BadRequest, match=why):
            await apply(sessions, request)
