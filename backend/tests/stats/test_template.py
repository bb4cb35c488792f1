"""The template of docs/add-ons.md: copied as one folder beside the readers, it is a tool like all others."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import normstat
from normstat.stats import catalogue, readers
from normstat.stats.catalogue import parse_spec
from normstat.stats.readers import find_readers, read
from tests.golden_captures import render
from tests.stats.reading import read_pieces

TEMPLATE = Path(__file__).parents[3] / "docs" / "template-tool"
CAPTURE = TEMPLATE / "synthetic" / "meter" / "1.0--two-reports.txt"


@pytest.fixture
def _template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader of the template, as if its folder stood beside the others."""
    folder = tmp_path / "template_readers"
    folder.mkdir()
    (folder / "__init__.py").touch()
    shutil.copytree(TEMPLATE, folder / "meter")
    monkeypatch.syspath_prepend(str(tmp_path))
    package = ModuleType("template_readers")
    package.__path__ = [str(folder)]
    found = {**readers.READERS, **find_readers(package)}
    monkeypatch.setattr(readers, "READERS", found)
    monkeypatch.setattr(catalogue, "READERS", found)
    for name in [name for name in sys.modules if name.startswith("template_readers")]:
        monkeypatch.delitem(sys.modules, name)


@pytest.mark.usefixtures("_template")
def test_the_template_reads_its_capture_however_it_is_cut() -> None:
    spec = parse_spec("meter.toml", (TEMPLATE / "meter.toml").read_text())
    data = CAPTURE.read_bytes()
    text = render(read(spec, data, state={}, offset=0, is_final=True))
    json.loads(text)
    assert text == CAPTURE.with_suffix(".expected.json").read_text()
    whole = read_pieces(spec, [data])
    for cut in range(len(data)):
        assert read_pieces(spec, [data[:cut], data[cut:]]) == whole


@pytest.mark.matrix
def test_a_copied_folder_is_all_that_a_tool_needs(tmp_path: Path) -> None:
    """As docs/add-ons.md says: copy the folder, rename it, and the program knows the tool; the tests know its captures."""
    backend = Path(normstat.__file__).parents[1]
    shutil.copytree(backend / "normstat", tmp_path / "normstat", ignore=shutil.ignore_patterns("__pycache__"))
    tool = tmp_path / "normstat" / "stats" / "readers" / "mytool"
    shutil.copytree(TEMPLATE, tool, ignore=shutil.ignore_patterns("__pycache__"))
    for path in (path for path in list(tool.rglob("*")) if path.suffix in {".py", ".toml", ".txt"}):
        path.write_text(path.read_text().replace("meter", "mytool").replace("Meter", "Mytool"))
    for path in sorted((path for path in tool.rglob("*meter*")), reverse=True):
        path.rename(path.with_name(path.name.replace("meter", "mytool")))
    capture = tool / "synthetic" / "mytool" / CAPTURE.name

    def run(*words: str) -> str:
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        done = subprocess.run([sys.executable, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    # The form that the tool prints is recognised without being named.
    samples = [json.loads(line) for line in run("-m", "normstat", "parse", str(capture)).splitlines()]
    assert {sample["stat"] for sample in samples} == {"mytool"}
    shutil.copytree(backend / "tests", tmp_path / "tests", ignore=shutil.ignore_patterns("__pycache__", "golden", "node_modules"))
    names = run("-c", "from tests.golden_captures import captures; print(*(capture.name for capture in captures()))")
    assert "mytool/1.0--two-reports" in names.split()


def test_a_cache_that_another_account_made_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may have imported the package with an umask of its own before the server's account does."""
    cache = Path(readers.__file__).parent / "__pycache__"
    is_dir, listed = Path.is_dir, Path.iterdir

    def iterdir(folder: Path) -> Iterator[Path]:
        if folder == cache:
            raise PermissionError(13, "Permission denied", str(folder))
        return iter({*listed(folder), cache}) if folder == cache.parent else listed(folder)

    monkeypatch.setattr(Path, "iterdir", iterdir)
    monkeypatch.setattr(Path, "is_dir", lambda path: path == cache or is_dir(path))
    catalogue.built_in_catalogue.cache_clear()
    assert "vmstat_linux" in catalogue.built_in_catalogue().specs
