"""Counters of cgroups and NUMA nodes have the names of the host's, and are not the host's."""

import pytest

from normstat.stats.catalogue import require_spec
from normstat.stats.guess import guess_spec
from normstat.stats.readers import read

NODE = b"nr_free_pages 100000\nnr_zone_inactive_anon 2000\nnuma_hit 31409426\nnr_dirty 12\n"


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("sos/sys/devices/system/node/node0/vmstat", NODE),
        ("node1/vmstat", NODE),
        ("node0_vmstat.txt", NODE),
        ("x.txt", b"==> /proc/4711/net/dev <==\n face |bytes    packets\n  eth0: 123 1 0 0 0 0 0 0 123 1 0 0 0 0 0 0\n"),
        ("x.txt", b"==> /var/lib/lxcfs/proc/stat <==\ncpu  1 0 1 100 0 0 0 0 0 0\ncpu0 1 0 1 100 0 0 0 0 0 0\n"),
        ("sys/fs/cgroup/a.slice/cpu.pressure", b"some avg10=7.14 avg60=11.19 avg300=10.79 total=355883044\n"),
        ("cpu.stat", b"usage_usec 123456789\nuser_usec 100000000\nsystem_usec 23456789\nnr_periods 1000\n"),
        ("memory.stat", b"cache 123\nrss 456\nrss_huge 0\nmapped_file 1\npgpgin 123\npgfault 45\ntotal_rss 45\n"),
        ("cpuacct.stat", b"user 1234\nsystem 456\n"),
        ("numastat", b"numa_hit 31409426\ninterleave_hit 19653\nlocal_node 31409426\nother_node 0\n"),
        ("sos.txt", b"==> /sys/fs/cgroup/a/memory.stat <==\nanon 5\npgfault 12\npgmajfault 1\n"),
    ],
)
def test_a_file_of_a_part_of_the_host_is_no_tools(path: str, data: bytes) -> None:
    assert guess_spec(data, path) is None


def test_what_stands_under_the_name_of_such_a_file_is_rejected() -> None:
    data = b"==> /proc/vmstat <==\nnr_free_pages 7\npgfault 6\n==> /sys/devices/system/node/node0/vmstat <==\n" + NODE
    spec = guess_spec(data)
    assert spec is require_spec("proc_vmstat")
    result = read(spec, data + b"==> /proc/vmstat <==\nnr_free_pages 8\n", state={}, offset=0, is_final=True)
    assert len(result.rejected) == 4
    assert sorted(values.tolist() for block in result.blocks for values in block.values[:1]) == [[7], [8]]


def test_a_host_may_be_called_like_a_node() -> None:
    assert guess_spec(b"nr_free_pages 100000\npgfault 12\n", "node1/vmstat") is require_spec("proc_vmstat")


def test_meminfo_of_a_node_and_pressure_of_a_cgroup_have_instances() -> None:
    texts = {
        "proc_meminfo": "==> /sys/devices/system/node/node0/meminfo <==\nNode 0 MemTotal: 65842376 kB\nNode 0 MemFree: 842376 kB\n",
        "psi_linux": "==> sos/sys/fs/cgroup/a/cpu.pressure <==\nsome avg10=7.14 avg60=11.19 avg300=10.79 total=355883044\n",
    }
    for name, text in texts.items():
        spec = guess_spec(text.encode())
        assert spec is require_spec(name)
        result = read(spec, text.encode(), state={}, offset=0, is_final=True)
        assert all(instance for block in result.blocks for instance in block.instances)
