"""Fixtures of all tests.

A test that asks for `database_url` or `engine` runs on each kind of database: `make test` runs the kind that its folder is about
(`choose_database`), `make test-all` both. Tests marked `on_either_database` run on that kind only.
"""

import contextlib
import gc
import logging
import os
import signal
from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path

import hypothesis
import pytest
import structlog
from argon2 import PasswordHasher
from httpx._config import DEFAULT_TIMEOUT_CONFIG
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker

from normstat.auth import passwords
from normstat.db.session import make_engine, make_sessions
from normstat.runtime.memory import collector_paused
from normstat.stats.catalogue import install_user_specs
from tests.compiled_statements import share_compiled_statements
from tests.costs import TestCosts
from tests.database_access import Database
from tests.databases import (
    SERVERS,
    CommunityServer,
    PlainServer,
    ServerPool,
    TestServer,
    TimescaleServer,
    choose_database,
    on_either_database,
)
from tests.debian_root import DatabaseUnavailable, require_timescale_root

# How many times the usual time a test may take: the whole matrix runs hundreds of examples a test.
PATIENCE = int(os.environ.get("NORMSTAT_TEST_PATIENCE", "1"))
collect_ignore = [] if CommunityServer.name in SERVERS else ["ingest/test_columnstore.py"]


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(TestCosts(), "costs")
    share_compiled_statements()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None]:
    """Collect without the garbage collector, which looks no more through what is there then: modules, specs, tests."""
    with collector_paused():
        yield
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start slow tests first, so that no worker waits for one at the end; leave the other kind of database to `make test-all`."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    for item in items:
        # Beside the other stages a second of CPU takes five.
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(120))
        if PATIENCE > 1:
            given = item.get_closest_marker("timeout")
            item.add_marker(pytest.mark.timeout(PATIENCE * (given.args[0] if given else 60)), append=False)
        if "server" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.database)
        if _has_a_second_database(item) and item.callspec.params["server"] != choose_database(item.path):  # type: ignore[attr-defined]
            item.add_marker(pytest.mark.matrix)


def _has_a_second_database(item: pytest.Item) -> bool:
    """Return whether the test runs on each kind of database, and does not choose its own."""
    is_parametrized = "server" in getattr(getattr(item, "callspec", None), "params", {})
    chosen = (mark for mark in item.iter_markers("parametrize") if "server" in mark.args[0])
    return is_parametrized and not any(chosen)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Makes the Debian root of TimescaleDB before the first test: it may take minutes, and a test's time is limited."""
    if any(item.get_closest_marker("timescale") for item in session.items) and not session.config.option.collectonly:
        # Where it cannot be had, the tests that need it say so.
        with contextlib.suppress(DatabaseUnavailable):
            require_timescale_root()


# Started in the background or by nohup we ignore these signals, and so would everything that tests start and end by them.
for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, handler)

# No test may fail because the machine is busy.
# Of all requests without a limit of their own: on a busy machine five seconds are few.
DEFAULT_TIMEOUT_CONFIG.connect = DEFAULT_TIMEOUT_CONFIG.read = DEFAULT_TIMEOUT_CONFIG.write = DEFAULT_TIMEOUT_CONFIG.pool = 120.0
for profile, n_examples in {"push": 30, "thorough": 100}.items():
    hypothesis.settings.register_profile(
        profile, deadline=None, max_examples=n_examples, suppress_health_check=[hypothesis.HealthCheck.too_slow]
    )
hypothesis.settings.load_profile("push")


@pytest.fixture(autouse=True)
def _built_in_specs_only() -> Iterator[None]:
    """The catalogue belongs to the process: what a test's database had of user specs must not meet the next test."""
    yield
    install_user_specs([], "")


@pytest.fixture(autouse=True)
def _own_log_handlers() -> Iterator[None]:
    """A command that ran in this process logs to a standard error that is closed after its test."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    for handler in set(root.handlers).difference(handlers):
        root.removeHandler(handler)
    root.setLevel(level)


@pytest.fixture(scope="session", autouse=True)
def _quick_hashes() -> Iterator[None]:
    """A password costs 0.16 s of CPU by design. Here it costs next to nothing, apart from servers in processes of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "_HASHER", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
        yield


