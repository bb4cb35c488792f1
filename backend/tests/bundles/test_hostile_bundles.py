"""Bundles that are damaged or made to do harm are refused with one sentence, and nothing of them is loaded."""

import base64
import hashlib
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.bundles.bundle_format import MANIFEST, MARK, MARK_TEXT, looks_like_bundle
from normstat.bundles.bundle_reader import BundleFile
from normstat.bundles.bundle_writer import BundleWriter
from normstat.bundles.carried_stream import to_carried
from normstat.db.session import make_sessions, open_read_session
from normstat.errors import BadRequest, NormstatError, NotFound, TooLarge
from normstat.samples.lookup import require_host
from tests.bundles.test_round_trip import WINDOW, load

EVENTS = b'[{"start": "2026-11-21T12:01:01+00:00", "text": "x"}]'
Change = Callable[[dict[str, Any]], None]


def member_of(name: str, data: bytes) -> dict[str, Any]:
    return {"name": name, "n_bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def manifest_of(members: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "format": "normstat bundle", "version": 1, "id": "0" * 32, "made_at": "2026-11-28T00:00:00Z", "made_by": "a",
        "normstat": "0.1", "server": "other", "server_id": "1", "host": "alpha", "os": "", "agent_version": "", "tags": [],
        "windows": [{"start": WINDOW.start.isoformat(), "end": WINDOW.end.isoformat()}],
        "sections": [{"name": "events", "version": 1, "members": members, "counts": {}, "notes": [], "index": []}],
        "comment": "",
    }  # fmt: skip


def build(
    path: Path,
    *,
    change: Change = lambda manifest: None,
    data: bytes = EVENTS,
    packed: bytes | None = None,
    name: str = "events.json.zst",
    extra: tuple[str, ...] = (),
    method: int = zipfile.ZIP_STORED,
) -> Path:
    """A bundle of one section, changed as a test wants it."""
    manifest = manifest_of([member_of(name, data)])
    change(manifest)
    with zipfile.ZipFile(path, "w", method) as file:
        file.writestr(zipfile.ZipInfo(MARK), MARK_TEXT)
        file.writestr(name, zstandard.compress(data) if packed is None else packed, method)
        for other in extra:
            file.writestr(other, b"x")
        file.writestr(MANIFEST, json.dumps(manifest), method)
    return path


def refusal(path: Path, *, max_bytes: int = 1 << 30) -> str:
    with pytest.raises(NormstatError) as caught:
        BundleFile(path, max_bytes=max_bytes).verify()
    assert caught.value.status in {400, 413}
    return caught.value.message


def test_a_whole_bundle_is_read(tmp_path: Path) -> None:
    bundle = BundleFile(build(tmp_path / "b"), max_bytes=1 << 30)
    bundle.verify()
    assert bundle.read_json(bundle.manifest.sections[0].members[0])[0]["text"] == "x"


def test_what_is_cut_off_or_no_bundle(tmp_path: Path) -> None:
    whole = build(tmp_path / "b").read_bytes()
    for n_bytes in (60, len(whole) // 2, len(whole) - 1):
        (tmp_path / "c").write_bytes(whole[:n_bytes])
        assert "cut off" in refusal(tmp_path / "c")
    (tmp_path / "d").write_bytes(b"vmstat")
    assert "not a bundle" in refusal(tmp_path / "d")
    assert looks_like_bundle(whole)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda manifest: manifest.update(version=2), "upgrade normstat here"),
        (lambda manifest: manifest.update(format="other"), "not that of a normstat bundle"),
        (lambda manifest: manifest.update(windows=[{"start": "x", "end": "y"}]), "invalid at windows"),
        (lambda manifest: manifest["sections"][0]["members"][0].update(sha256="0" * 64), "SHA-256"),
        (lambda manifest: manifest["sections"][0]["members"][0].update(n_bytes=3), "more than the 3 bytes"),
        (lambda manifest: manifest["sections"][0]["members"][0].update(n_bytes=999), "not the 999"),
        (lambda manifest: manifest["sections"][0]["members"][0].update(n_bytes=-1), "negative"),
        (lambda manifest: manifest["sections"][0]["members"][0].update(name="../../etc/passwd"), "differ in"),
        (lambda manifest: manifest["sections"][0].update(members=manifest["sections"][0]["members"] * 2), "names a member twice"),
    ],
)
def test_manifests_that_lie(tmp_path: Path, change: Change, words: str) -> None:
    assert words in refusal(build(tmp_path / "b", change=change))


