"""Output that mail quoted is read like the original."""

import pytest

from normstat.stats.guess import guess_spec
from normstat.stats.readers import read
from normstat.stats.records import ReadResult

VMSTAT = """\
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 UTC
 1  0      0 402312 267968 846360    0    0  1444  4554  647 1297 34  8 57  1  1 2026-11-21 12:00:00
 3  0      0 402200 267968 846360    0    0    44     0  381  615  2  2 96  0  0 2026-11-21 12:00:01
 4  0      0 402201 267968 846360    0    0    44     0  381  615  3  2 95  0  0 2026-11-21 12:00:02
"""


def values(result: ReadResult) -> list[list[list[float]]]:
    return [[column.tolist() for column in block.values] for block in result.blocks]


@pytest.mark.parametrize("mark", ["> ", ">", "> > ", ">> "])
@pytest.mark.parametrize("n_copies", [1, 40])
def test_quoted_output_is_read_like_the_original(mark: str, n_copies: int) -> None:
    text = VMSTAT + VMSTAT.splitlines(keepends=True)[-1] * n_copies
    quoted = "".join(f"{mark}{line}\n" for line in text.splitlines()).encode()
    spec = guess_spec(quoted)
    assert spec is not None
    assert spec.name == "vmstat_linux"
    result = read(spec, quoted, state={}, offset=0, is_final=True)
    assert not result.rejected
    assert values(result) == values(read(spec, text.encode(), state={}, offset=0, is_final=True))
