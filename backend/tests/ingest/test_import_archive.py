"""Archives: every plain file in them and nothing else, never anything outside of them."""

import datetime as dt
import gzip
import io
import os
import shutil
import struct
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normstat.ingest.imports import archives, unpacking
from normstat.ingest.imports.archives import list_files, walk_file
from normstat.ingest.imports.tar import BLOCK, is_tar, read_tar
from normstat.ingest.imports.unpacking import Budget, TooMuch, Unreadable

MUCH = 1 << 40
CHANGED_AT = 1_795_262_400
LONG_NAME = "/".join(["a-folder-with-a-rather-long-name"] * 9) + "/vmstat.out"
UMLAUT_NAME = "Müller/日本.out"


def walk(path: Path, budget: Budget | None = None) -> dict[str, bytes | str]:
    """Content by path below `path`, or the note in its place."""
    found: dict[str, bytes | str] = {}
    for member in walk_file(path, budget or Budget(MUCH, 1000)):
        name = member.path.removeprefix(str(path)).lstrip("/")
        if member.source is None:
            found[name] = member.note
            continue
        try:
            found[name] = b"".join(iter(partial(member.source.read, 1000), b""))
        except (Unreadable, TooMuch) as trouble:
            found[name] = str(trouble)
    return found


def tar_of(
    files: dict[str, bytes], *, format_: int = tarfile.PAX_FORMAT, change: Callable[[tarfile.TarInfo], None] = lambda _: None
) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=format_) as made:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(content), CHANGED_AT
            change(info)
            made.addfile(info, io.BytesIO(content))
    return packed.getvalue()


