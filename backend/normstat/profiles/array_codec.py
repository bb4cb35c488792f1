"""Dataclasses of arrays as bytes, in sections that are read one by one: pieces and profiles of baselines.

    head       magic, number of sections; for each: length of its name, bytes as they are, bytes packed; the names; CRC-32
    section    zstd of: length of a JSON tree, the tree, the arrays that it speaks of, in planes: all first bytes, all second, ...

Whoever reads names the dataclasses that may be in it; one whose fields are other ones today is refused like broken bytes.
"""

import json
import struct
import threading
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Final, cast

import numpy as np
import zstandard

MAGIC: Final = b"nsp1"
HEAD: Final = struct.Struct("<4sH")
ENTRY: Final = struct.Struct("<BQQ")
TREE: Final = struct.Struct("<I")
CHECK: Final = struct.Struct("<I")
LEVEL: Final = 1
# More than this is no section of ours: a piece of 20,000 series has 20 MB in one.
MAX_BYTES: Final = 4 << 30
_own = threading.local()


class BrokenBytes(ValueError):
    """Bytes that no packing of today's made."""


def pack_sections(sections: Mapping[str, object]) -> bytes:
    """Return the sections as bytes. Each is made of dataclasses, arrays, sequences, mappings from texts, texts and numbers."""
    entries, names, bodies = [], [], []
    for name, value in sections.items():
        plain = _encode(value)
        packed = _compressor().compress(plain)
        entries.append(ENTRY.pack(len(name.encode()), len(plain), len(packed)))
        names.append(name.encode())
        bodies.append(packed)
    head = b"".join((HEAD.pack(MAGIC, len(entries)), *entries, *names))
    return b"".join((head, CHECK.pack(zlib.crc32(head)), *bodies))


class Sections:
    """Sections that were packed; `types`: the dataclasses that may be in them.

    Raises: BrokenBytes
    """

    def __init__(self, body: bytes, types: Sequence[type]) -> None:
        self._body = body
        self._types = {type_.__name__: type_ for type_ in types}
        self._places: dict[str, tuple[int, int, int]] = {}
        try:
            self._read_head()
        except (struct.error, UnicodeDecodeError) as error:
            raise BrokenBytes(f"The head of {len(body)} packed bytes cannot be read: {error}") from None

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def read(self, name: str) -> Any:
        """Return what was packed under that name; sequences come back as tuples.

        Raises: BrokenBytes
        """
        if name not in self._places:
            raise BrokenBytes(f"There is no section {name} among {sorted(self._places)}")
        begin, n_plain, n_packed = self._places[name]
        try:
            plain = _decompressor().decompress(self._body[begin : begin + n_packed], max_output_size=n_plain)
            if len(plain) != n_plain:
                raise BrokenBytes(f"Section {name} has {len(plain)} bytes, {n_plain} expected")
            return _decode(plain, self._types)
        except (zstandard.ZstdError, struct.error, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            raise BrokenBytes(f"Section {name} cannot be read: {error}") from None

    def _read_head(self) -> None:
        magic, n_sections = HEAD.unpack_from(self._body)
        if magic != MAGIC:
            raise BrokenBytes(f"Packed bytes begin with {MAGIC!r}; found {self._body[:4]!r}")
        at = HEAD.size
        entries = [ENTRY.unpack_from(self._body, at + number * ENTRY.size) for number in range(n_sections)]
        at += n_sections * ENTRY.size
        names_at, n_names = at, sum(entry[0] for entry in entries)
        at += n_names
        (check,) = CHECK.unpack_from(self._body, at)
        if check != zlib.crc32(self._body[:at]):
            raise BrokenBytes(f"The head of {len(self._body)} packed bytes is damaged: its checksum does not fit")
        at += CHECK.size
        for n_name, n_plain, n_packed in entries:
            if n_plain > MAX_BYTES:
                raise BrokenBytes(f"A section of {n_plain} bytes; at most {MAX_BYTES} are read")
            name = self._body[names_at : names_at + n_name].decode()
            self._places[name] = (at, n_plain, n_packed)
            names_at, at = names_at + n_name, at + n_packed
        if at != len(self._body):
            raise BrokenBytes(f"{len(self._body)} packed bytes; their head speaks of {at}")


def _encode(value: object) -> bytes:
    arrays: list[np.ndarray[Any, Any]] = []
    tree = json.dumps(_to_tree(value, arrays), ensure_ascii=False, separators=(",", ":")).encode()
    return b"".join((TREE.pack(len(tree)), tree, *map(_to_planes, arrays)))


def _to_tree(value: object, arrays: list[np.ndarray[Any, Any]]) -> object:
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": [value.dtype.str, *value.shape]}
    if is_dataclass(value) and not isinstance(value, type):
        return {type(value).__name__: {field.name: _to_tree(getattr(value, field.name), arrays) for field in fields(value)}}
    if isinstance(value, Mapping):
        return {"map": {str(key): _to_tree(item, arrays) for key, item in value.items()}}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list | tuple):
        return [_to_tree(item, arrays) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{type(value).__name__} cannot be packed")


def _decode(plain: bytes, types: Mapping[str, type]) -> object:
    (n_tree,) = TREE.unpack_from(plain)
    tree = json.loads(plain[TREE.size : TREE.size + n_tree])
    return _Reader(plain, TREE.size + n_tree, types).build(tree)


class _Reader:
    """Builds what a tree says, taking the arrays in their order."""

    def __init__(self, plain: bytes, at: int, types: Mapping[str, type]) -> None:
        self._plain = plain
        self._at = at
        self._types = types

    def build(self, tree: object) -> object:
        if isinstance(tree, list):
            # Texts by the thousand: nothing in them is to be built.
            return tuple(tree) if all(isinstance(item, str) for item in tree) else tuple(self.build(item) for item in tree)
        if not isinstance(tree, dict):
            return tree
        [(name, value)] = tree.items()
        if name == "array":
            return self._take(np.dtype(str(value[0])), [int(length) for length in value[1:]])
        if name == "map":
            return {key: self.build(item) for key, item in value.items()}
        return self._types[name](**{key: self.build(item) for key, item in value.items()})

    def _take(self, dtype: np.dtype[Any], shape: Sequence[int]) -> np.ndarray[Any, Any]:
        n = int(np.prod(shape, dtype=np.int64))
        planes = np.frombuffer(self._plain, np.uint8, n * dtype.itemsize, self._at).reshape(dtype.itemsize, n)
        self._at += planes.size
        return np.ascontiguousarray(planes.T).view(dtype).reshape(shape)


def _to_planes(array: np.ndarray[Any, Any]) -> bytes:
    plain = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return np.ascontiguousarray(plain.reshape(-1, array.dtype.itemsize).T).tobytes()


def _compressor() -> zstandard.ZstdCompressor:
    if not hasattr(_own, "compressor"):
        _own.compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
    return cast("zstandard.ZstdCompressor", _own.compressor)


def _decompressor() -> zstandard.ZstdDecompressor:
    if not hasattr(_own, "decompressor"):
        _own.decompressor = zstandard.ZstdDecompressor()
    return cast("zstandard.ZstdDecompressor", _own.decompressor)
