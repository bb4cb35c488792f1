"""The three hosts of the demo, a shop: a Solaris web server, a Linux application server, a Linux database. Two things go wrong.

A backup of the web server is started by hand while people shop. Hours later a release drops an index of the database: each order
then reads a whole table, and that has not been found yet.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import numpy as np

from normstat.demo import linux_output, solaris_output
from normstat.demo.day import Day, Incident, Values
from normstat.demo.linux_output import LinuxDisk, LinuxHost, LinuxProcess
from normstat.demo.solaris_output import SolarisDisk, SolarisHost, SolarisProcess

WEB: Final = "shop-web1"
APP: Final = "shop-app1"
DB: Final = "shop-db1"
HOSTS: Final = (WEB, APP, DB)
SEED: Final = 20261121
GIB_KB: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Scene:
    """A day and what goes wrong in it."""

    day: Day
    backup: Incident
    lost_index: Incident


def make_scene(day: Day) -> Scene:
    """Return the scene of a day: the backup 13 hours before its end, and the lost index for the last 50 minutes of it."""
    backup = day.end - timedelta(hours=13)
    release = day.end - timedelta(minutes=50)
    return Scene(
        day,
        Incident(backup, backup + timedelta(minutes=40), ramp_s=30),
        # Plans and connections pile up over some minutes.
        Incident(release, day.end + timedelta(seconds=1), ramp_s=240),
    )


def write_captures(scene: Scene) -> dict[str, dict[str, str]]:
    """Return what the tools of each host print, by host and by name of the file."""
    day = scene.day
    web = _make_web(scene)
    rng = np.random.default_rng(SEED + 9)
    found = {
        WEB: {
            "host_facts.txt": solaris_output.write_facts(day, web),
            "vmstat_solaris.txt": solaris_output.write_vmstat(day, web),
            "mpstat_solaris.txt": solaris_output.write_mpstat(day, web, rng),
            "iostat_solaris.txt": solaris_output.write_iostat(day, web),
            "prstat_solaris.txt": solaris_output.write_prstat(day, web),
        }
    }
    for host in make_linux_hosts(scene):
        found[host.name] = {
            "host_facts.txt": linux_output.write_facts(day, host),
            "vmstat_linux.txt": linux_output.write_vmstat(day, host),
            "mpstat_linux.txt": linux_output.write_mpstat(day, host, rng),
            "iostat_linux.txt": linux_output.write_iostat(day, host),
            "pidstat_linux.txt": linux_output.write_pidstat(day, host, rng),
        }
    return found


def make_linux_hosts(scene: Scene) -> tuple[LinuxHost, LinuxHost]:
    """Return the application server and the database."""
    return _make_app(scene), _make_db(scene)


class _Made:
    """Numbers of one host: noise around what its load asks for."""

    def __init__(self, scene: Scene, number: int) -> None:
        self.n = scene.day.n
        self.rng = np.random.default_rng(SEED + number)
        self.load = scene.day.load(self.rng)
        self.always = np.ones(self.n, dtype=bool)

    def around(self, level: float | Values, share: float = 0.08, *, follows_load: bool = True) -> Values:
        """Return values around a level, which may be an array, never negative."""
        base = level * (self.load if follows_load else 1.0)
        values: Values = np.clip(base * self.rng.normal(1, share, self.n), 0, None)
        return values

    def counts(self, mean: float | Values) -> Values:
        """Return whole numbers with this mean."""
        counts: Values = self.rng.poisson(np.clip(np.broadcast_to(mean, self.n), 0, None)).astype(np.float64)
        return counts


def _make_web(scene: Scene) -> SolarisHost:
    make = _Made(scene, 1)
    bad = scene.day.strength(scene.backup)
    slow = scene.day.strength(scene.lost_index)
    n = make.n
    # Pages wait for the database: fewer are served, and httpd sleeps.
    served = 1 - 0.35 * slow
    is_there = bad > 0
    root = SolarisDisk(
        "c1t0d0",
        make.around(3.1),
        make.around(26.0),
        make.around(14.0),
        make.around(118.0),
        make.around(5.2, follows_load=False),
        make.around(0.1, follows_load=False),
        make.around(6.0),
    )
    www = SolarisDisk(
        "c1t1d0",
        make.around(22.0 * served) + bad * make.around(470.0, 0.05),
        make.around(540.0 * served) + bad * make.around(60_100.0, 0.04),
        make.around(9.0),
        make.around(88.0),
        make.around(5.8 + 9.5 * bad, follows_load=False),
        make.around(0.1 + 31.0 * bad, follows_load=False),
        np.clip(make.around(14.0 * served) + bad * make.around(90.0, 0.03), 0, 100),
    )
    httpd = [
        SolarisProcess(
            pid,
            "webservd",
            "httpd",
            27,
            make.around(1.25 * served),
            make.around(0.52 * served),
            make.around(0.2),
            make.around(0.3 + 0.8 * bad),
            make.around(310.0 * served),
            make.around(2_100.0 * served),
            make.always,
        )
        for pid in (1183, 1184, 1185, 1186)
    ]
    others = [
        SolarisProcess(
            902,
            "root",
            "nscd",
            29,
            make.around(0.1),
            make.around(0.1),
            make.around(0.0),
            make.around(0.0),
            make.around(9.0),
            make.around(31.0),
            make.always,
        ),
        SolarisProcess(
            411,
            "root",
            "fmd",
            22,
            make.around(0.0),
            make.around(0.1),
            make.around(0.0),
            make.around(0.0),
            make.around(3.0),
            make.around(8.0),
            make.always,
        ),
        SolarisProcess(
            1240,
            "webservd",
            "logrotated",
            1,
            make.around(0.3),
            make.around(0.4),
            make.around(0.0),
            make.around(0.1),
            make.around(12.0),
            make.around(90.0),
            make.always,
        ),
        SolarisProcess(
            14022,
            "root",
            "gtar",
            1,
            make.around(13.0, 0.05, follows_load=False),
            make.around(58.0, 0.05, follows_load=False),
            make.around(0.1),
            make.around(1.9),
            make.around(520.0),
            make.around(6_900.0),
            is_there,
        ),
        SolarisProcess(
            14023,
            "root",
            "gzip",
            1,
            make.around(88.0, 0.03, follows_load=False),
            make.around(4.0, follows_load=False),
            make.around(0.0),
            make.around(2.0),
            make.around(60.0),
            make.around(1_900.0),
            is_there,
        ),
    ]
    # Two of eight CPUs are busy with the backup.
    return SolarisHost(
        WEB,
        8,
        32 * GIB_KB,
        usr_pct=make.around(17.0 * served) + 12.6 * bad,
        sys_pct=make.around(7.2 * served) + 8.4 * bad,
        runnable=make.counts(0.4 + 0.9 * bad),
        blocked=make.counts(0.05 + 2.4 * bad),
        free_kb=9_800_000 - 1_700_000 * bad + make.rng.normal(0, 9_000, n),
        scan_rate=make.counts(0.0),
        cross_calls=make.around(420.0 * served) + 9_400 * bad,
        mutex_spins=make.around(95.0 * served) + 260 * bad,
        interrupts=make.around(3_900.0 * served) + 1_300 * bad,
        switches=make.around(7_400.0 * served) + 1_700 * bad,
        system_calls=make.around(19_500.0 * served) + 8_800 * bad,
        disks=(root, www),
        processes=(*httpd, *others),
    )


def _make_app(scene: Scene) -> LinuxHost:
    make = _Made(scene, 2)
    slow = scene.day.strength(scene.lost_index)
    web_slow = scene.day.strength(scene.backup)
    n = make.n
    # Threads wait for answers instead of computing.
    work = 1 - 0.42 * slow - 0.12 * web_slow
    java = LinuxProcess(
        2310,
        1001,
        "java",
        make.around(112.0 * work),
        make.around(21.0 * work),
        make.around(1.1),
        make.around(9_400_000.0, 0.002, follows_load=False),
        np.zeros(n),
        make.around(310.0 * work),
        make.always,
    )
    others = [
        _small(make, (1, 0, "systemd"), (0.0, 0.1, 12_800, 1.0)),
        _small(make, (611, 0, "rsyslogd"), (0.1, 0.1, 6_100, 22.0)),
        _small(make, (804, 33, "nginx"), (4.1, 2.2, 38_000, 41.0)),
        _small(make, (805, 33, "nginx"), (4.0, 2.3, 37_600, 40.0)),
        _small(make, (918, 0, "chronyd"), (0.0, 0.0, 3_900, 0.0)),
        _small(make, (1204, 113, "redis-server"), (3.2, 1.4, 420_000, 12.0)),
    ]
    disk = LinuxDisk(
        "sda",
        make.around(1.4),
        make.around(19.0),
        make.around(0.5, follows_load=False),
        make.around(34.0 * work),
        make.around(410.0 * work),
        make.around(0.7, follows_load=False),
        make.around(2.2 * work),
    )
    return LinuxHost(
        APP,
        4,
        16 * GIB_KB,
        usr_pct=make.around(31.0 * work, 0.04),
        sys_pct=make.around(7.0 * work, 0.05),
        wait_pct=np.abs(make.rng.normal(0.2, 0.15, n)),
        runnable=make.counts(1.1 * work),
        blocked=make.counts(0.03),
        cache_kb=make.around(3_400_000.0, 0.001, follows_load=False),
        interrupts=make.around(6_800.0 * work),
        switches=make.around(14_500.0 * work),
        disks=(disk,),
        processes=(java, *others),
    )


def _make_db(scene: Scene) -> LinuxHost:
    make = _Made(scene, 3)
    slow = scene.day.strength(scene.lost_index)
    n = make.n
    always, zero = make.always, np.zeros(n)
    usual = [
        LinuxProcess(
            pid,
            108,
            "postgres",
            make.around(14.0) + slow * make.around(24.0),
            make.around(3.0) + slow * make.around(9.0),
            make.around(0.6 + 6 * slow),
            make.around(210_000.0, 0.01, follows_load=False),
            make.around(380.0) + slow * make.around(21_000.0, 0.1),
            make.around(120.0),
            always,
        )
        for pid in (2211, 2212, 2213, 2214, 2215)
    ]
    # The pool of the application opens connections while it waits for answers.
    piled_up = [
        LinuxProcess(
            pid,
            108,
            "postgres",
            make.around(26.0, 0.1),
            make.around(9.0, 0.1),
            make.around(6.0),
            make.around(205_000.0, 0.01, follows_load=False),
            make.around(21_500.0, 0.1),
            make.around(30.0),
            slow > needed,
        )
        for pid, needed in zip(range(31_840, 31_852), np.linspace(0.15, 0.95, 12), strict=True)
    ]
    others = [
        _small(make, (1, 0, "systemd"), (0.0, 0.1, 13_100, 1.0)),
        _small(make, (640, 0, "rsyslogd"), (0.1, 0.1, 6_400, 14.0)),
        LinuxProcess(
            2204,
            108,
            "checkpointer",
            make.around(0.3),
            make.around(0.6),
            zero,
            make.around(98_000.0, 0.01, follows_load=False),
            zero,
            make.around(640.0),
            always,
        ),
        _small(make, (2206, 108, "walwriter"), (0.3, 0.5, 22_000, 480.0)),
        _small(make, (2207, 108, "autovacuum"), (0.1, 0.2, 24_000, 30.0)),
        _small(make, (990, 0, "chronyd"), (0.0, 0.0, 3_900, 0.0)),
    ]
    system = LinuxDisk(
        "sda",
        make.around(0.8),
        make.around(12.0),
        make.around(0.4, follows_load=False),
        make.around(18.0),
        make.around(190.0),
        make.around(0.6, follows_load=False),
        make.around(1.6),
    )
    data = LinuxDisk(
        "sdb",
        make.around(46.0) + slow * make.around(2_700.0, 0.06),
        make.around(1_900.0) + slow * make.around(352_000.0, 0.05),
        make.around(0.5 + 5.3 * slow, follows_load=False),
        make.around(96.0),
        make.around(1_430.0),
        make.around(0.9 + 3.4 * slow, follows_load=False),
        np.clip(make.around(7.0) + slow * make.around(90.0, 0.03, follows_load=False), 0, 100),
    )
    return LinuxHost(
        DB,
        8,
        64 * GIB_KB,
        usr_pct=make.around(10.2, 0.04) + slow * make.around(51.0, 0.04, follows_load=False),
        sys_pct=make.around(2.6, 0.05) + slow * make.around(17.0, 0.05, follows_load=False),
        wait_pct=np.abs(make.rng.normal(0.5, 0.3, n)) + slow * make.around(12.0, 0.1, follows_load=False),
        runnable=make.counts(1.0 + 7.0 * slow),
        blocked=make.counts(0.1 + 0.8 * slow),
        cache_kb=make.around(48_000_000.0, 0.0005, follows_load=False),
        interrupts=make.around(5_200.0) + slow * 7_900,
        switches=make.around(10_400.0) + slow * 15_800,
        disks=(system, data),
        processes=(*usual, *piled_up, *others),
    )


def _small(make: _Made, who: tuple[int, int, str], level: tuple[float, float, float, float]) -> LinuxProcess:
    """Return a process (PID, UID, command) that uses little: %usr, %system, KiB of memory, KiB/s written."""
    pid, uid, command = who
    usr, system, rss_kb, write_kb = level
    return LinuxProcess(
        pid,
        uid,
        command,
        make.around(usr),
        make.around(system),
        make.around(0.05),
        make.around(rss_kb, 0.002, follows_load=False),
        np.zeros(make.n),
        make.around(write_kb),
        make.always,
    )
