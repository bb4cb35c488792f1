"""The captures and what the reader makes of them as JSON. Used by the golden test and by `make golden`.

They are in golden/ and in the folders of single tools (docs/add-ons.md), in either by where they come from:

recorded/   output that a tool printed, on a machine of ours or in a published text; its .toml says what was cut or added
synthetic/  output that was written by hand, after a release's layout, a manual page or a source
"""

import functools
import json
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from _pytest.mark.structures import ParameterSet

from normstat.cli.parsed_samples import to_json_lines
from normstat.stats import readers
from normstat.stats.catalogue import load_catalogue, require_spec
from normstat.stats.readers import read
from normstat.stats.records import ReadResult, SampleBlock
from normstat.window import from_us

GOLDEN: Final = Path(__file__).parent / "golden"
ROOTS: Final = (GOLDEN, *sorted(path for path in Path(readers.__file__).parent.iterdir() if path.is_dir()))
RECORDED: Final = "recorded"
SYNTHETIC: Final = "synthetic"
# How the origin of a synthetic capture begins.
SYNTHETIC_ORIGINS: Final = ("written by hand", "made for this test", "made up")


@dataclass(frozen=True, slots=True)
class Capture:
    """An output: golden/<recorded or synthetic>/<spec>/<release>--<case>.txt with a .toml beside it."""

    spec: str
    path: Path

    @property
    def name(self) -> str:
        return f"{self.spec}/{self.path.stem}"

    @property
    def is_recorded(self) -> bool:
        return self.path.parent.parent.name == RECORDED

    @property
    def data(self) -> bytes:
        return self.path.read_bytes()

    @property
    def expected_path(self) -> Path:
        return self.path.with_name(f"{self.path.stem}.expected.json")

    def command(self) -> str:
        return str(tomllib.loads(self.path.with_suffix(".toml").read_text())["command"])

    def result(self) -> ReadResult:
        return read(require_spec(self.spec), self.data, state={}, offset=0, is_final=True, command=self.command())


@functools.cache
def captures() -> tuple[Capture, ...]:
    """Return all captures by spec and name; the folders are searched once in a process."""
    paths = [path for root in ROOTS for kind in (RECORDED, SYNTHETIC) for path in root.glob(f"{kind}/*/*.txt")]
    return tuple(Capture(path.parent.name, path) for path in sorted(paths, key=lambda path: (path.parent.name, path.name)))


def first_of_each_spec(chosen: Iterable[Capture]) -> list[ParameterSet]:
    """Parameters of a test: the first capture of each spec in every run, the others in that of the matrix."""
    found, seen = [], set[str]()
    for capture in chosen:
        found.append(pytest.param(capture, id=capture.name, marks=[pytest.mark.matrix] if capture.spec in seen else []))
        seen.add(capture.spec)
    return found


def specs_of_families() -> dict[str, list[str]]:
    """The specs of each family of readers."""
    found: dict[str, list[str]] = {}
    for name, spec in sorted(load_catalogue().specs.items()):
        found.setdefault(readers.READERS[spec.reader].reader.__module__.split(".")[-2], []).append(name)
    return found


def first_of_each_family() -> list[ParameterSet]:
    """Parameters of a test: a spec of each family of readers in every run, the others in that of the matrix."""
    return [
        pytest.param(name, id=name, marks=[] if name == names[0] else [pytest.mark.matrix])
        for names in specs_of_families().values()
        for name in names
    ]


def capture_path(name: str) -> Path:
    """The text of a capture by its name, "vmstat_linux/procps-4.0.2--agent"."""
    (path,) = (path for root in ROOTS for path in root.glob(f"*/{name}.txt"))
    return path


def render(result: ReadResult) -> str:
    """The result as JSON text, one sample a line, so that differences are easy to read."""
    lines = {
        "accounts": [f'"{kind}": [{n}, {result.accounts.n_bytes[kind]}]' for kind, n in sorted(result.accounts.n_lines.items())],
        "samples": _samples(result.blocks),
        "since_boot": _samples(result.since_boot),
        "printed": _printed((*result.blocks, *result.since_boot)),
        "rejected": [json.dumps([line.line_no, line.reason, line.text[:60]], ensure_ascii=False) for line in result.rejected],
    }
    if result.events:
        lines["events"] = [
            json.dumps([time_text(event.time_us), event.kind, event.origin, event.text], ensure_ascii=False)
            for event in result.events
        ]
    parts = []
    for key, items in lines.items():
        begin, end = "{}" if key == "accounts" else "[]"
        body = ",\n    ".join(items)
        parts.append(f'  "{key}": {begin}\n    {body}\n  {end}' if items else f'  "{key}": {begin}{end}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def time_text(time_us: int) -> str:
    return from_us(time_us).isoformat()


def _samples(blocks: tuple[SampleBlock, ...]) -> list[str]:
    return [line.rstrip("\n") for _, line in sorted(to_json_lines(blocks), key=lambda item: item[0])]


def _printed(blocks: tuple[SampleBlock, ...]) -> list[str]:
    rows = [(int(block.line_offset[row]), text) for block in blocks for row, text in block.printed.items()]
    return [json.dumps(list(row), ensure_ascii=False) for row in sorted(rows)]