@pytest.fixture(scope="session", autouse=True)
def _plain_log() -> None:
    """Tracebacks without the values of all variables, which take seconds to print, and lines without colours."""
    structlog.configure(processors=[structlog.processors.format_exc_info, structlog.processors.KeyValueRenderer()])


@pytest.fixture(scope="session")
def servers() -> Iterator[ServerPool]:
    pool = ServerPool()
    try:
        yield pool
    finally:
        pool.stop()


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give tests of `on_either_database` the server of their folder."""
    if "server" in metafunc.fixturenames and metafunc.definition.get_closest_marker(on_either_database.name):
        name = choose_database(metafunc.definition.path)
        # As a mark, which counts more than the parameters of the fixture.
        chosen = pytest.mark.parametrize("server", [pytest.param(name, marks=_marks_of(name))], indirect=True)
        metafunc.definition.add_marker(chosen)


def _marks_of(name: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.timescale] if name == TimescaleServer.name else []


@pytest.fixture(
    params=[pytest.param(name, marks=_marks_of(name)) for name in SERVERS],
)
def server(request: pytest.FixtureRequest, servers: ServerPool) -> TestServer:
    """A running server: once plain PostgreSQL, once TimescaleDB."""
    try:
        return servers.require(request.param)
    except DatabaseUnavailable as error:
        reason = str(error)
    if request.node.get_closest_marker(on_either_database.name) and os.environ.get("NORMSTAT_REQUIRE_ALL") != "1":
        with contextlib.suppress(DatabaseUnavailable):
            return servers.require(PlainServer.name)
    if os.environ.get("NORMSTAT_REQUIRE_ALL") == "1":
        pytest.fail(f"{reason} (and NORMSTAT_REQUIRE_ALL=1 forbids skipping)", pytrace=False)
    pytest.skip(reason)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Lets all tests that miss a database report it from one place, so that pytest folds them into one line."""
    report = yield
    if report.skipped and isinstance(report.longrepr, tuple) and "server" in getattr(item, "fixturenames", ()):
        report.longrepr = (str(Path(__file__).with_name("databases.py")), 1, report.longrepr[2])
    return report


# Of each thing that a failed test printed or logged: its end, or the failure itself would be lost above it.
MAX_CAPTURED_LINES = 30


@pytest.hookimpl(wrapper=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> Generator[None]:
    """Shows the end of what a failed test printed."""
    if report.failed:
        report.sections = [(title, _end_of(text)) for title, text in report.sections]
    return (yield)


def _end_of(text: str) -> str:
    lines = text.splitlines(keepends=True)
    n_left_out = len(lines) - MAX_CAPTURED_LINES
    return text if n_left_out <= 0 else f"({n_left_out} lines before these)\n" + "".join(lines[-MAX_CAPTURED_LINES:])


@pytest.fixture
def database_url(server: TestServer) -> Iterator[str]:
    """The libpq URL of a fresh, migrated, empty database."""
    with server.fresh_database() as url:
        yield url


@pytest.fixture
def empty_database_url(server: TestServer) -> Iterator[str]:
    """The libpq URL of a fresh database without any table."""
    with server.fresh_database(is_migrated=False) as url:
        yield url


@pytest.fixture
async def engine(database_url: str) -> AsyncIterator[AsyncEngine]:
    """The engine that the server would use on `database_url`."""
    engine = make_engine(database_url, pool_size=4)
    yield engine
    await engine.dispose()


@pytest.fixture
def sessions(engine: AsyncEngine) -> async_sessionmaker[AsyncSession]:
    """What `AppState.sessions` is in the server."""
    return make_sessions(engine)


@pytest.fixture
def db(database_url: str, engine: AsyncEngine, sessions: async_sessionmaker[AsyncSession]) -> Database:
    """All ways into one database, for tests that need several."""
    return Database(database_url, engine, sessions)
