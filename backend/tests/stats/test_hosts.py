"""A file is of one host: the lines of others are rejected, whatever tells that they are another host's."""

import textwrap

import pytest

from normstat.stats.catalogue import require_spec
from normstat.stats.engine.hosts import ANOTHER_HOST
from normstat.stats.readers import read
from normstat.stats.records import Timing
from tests.stats.reading import guessed, read_pieces, rows_of_result

VMSTAT = """\
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 {0}  0      0 2427120 1011084 22658204    0    0     4     6    3    5  3  1 96  0  0
 {0}  0      0 2427100 1011084 22658204    0    0     0    12  300  500  4  1 95  0  0
"""
SAR = """\
Linux 5.14.0 ({1}) \t11/20/2026 \t_x86_64_\t(8 CPU)

00:00:01        CPU     %user     %idle
00:10:01        all      {0}.00     98.40
"""
SADF = "# hostname;interval;timestamp;CPU;%user;%idle\n{1};600;2026-11-28 10:{0}:01 UTC;-1;{0}.00;98.40\n"
JSON = """{{"sysstat": {{"hosts": [
{{"nodename": "{1}", "sysname": "Linux", "release": "5.14", "date": "11/20/26", "statistics": [
{{"timestamp": "10:00:{0}", "cpu-load": [{{"cpu": "all", "usr": {0}.00, "sys": 1.0, "idle": 90.0}}]}}
]}}
]}}}}
"""
NMON = """\
AAA,progname,nmon
AAA,host,{1}
CPU_ALL,CPU Total {1},User%,Sys%,Wait%,Idle%,Busy,CPUs
ZZZZ,T0001,10:00:{0},06-MAR-2026
CPU_ALL,T0001,{0}.0,1.0,0.0,90.0,,2
"""
SOLARIS = """\
SunOS {1} 5.10 Generic_147440-01 sun4v    11/20/2026

00:00:01    %usr    %sys    %wio   %idle
00:20:00      {0}       3       0      95
"""
OWN = {
    "sar": ("sar_linux", SAR),
    "sadf": ("sadf_linux", SADF),
    "JSON": ("mpstat_json_linux", JSON),
    "nmon": ("nmon", NMON),
    "SunOS": ("sar_solaris", SOLARIS),
}
HEADINGS = {
    "Ansible": "{} | CHANGED | rc=0 >>\n",
    "dshbak": "----------------\n{}\n----------------\n",
    "marks": "=== {} ===\n",
    "comment": "### host {}\n",
    "word": "Hostname: {}\n",
    "password": "root@{}'s password: \n",
    "pssh": "[1] 10:00:01 [SUCCESS] {}\n",
    "tail": "\n==> logs/{}_vmstat.log <==\n",
    "prompt": "[root@{} ~]# vmstat 1 2\n",
    "bare": "{}\n",
    "Fabric": "[{}] out:\n\n",
    "more": "::::::::::::::\n{}.txt\n::::::::::::::\n",
    "playbook": "changed: [{}] => \n  msg: |-\n",
    "watch": "Every 2.0s: vmstat 1 2           {}: Sat Nov 28 10:00:01 2026\n\n",
    "bolt": "Finished on {}:\n",
    "ssh": "[root@adm ~]# ssh -q root@{} 'vmstat 1 2'\n",
    "date": "{}\nSat Nov 28 10:00:01 UTC 2026\n",
    "uname": "Linux {} 5.14.0-427.el9.x86_64 #1 SMP x86_64 GNU/Linux\n",
}
PREFIXES = {"pdsh": "{}: ", "kubectl": "[pod/{}/mon] ", "compose": "{}  | ", "syslog": "Sep 29 15:22:10 {} mon[12]: "}
PREFIXES |= {"Capistrano": " ** [out :: {}] ", "mpssh": "{} -> ", "grep": "./{}/vmstat.txt:"}


def samples(spec: str, data: bytes) -> list[float]:
    """The first value of each sample; the lines of other hosts are rejected, and the same in pieces of a line."""
    assert guessed(data) == spec
    result = read(require_spec(spec), data, state={}, offset=0, is_final=True)
    assert {line.reason for line in result.rejected} >= {ANOTHER_HOST.reason}
    assert read_pieces(require_spec(spec), data.splitlines(keepends=True)) == read_pieces(require_spec(spec), [data])
    return [row.values[0] for row in rows_of_result(result) if not row.is_since_boot]


