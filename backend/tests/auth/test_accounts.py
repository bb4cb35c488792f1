"""Rows of known browsers, and events that wait for the commit."""

from datetime import timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker
from structlog.testing import capture_logs

from normstat.auth import account_rows
from normstat.auth.security_log import log_after_commit
from normstat.db.session import open_read_session, open_write_session
from tests.databases import on_either_database

pytestmark = on_either_database


async def make_user(sessions: async_sessionmaker[AsyncSession], name: str) -> int:
    async with open_write_session(sessions) as session:
        user = await account_rows.add_user(session, name=name, role="viewer", password_hash=None)
        assert user is not None
        return user.id


async def test_browsers_of_an_account(sessions: async_sessionmaker[AsyncSession]) -> None:
    ann, bob = await make_user(sessions, "ann"), await make_user(sessions, "bob")
    async with open_write_session(sessions) as session:
        await account_rows.note_browser(session, user_id=ann, token_hash=b"one", address="10.0.0.1")
        await account_rows.note_browser(session, user_id=bob, token_hash=b"one", address="10.0.0.1")
        await account_rows.note_browser(session, user_id=ann, token_hash=b"one", address="10.0.0.2")
    async with open_read_session(sessions) as session:
        assert await account_rows.is_browser(session, b"one", "ann")
        assert await account_rows.is_browser(session, b"one")
        assert not await account_rows.is_browser(session, b"two")
        assert not await account_rows.is_browser(session, b"one", "carl")
        assert await account_rows.is_address_of(session, "10.0.0.2", "ann")
        assert not await account_rows.is_address_of(session, "10.0.0.1", "ann")
    async with open_write_session(sessions) as session:
        await account_rows.update_user(session, bob, is_disabled=True)
        await account_rows.delete_sessions_of(session, ann)
    async with open_read_session(sessions) as session:
        assert not await account_rows.is_browser(session, b"one", "ann")
        assert not await account_rows.is_browser(session, b"one", "bob")


async def test_browsers_are_few_and_forgotten_in_time(sessions: async_sessionmaker[AsyncSession]) -> None:
    ann = await make_user(sessions, "ann")
    for n in range(account_rows.MAX_KNOWN_BROWSERS + 5):
        # Each in a transaction of its own: their times differ.
        async with open_write_session(sessions) as session:
            await account_rows.note_browser(session, user_id=ann, token_hash=b"%d" % n, address="10.0.0.1")
    async with open_write_session(sessions) as session:
        n_kept = await session.scalar(text("SELECT count(*) FROM known_browsers"))
        assert n_kept == account_rows.MAX_KNOWN_BROWSERS
        assert not await account_rows.is_browser(session, b"0")
        await session.execute(text("UPDATE known_browsers SET last_login_at = now() - interval '8 days' WHERE token_hash = '10'"))
        assert await account_rows.delete_expired(session, keep_links=timedelta(days=7), keep_browsers=timedelta(days=7)) == 1
        assert not await account_rows.is_browser(session, b"10")
        assert await account_rows.is_browser(session, b"11")


async def test_events_of_what_was_rolled_back_are_not_written(sessions: async_sessionmaker[AsyncSession]) -> None:
    async def fail() -> None:
        async with open_write_session(sessions) as session:
            await session.execute(text("SELECT 1"))
            log_after_commit(session, "account_created", account="'ann'")
            raise ZeroDivisionError

    with capture_logs() as lines:
        with pytest.raises(ZeroDivisionError):
            await fail()
        assert lines == []
        async with open_write_session(sessions) as session:
            await session.execute(text("SELECT 1"))
            log_after_commit(session, "account_created", account="'ann'")
            assert lines == []
    assert [line["event"] for line in lines] == ["account_created"]
