"""Frames on the wire: strict, bounded, there and back."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normstat.errors import BadFrame, TooLarge
from normstat.ingest.protocol import (
    MAX_FRAMES,
    Ack,
    Frame,
    FrameKind,
    format_acks,
    format_frames,
    parse_frames,
    read_body,
    unpack,
)

MIB = 1 << 20
BODY = b"stream vmstat_linux k.1 0 5 vmstat -n -t 1\nab\ncdgap iostat_linux k.2 7 100 spool limit\n"


def read(body: bytes, *, is_gzip: bool = False, max_plain: int = MIB) -> list[Frame]:
    return read_body(body, is_gzip=is_gzip, max_plain=max_plain)


def test_frames_are_what_the_body_says() -> None:
    assert read(BODY) == [
        Frame(FrameKind.STREAM, "vmstat_linux", "k.1", 0, 5, "vmstat -n -t 1", b"ab\ncd"),
        Frame(FrameKind.GAP, "iostat_linux", "k.2", 7, 100, "spool limit", b""),
    ]


frames_of_anything = st.lists(
    st.builds(
        lambda key, offset, data, text: Frame(FrameKind.STREAM, "spec_1", key, offset, len(data), text, data),
        key=st.from_regex(r"[A-Za-z0-9._:-]{1,100}", fullmatch=True),
        offset=st.integers(0, 2**49),
        data=st.binary(max_size=300),
        text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=50),
    ),
    min_size=1,
    max_size=5,
)


@given(frames_of_anything)
def test_frames_come_back_from_the_wire(frames: list[Frame]) -> None:
    assert parse_frames(format_frames(frames)) == frames
    assert read(gzip.compress(format_frames(frames)), is_gzip=True) == frames


@given(st.binary(max_size=200))
def test_any_bytes_are_frames_or_a_bad_frame(body: bytes) -> None:
    for is_gzip in (False, True):
        try:
            assert read(body, is_gzip=is_gzip)
        except BadFrame as error:
            assert 0 <= int(str(error.details["position"])) <= len(body)  # noqa: PT017


@pytest.mark.parametrize("cut", range(1, len(BODY)))
def test_cut_body_is_bad_unless_a_frame_ends_there(cut: int) -> None:
    first_frame = BODY.index(b"gap")
    if cut == first_frame:
        assert len(read(BODY[:cut])) == 1
    else:
        with pytest.raises(BadFrame):
            read(BODY[:cut])


@pytest.mark.parametrize("cut", [0, 1, 9, 10, 11, 30, -9, -8, -1])
def test_cut_gzip_is_bad(cut: int) -> None:
    with pytest.raises(BadFrame, match="truncated"):
        read(gzip.compress(BODY)[:cut], is_gzip=True)


def test_damaged_gzip_is_bad() -> None:
    packed = bytearray(gzip.compress(BODY))
    packed[-6] ^= 1  # its checksum
    with pytest.raises(BadFrame, match="not valid gzip"):
        read(bytes(packed), is_gzip=True)
    with pytest.raises(BadFrame, match="not valid gzip"):
        read(BODY, is_gzip=True)


def test_gzip_of_several_members_is_one_body() -> None:
    assert read(gzip.compress(BODY[:20]) + gzip.compress(b"") + gzip.compress(BODY[20:]), is_gzip=True) == read(BODY)


def test_garbage_behind_gzip_is_bad_and_its_place_is_named() -> None:
    packed = gzip.compress(BODY)
    with pytest.raises(BadFrame, match=f"byte {len(packed)}"):
        read(packed + b"garbage", is_gzip=True)


def test_bomb_is_stopped_at_the_limit() -> None:
    bomb = gzip.compress(bytes(20 * MIB))
    assert len(bomb) < MIB
    with pytest.raises(TooLarge):
        unpack(bomb, 4 * MIB)
    with pytest.raises(TooLarge):
        read(bytes(5 * MIB), max_plain=4 * MIB)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "empty"),
        (b"\n", "header"),
        (b"stream vmstat_linux k 0 5\n", "only 0 follow"),
        (b"stream vmstat_linux k 0 -5 x\nabcde", "header"),
        (b"stream vmstat_linux k +0 5 x\nabcde", "header"),
        (b"stream vmstat_linux k 0x0 5 x\nabcde", "header"),
        (b"stream  vmstat_linux k 0 5 x\nabcde", "header"),
        (b"stream ../x k 0 5 x\nabcde", "header"),
        (b"stream vmstat_linux k/k 0 5 x\nabcde", "header"),
        (b"stream vmstat_linux " + b"k" * 101 + b" 0 5 x\nabcde", "header"),
        (b"chunk vmstat_linux k 0 5 x\nabcde", "header"),
        (b"stream vmstat_linux k 9223372036854775807 1 x\na", "a stream has at most"),
        (b"stream vmstat_linux k 99999999999999999999 1 x\na", "header"),
        (b"stream vmstat_linux k 0 1 x\na" * 2 + b"stream iostat_linux k 1 1 x\na", "used for vmstat_linux and for iostat_linux"),
        (b"x" * 10_000, "no newline within"),
    ],
)
def test_bad_frames_are_named(body: bytes, why: str) -> None:
    with pytest.raises(BadFrame, match=why):
        read(body)


def test_bad_second_frame_is_named_with_its_place() -> None:
    body = b"stream vmstat_linux k 0 2 x\nabnonsense\n"
    with pytest.raises(BadFrame) as caught:
        read(body)
    assert caught.value.details == {"frame": 2, "position": body.index(b"nonsense")}


def test_frames_are_counted() -> None:
    frame = b"stream vmstat_linux k 0 0 \n"
    assert len(read(frame * MAX_FRAMES)) == MAX_FRAMES
    with pytest.raises(BadFrame, match="more than"):
        read(frame * (MAX_FRAMES + 1))


def test_command_may_be_absent_or_not_utf8() -> None:
    assert [frame.text for frame in read(b"stream a k 0 0\nstream a k 0 0 \nstream a k 0 0 \xff\0\n")] == ["", "", "\\xff\0"]


def test_answer_is_a_line_for_each_stream() -> None:
    assert format_acks([Ack("k.1", 0), Ack("k.2", 4711)]) == b"k.1 0\nk.2 4711\n"
