"""Check that packed bytes are those that were written, for each table that has some. Pure.

Each check compares checksums where there are some, and unpacks no more than that needs: a backup runs them on all it copies.
"""

import itertools
from collections.abc import Mapping
from typing import Final

from normstat.artefacts.part_codec import MAX_PART_BYTES
from normstat.backup.damage import RowChecks
from normstat.codecs import rollup_codec
from normstat.codecs.array_codec import Sections
from normstat.codecs.pack_codec import read_directory, require_whole_frame
from normstat.codecs.sealed_codec import read_head
from normstat.comparison.saved_comparison_rows import MAX_RESULT_BYTES
from normstat.records.artefact_rows import PIECE_BYTES
from normstat.report.report_rows import MAX_FROZEN_BYTES
from normstat.runtime.bounded_decoding import unpack_zstd
from normstat.samples.chunks import unpack_body

Row = Mapping[str, bytes]


def _check_block(row: Row) -> None:
    # An unsealed block is empty.
    if not row["head"]:
        return
    directory, body = read_head(row["head"]), row["body"]
    for part in itertools.chain([directory.rows, directory.lines], *directory.values):
        part.require_whole(body[part.start : part.end])


def _check_chunk(row: Row) -> None:
    _require_size(unpack_body(row["body"]), _number(row["end_offset"]) - _number(row["start_offset"]))


def _check_pack(row: Row) -> None:
    for frame in read_directory(row["directory"], _number(row["start_offset"]), _number(row["end_offset"])):
        require_whole_frame(row["body"][frame.body_start : frame.body_end], frame.end - frame.start)


def _check_text(row: Row) -> None:
    _require_size(unpack_zstd(row["body"], PIECE_BYTES), _number(row["n_bytes"]))


def _check_rollup(row: Row) -> None:
    body = row["body"]
    head = rollup_codec.read_head(body)
    for group, (start, end) in enumerate(itertools.pairwise(head.offsets.tolist())):
        if rollup_codec.read_left(head, group, body[start:end]) is None:
            rollup_codec.unpack_group(head, group, body[start:end], 0)


def _check_profile(row: Row) -> None:
    for name in ("body", "band"):
        # A piece that is being built has no bytes yet.
        if row.get(name):
            Sections(row[name], ()).require_whole()


CHECKS: Final[RowChecks] = {
    "sealed_blocks": _check_block,
    "chunks": _check_chunk,
    "packed_chunks": _check_pack,
    "artefact_bytes": _check_text,
    "artefact_parts": lambda row: _unpack(row["body"], MAX_PART_BYTES),
    "comparisons": lambda row: _unpack(row["result"], MAX_RESULT_BYTES),
    "report_notes": lambda row: _unpack(row["frozen"], MAX_FROZEN_BYTES) if "frozen" in row else None,
    "rollups": _check_rollup,
    "profiles": _check_profile,
    "profile_pieces": _check_profile,
}


def _unpack(body: bytes, most: int) -> None:
    unpack_zstd(body, most)


def _number(cell: bytes) -> int:
    return int.from_bytes(cell, "big", signed=True)


def _require_size(data: bytes, n_bytes: int) -> None:
    if len(data) != n_bytes:
        raise ValueError(f"it has {len(data)} bytes, expected {n_bytes}")
