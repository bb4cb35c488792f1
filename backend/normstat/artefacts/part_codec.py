"""Parts as bytes: JSON of their columns, and logs as arrays, compressed. The form of `artefact_parts.body`."""

import dataclasses
from typing import Any, Final

import numpy as np
import orjson
import zstandard

from normstat.artefacts.log_codec import LOG_MARK, decode_log, encode_log
from normstat.artefacts.parts import Bucket, HistogramPart, LogPart, Part, PartColumn, PartKind, StackPart, TablePart
from normstat.errors import DamagedArtefact
from normstat.runtime.bounded_decoding import unpack_zstd
from normstat.stats.spec import Kind, Worse

LEVEL: Final = 6
TYPES: Final = {
    PartKind.TABLE: TablePart,
    PartKind.STACKS: StackPart,
    PartKind.HISTOGRAM: HistogramPart,
}

# A log of a trace of hours has some hundred MiB.
MAX_PART_BYTES: Final = 1 << 30


def pack_part(part: Part) -> bytes:
    """Return the part as bytes."""
    if isinstance(part, LogPart):
        data = encode_log(part)
    else:
        fields = {field.name: getattr(part, field.name) for field in dataclasses.fields(part)}
        data = orjson.dumps(fields, option=orjson.OPT_SERIALIZE_NUMPY)
    return zstandard.ZstdCompressor(level=LEVEL, write_checksum=True).compress(data)


def unpack_part(body: bytes) -> Part:
    """Return the part that `pack_part` made these bytes of.

    Raises: DamagedArtefact
    """
    try:
        data = unpack_zstd(body, MAX_PART_BYTES)
        if data.startswith(LOG_MARK):
            return decode_log(data)
        fields: dict[str, Any] = orjson.loads(data)
        return _to_part(fields)
    except (zstandard.ZstdError, ValueError, KeyError, TypeError, OverflowError) as error:
        raise DamagedArtefact(
            "A stored part of this artefact cannot be read; its raw text is still there: `normstat artefact reparse` reads it again"
        ) from error


def _to_part(fields: dict[str, Any]) -> Part:
    kind = PartKind(fields["kind"])
    fields["kind"] = kind
    if "columns" in fields:
        fields["columns"] = tuple(_to_column(column) for column in fields["columns"])
    if kind is PartKind.STACKS:
        fields["parent"] = np.array(fields["parent"], np.int32)
        fields["name"] = np.array(fields["name"], np.int32)
        fields["values"] = tuple(_to_values(values) for values in fields["values"])
    elif kind is PartKind.HISTOGRAM:
        fields["buckets"] = tuple(Bucket(**bucket) for bucket in fields["buckets"])
    for name in ("key_names", "keys", "report_us") if kind is not PartKind.HISTOGRAM else ("report_us",):
        if name in fields:
            fields[name] = tuple(fields[name])
    if kind is PartKind.TABLE:
        fields["values"] = tuple(fields["values"])
    part: Part = TYPES[kind](**fields)
    return part


def _to_column(fields: dict[str, Any]) -> PartColumn:
    return PartColumn(**{**fields, "kind": Kind(fields["kind"]), "worse": Worse(fields["worse"])})


def _to_values(values: list[int | float]) -> np.ndarray:
    is_whole = all(isinstance(value, int) for value in values)
    return np.array(values, np.int64 if is_whole else np.float64)
