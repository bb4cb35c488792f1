"""Files of one series each: put together in the order of their times, and nothing lost without a word."""

import tarfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from normstat.ingest.imports.import_options import ImportOptions
from normstat.ingest.imports.scan import Found, Survey
from normstat.ingest.imports.series_files import SORTED_LINES, SortedText
from normstat.ingest.imports.unpacking import Budget
from normstat.stats.readers import read

CPU = "epoch,value\n1795879271.489,{}\n1795879272.491,{}\n"
CSV = {
    "web1/cpu-0/cpu-user-2026-11-28": CPU.format(1000, 1050),
    "web1/cpu-0/cpu-idle-2026-11-28": CPU.format(500, 550),
    "web1/load/load-2026-11-28": "epoch,shortterm,midterm,longterm\n1795879271.507,1.500000,2.000000,0.250000\nbroken line\n",
}


def put(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def survey(*paths: Path, host: str = "", zone: str | None = None) -> list[Found]:
    return Survey(ImportOptions(zone=zone), Budget(1 << 30, 1000), {}, host=host).run(paths)


def content(found: Found) -> bytes:
    assert found.text is not None
    source = found.text.open()
    return b"".join(iter(lambda: source.read(7), b""))


def samples(found: Found) -> dict[tuple[str, str, int], dict[str, float]]:
    assert found.spec is not None
    result = read(found.spec, content(found), state={}, offset=0, is_final=True)
    return {
        (block.stat.name, block.instances[row], int(block.time_us[row]) // 1000): {
            field.key: float(block.values[column][row]) for column, field in enumerate(block.fields)
        }
        for block in result.blocks
        for row in range(len(block))
    }


def test_a_tree_of_collectd_is_one_file_of_each_day_whatever_it_is_packed_in(tmp_path: Path) -> None:
    folder = put(
        tmp_path / "csv", {**CSV, "web1/load/load-2026-11-29": "epoch,shortterm,midterm,longterm\n1795910401,1.0,1.0,1.0\n"}
    )
    packed = tmp_path / "csv.tar"
    with tarfile.open(packed, "w") as made:
        for name in sorted(CSV, reverse=True):
            made.add(folder / name, name)
    first, second = survey(folder)
    (other,) = survey(packed)
    assert first.path.endswith("csv/web1/2026-11-28 (3 files of collectd csv)")
    assert second.path.endswith("web1/2026-11-29 (1 file of collectd csv)")
    assert content(first) == content(other)
    assert first.hashes == other.hashes
    assert first.n_bytes == len(content(first))
    found = samples(first)
    assert found["collectd_cpu", "0", 1795879272491] == {"idle_pct": 49.9, "user_pct": 49.9}
    assert found["collectd_load", "", 1795879271507] == {"load_1m": 1.5, "load_5m": 2.0, "load_15m": 0.25}
    assert b'PUTVAL "web1/load/load" csv=shortterm,midterm,longterm broken line:\n' in content(first)


def test_of_several_hosts_the_wanted_one_is_read(tmp_path: Path) -> None:
    put(tmp_path, CSV | {"web2/load/load-2026-11-28": CSV["web1/load/load-2026-11-28"]})
    found = {one.path.split("/")[-2]: one for one in survey(tmp_path, host="web2")}
    assert found["web2"].is_loadable
    assert not found["web1"].is_loadable
    assert found["web1"].look.note == "of host web1: import it with --host web1 (2 hosts: web1, web2)"


def test_a_file_without_its_folders_says_what_to_do(tmp_path: Path) -> None:
    (found,) = survey(put(tmp_path, {"cpu-user-2026-11-28": CPU.format(1, 2)}) / "cpu-user-2026-11-28")
    # The folders of the test's own path take their place; alone in an archive it has none.
    assert found.is_loadable
    packed = tmp_path / "x.tar"
    with tarfile.open(packed, "w") as made:
        made.add(tmp_path / "cpu-user-2026-11-28", "cpu-user-2026-11-28")
    path = Path("x.tar")
    (found,) = Survey(ImportOptions(), Budget(1 << 30, 10), {}).run([packed], shown_as=str(path))
    assert found.look.note.startswith("a file of collectd's csv plugin alone")


def test_charts_of_netdata_become_rows_of_one_disk(tmp_path: Path) -> None:
    files = {
        "disk.sda.csv": "time,reads,writes\n2026-11-28 16:22:50,5,-7.5\n2026-11-28 16:22:49,,null\nodd\n",
        "disk_ops.sda.json": '{"labels": ["time","reads","writes"],\n "data":\n [\n [ 1795879370,2,-3],\n'
        " [ 1795879369,null,-1]\n]\n}",
        "netdata-disk_util.sda.wrap.json": '{"api":1,"id":"x","result": {"labels":["time","utilization"],'
        '"data":[[1795879370000, [12.5,0,0]]]}}',
        "metrics.json": '{"system.load":{"name":"system.load","family":"load","context":"system.load","units":"load",'
        '"last_updated": 1795879370,"dimensions":{"load1":{"name":"load1","value":0.5000000}}}}',
        "metrics.sh": '\n# chart: system.load (name: system.load)\nNETDATA_SYSTEM_LOAD_LOAD1="1"      # load\n',
        "data.csv": "time,user\n1795879370,1\n",
    }
    found = {one.path.rpartition("/")[2]: one for one in survey(put(tmp_path / "nd", files), zone="Europe/Berlin")}
    assert "have no time" in found["metrics.sh"].look.note
    assert found["data.csv"].look.note.endswith("name the file after it (system.cpu.csv)")
    assert samples(found["allmetrics (1 file of Netdata)"]) == {("netdata_load", "", 1795879370000): {"load_1m": 0.5}}
    rows = samples(found["nd (3 files of Netdata)"])
    assert rows["netdata_disk", "sda", 1795879370000] == {
        "reads_kib_per_s": 5,
        "writes_kib_per_s": 7.5,
        "reads_per_s": 2,
        "writes_per_s": 3,
        "util_pct": 12.5,
    }
    assert rows["netdata_disk", "sda", 1795879369000] == {"writes_per_s": 1}
    assert b'"line": "odd"' in content(found["nd (3 files of Netdata)"])
    without = {one.path.rpartition("/")[2]: one for one in survey(tmp_path / "nd")}
    assert "were taken as UTC: give --zone" in without["nd (3 files of Netdata)"].look.note


def test_other_csv_files_are_left_alone(tmp_path: Path) -> None:
    (found,) = survey(put(tmp_path, {"web1.export.csv": "time,metric,value\n2026-11-28 16:22:50,cpu,5\n"}))
    assert found.text is None


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 9)), max_size=40), st.integers(1, 7))
def test_lines_are_sorted_however_few_fit_into_memory(lines: list[tuple[int, int]], size: int) -> None:
    text = SortedText(sorted_lines=size)
    for time_ms, word in lines:
        text.add(time_ms, str(word))
    source = text.open()
    assert source.read(1 << 20).decode().split() == [str(word) for _, word in sorted((time, str(word)) for time, word in lines)]
    text.close()
    assert size < SORTED_LINES
