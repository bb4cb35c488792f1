"""Encode dataclasses of arrays as bytes, in sections that are read one by one: the format of stored sketches and profiles.

    head       magic, number of sections; for each: length of its name, plain size, packed size; the names; CRC-32
    section    zstd of: length of a JSON tree, the tree, its arrays in byte planes: all first bytes, all second bytes, ...

A reader passes the dataclasses that may occur. One whose fields differ from the stored ones is rejected like broken bytes.
"""

import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Final

import numpy as np
import zstandard

from normstat.codecs.number_planes import compress_zstd
from normstat.runtime.bounded_decoding import unpack_zstd

MAGIC: Final = b"nsp1"
HEAD: Final = struct.Struct("<4sH")
ENTRY: Final = struct.Struct("<BQQ")
TREE: Final = struct.Struct("<I")
CHECK: Final = struct.Struct("<I")
LEVEL: Final = 1
# A larger section is damaged: that of a sketch of 20,000 series has 20 MB.
MAX_BYTES: Final = 4 << 30
# Names in the bytes. They stay when a class or a field is renamed, or every stored profile would have to be built again.
STORED_NAMES: Final[Mapping[str, str]] = {
    "SketchKeys": "Keys",
    "SeriesStats": "Traits",
    "NaturalChange": "Usual",
    "WindowModel": "Knowledge",
    "WindowModel.natural_change": "usual",
    "LoadModel": "Follow",
    "HostProfile.series_stats": "traits",
    "HostProfile.baseline": "whole",
    "HostProfile.window_models": "lengths",
    "HostProfile.load_model": "follow",
}


class BrokenBytes(ValueError):
    """Bytes that `pack_sections` did not write."""


def stored_name(type_: type) -> str:
    """Return the name of a dataclass in the bytes."""
    return STORED_NAMES.get(type_.__name__, type_.__name__)


def stored_fields(type_: type) -> dict[str, str]:
    """Return the names of the fields of a dataclass, by their names in the bytes, in their order."""
    return {STORED_NAMES.get(f"{type_.__name__}.{field.name}", field.name): field.name for field in fields(type_)}


def pack_sections(sections: Mapping[str, object], *, level: int = LEVEL) -> bytes:
    """Return the sections as bytes. Each consists of dataclasses, arrays, sequences, mappings with text keys, texts and numbers.

    `level`: of zstd
    """
    entries, names, bodies = [], [], []
    for name, value in sections.items():
        plain = _encode(value)
        packed = compress_zstd(plain, level)
        entries.append(ENTRY.pack(len(name.encode()), len(plain), len(packed)))
        names.append(name.encode())
        bodies.append(packed)
    head = b"".join((HEAD.pack(MAGIC, len(entries)), *entries, *names))
    return b"".join((head, CHECK.pack(zlib.crc32(head)), *bodies))


