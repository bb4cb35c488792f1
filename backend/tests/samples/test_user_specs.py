"""User specs in the database: versions counted, mistakes refused, every process's catalogue kept equal to the table."""

import psycopg
import pytest

from normstat.db.session import open_read_session, open_write_session
from normstat.errors import BadRequest, Conflict, NotFound
from normstat.samples.spec_refresh import SPECS_CHANNEL, read_revision, refresh_catalogue
from normstat.samples.user_specs import SpecStreams, count_streams, delete_user_spec, put_user_spec
from normstat.stats.catalogue import install_user_specs, load_catalogue
from tests.addons import APP_USER, app_user_text
from tests.database_access import Database
from tests.databases import Sessions, on_either_database
from tests.ingest.sending import Agent

pytestmark = on_either_database


async def put(sessions: Sessions, toml: str = APP_USER, name: str = "app_user") -> int:
    async with open_write_session(sessions) as session:
        return (await put_user_spec(session, name=name, toml=toml, created_by="admin")).version


async def remove(sessions: Sessions, name: str) -> None:
    async with open_write_session(sessions) as session:
        await delete_user_spec(session, name)


async def refresh(sessions: Sessions) -> bool:
    async with open_read_session(sessions) as session:
        return await refresh_catalogue(session)


async def test_each_changed_text_is_a_version(sessions: Sessions) -> None:
    assert [await put(sessions) for _ in range(2)] == [1, 1]
    assert await put(sessions, APP_USER.replace("Calls.", "Calls a report.")) == 2
    assert await put(sessions) == 3


async def test_a_process_hears_of_changes_and_reads_only_then(sessions: Sessions) -> None:
    assert not await refresh(sessions)
    await put(sessions)
    assert await refresh(sessions)
    assert load_catalogue().specs["app_user"].version == 1
    assert not await refresh(sessions)
    revisions = {load_catalogue().revision}
    await put(sessions, APP_USER.replace("Calls.", "Calls a report."))
    assert await refresh(sessions)
    assert load_catalogue().specs["app_user"].version == 2
    revisions.add(load_catalogue().revision)
    await remove(sessions, "app_user")
    assert await refresh(sessions)
    assert "app_user" not in load_catalogue().specs
    async with open_read_session(sessions) as session:
        revisions.add(await read_revision(session))
    assert len(revisions) == 3


async def test_changes_are_announced(db: Database) -> None:
    with psycopg.connect(db.url, autocommit=True) as connection:
        connection.execute(f"LISTEN {SPECS_CHANNEL}")
        await put(db.sessions)
        assert len(list(connection.notifies(timeout=120, stop_after=1))) == 1
        await put(db.sessions)
        await remove(db.sessions, "app_user")
        assert len(list(connection.notifies(timeout=120, stop_after=1))) == 1


async def test_what_is_wrong_is_refused_with_the_reason(sessions: Sessions) -> None:
    await put(sessions)
    for name, old, new, message in (
        ("app_user", "calls", "instance", "'instance' is a column that every table has"),
        ("app_user", "calls", "epoch", "'epoch' of app_user is a column of every CSV file"),
        ("app_user", '"float8"', '"float16"', "storage: 'float16' is none of"),
        ("app_user", 'title = "Users of the application"\ninst', 'title = "\\u0000"\ninst', "control characters"),
        ("vmstat_linux", 'name = "app_user"\ntool', 'name = "vmstat_linux"\ntool', "built-in"),
        ("other", 'name = "app_user"\ntool', 'name = "other"\ntool', "is a stat of the spec app_user"),
        ("app_user", "\n[layout]", "\0\n[layout]", "NUL"),
    ):
        assert old in APP_USER
        with pytest.raises(BadRequest, match=message):
            await put(sessions, APP_USER.replace(old, new), name)
    await refresh(sessions)
    assert load_catalogue().user_specs == {"app_user"}


async def test_a_field_with_the_metric_name_of_another_one_is_refused(sessions: Sessions) -> None:
    """`vmstat_linux` has `procs_r`."""
    text = APP_USER.replace('stat = "app_user"', 'stat = "vmstat_linux_procs"').replace('"calls"', '"r"')
    text = text.replace('[[stats]]\nname = "app_user"', '[[stats]]\nname = "vmstat_linux_procs"')
    with pytest.raises(
        BadRequest, match=r"'r' of vmstat_linux_procs and 'procs_r' of vmstat_linux would both be the metric normstat_"
    ):
        await put(sessions, text)


async def test_whole_numbers_cannot_get_decimals_once_they_are_stored(db: Database) -> None:
    whole = APP_USER.replace('storage = "float8"\n', "")
    await put(db.sessions, whole)
    await Agent(db.engine).send_file(app_user_text(3), "app_user")
    with pytest.raises(BadRequest, match=r"app_user keeps whole numbers in calls.*another key"):
        await put(db.sessions, APP_USER)
    assert await put(db.sessions, APP_USER.replace('"calls"', '"n_calls"')) == 2


async def test_streams_of_a_spec_are_counted_and_keep_it(db: Database) -> None:
    agent = Agent(db.engine)
    await agent.send_file(app_user_text(3), "app_user", "early")
    await put(db.sessions)
    await agent.send_file(app_user_text(3), "app_user", "late")
    assert db.query("SELECT key, spec_version FROM streams ORDER BY key") == [("early", 0), ("late", 1)]
    await refresh(db.sessions)
    async with open_read_session(db.sessions) as session:
        assert (await count_streams(session))["app_user"] == SpecStreams(2, 1)
    with pytest.raises(Conflict, match="2 streams have bytes"):
        await remove(db.sessions, "app_user")
    with pytest.raises(Conflict, match="built in"):
        await remove(db.sessions, "vmstat_linux")
    with pytest.raises(NotFound, match="no spec 'nothing'"):
        await remove(db.sessions, "nothing")


async def test_the_next_request_reads_with_the_spec_that_was_just_added(db: Database) -> None:
    """Another process added it, and this one heard no announcement."""
    await put(db.sessions)
    install_user_specs([], "")
    text = app_user_text(4)
    assert await Agent(db.engine).send_file(text, "app_user") == len(text)
    assert db.query("SELECT count(*) FROM stat.app_user") == [(1 + 2 + 3 + 1,)]
