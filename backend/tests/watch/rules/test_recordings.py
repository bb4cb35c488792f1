"""The built-in rules over every recorded output of the repository, as if each had gone on for a quarter of an hour."""

from collections.abc import Mapping, Sequence
from typing import Final

import pytest

from normstat.watch.rules.rule_file import COLOURS, Colour, load_builtin_rules
from normstat.watch.rules.rule_run import FIRST_BAD
from tests.golden_captures import Capture, captures
from tests.watch.rules.captures import judge_recording, sides_of

# What rules find, by recording; each was looked at. All others are of machines that nobody would be woken for.
FOUND: Final[Mapping[str, Mapping[str, Colour]]] = {
    # A test machine with two CPUs and twenty tasks.
    "proc_linux/linux-6.18--sampler": {"pressure-cpu": Colour.AMBER, "run-queue-linux": Colour.RED},
    # The example of the manual page: 10 MB of swap space, as machines had then.
    "vmstat_solaris/illumos--man-page": {"swap-space": Colour.BLACK},
    "vmstat_solaris/solaris-10--paging": {"swapping-solaris": Colour.AMBER},
    "vmstat_solaris/solaris-10--swapping": {"memory-scan": Colour.RED, "swapped-out": Colour.RED},
    # Made up, with every value a df may print.
    "df_linux/coreutils-8.4--wrapped-german-broken": {"filesystem-full": Colour.BLACK},
    "df_solaris/solaris-8-and-bsd--short-wrapped-broken": {"inodes-full": Colour.BLACK},
    # Of a virtual machine on a shared host.
    "iostat_linux/sysstat-12.6.1--german-broken": {"steal": Colour.RED},
    "collectd/5.12--csv": {"steal": Colour.AMBER},
    "collectd/5.12--write-http": {"steal": Colour.AMBER},
    "netdata/1.37--charts": {"steal": Colour.AMBER},
    # The same, under stress-ng.
    "collectd/5.12--putval": {"steal": Colour.AMBER, "run-queue-linux": Colour.RED},
    "netdata/1.37--prometheus": {"steal": Colour.AMBER, "run-queue-linux": Colour.RED},
    # On two CPUs on which tests ran.
    "atop/2.8.1--P-ALL": {"pressure-cpu": Colour.AMBER},
    # Made to show what they are named after.
    "haproxy_stat/2.6.12--errors": {"haproxy-servers": Colour.RED},
    "nvidia_smi_query/535--loops": {"gpu-errors": Colour.RED, "gpu-slowed": Colour.AMBER},
    "oracle/19--blocked": {"database-blocked": Colour.AMBER},
    "postgresql/9.6--cases": {"postgresql-checkpoints": Colour.RED},
    "proc_pid_linux/linux-6.1--cgroup-v2-limits": {"unit-memory": Colour.BLACK},
    "redis_info/7.0.15--evictions": {"redis-memory": Colour.RED},
}


@pytest.mark.parametrize(
    ("chosen", "n_least"),
    [
        pytest.param([capture for capture in captures() if capture.name in FOUND], 50, id="with findings"),
        pytest.param(captures(), 300, id="all", marks=pytest.mark.matrix),
    ],
)
def test_rules_find_what_recordings_show_and_nothing_else(chosen: Sequence[Capture], n_least: int) -> None:
    rules = [rule for rule in load_builtin_rules().values() if not rule.is_own and rule.is_on]
    found: dict[str, dict[str, Colour]] = {}
    n_judged = 0
    for capture in chosen:
        sides = sides_of(capture.result())
        for rule in rules:
            states = judge_recording(rule, sides) or {}
            n_judged += bool(states)
            worst = max((COLOURS.index(colour) for colour in states.values()), default=0)
            if worst >= FIRST_BAD:
                found.setdefault(capture.name, {})[rule.name] = COLOURS[worst]
    assert n_judged > n_least
    assert found == FOUND
