"""The checks of `normstat doctor` that need no database: what is good is ok, and each fault is named with what to do."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from normstat.backup.damage import CheckSource
from normstat.doctor.address_probe import AddressFacts, probe_address
from normstat.doctor.check_result import CheckResult, CheckStatus
from normstat.doctor.database_checks import ServerSize, check_database, check_disk
from normstat.doctor.database_facts import DatabaseFacts, FoundDamage, JobFacts
from normstat.doctor.file_checks import check_account, check_files
from normstat.doctor.setting_checks import check_address, check_page, check_settings
from normstat.doctor.work_checks import check_agents, check_jobs, check_losses, check_rules, check_stored_data, check_versions
from normstat.local.binaries import FROM_WHEEL
from normstat.local.postgres_releases import SECURITY_RELEASES, PostgresVersion, find_missing
from normstat.local.running_server import find_running_servers
from normstat.query.disk_usage import DiskInfo, RawStorage, StorageInfo
from normstat.records.judging_pace import JudgingPace
from normstat.runtime.readable import name_some
from normstat.settings import Settings
from normstat.watch.own_figures import HostLoss, SeenHost, StreamFigures
from tests.e2e.product import free_port

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
TODAY = date(2026, 11, 28)
ONE = ServerSize(1, 8)
GOOD = DatabaseFacts(
    version_num=170012,
    is_standby=False,
    is_superuser=False,
    role="normstat",
    database="normstat",
    clock_offset_s=0.01,
    clock_error_s=0.001,
    settings={
        "server_version": "17.12",
        "shared_buffers": str(128 << 20), "max_connections": "100", "superuser_reserved_connections": "3",
        "reserved_connections": "0", "max_wal_size": str(1 << 30), "max_locks_per_transaction": "256", "synchronous_commit": "on",
        "fsync": "on", "full_page_writes": "on", "autovacuum": "on", "server_encoding": "UTF8",
        "data_checksums": "on",
    },
    storage="postgresql",
    extension_version=None,
    available_version=None,
    n_failed_jobs=0,
    n_connections=12,
    checksum_failed_at=NOW - timedelta(days=9),
    n_sessions_by_program={},
)  # fmt: skip


def by_name(results: object) -> dict[str, CheckResult]:
    found = {result.check: result for result in results}  # type: ignore[attr-defined]
    for result in found.values():
        is_bad = result.status in {CheckStatus.WARNING, CheckStatus.ERROR}
        assert bool(result.expected) == is_bad, result
        assert not is_bad or result.advice, f"{result}: what to do?"
        assert result.found
    return found


def examine(facts: DatabaseFacts, size: ServerSize = ONE) -> dict[str, CheckResult]:
    return by_name(check_database(facts, size, TODAY))


def with_setting(name: str, value: str) -> DatabaseFacts:
    return replace(GOOD, settings=GOOD.settings | {name: value})


def test_a_good_database_is_ok() -> None:
    assert {result.status for result in examine(GOOD).values()} == {CheckStatus.OK}
    assert examine(replace(GOOD, storage="timescaledb-apache", extension_version="2.19.3"))["timescaledb"].status is CheckStatus.OK


@pytest.mark.parametrize(
    ("check", "status", "facts"),
    [
        ("postgresql", CheckStatus.ERROR, replace(GOOD, version_num=130014)),
        ("postgresql", CheckStatus.ERROR, with_setting("server_encoding", "SQL_ASCII")),
        # Support ended two weeks before.
        ("postgresql", CheckStatus.WARNING, replace(GOOD, version_num=140025)),
        ("postgresql", CheckStatus.WARNING, replace(GOOD, version_num=170011)),
        ("database_role", CheckStatus.ERROR, replace(GOOD, is_standby=True)),
        ("database_role", CheckStatus.WARNING, replace(GOOD, is_superuser=True)),
        ("timescaledb", CheckStatus.WARNING, replace(GOOD, storage="unknown", extension_version="3.0")),
        (
            "timescaledb",
            CheckStatus.WARNING,
            replace(GOOD, storage="timescaledb-community", extension_version="2.19.3", available_version="2.20.0"),
        ),
        (
            "timescaledb",
            CheckStatus.WARNING,
            replace(GOOD, storage="timescaledb-community", extension_version="2.19.3", n_failed_jobs=4),
        ),
        (
            "timescaledb",
            CheckStatus.WARNING,
            replace(with_setting("max_locks_per_transaction", "64"), storage="timescaledb-apache", extension_version="2.19.3"),
        ),
        ("database_durability", CheckStatus.WARNING, with_setting("fsync", "off")),
        ("database_durability", CheckStatus.WARNING, with_setting("synchronous_commit", "off")),
        ("database_durability", CheckStatus.WARNING, with_setting("autovacuum", "off")),
        ("database_checksums", CheckStatus.WARNING, with_setting("data_checksums", "off")),
        ("database_checksums", CheckStatus.ERROR, replace(GOOD, checksum_failed_at=NOW)),
        ("database_memory", CheckStatus.WARNING, with_setting("shared_buffers", str(16 << 20))),
        ("database_memory", CheckStatus.WARNING, with_setting("max_wal_size", str(256 << 20))),
        # 22 for the server, 3 reserved, 5 to spare.
        ("database_connections", CheckStatus.WARNING, with_setting("max_connections", "27")),
        ("database_connections", CheckStatus.ERROR, with_setting("max_connections", "19")),
        ("database_clock", CheckStatus.WARNING, replace(GOOD, clock_offset_s=-3.0)),
        ("database_clock", CheckStatus.ERROR, replace(GOOD, clock_offset_s=3600.0)),
    ],
)
def test_a_fault_of_the_database_is_named(check: str, status: CheckStatus, facts: DatabaseFacts) -> None:
    found = examine(facts)
    assert found[check].status is status
    assert [name for name, result in found.items() if result.status is not CheckStatus.OK] == [check]


def test_missing_security_releases_are_counted() -> None:
    """Of 16.14, two releases of all supported versions are missing; the advice is how this one is updated."""
    old = replace(GOOD, version_num=160014, settings=GOOD.settings | {"server_version": "16.14"}, origin=FROM_WHEEL)
    found = examine(old)["postgresql"]
    n_fixed = sum(release.n_fixed for release in SECURITY_RELEASES[-2:])
    assert found.found == f"PostgreSQL 16.14, from the Python wheel: newer releases fixed {n_fixed} vulnerabilities"
    assert found.expected == "16.16 of 2026-11-12 or newer"
    assert "install the system's package postgresql" in found.advice
    assert "restart" in examine(replace(old, origin=""))["postgresql"].advice
    assert find_missing(PostgresVersion(16, 16)) == find_missing(PostgresVersion(19, 0)) == []


def test_more_processes_need_more_connections() -> None:
    assert examine(GOOD, ServerSize(4, 8))["database_connections"].status is CheckStatus.OK
    assert examine(GOOD, ServerSize(5, 8))["database_connections"].status is CheckStatus.ERROR


def test_a_slow_answer_is_not_a_wrong_clock() -> None:
    assert examine(replace(GOOD, clock_offset_s=4.0, clock_error_s=4.0))["database_clock"].status is CheckStatus.OK


def storage(free: int | None, days: float | None) -> StorageInfo:
    total = None if free is None else 100 << 30
    return StorageInfo(
        "postgresql", NOW, 1 << 30, DiskInfo(free, total), None, False, None, days, [], RawStorage(0, 0, 0, 0), [], []
    )


@pytest.mark.parametrize(
    ("free_gib", "days", "status"),
    [
        (50, 400.0, CheckStatus.OK),
        (50, None, CheckStatus.OK),
        (50, 20.0, CheckStatus.WARNING),
        (50, 3.0, CheckStatus.ERROR),
        (9, 400.0, CheckStatus.WARNING),
        (0, None, CheckStatus.ERROR),
        (None, None, CheckStatus.NOT_CHECKED),
    ],
)
def test_disk(free_gib: int | None, days: float | None, status: CheckStatus) -> None:
    assert check_disk(storage(None if free_gib is None else free_gib << 30, days)).status is status


def test_jobs() -> None:
    good = JobFacts(timedelta(hours=3), (), 0.0, 1)
    assert {result.status for result in check_jobs(good)} == {CheckStatus.OK}
    assert by_name(check_jobs(replace(good, leader_since=None)))["leader"].status is CheckStatus.ERROR
    for age_s, status in ((5, CheckStatus.OK), (300, CheckStatus.ERROR)):
        leader = by_name(check_jobs(replace(good, leader_place="web1:7", leader_beat_age=timedelta(seconds=age_s))))["leader"]
        assert (leader.status, "web1:7" in leader.found) == (status, True)
    failed = by_name(check_jobs(replace(good, failed=(("import", 2, "no such host"),))))["jobs"]
    assert failed.status is CheckStatus.WARNING
    assert "2 import (no such host)" in failed.found
    assert by_name(check_jobs(replace(good, wait_s=3000.0)))["jobs"].status is CheckStatus.WARNING
    assert by_name(check_jobs(replace(good, n_administrators=0)))["administrators"].status is CheckStatus.WARNING


def test_lost_bytes() -> None:
    assert check_losses([], NOW).status is CheckStatus.OK
    found = check_losses([HostLoss("web1", 12_345, NOW - timedelta(hours=3)), HostLoss("web2", 7, NOW)], NOW)
    assert found.status is CheckStatus.WARNING
    assert "web1 (12,345 bytes, the last 3 h ago), web2 (7 bytes" in found.found


def test_damage_is_told_until_a_check_finds_none() -> None:
    def check(*found: tuple[CheckSource, int, int]) -> CheckStatus:
        """What is said of checks: by whom, days ago, how much is damaged."""
        facts = [FoundDamage(source, NOW - timedelta(days=days), n, ("a line",) * n) for source, days, n in found]
        return check_stored_data(facts, NOW).status

    checked, backup = CheckSource.STORAGE_CHECK, CheckSource.BACKUP
    assert check() is CheckStatus.NOT_CHECKED
    assert check((backup, 1, 0)) is CheckStatus.NOT_CHECKED, "a backup looks at what it copies, not at all"
    assert check((checked, 3, 0), (backup, 1, 0)) is CheckStatus.OK
    assert check((checked, 3, 2)) is CheckStatus.ERROR
    assert check((checked, 3, 0), (backup, 1, 2)) is CheckStatus.ERROR
    assert check((checked, 1, 0), (backup, 3, 2)) is CheckStatus.OK, "it was mended since"
    assert check((checked, 40, 0)) is CheckStatus.WARNING


def test_versions() -> None:
    assert check_versions({}, "0.1.0").status is CheckStatus.NOT_CHECKED
    assert check_versions({"normstat 0.1.0": 20}, "0.1.0").status is CheckStatus.OK
    assert check_versions({"normstat 0.1.0": 20, "normstat 0.2.0": 3}, "0.1.0").status is CheckStatus.WARNING


def host(number: int, *, silent_s: float = 10, offset_s: float = 0.0) -> SeenHost:
    return SeenHost(number, f"web{number}", (), NOW - timedelta(seconds=silent_s), offset_s)


def figures(*, backlog_s: float = 1.0, rejected: float = 0.0, before: float = 0.0) -> StreamFigures:
    return StreamFigures({"host.rejected": rejected, "host.rejected_before": before, "host.backlog": backlog_s}, {})


def test_without_agents_nothing_is_said_to_be_good() -> None:
    assert {result.status for result in check_agents([], {}, NOW)} == {CheckStatus.NOT_CHECKED}
    gone = [host(1, silent_s=30 * 86400)]
    assert CheckStatus.OK not in {result.status for result in check_agents(gone, {}, NOW)}


def test_agents() -> None:
    hosts = [host(n) for n in range(1, 4)]
    good = {n: figures() for n in range(1, 4)}
    assert {result.status for result in check_agents(hosts, good, NOW)} == {CheckStatus.OK}
    silent = by_name(check_agents([*hosts[:2], host(3, silent_s=7200)], good, NOW))["agents"]
    assert silent.status is CheckStatus.WARNING
    assert "web3 (since 2 h)" in silent.found
    behind = by_name(check_agents(hosts, good | {2: figures(backlog_s=600)}, NOW))["agents_behind"]
    assert (behind.status, "web2 (10 min)" in behind.found) == (CheckStatus.WARNING, True)
    all_behind = by_name(check_agents(hosts, {n: figures(backlog_s=600) for n in range(1, 4)}, NOW))["agents_behind"]
    assert all_behind.status is CheckStatus.ERROR, "that is the server"
    clocks = by_name(check_agents([host(1, offset_s=-90), *hosts[1:]], good, NOW))["agent_clocks"]
    assert (clocks.status, "web1 (-90 s)" in clocks.found) == (CheckStatus.WARNING, True)
    ahead = by_name(check_agents(hosts, good | {3: StreamFigures({}, {}, ahead_s=10 * 365 * 86400.0)}, NOW))["dated_ahead"]
    assert (ahead.status, "web3 (3650 days)" in ahead.found) == (CheckStatus.WARNING, True)
    double = replace(hosts[1], other_machine_at=NOW - timedelta(minutes=2))
    machines = by_name(check_agents([hosts[0], double], good, NOW))["machines"]
    assert (machines.status, "as web2" in machines.found) == (CheckStatus.WARNING, True)
    rejects = by_name(check_agents(hosts, good | {1: figures(rejected=40, before=2)}, NOW))["rejected_lines"]
    assert (rejects.status, "web1 (2 -> 40)" in rejects.found) == (CheckStatus.WARNING, True)
    unknown = {n: StreamFigures({}, {}) for n in range(1, 4)}
    assert by_name(check_agents(hosts, unknown, NOW))["agents_behind"].status is CheckStatus.NOT_CHECKED


KEEPING_UP = JudgingPace(2, 2)


def test_hosts_that_rules_no_longer_judge() -> None:
    hosts = [host(1), host(2), host(3, silent_s=7200)]

    def judged(pace: JudgingPace = KEEPING_UP, **ages_s: float) -> CheckResult:
        return check_rules({name: NOW - timedelta(seconds=age) for name, age in ages_s.items()}, hosts, pace, NOW)

    fine = judged(web1=20, web2=40, web3=9000)
    assert (fine.status, fine.found) == (CheckStatus.OK, "hosts that send: 2, the one judged longest ago 40 s ago")
    held_up = judged(web1=20, web2=1200)
    assert (held_up.status, "web2 (20 min ago)" in held_up.found) == (CheckStatus.ERROR, True)
    assert judged().status is CheckStatus.WARNING
    assert judged(web1=20).status is CheckStatus.OK, "the other one has just come"
    assert check_rules({}, [], JudgingPace(0, 0), NOW).status is CheckStatus.NOT_CHECKED
    behind = judged(JudgingPace(1000, 640), web1=20, web2=90)
    assert (behind.status, behind.found) == (CheckStatus.WARNING, "rules are behind: judged 640 of 1,000 hosts in the last minute")


def test_many_names_are_counted() -> None:
    assert name_some([f"web{n}" for n in range(8)], 5) == "web0, web1, web2, web3, web4 and 3 more"


def settings(**changed: object) -> dict[str, CheckResult]:
    speaks_tls = bool(changed.pop("speaks_tls", False))
    n_hosts = changed.pop("n_hosts", 1)
    given = Settings.model_validate({"database_url": "postgresql://normstat@/normstat", **changed})
    assert n_hosts is None or isinstance(n_hosts, int)
    return by_name(check_settings(given, n_hosts, speaks_tls=speaks_tls))


def test_the_settings_of_make_run_are_good() -> None:
    assert {result.status for result in settings().values()} == {CheckStatus.OK}


@pytest.mark.parametrize(
    ("check", "status", "changed"),
    [
        ("cookies", CheckStatus.ERROR, {"cookie_secure": True}),
        ("cookies", CheckStatus.WARNING, {"public_url": "https://normstat.example.org"}),
        ("cookies", CheckStatus.OK, {"public_url": "https://normstat.example.org", "speaks_tls": True}),
        ("proxies", CheckStatus.WARNING, {"public_url": "https://normstat.example.org", "cookie_secure": True}),
        ("proxies", CheckStatus.ERROR, {"trusted_proxies": "0.0.0.0/0"}),
        ("proxies", CheckStatus.ERROR, {"trusted_proxies": "proxy.example.org"}),
        ("proxies", CheckStatus.WARNING, {"allowed_hosts": "*"}),
        ("proxies", CheckStatus.OK, {"public_url": "https://n.example.org", "cookie_secure": True, "trusted_proxies": "10.0.0.1"}),
        ("public_url", CheckStatus.WARNING, {"n_hosts": 7}),
        ("secrets", CheckStatus.WARNING, {"database_url": "postgresql://normstat:normstat@db/normstat"}),
        ("secrets", CheckStatus.WARNING, {"metrics_token": SecretStr("short")}),
    ],
)
def test_settings(check: str, status: CheckStatus, changed: dict[str, object]) -> None:
    found = settings(**changed)[check]
    assert found.status is status
    assert "normstat:normstat" not in found.found, "no secret is printed"


def test_addresses() -> None:
    good = AddressFacts("https://n.example.org", 200, "0.1.0", "", NOW + timedelta(days=90))
    assert {result.status for result in check_address(good, "0.1.0", NOW)} == {CheckStatus.OK}
    soon = replace(good, certificate_ends=NOW + timedelta(days=5))
    assert by_name(check_address(soon, "0.1.0", NOW))["certificate"].status is CheckStatus.WARNING
    assert by_name(check_address(good, "0.2.0", NOW))["address"].status is CheckStatus.WARNING
    assert by_name(check_address(replace(good, version=None, status=502), "0.1.0", NOW))["address"].status is CheckStatus.ERROR
    plain = by_name(check_address(AddressFacts("http://n.example.org", 200, "0.1.0", "", None), "0.1.0", NOW))
    assert plain["certificate"].status is CheckStatus.WARNING
    assert "unencrypted" in plain["certificate"].found
    away = by_name(check_address(AddressFacts("https://n.example.org", None, None, "Connection refused", None), "0.1.0", NOW))
    assert (away["address"].status, away["certificate"].status) == (CheckStatus.ERROR, CheckStatus.NOT_CHECKED)


def test_probing_nothing() -> None:
    assert probe_address(f"http://127.0.0.1:{free_port()}").failure == "Connection refused"
    assert probe_address("normstat.example.org").status is None


def test_page(tmp_path: Path) -> None:
    assert check_page(None, None).status is CheckStatus.ERROR
    assert check_page(tmp_path, tmp_path).status is CheckStatus.ERROR
    (tmp_path / "index.html").touch()
    assert check_page(tmp_path, tmp_path).status is CheckStatus.WARNING
    (tmp_path / "normstat-agent").touch()
    assert check_page(tmp_path, tmp_path).status is CheckStatus.OK


def test_files(tmp_path: Path) -> None:
    data, config = tmp_path / "data", tmp_path / "etc"
    given = Settings.model_validate({"database_url": "postgresql:///x", "import_dir": None, "alert_scripts_dir": None})
    assert {result.status for result in check_files(given, None, config)} == {CheckStatus.NOT_CHECKED}
    (data / "log").mkdir(parents=True)
    data.chmod(0o700)
    password = data / "postgres.password"
    password.write_text("x")
    password.chmod(0o600)
    assert {result.status for result in check_files(given, data, config)} == {CheckStatus.OK}
    password.chmod(0o644)
    data.chmod(0o777)
    found = by_name(check_files(given, data, config))
    assert (found["secret_files"].status, found["folders"].status) == (CheckStatus.ERROR, CheckStatus.ERROR)
    (data / "log/x").write_bytes(b"x" * 10_000)
    small = given.model_copy(update={"log_max_bytes": 10, "log_files": 1, "import_dir": tmp_path / "none"})
    found = by_name(check_files(small, data, config))
    assert (found["logs"].status, found["folders"].status) == (CheckStatus.WARNING, CheckStatus.ERROR)


def test_the_configuration_may_be_read_by_its_group(tmp_path: Path) -> None:
    config = tmp_path / "etc"
    config.mkdir()
    secret = config / "pgpass"
    secret.touch()
    given = Settings.model_validate({"database_url": "postgresql:///x"})
    for mode, status in ((0o600, CheckStatus.OK), (0o640, CheckStatus.OK), (0o644, CheckStatus.ERROR), (0o660, CheckStatus.ERROR)):
        secret.chmod(mode)
        assert by_name(check_files(given, None, config))["secret_files"].status is status, oct(mode)


def test_the_key_of_tls(tmp_path: Path) -> None:
    key = tmp_path / "key.pem"
    key.touch()
    given = Settings.model_validate({"database_url": "postgresql:///x", "tls_cert": tmp_path / "cert.pem", "tls_key": key})
    for mode, status in ((0o640, CheckStatus.OK), (0o644, CheckStatus.ERROR)):
        key.chmod(mode)
        assert by_name(check_files(given, None, tmp_path / "etc"))["secret_files"].status is status


def test_the_account_of_the_server() -> None:
    for owner, status in ((None, CheckStatus.NOT_CHECKED), (0, CheckStatus.WARNING), (999, CheckStatus.OK)):
        assert check_account(owner).status is status


def test_servers_are_found_with_their_settings(tmp_path: Path) -> None:
    for pid, words, environment in (
        (
            30,
            ["/x/bin/python", "-m", "normstat", "serve", "--workers", "4", "--port=9000", "--tls-cert", "/c.pem"],
            ["NORMSTAT_DATABASE_URL=postgresql:///a", "HOME=/x"],
        ),
        (4, ["/opt/bin/python", "/opt/bin/normstat", "serve"], ["DATABASE_URL=postgresql:///b", "NORMSTAT_COOKIE_SECURE=true"]),
        (50, ["/x/bin/normstat", "compare", "serve"], []),
    ):
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "cmdline").write_text("\0".join([*words, ""]))
        (tmp_path / str(pid) / "environ").write_text("\0".join([*environment, ""]))
    (tmp_path / "60").mkdir()  # it ended
    first, second = find_running_servers(tmp_path)
    assert (first.pid, first.database_url) == (4, "postgresql:///b")
    assert (second.pid, second.database_url) == (30, "postgresql:///a")
    assert dict(second.environment) == {
        "NORMSTAT_DATABASE_URL": "postgresql:///a",
        "NORMSTAT_WORKERS": "4",
        "NORMSTAT_TLS_CERT": "/c.pem",
        "NORMSTAT_PUBLIC_URL": "https://127.0.0.1:9000",
    }
