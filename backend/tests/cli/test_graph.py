"""`normstat graph`: an SVG that is XML, lines of bars, and what can be drawn where a name is wrong."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from PIL import Image

from normstat.report.pdf import svg_to_png
from tests.cli.commands import Commands
from tests.databases import Sessions, on_either_database
from tests.query.filling import fill_capture
from tests.query.test_export import VMSTAT

pytestmark = on_either_database

IOSTAT = b"2026-11-21T12:00:01Z\nDevice            r/s     rkB/s\nsda              1.00      2.00\n" * 2

DAY = ("--start", "2026-11-21T00:00:00Z", "--end", "2026-11-22T00:00:00Z")
FREE = ("--host", "web1", "--stat", "vmstat_linux", "--field", "memory_free")


@pytest.mark.usefixtures("_filled")
async def test_a_picture_and_a_line_of_text(normstat: Commands, tmp_path: Path) -> None:
    path = tmp_path / "x.svg"
    assert await normstat("graph", *FREE, *DAY, "-o", str(path)) == (0, "", f"Wrote {path}: 1 series.\n")
    root = ET.parse(path).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "vmstat_linux: memory_free of web1" in "".join(root.itertext())
    code, out, _ = await normstat("graph", *FREE, *DAY, "--text")
    assert (code, "memory_free: " in out, out[0] in " ▁▂▃▄▅▆▇█") == (0, True, True)


@pytest.mark.usefixtures("_filled")
async def test_a_view_of_several_hosts_is_one_page(normstat: Commands, sessions: Sessions, tmp_path: Path) -> None:
    await fill_capture(sessions, "web2", "vmstat_linux", VMSTAT)
    hosts = ("--host", "web1", "--host", "web2")
    path = tmp_path / "x.svg"
    code, _, said = await normstat("graph", "--view", "Linux classic", *hosts, *DAY, "-o", str(path))
    assert code == 0
    words = list(ET.parse(path).getroot().itertext())
    places = [words.index(title) for title in ("Run queue", "Memory")]
    assert places == sorted(places), "panels stand in the order of the view"
    assert "web1 procs_r" in words
    assert "web2 procs_r" in words
    # What neither host recorded has no lines, and is said.
    assert "web1, web2 recorded nothing of it." in said
    code, out, _ = await normstat("graph", "--view", "linux-classic", "--host", "web1", *DAY, "--text")
    assert (code, "Run queue\n" in out, "procs_r: " in out) == (0, True, True)
    assert (await normstat("graph", "--view", "nosuch", *hosts, *DAY, "--text"))[2].startswith(
        "normstat: No view 'nosuch'; there are"
    )
    assert (await normstat("graph", "--view", "use", *FREE, *DAY, "--text"))[0] == 2


@pytest.mark.usefixtures("_filled")
async def test_several_stats_of_several_hosts_are_one_page(normstat: Commands, sessions: Sessions, tmp_path: Path) -> None:
    await fill_capture(sessions, "web2", "vmstat_linux", VMSTAT)
    await fill_capture(sessions, "web2", "iostat_linux", IOSTAT)
    hosts = ("--host", "web1", "--host", "web2")
    fields = ("--field", "vmstat_linux.memory_free", "--field", "iostat_linux.r_per_s", "--field", "vmstat_linux.procs_r")
    path = tmp_path / "x.svg"
    code, _, said = await normstat("graph", *hosts, *fields, *DAY, "-o", str(path))
    assert (code, "iostat_linux: r_per_s of web1, web2: web1 recorded nothing of it." in said) == (0, True)
    words = list(ET.parse(path).getroot().itertext())
    for title in ("vmstat_linux: memory_free, procs_r of web1, web2", "web1 memory_free", "web2 procs_r", "web2 sda r_per_s"):
        assert title in words
    code, _, problem = await normstat("graph", *hosts, "--field", "memory_free", *DAY, "--text")
    assert (code, problem) == (2, "normstat: --field memory_free names no stat: give --stat, or --field STAT.FIELD\n")
    assert (
        "There is no stat 'nothing' of web1, web2; web1 has vmstat_linux"
        in (await normstat("graph", *hosts, "--field", "nothing.x", *DAY, "--text"))[2]
    )


@pytest.mark.usefixtures("_filled")
async def test_a_png_has_letters(normstat: Commands, tmp_path: Path) -> None:
    path = tmp_path / "x.png"
    assert (await normstat("graph", *FREE, *DAY, "--width", "500", "-o", str(path)))[0] == 0
    with Image.open(path) as picture:
        assert (picture.format, picture.width) == ("PNG", 1000)
        # The numbers of the axis stand left of the graph, in grey on white.
        margin = picture.convert("L").crop((0, 0, 120, picture.height))
    low, high = margin.getextrema()
    assert isinstance(low, int)
    assert (low < 140, high) == (True, 255)


def test_signs_without_a_glyph_are_written_as_numbers() -> None:
    def drawn(text: str) -> bytes:
        return svg_to_png(f'<svg xmlns="http://www.w3.org/2000/svg" width="90" height="20"><text x="1" y="15">{text}</text></svg>')

    assert drawn("テ") == drawn("\\u30c6") != drawn("")


@pytest.mark.usefixtures("_filled")
async def test_a_baseline_is_marked(normstat: Commands, tmp_path: Path) -> None:
    window = "2026-11-21T00:00:00Z/2026-11-22T00:00:00Z"
    code, said, problem = await normstat("baseline", "add", "calm", "--host", "web1", "--window", window)
    assert code == 0, said + problem
    paths = tmp_path / "a.svg", tmp_path / "b.svg"
    await normstat("graph", *FREE, *DAY, "-o", str(paths[0]))
    assert (await normstat("graph", *FREE, *DAY, "--baseline", "calm", "-o", str(paths[1])))[0] == 0
    assert ["calm" in path.read_text() for path in paths] == [False, True]


@pytest.mark.usefixtures("_filled")
async def test_wrong_wishes_are_answered(normstat: Commands, tmp_path: Path) -> None:
    assert (await normstat("graph", *FREE, *DAY))[::2] == (2, "normstat: give -o FILE.svg, -o FILE.png, or --text\n")
    code, _, problem = await normstat("graph", *FREE, *DAY, "-o", str(tmp_path / "x.gif"))
    assert (code, ".svg" in problem) == (2, True)
    code, _, problem = await normstat("graph", *FREE[:5], "nothing", *DAY, "--text")
    assert (code, "memory_free" in problem) == (1, True), problem
    code, _, problem = await normstat("graph", *FREE, *DAY, "-o", str(tmp_path / "none" / "x.svg"))
    assert (code, "Cannot write" in problem) == (1, True)