def zip_of(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as made:
        for name, content in files.items():
            made.writestr(name, content)
    return packed.getvalue()


def put(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("format_", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_tar_of_every_format(tmp_path: Path, format_: int) -> None:
    files = {"vmstat.out": b"1 2 3\n" * 300, "empty": b"", LONG_NAME: b"x" * BLOCK, UMLAUT_NAME: b"y"}
    if format_ == tarfile.USTAR_FORMAT:
        files = {name: content for name, content in files.items() if name != LONG_NAME}
    path = put(tmp_path, "a.tar", tar_of(files, format_=format_))
    assert walk(path) == files
    assert [member.modified_at for member in walk_file(path, Budget(MUCH, 100))] == [CHANGED_AT] * len(files)


def test_members_may_be_left_unread(tmp_path: Path) -> None:
    path = put(tmp_path, "a.tgz", gzip.compress(tar_of({"first": b"1" * 5000, "second": b"2" * 5000})))
    names = [member.path for member in walk_file(path, Budget(MUCH, 100))]
    assert names == [f"{path}/first", f"{path}/second"]


@pytest.mark.parametrize("name", ["/etc/passwd", "../outside", "a/../../outside", "C:/windows", "\\share\\x"])
def test_paths_out_of_the_archive_are_left_alone(tmp_path: Path, name: str) -> None:
    for file, data in {"a.tar": tar_of({name: b"x", "good": b"y"}), "a.zip": zip_of({name: b"x", "good": b"y"})}.items():
        found = walk(put(tmp_path, file, data))
        assert found.pop("good") == b"y"
        (note,) = found.values()
        assert isinstance(note, str)
        assert "left alone" in note
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.tar", "a.zip"]


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        (tarfile.SYMTYPE, "symbolic link"),
        (tarfile.LNKTYPE, "hard link"),
        (tarfile.CHRTYPE, "device"),
        (tarfile.BLKTYPE, "device"),
        (tarfile.FIFOTYPE, "named pipe"),
        (tarfile.GNUTYPE_SPARSE, "sparse"),
    ],
)
def test_what_is_no_plain_file_is_left_alone(tmp_path: Path, kind: bytes, word: str) -> None:
    def change(info: tarfile.TarInfo) -> None:
        if info.name == "odd":
            info.type, info.linkname, info.size = kind, "/etc/passwd", 0

    found = walk(put(tmp_path, "a.tar", tar_of({"odd": b"", "good": b"y"}, change=change)))
    assert found["good"] == b"y"
    assert word in str(found["odd"])


def test_links_in_zip_archives_and_folders_are_left_alone(tmp_path: Path) -> None:
    info = zipfile.ZipInfo("link")
    info.external_attr = 0o120777 << 16
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as made:
        made.writestr(info, "/etc/passwd")
    assert "symbolic link" in str(walk(put(tmp_path, "a.zip", packed.getvalue()))["link"])
    folder = tmp_path / "folder"
    folder.mkdir()
    put(folder, "file", b"x")
    (folder / "link").symlink_to("/etc/passwd")
    (folder / "loop").symlink_to(folder)
    os.mkfifo(folder / "pipe")
    notes = {path.name: note for path, note in list_files([folder], Budget(MUCH, 100))}
    assert notes["file"] == ""
    assert all("not followed" in notes[name] for name in ("link", "loop", "pipe"))


def test_archives_within_archives_up_to_a_depth(tmp_path: Path) -> None:
    inner = gzip.compress(tar_of({"x": b"deep"}))
    for number in range(2):
        inner = zip_of({f"{number}.zip" if number else "t.tar.gz": inner})
    assert list(walk(put(tmp_path, "three.zip", inner)).values()) == [b"deep"]
    (note,) = walk(put(tmp_path, "four.zip", zip_of({"more.zip": inner}))).values()
    assert "more than 3 archives" in str(note)
    packed = b"text\n"
    for _ in range(3):
        packed = gzip.compress(packed)
    assert walk(put(tmp_path, "x.gz.gz.gz", packed)) == {"": b"text\n"}
    (note,) = walk(put(tmp_path, "x.gz.gz.gz.gz", gzip.compress(packed))).values()
    assert "more than 3 times" in str(note)


def test_what_zip_can_do_and_is_not_read(tmp_path: Path) -> None:
    (note,) = walk(put(tmp_path, "b.zip", zip_of({"x": b"y" * 100}, zipfile.ZIP_BZIP2))).values()
    assert "deflate" in str(note)
    locked = bytearray(zip_of({"x": b"y" * 100}))
    for signature in (b"PK\3\4", b"PK\1\2"):
        at = locked.index(signature) + (6 if signature == b"PK\3\4" else 8)
        locked[at] |= 1
    assert walk(put(tmp_path, "c.zip", bytes(locked))) == {"x": "encrypted"}
    for magic in (b"\x1f\x9d\x90", b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07\0"):
        (note,) = walk(put(tmp_path, "d", magic + b"x" * 600)).values()
        assert "unpack it first" in str(note)


def test_lists_of_members_that_are_too_long_are_not_read(tmp_path: Path) -> None:
    data = bytearray(zip_of({"x": b"y"}))
    end = data.rindex(b"PK\5\6")
    struct.pack_into("<I", data, end + 12, 1 << 30)
    (note,) = walk(put(tmp_path, "a.zip", bytes(data))).values()
    assert "list of members" in str(note)


def test_headers_that_claim_a_terabyte_are_not_read() -> None:
    header = bytearray(tar_of({"pax": b""})[:BLOCK])
    header[156:157] = b"x"
    header[124:136] = b"\x80" + (1 << 40).to_bytes(11, "big")
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    assert is_tar(bytes(header))
    with pytest.raises(Unreadable, match="header of 1099511627776 bytes"):
        list(read_tar(io.BytesIO(bytes(header) + b"x" * 100_000)))


def test_bombs_within_archives_cost_the_member_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "FREE_BYTES", 1 << 20)
    bomb = gzip.compress(b"0 0 0\n" * 500_000)
    found = walk(put(tmp_path, "a.tar", tar_of({"bomb.gz": bomb, "good": b"y"})))
    assert "times its size" in str(found["bomb.gz"])
    assert found["good"] == b"y"
    found = walk(put(tmp_path, "a.zip", zip_of({"bomb": b"0 0 0\n" * 500_000})))
    assert "times its size" in str(found["bomb"])


def test_an_import_ends_when_its_budget_is_spent(tmp_path: Path) -> None:
    path = put(tmp_path, "a.tgz", gzip.compress(tar_of({str(number): b"x" * 10_000 for number in range(20)})))
    found = walk(path, Budget(100_000, 1000))
    assert any("the most that one import reads" in str(note) for note in found.values())
    assert len(found) < 15
    found = walk(path, Budget(MUCH, 5))
    assert any("more than 5 files" in str(note) for note in found.values())


def test_a_zip_with_a_name_of_nothing_is_read(tmp_path: Path) -> None:
    assert walk(put(tmp_path, "a.zip", zip_of({"x": b"y" * 30, "b": b"z"}).replace(b"x", b"\0"))) == {"": b"y" * 30, "b": b"z"}


@given(st.binary(max_size=300), st.integers(0, 20_000))
def test_no_bytes_make_it_raise(tmp_path_factory: pytest.TempPathFactory, noise: bytes, place: int) -> None:
    folder = tmp_path_factory.mktemp("noise")
    for name, data in {
        "a.tar": tar_of({LONG_NAME: b"x" * 3000, "b": b"y"}),
        "a.zip": zip_of({"x": b"y" * 3000, "b": b"z"}),
    }.items():
        at = place % len(data)
        whole = walk(put(folder, name, data))
        noisy = walk(put(folder, name, data[:at] + noise + data[at + len(noise) :]))
        # Nothing vanishes: there is a file, or a note in its place.
        assert noisy
        # What a file that ends too early still holds is right, or there is a note.
        for member, content in walk(put(folder, name, data[:at])).items():
            assert isinstance(content, str) or content == (whole[member] if member else data[:at])
    shutil.rmtree(folder)


def sadc_file(folder: Path) -> Path:
    sadc = shutil.which("sadc", path="/usr/lib/sysstat:/usr/lib64/sa:/usr/lib/sa")
    if sadc is None or shutil.which("sadf") is None:
        pytest.skip("sysstat is not installed")
    path = folder / "sa21"
    subprocess.run([sadc, "1", "2", str(path)], check=True)
    return path


def test_binary_files_of_sysstat_become_text(tmp_path: Path) -> None:
    path = sadc_file(tmp_path)
    found = walk(path)[""]
    assert isinstance(found, bytes)
    assert found.startswith(b"# hostname;interval;timestamp;")
    packed = put(tmp_path, "a.tar", tar_of({"var/log/sa/sa21": path.read_bytes()}))
    assert walk(packed) == {"var/log/sa/sa21": found}


def test_binary_files_of_sysstat_that_are_damaged_or_have_no_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, "sa21", b"\x96\xd5\x75\x21" + bytes(200))
    if shutil.which("sadf") is not None:
        assert "sadf cannot read" in str(walk(path)[""])
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert "install sysstat" in str(walk(path)[""])