def test_bombs_and_odd_members(tmp_path: Path) -> None:
    # A gigabyte of nothing in some kB: nothing beyond the size that the manifest names is unpacked.
    bomb = zstandard.compress(bytes(64 << 20))
    assert "more than the" in refusal(build(tmp_path / "b", packed=bomb))
    assert "limit" in refusal(build(tmp_path / "b"), max_bytes=10)
    assert "packed in a way" in refusal(build(tmp_path / "b", method=zipfile.ZIP_DEFLATED))
    assert "differ in 'extra'" in refusal(build(tmp_path / "b", extra=("extra",)))
    assert "cannot be decompressed" in refusal(build(tmp_path / "b", packed=b"no zstd"))
    name = "../../../tmp/escaped"
    bundle = BundleFile(build(tmp_path / "b", name=name), max_bytes=1 << 30)
    bundle.verify()
    assert list(tmp_path.iterdir()) == [tmp_path / "b"]


def test_a_window_of_zstd_that_asks_for_memory(tmp_path: Path) -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=30)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    packed = packer.compress(EVENTS) + packer.flush()
    assert "cannot be decompressed" in refusal(build(tmp_path / "b", packed=packed))


@pytest.mark.parametrize(
    "damage",
    [
        {"spec": "../x"},
        {"runs": [[5, 3]]},
        {"runs": "x"},
        {"origin": "x' OR 1=1"},
        {"begin": -1},
        {"end": 1 << 60},
        {"first_day": "never"},
        {"interval_s": "nan"},
        {"shift_s": None},
    ],
)
def test_an_index_of_streams_that_lies(damage: dict[str, object]) -> None:
    entry: dict[str, object] = {
        "member": "m", "origin": "0" * 16, "key": "k", "spec": "vmstat_linux", "spec_version": 1, "command": "", "is_import": False,
        "zone": None, "first_day": None, "start": None, "interval_s": None, "is_first_real": False, "head": 0, "begin": 0, "end": 9,
        "is_final": False, "runs": [[0, 9]], "shift_s": 0.0,
    }  # fmt: skip
    to_carried(entry)
    with pytest.raises(BadRequest):
        to_carried(entry | damage)


async def test_nothing_of_a_damaged_bundle_is_loaded(engine: AsyncEngine, tmp_path: Path) -> None:
    path = build(tmp_path / "b", change=lambda manifest: manifest["sections"][0]["members"][0].update(sha256="0" * 64))
    with pytest.raises(BadRequest, match="SHA-256"):
        await load(engine, path)
    async with open_read_session(make_sessions(engine)) as session:
        with pytest.raises(NotFound):
            await require_host(session, "alpha")
    # Right hashes, and rows that are none: the section is left out with a sentence.
    with pytest.raises(BadRequest, match=r"invalid row \(event\)"):
        await load(engine, build(tmp_path / "c"))


async def test_a_saved_comparison_that_unpacks_to_millions_of_values_is_refused(engine: AsyncEngine, tmp_path: Path) -> None:
    result = zstandard.compress(b"[" + b"[]," * 500_000 + b"[]]")
    row = {"id": 1, "inputs": {"host": ["alpha"], "baseline": None}, "result": base64.b64encode(result).decode()}
    name = "comparisons.json.zst"
    path = build(
        tmp_path / "b",
        change=lambda manifest: manifest["sections"][0].update(name="comparisons"),
        data=json.dumps([row]).encode(),
        name=name,
    )
    with pytest.raises(TooLarge, match="about 1,000,002 values"):
        await load(engine, path)


async def test_sections_of_a_later_version_are_left_out(engine: AsyncEngine, tmp_path: Path) -> None:
    path = build(tmp_path / "b", change=lambda manifest: manifest["sections"][0].update(name="holograms"))
    assert [(one.path, "does not know" in one.note) for one in await load(engine, path)] == [("holograms", True)]
    path = build(tmp_path / "c", change=lambda manifest: manifest["sections"][0].update(version=9))
    assert ["newer" in one.note for one in await load(engine, path, merges=True)] == [True]


def test_what_is_written_is_sent_piece_by_piece() -> None:
    writer = BundleWriter()
    assert looks_like_bundle(writer.take())
    writer.add_member("a", [b"x" * 100])
    assert writer.take()
    assert not writer.take()
