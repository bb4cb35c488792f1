"""What unpacks foreign bytes takes no more memory than it was allowed."""

import pytest
import zstandard

from normstat.errors import TooLarge
from normstat.runtime.bounded_decoding import NotJson, UnpacksTooLarge, load_json, unpack_zstd


def test_a_frame_unpacks_to_no_more_than_it_may() -> None:
    plain = bytes(100_000)
    with_size = zstandard.ZstdCompressor().compress(plain)
    packer = zstandard.ZstdCompressor().compressobj()
    without_size = packer.compress(plain) + packer.flush()
    for body in (with_size, without_size):
        assert unpack_zstd(body, len(plain)) == plain
        with pytest.raises(zstandard.ZstdError):
            unpack_zstd(body, len(plain) - 1)
    # Refused by what the frame says of itself: there is nothing of that size.
    claimed = bytearray(zstandard.ZstdCompressor().compress(bytes(1 << 20)))
    claimed[5:9] = (1 << 31).to_bytes(4, "little")
    with pytest.raises(UnpacksTooLarge):
        unpack_zstd(bytes(claimed))
    for body in (b"", b"no frame", with_size[:-1]):
        with pytest.raises(zstandard.ZstdError):
            unpack_zstd(body)


def test_json_has_no_more_values_than_it_may() -> None:
    assert load_json(b'{"a": [1, 2, {}]}', 6) == {"a": [1, 2, {}]}
    for text in (b"[" * 7, b"[{},{},{}]", b"[0,0,0,0,0,0,0]"):
        with pytest.raises(TooLarge):
            load_json(text, 5)
    for text in (b"", b"{", b"[1] 2", b"\xff"):
        with pytest.raises(NotJson):
            load_json(text, 5)
