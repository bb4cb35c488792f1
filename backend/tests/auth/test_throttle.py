"""Guessing gets slow, honest typing does not, nobody locks out somebody else, and the table of counts stays bounded."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from normstat.auth import attempt_rows
from normstat.auth.throttle import (
    FREE_TRIES,
    FREE_TRIES_OF_ADDRESS,
    FREE_TRIES_OF_NAME,
    MAX_WAIT_S,
    NAME_PAUSE_S,
    RULES,
    TIDY_EVERY,
    Throttle,
)
from normstat.db.session import make_engine, make_sessions
from normstat.errors import TooManyRequests
from tests.databases import ServerPool, Sessions
from tests.unavailable import require_plain

BROWSER = b"what a browser kept"


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="module")
def database_url(servers: ServerPool) -> Iterator[str]:
    """One database for all of these tests: `sessions` empties the table."""
    with require_plain(servers).fresh_database() as url:
        yield url


@pytest.fixture
async def sessions(database_url: str) -> AsyncIterator[Sessions]:
    engine = make_engine(database_url, pool_size=4)
    async with engine.begin() as connection:
        await connection.execute(text("TRUNCATE login_attempts"))
    yield make_sessions(engine)
    await engine.dispose()


async def wait_of(throttle: Throttle, name: str = "ann", address: str = "10.0.0.1") -> int:
    with pytest.raises(TooManyRequests) as caught:
        await throttle.attempt(name, address)
    wait_s = caught.value.details["retry_after_s"]
    assert isinstance(wait_s, int)
    return wait_s


async def try_n(throttle: Throttle, n: int, name: str = "ann", address: str = "10.0.0.1") -> None:
    for _ in range(n):
        await throttle.attempt(name, address)


async def test_waits_grow_after_the_free_tries_up_to_a_limit(sessions: Sessions) -> None:
    clock = Clock()
    throttle = Throttle(sessions, clock)
    await try_n(throttle, FREE_TRIES)
    waits = []
    for _ in range(12):
        waits.append(await wait_of(throttle))
        clock.now += waits[-1]
        await throttle.attempt("ann", "10.0.0.1")
    assert waits[:4] == [1, 2, 4, 8]
    assert waits == sorted(waits)
    assert waits[-1] == MAX_WAIT_S


async def test_success_forgives(sessions: Sessions) -> None:
    throttle = Throttle(sessions, Clock())
    for _ in range(2 * FREE_TRIES_OF_ADDRESS):
        await (await throttle.attempt("ann", "10.0.0.1")).succeed()
    await try_n(throttle, FREE_TRIES)
    assert await wait_of(throttle) > 0


async def test_a_success_forgives_only_itself_to_the_address(sessions: Sessions) -> None:
    throttle = Throttle(sessions, Clock())
    for number in range(FREE_TRIES_OF_ADDRESS):
        await throttle.attempt(f"name{number}", "10.0.0.1")
        if number % 10 == 0:
            # Somebody with an account does not buy further guesses with it.
            await (await throttle.attempt("mallory", "10.0.0.1")).succeed()
    await wait_of(throttle, "somebody else")


async def test_a_try_that_was_not_looked_at_is_taken_back(sessions: Sessions) -> None:
    throttle = Throttle(sessions, Clock())
    for _ in range(2 * FREE_TRIES_OF_ADDRESS):
        await (await throttle.attempt("ann", "10.0.0.1")).withdraw()
    await try_n(throttle, FREE_TRIES)
    await wait_of(throttle)


async def test_others_are_not_held_up(sessions: Sessions) -> None:
    throttle = Throttle(sessions, Clock())
    await try_n(throttle, FREE_TRIES)
    await wait_of(throttle)
    await throttle.attempt("ann", "10.0.0.2")
    await throttle.attempt("bob", "10.0.0.1")


async def test_an_address_that_tries_many_names_waits_for_a_second_at_most(sessions: Sessions) -> None:
    clock = Clock()
    throttle = Throttle(sessions, clock)
    for number in range(FREE_TRIES_OF_ADDRESS):
        await throttle.attempt(f"name{number}", "10.0.0.1")
    for _ in range(10):
        # What is refused does not make the wait longer.
        assert await wait_of(throttle, "somebody else") == 1
    clock.now += 1
    await throttle.attempt("somebody else", "10.0.0.1")


async def test_a_name_is_guessed_slowly_however_many_addresses_guess(sessions: Sessions) -> None:
    clock = Clock()
    throttle = Throttle(sessions, clock)
    n_tries = 0
    hour_s = 3600
    for number in range(0, hour_s, 10):
        try:
            await throttle.attempt("ann", f"10.0.{number >> 8 & 255}.{number & 255}")
            n_tries += 1
        except TooManyRequests:
            pass
        clock.now += 10
    assert n_tries == pytest.approx(FREE_TRIES_OF_NAME + hour_s / NAME_PAUSE_S, abs=1)
    await try_n(throttle, 1, address="192.0.2.1")
    assert await throttle.is_name_throttled("ann")
    assert not await throttle.is_name_throttled("bob")


async def test_a_known_visitor_gets_in_whatever_others_try(sessions: Sessions) -> None:
    throttle = Throttle(sessions, Clock())
    await try_n(throttle, FREE_TRIES)
    for number in range(FREE_TRIES_OF_ADDRESS - FREE_TRIES):
        await throttle.attempt(f"name{number}", "10.0.0.1")
    for number in range(FREE_TRIES_OF_NAME - FREE_TRIES):
        await throttle.attempt("ann", f"10.0.1.{number}")
    assert await throttle.is_name_throttled("ann")
    await wait_of(throttle)
    await (await throttle.attempt_known("ann", BROWSER)).succeed()


async def test_a_known_visitor_guesses_no_faster(sessions: Sessions) -> None:
    throttle = Throttle(sessions, Clock())
    for _ in range(FREE_TRIES):
        await throttle.attempt_known("ann", BROWSER)
    with pytest.raises(TooManyRequests):
        await throttle.attempt_known("ann", BROWSER)
    # And holds up nobody else.
    await throttle.attempt_known("ann", b"another browser")
    await throttle.attempt("ann", "10.0.0.1")


async def test_a_known_address_is_spared_what_others_try_elsewhere(sessions: Sessions) -> None:
    throttle = Throttle(sessions, Clock())
    for number in range(FREE_TRIES_OF_NAME):
        await throttle.attempt("ann", f"10.0.1.{number}")
    await wait_of(throttle)
    for _ in range(FREE_TRIES):
        await throttle.attempt("ann", "10.0.0.1", is_known_address=True)
    with pytest.raises(TooManyRequests):
        await throttle.attempt("ann", "10.0.0.1", is_known_address=True)


async def test_a_network_of_ipv6_addresses_is_one_client(sessions: Sessions) -> None:
    throttle = Throttle(sessions, Clock())
    for number in range(FREE_TRIES):
        await throttle.attempt("ann", f"2001:db8:0:7::{number:x}")
    await wait_of(throttle, address="2001:db8:0:7:ffff::1")
    await throttle.attempt("ann", "2001:db8:0:8::1")
    await try_n(throttle, FREE_TRIES, address="::ffff:10.0.0.1")
    await wait_of(throttle, address="10.0.0.1")


async def test_wrong_links_are_counted_apart(sessions: Sessions) -> None:
    throttle = Throttle(sessions, Clock())
    for _ in range(FREE_TRIES_OF_ADDRESS):
        await throttle.count_wrong_link("10.0.0.1")
    with pytest.raises(TooManyRequests):
        await throttle.count_wrong_link("10.0.0.1")
    await throttle.attempt("ann", "10.0.0.1")


async def test_a_quiet_hour_forgives(sessions: Sessions) -> None:
    clock = Clock()
    throttle = Throttle(sessions, clock)
    await try_n(throttle, FREE_TRIES)
    clock.now += 3601
    await try_n(throttle, FREE_TRIES)
    await wait_of(throttle)


async def test_attempts_at_once_do_not_slip_through_together(sessions: Sessions) -> None:
    throttle = Throttle(sessions, Clock())
    done = await asyncio.gather(*(throttle.attempt("ann", "10.0.0.1") for _ in range(40)), return_exceptions=True)
    assert [type(each) for each in done].count(TooManyRequests) == 40 - FREE_TRIES
    # Right and wrong ones at once, under a key in common, neither lose counts nor lock each other up.
    right = await asyncio.gather(*(throttle.attempt(f"name{n}", "10.0.0.1") for n in range(20)))
    wrong = [throttle.attempt(f"name{n}", "10.0.0.1") for n in range(20, 40)]
    await asyncio.gather(*(attempt.succeed() for attempt in right), *wrong)
    for number in range(FREE_TRIES_OF_ADDRESS - FREE_TRIES - len(wrong)):
        await throttle.attempt(f"another{number}", "10.0.0.1")
    await wait_of(throttle, "the last one")


async def test_several_servers_let_no_more_through_than_one(sessions: Sessions, database_url: str) -> None:
    """Each has connections of its own, and nothing in common but the database."""
    engines = [make_engine(database_url, pool_size=4) for _ in range(3)]
    throttles = [Throttle(make_sessions(engine), Clock()) for engine in engines]
    tries = (throttle.attempt("ann", "10.0.0.1") for _ in range(20) for throttle in throttles)
    done = await asyncio.gather(*tries, return_exceptions=True)
    assert [type(each) for each in done].count(TooManyRequests) == 60 - FREE_TRIES
    assert await wait_of(Throttle(sessions, Clock())) == 1
    for engine in engines:
        await engine.dispose()


async def test_the_table_is_bounded_and_has_no_names(sessions: Sessions) -> None:
    throttle = Throttle(sessions, Clock(), max_keys=50)
    for number in range(TIDY_EVERY):
        await throttle.attempt(f"ann{number}", f"10.0.0.{number % 250}")
    async with sessions() as session:
        rows = (await session.execute(text("SELECT kind, count(*) FROM login_attempts GROUP BY kind ORDER BY kind"))).all()
        newest = await session.scalar(text("SELECT string_agg(key::text, ' ') FROM login_attempts"))
    assert [tuple(row) for row in rows] == [("address", 50), ("name", 50), ("pair", 50)]
    assert b"ann".hex() not in str(newest)


async def test_old_counts_are_deleted_and_those_in_force_stay(sessions: Sessions) -> None:
    clock = Clock()
    throttle = Throttle(sessions, clock)
    await try_n(throttle, FREE_TRIES)
    clock.now += 1800
    await try_n(throttle, 1, name="bob")
    clock.now += 1801
    await attempt_rows.delete_idle_attempts(sessions, RULES, max_keys=1000, at=datetime.fromtimestamp(clock.now, UTC))
    async with sessions() as session:
        kinds = list(await session.scalars(text("SELECT kind FROM login_attempts ORDER BY kind")))
    # Of bob; and the address that both came from.
    assert kinds == ["address", "name", "pair"]


async def test_without_the_table_nobody_gets_in(sessions: Sessions) -> None:
    engine = make_engine("postgresql://normstat@127.0.0.1:1/none", pool_size=1)
    with pytest.raises(OperationalError):
        await Throttle(make_sessions(engine)).attempt("ann", "10.0.0.1")
    await engine.dispose()
