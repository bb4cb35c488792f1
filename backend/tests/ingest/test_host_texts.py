"""A file with several hosts becomes a text for each of them."""

import io

import pytest

from normstat.ingest.imports.host_texts import HostParting
from normstat.stats.catalogue import require_spec
from normstat.stats.records import Timing

VMSTAT = """\
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 1  0      0 2427120 1011084 22658204    0    0     4     6    3    5  3  1 96  0  0
"""


@pytest.mark.parametrize("hosts", [("web1", "web2"), ("alpha", "beta"), ("10.1.1.1", "10.1.1.2")])
def test_each_host_has_its_lines_under_its_own_name(hosts: tuple[str, str]) -> None:
    loop = f"$ for h in {' '.join(hosts)}; do ssh $h 'hostname; vmstat 1 2'; done\n"
    text = loop + "".join(f"{host}\n{VMSTAT}" for host in hosts)
    parts = HostParting(require_spec("vmstat_linux"), Timing(), "", see=lambda _: None).run(io.BytesIO(text.encode()))
    assert [part.host for part in parts] == list(hosts)