@pytest.mark.parametrize("name", OWN)
def test_the_samples_of_the_host_that_a_tool_names_first_are_read(name: str) -> None:
    """Short name and full name are one host's."""
    spec, text = OWN[name]
    hosts = ((11, "web1"), (12, "web2"), (13, "web1.example.com"), (14, "web2"))
    assert samples(spec, "".join(text.format(n, host) for n, host in hosts).encode()) == [11, 13]


@pytest.mark.parametrize("heading", HEADINGS.values(), ids=HEADINGS)
def test_headings_begin_the_part_of_a_host(heading: str) -> None:
    hosts = ((11, "web1"), (12, "web2"), (13, "web1"), (14, "web3"))
    text = "".join(heading.format(host) + VMSTAT.format(n) for n, host in hosts)
    assert samples("vmstat_linux", text.encode()) == [11, 13]


@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES)
def test_lines_of_hosts_that_are_named_before_each_may_be_mixed(prefix: str) -> None:
    first, second = VMSTAT.format(11).splitlines(), VMSTAT.format(12).splitlines()
    lines = [
        f"{prefix.format(host)}{line}\n"
        for pair in zip(first, second, strict=True)
        for host, line in zip(("web1", "web2"), pair, strict=True)
    ]
    assert samples("vmstat_linux", "".join(lines).encode()) == [11]


def test_the_rest_of_a_report_after_another_file_of_tail_is_read() -> None:
    head, tail = VMSTAT.format(11).rsplit(" 11", 1)
    text = f"==> web1 <==\n{head}\n==> web2 <==\n{VMSTAT.format(12)}\n==> web1 <==\n 11{tail}"
    assert samples("vmstat_linux", text.encode()) == [11]


@pytest.mark.parametrize(
    "label",
    ["=== run2 ===", "--- sda1 ---", "### before ###", "--- 12:00:01 ---", "=== eth0", "== v2.1 ==", "run2", "after", "NFSv4:"],
)
def test_names_of_runs_and_devices_are_no_hosts(label: str) -> None:
    text = f"=== web1 ===\n{VMSTAT.format(11)}web1\n{VMSTAT.format(12)}{label}\n{VMSTAT.format(12)}"
    result = read(require_spec("vmstat_linux"), text.encode(), state={}, offset=0, is_final=True)
    assert ANOTHER_HOST.reason not in {line.reason for line in result.rejected}


def test_lines_of_hosts_that_are_named_in_a_column_before_each_are_parted() -> None:
    """As knife prints them."""
    lines = [f"{host} {line}\n" for n, host in ((11, "web1"), (12, "web2")) for line in VMSTAT.format(n).splitlines()]
    assert samples("vmstat_linux", "".join(lines).encode()) == [11]


def test_a_name_is_no_end_of_the_row_above_it() -> None:
    """Rows may be folded between a word and the next one."""
    text = "".join(
        f"{host}\n                    extended device statistics              \n"
        "    r/s    w/s   kr/s   kw/s wait actv wsvc_t asvc_t  %w  %b device\n"
        f"    1.1    6.0   18.2   71.0  0.0  0.1    0.0    9.2   0   3 c1t0d0s0 (/{host})\n"
        for host in ("web1", "web2", "web1")
    )
    result = read(require_spec("iostat_solaris"), text.encode(), state={}, offset=0, is_final=True)
    assert {row.instance for row in rows_of_result(result)} == {"c1t0d0s0 (/web1)"}


def test_names_of_minions_begin_indented_parts() -> None:
    """As salt prints them; tools print words with a colon above indented lines too (`Tcp:`)."""
    parts = "".join(
        f"{host}:\n" + textwrap.indent(VMSTAT.format(n), "    ") for n, host in ((11, "web1"), (12, "web2"), (13, "web1"))
    )
    assert samples("vmstat_linux", parts.encode()) == [11, 13]


def test_thousands_of_rows_of_another_host_are_rejected() -> None:
    """They are read in bulk elsewhere."""
    row = VMSTAT.format(11).splitlines(keepends=True)[-1]
    text = VMSTAT.format(11) + row * 99 + "web2 | CHANGED | rc=0 >>\n" + VMSTAT.format(12) + row * 999
    result = read(require_spec("vmstat_linux"), f"web1 | CHANGED | rc=0 >>\n{text}".encode(), state={}, offset=0, is_final=True)
    assert sum(map(len, result.blocks)) == 100
    assert len(result.rejected) == 1004


def test_an_agent_says_itself_which_host_it_is_on() -> None:
    text = SAR.format(11, "web1") + SAR.format(12, "renamed")
    result = read(require_spec("sar_linux"), text.encode(), state={}, offset=0, is_final=True, timing=Timing(is_live=True))
    assert not result.rejected