class Sections:
    """Packed sections. `types`: the dataclasses that may occur in them.

    Raises: BrokenBytes
    """

    def __init__(self, body: bytes, types: Sequence[type]) -> None:
        self._body = body
        self._types = {stored_name(type_): type_ for type_ in types}
        self._places: dict[str, tuple[int, int, int]] = {}
        try:
            self._read_head()
        except (struct.error, UnicodeDecodeError) as error:
            raise BrokenBytes(f"Cannot read the head of {len(body)} packed bytes: {error}") from None

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def read(self, name: str) -> Any:
        """Return the value of a section; sequences come back as tuples.

        Raises: BrokenBytes
        """
        if name not in self._places:
            raise BrokenBytes(f"No section {name}; found {sorted(self._places)}")
        begin, n_plain, n_packed = self._places[name]
        try:
            plain = unpack_zstd(self._body[begin : begin + n_packed], n_plain)
            if len(plain) != n_plain:
                raise BrokenBytes(f"Section {name} has {len(plain)} bytes; expected {n_plain}")
            return _decode(plain, self._types)
        except (zstandard.ZstdError, struct.error, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            raise BrokenBytes(f"Cannot read section {name}: {error}") from None

    def require_whole(self) -> None:
        """Require that all sections are as they were written, by their checksums.

        Raises: BrokenBytes
        """
        for name, (begin, n_plain, n_packed) in self._places.items():
            try:
                unpack_zstd(self._body[begin : begin + n_packed], n_plain)
            except zstandard.ZstdError as error:
                raise BrokenBytes(f"Cannot read section {name}: {error}") from None

    def _read_head(self) -> None:
        magic, n_sections = HEAD.unpack_from(self._body)
        if magic != MAGIC:
            raise BrokenBytes(f"Expected {MAGIC!r} at the start of packed bytes; found {self._body[:4]!r}")
        at = HEAD.size
        entries = [ENTRY.unpack_from(self._body, at + number * ENTRY.size) for number in range(n_sections)]
        at += n_sections * ENTRY.size
        names_at, n_names = at, sum(entry[0] for entry in entries)
        at += n_names
        (check,) = CHECK.unpack_from(self._body, at)
        if check != zlib.crc32(self._body[:at]):
            raise BrokenBytes(f"The head of {len(self._body)} packed bytes is damaged: wrong checksum")
        at += CHECK.size
        for n_name, n_plain, n_packed in entries:
            if n_plain > MAX_BYTES:
                raise BrokenBytes(f"A section of {n_plain} bytes; the limit is {MAX_BYTES}")
            name = self._body[names_at : names_at + n_name].decode()
            self._places[name] = (at, n_plain, n_packed)
            names_at, at = names_at + n_name, at + n_packed
        if at != len(self._body):
            raise BrokenBytes(f"{len(self._body)} packed bytes; their head says {at}")


def _encode(value: object) -> bytes:
    arrays: list[np.ndarray[Any, Any]] = []
    tree = json.dumps(_to_tree(value, arrays), ensure_ascii=False, separators=(",", ":")).encode()
    return b"".join((TREE.pack(len(tree)), tree, *map(_to_planes, arrays)))


def _to_tree(value: object, arrays: list[np.ndarray[Any, Any]]) -> object:
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": [value.dtype.str, *value.shape]}
    if is_dataclass(value) and not isinstance(value, type):
        tree = {stored: _to_tree(getattr(value, name), arrays) for stored, name in stored_fields(type(value)).items()}
        return {stored_name(type(value)): tree}
    if isinstance(value, Mapping):
        return {"map": {str(key): _to_tree(item, arrays) for key, item in value.items()}}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list | tuple):
        return [_to_tree(item, arrays) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"Cannot pack a {type(value).__name__}")


def _decode(plain: bytes, types: Mapping[str, type]) -> object:
    (n_tree,) = TREE.unpack_from(plain)
    tree = json.loads(plain[TREE.size : TREE.size + n_tree])
    return _Reader(plain, TREE.size + n_tree, types).build(tree)


class _Reader:
    """Builds values from a tree, taking the arrays in their order."""

    def __init__(self, plain: bytes, at: int, types: Mapping[str, type]) -> None:
        self._plain = plain
        self._at = at
        self._types = types

    def build(self, tree: object) -> object:
        if isinstance(tree, list):
            # Thousands of texts: nothing to build.
            return tuple(tree) if all(isinstance(item, str) for item in tree) else tuple(self.build(item) for item in tree)
        if not isinstance(tree, dict):
            return tree
        [(name, value)] = tree.items()
        if name == "array":
            return self._take(np.dtype(str(value[0])), [int(length) for length in value[1:]])
        if name == "map":
            return {key: self.build(item) for key, item in value.items()}
        type_ = self._types[name]
        own = stored_fields(type_)
        return type_(**{own[key]: self.build(item) for key, item in value.items()})

    def _take(self, dtype: np.dtype[Any], shape: Sequence[int]) -> np.ndarray[Any, Any]:
        n = int(np.prod(shape, dtype=np.int64))
        planes = np.frombuffer(self._plain, np.uint8, n * dtype.itemsize, self._at).reshape(dtype.itemsize, n)
        self._at += planes.size
        return np.ascontiguousarray(planes.T).view(dtype).reshape(shape)


def _to_planes(array: np.ndarray[Any, Any]) -> bytes:
    plain = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return np.ascontiguousarray(plain.reshape(-1, array.dtype.itemsize).T).tobytes()
