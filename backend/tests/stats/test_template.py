"""The template of docs/add-a-tool.md works: copied into a package of readers it reads its capture as expected."""

import json
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

from normstat.stats import catalogue, readers
from normstat.stats.catalogue import parse_spec
from normstat.stats.readers import find_readers, read
from tests.golden_captures import render

TEMPLATE = Path(__file__).parents[3] / "docs" / "template-tool"
CAPTURE = TEMPLATE / "1.0--two-reports.txt"


@pytest.fixture
def _template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    family = tmp_path / "template_readers" / "family"
    family.mkdir(parents=True)
    (family.parent / "__init__.py").touch()
    (family / "__init__.py").touch()
    shutil.copy(TEMPLATE / "meter.py", family)
    monkeypatch.syspath_prepend(str(tmp_path))
    package = ModuleType("template_readers")
    package.__path__ = [str(family.parent)]
    found = {**readers.READERS, **find_readers(package)}
    monkeypatch.setattr(readers, "READERS", found)
    monkeypatch.setattr(catalogue, "READERS", found)
    for name in [name for name in sys.modules if name.startswith("template_readers")]:
        monkeypatch.delitem(sys.modules, name)


@pytest.mark.usefixtures("_template")
def test_the_template_reads_its_capture() -> None:
    spec = parse_spec("meter.toml", (TEMPLATE / "meter.toml").read_text())
    data = CAPTURE.read_bytes()
    text = render(read(spec, data, state={}, offset=0, is_final=True))
    json.loads(text)
    assert text == CAPTURE.with_suffix(".expected.json").read_text()


@pytest.mark.usefixtures("_template")
def test_pieces_of_the_template_give_the_same() -> None:
    spec = parse_spec("meter.toml", (TEMPLATE / "meter.toml").read_text())
    data = CAPTURE.read_bytes()
    whole = read(spec, data, state={}, offset=0, is_final=True)
    for cut in range(len(data)):
        first = read(spec, data[:cut], state={}, offset=0)
        rest = read(spec, data[first.n_taken :], state=json.loads(json.dumps(first.state)), offset=first.n_taken, is_final=True)
        blocks = [block for block in (*first.blocks, *rest.blocks) if len(block)]
        rows = [
            (*row, *(column[at].item() for column in block.values))
            for block in blocks
            for at, row in enumerate(zip(block.time_us.tolist(), block.instances, strict=True))
        ]
        expected = whole.blocks[0]
        assert rows == [
            (*row, *(column[at].item() for column in expected.values))
            for at, row in enumerate(zip(expected.time_us.tolist(), expected.instances, strict=True))
        ]