PCP_LABEL = struct.pack(">II", 132, 0x50052602) + bytes(128)


def test_an_archive_of_pcp_is_read_by_pmdumplog_in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    tool = folder / "pmdumplog"
    # Says how it was called, and fails for a damaged archive.
    tool.write_text('#!/bin/sh\necho "$@"\ncase "$4" in */bad) echo "pmdumplog: corrupted" >&2; exit 1;; esac\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    for name in ("web1.meta.xz", "web1.index", "web1.0", "web1.1.xz", "bad.meta", "bad.index", "bad.0", "alone.meta", "notes.0"):
        put(tmp_path, name, PCP_LABEL if not name.startswith("notes") else b"text\n")
    found = {path.name: walk(path) for path, _ in list_files([tmp_path], Budget(MUCH, 1000)) if path != tool}
    assert found["web1.meta.xz"] == {" (pmdumplog)": f"-xxx -d -m {tmp_path}/web1\n".encode()}
    assert str(found["bad.meta"][" (pmdumplog)"]).endswith("that pmdumplog cannot read: pmdumplog: corrupted")
    assert found["web1.0"] == {"": "read with web1.meta.xz"}
    assert found["bad.index"] == {"": "read with bad.meta"}
    assert "import the folder with all of its files" in str(found["alone.meta"][""])
    assert found["notes.0"] == {"": b"text\n"}
    monkeypatch.setenv("PATH", "/nowhere")
    assert "install pcp here" in str(walk(tmp_path / "web1.meta.xz")[""])


def test_zip_times_are_read(tmp_path: Path) -> None:
    info = zipfile.ZipInfo("x", date_time=(2026, 11, 21, 12, 0, 0))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as made:
        made.writestr(info, "y")
    (member,) = walk_file(put(tmp_path, "a.zip", packed.getvalue()), Budget(MUCH, 10))
    assert member.modified_at == dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC).timestamp()


def test_names_without_what_packing_added() -> None:
    assert archives.without_packing("a/web1_vmstat.dat.gz") == "a/web1_vmstat.dat"
    assert archives.without_packing("sa21") == "sa21"
