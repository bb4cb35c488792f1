"""Reading many lines at once gives what reading each alone gives, whatever their words are."""

import itertools

import numpy as np
import pytest

from normstat.stats.catalogue import require_spec
from normstat.stats.engine import bulk
from normstat.stats.engine.bulk import LineIndex
from normstat.stats.readers import read
from normstat.stats.records import RowNames
from tests.stats.reading import read_pieces


@pytest.mark.parametrize("n_decimals", [6, 7, 8, 9, 13, 20])
def test_more_decimals_than_a_tool_prints(n_decimals: int) -> None:
    head = "12:00:00     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle\n"
    text = "Linux 6.1.0-40-amd64 (host) \t2026-11-21 \t_x86_64_\t(16 CPU)\n\n" + head
    word = f"1.{'2' * n_decimals}"
    data = (text + "".join(f"12:00:{second:02}    all {' '.join([word] * 10)}\n" for second in range(30))).encode()
    whole = read_pieces(require_spec("mpstat_linux"), [data], "mpstat -P ALL 1")
    alone = read_pieces(require_spec("mpstat_linux"), [data[at : at + 501] for at in range(0, len(data), 501)], "mpstat -P ALL 1")
    assert whole == alone
    assert len(whole.rows) >= 20


def test_the_last_bytes_before_a_place() -> None:
    text = bytes(range(33, 120)) + b"\n"
    index = LineIndex(text, 1 << 20)
    ends = np.arange(len(text) + 1)
    padded = bytes(8) + text
    assert index.last_bytes(ends).tolist() == [int.from_bytes(padded[end : end + 8], "little") for end in range(len(text) + 1)]


@pytest.mark.parametrize("n_words", [10, 1000, 3000])
def test_different_words_are_told_apart(n_words: int, monkeypatch: pytest.MonkeyPatch) -> None:
    words = [f"w{number * 7919 % 701}" for number in range(n_words)]
    index = LineIndex((" ".join(words) + "\n").encode(), 1 << 20)
    for factor in (bulk.HASH_FACTOR, np.uint64(1) << np.uint64(40)):
        # With the second factor words share places of the table.
        monkeypatch.setattr(bulk, "HASH_FACTOR", factor)
        found, codes = index.distinct(np.arange(n_words))
        assert len(set(found)) == len(found)
        assert [found[code].decode() for code in codes.tolist()] == words


def test_names_of_rows() -> None:
    names = RowNames.number(["b", "a", "b", "c"])
    assert (list(names.names), names.codes.tolist(), len(names)) == (["b", "a", "c"], [0, 1, 0, 2], 4)
    assert list(names) == ["b", "a", "b", "c"] == [names[at] for at in range(4)]
    assert list(names[1:3]) == ["a", "b"]
    assert list(names.take(np.array([3, 0]))) == ["c", "b"]
    assert repr(names[:1]) == "['b']"
    assert names.present() == ([0, 1, 2], [0, 1, 3], [2, 1, 3])
    # Names without a row, and in another order than that of the rows.
    assert names[2:].present() == ([0, 2], [0, 1], [0, 1])
    assert RowNames(["x", "y"], np.array([1, 0, 1])).present() == ([1, 0], [0, 1], [2, 1])


def test_names_of_several_parts_are_one() -> None:
    parts = [["a", "b"], RowNames(["b", "unused", "c"], np.array([2, 0, 2])), [], RowNames(["a"], np.array([0]))]
    joined = RowNames.join(parts)
    assert list(joined) == ["a", "b", "c", "b", "c", "a"]
    assert len(set(joined.names)) == len(joined.names)
    assert list(RowNames.merge(["a", "a/b", "a"], np.array([2, 1, 0]))) == ["a", "a/b", "a"]
    assert len(RowNames.merge(["a", "a"], np.array([0, 1])).names) == 1


def test_rows_with_several_names() -> None:
    head = b"# Time        UID       PID    %usr %system    %CPU  Command\n"
    pairs = list(itertools.product((7, 8, 9), ("sh", "my app", "a/b")))
    rows = [
        f"{1795305601 + report}     0 {pid + report % 3}  1.00 0.50 1.50  {name}\n".encode()
        for report in range(40)
        for pid, name in pairs
    ]
    data = head + b"".join(rows)
    whole = read_pieces(require_spec("pidstat_linux"), [data], "pidstat -u -h 1")
    assert (
        read_pieces(require_spec("pidstat_linux"), [data[at : at + 901] for at in range(0, len(data), 901)], "pidstat -u -h 1")
        == whole
    )
    names = [row.instance for row in whole.rows if row.stat == "pidstat_linux"]
    assert names[:3] == ["7/sh", "7/my app", "7/a/b"]
    assert len(names) == 360


def test_no_whole_number_is_beyond_the_bound_of_a_block() -> None:
    head = (
        "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----\n"
        " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 UTC\n"
    )
    row = " 1  0      0 {} 267968 846360    0    0  1444  4554  647 1297 34  8 57  1  1 2026-11-21 12:00:{:02}\n"
    text = head + "".join(row.format(7_000_000_000 if second == 30 else 402312, second) for second in range(50))
    spec = require_spec("vmstat_linux")
    # The report since boot and the next one are read alone.
    begin = text.index("\n", 400) + 1
    state = read(spec, text[:begin].encode(), state={}, offset=0, command="vmstat -n -t 1").state
    (block,) = read(spec, text[begin:].encode(), state=state, offset=begin, command="vmstat -n -t 1").blocks
    assert block.bound == 7_000_000_000 == max(int(np.abs(values).max()) for values in block.values)
