"""Which columns the blocks of a request need, which of them must be made first, and which a table cannot have.

A row whose column the table cannot have is stored without it. Its line is counted as rejected with the reason, and its bytes are
kept: once there is room, a reparse of the stream adds the numbers.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from normstat.runtime.readable import name_some
from normstat.samples.stat_tables import CSV_COLUMNS, MAX_NAME_LENGTH, RESERVED_KEYS, Column, RequiredTable, StoredStat
from normstat.samples.wide_columns import LIMITS, find_wider
from normstat.stats.records import SampleBlock
from normstat.stats.spec import Field, Spec, Stat, Storage

# Garbage may look like a header now and then, and a table has at most 1600 columns. Far more than any tool gained in twenty years,
# or any host has disks in one line of Solaris vmstat.
MAX_EXTRA_COLUMNS: Final = 200
# Maximum number of these per host, so that a host that invents columns leaves room for the others.
MAX_EXTRA_OF_HOST: Final = 20
# Columns that the spec describes but only the host names, such as one for each CPU, are limited only by the row: a row of
# PostgreSQL has 8 kB, a number up to 8 bytes.
MAX_COLUMNS: Final = 900
# PostgreSQL allows 1600 columns, dropped ones included; each widening adds one.
MAX_WIDE_COLUMNS: Final = 500
# Maximum number of columns named in a message.
N_KEYS_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class Admission:
    """The part of a block that its table takes: `block` has only the columns that it can have. Missing: None where it takes
    nothing.

    `refusal` is why it does not take all of it. Missing: None where it does.
    """

    block: SampleBlock | None
    refusal: str | None = None


class TablePlan:
    """The columns that the blocks of a request need, and which of them must be created or widened first."""

    def __init__(self, specs: Iterable[Spec], stored: Mapping[str, StoredStat]) -> None:
        self._stored = stored
        self._wanted: dict[str, tuple[Spec, Stat, dict[str, Field]]] = {}
        self._wider: dict[str, dict[str, Storage]] = {}
        # The hosts that brought the columns unknown to the specs, by stat and key.
        self._brought: dict[str, dict[str, int | None]] = {}
        # Fields whose columns are all there or planned, by identity: the blocks of many streams share them.
        self._admitted: dict[int, tuple[Field, ...]] = {}
        # The places of the numbers that may not fit their columns, by the same identity. None: each number is looked at.
        self._tight: dict[int, tuple[int, ...] | None] = {}
        for spec in specs:
            for stat in spec.stats:
                self._wanted[stat.name] = (spec, stat, {field.key: field for field in stat.fields})

    def admit(self, block: SampleBlock, host_id: int) -> Admission:
        """Plan the block's columns, and return what of it the table can have. A column that it cannot have costs only itself."""
        stat = block.stat.name
        left_out = {} if id(block.fields) in self._admitted else self._plan_extra(block.fields, stat, host_id)
        if not left_out:
            # Every field has its column now, and others that share them need not be looked at.
            self._admitted[id(block.fields)] = block.fields
            refusal = self._widen(block)
            return Admission(block if refusal is None else None, refusal)
        kept = [place for place, field in enumerate(block.fields) if field.key not in left_out]
        reason = "; ".join(f"{_some_of(keys)}: {why}" for why, keys in _by_value(left_out).items())
        if not kept:
            return Admission(None, f"no column that the table can have: {reason}")
        taken = _select_columns(block, kept)
        refusal = self._widen(taken)
        return Admission(taken, f"stored without {reason}") if refusal is None else Admission(None, refusal)

    def _plan_extra(self, fields: Sequence[Field], name: str, host_id: int) -> dict[str, str]:
        """Plan columns for the fields that have none; return why the table cannot have one, by the keys of those that stay out."""
        _, _, wanted = self._wanted[name]
        stored = self._stored.get(name)
        made: Mapping[str, Column] = stored.columns if stored else {}
        extra = [field for field in fields if field.key not in wanted and field.key not in made]
        if not extra:
            return {}
        brought = self._brought.setdefault(name, {key: one.host_id for key, one in made.items() if not one.is_documented})
        n_columns = len(wanted.keys() | made.keys())
        n_own = sum(owner == host_id for owner in brought.values())
        left_out = {}
        for field in extra:
            if field.key in RESERVED_KEYS:
                left_out[field.key] = "every table has a column of that name"
            elif field.key in CSV_COLUMNS and not field.is_documented:
                left_out[field.key] = "every CSV file has a column of that name"
            elif n_columns >= MAX_COLUMNS:
                left_out[field.key] = f"{MAX_COLUMNS} columns, the most that a table has"
            elif not field.is_documented and n_own >= MAX_EXTRA_OF_HOST:
                left_out[field.key] = f"this host brought {MAX_EXTRA_OF_HOST} columns unknown to the spec already"
            elif not field.is_documented and len(brought) >= MAX_EXTRA_COLUMNS:
                left_out[field.key] = f"{MAX_EXTRA_COLUMNS} columns unknown to the spec, the most that a table has"
            else:
                wanted[field.key] = field
                n_columns += 1
                if not field.is_documented:
                    brought[field.key] = host_id
                    n_own += 1
        return left_out

    def _widen(self, block: SampleBlock) -> str | None:
        """Plan the widening of columns that cannot hold a number of the block; return why the table cannot have it, or None."""
        name = block.stat.name
        _, _, wanted = self._wanted[name]
        stored = self._stored.get(name)
        wider = self._wider.setdefault(name, {})
        if not wider and self._fits(block, wanted, stored):
            return None
        for place, (field, values) in enumerate(zip(block.fields, block.values, strict=True)):
            made = None if stored is None else stored.columns.get(field.key)
            column: Column | Field = wanted[field.key] if made is None else made
            is_same = field.storage is Storage.DEC4 is column.storage and field.decimals == column.decimals
            if is_same and not block.printed:
                # A number too large for it is not canonical, and its row keeps its words.
                continue
            storage = wider.get(field.key, column.storage)
            found = find_wider(storage, column.decimals, values, block.missing[place] if block.missing else None)
            if found is None:
                continue
            if made is None:
                wanted[field.key] = replace(wanted[field.key], storage=found)
                self._tight.clear()
                continue
            wider[field.key] = found
            assert stored is not None
            if stored.n_widened + len(wider) > MAX_WIDE_COLUMNS:
                del wider[field.key]
                return f"a number in {field.key} too large for its column, and more than {MAX_WIDE_COLUMNS} are widened already"
        return None

    def _fits(self, block: SampleBlock, wanted: Mapping[str, Field], stored: StoredStat | None) -> bool:
        """Return whether every number of the block fits its column, as far as one look at all of them tells."""
        if block.printed:
            return False
        key = id(block.fields)
        if key not in self._tight or key not in self._admitted:
            self._tight[key] = _find_tight(block.fields, wanted, stored)
        tight = self._tight[key]
        if not tight:
            return tight is not None
        limit = LIMITS[Storage.INT4]
        if block.bound is not None and block.bound < limit:
            return True
        # A value where the tool printed its word for none is 0.
        values_of_all = np.stack([block.values[place] for place in tight])
        return bool(values_of_all.max(initial=0) < limit and values_of_all.min(initial=0) > -limit)

    def lacking(self, names: Iterable[str]) -> list[RequiredTable]:
        """Return the tables of these stats that do not exist yet, or lack columns."""
        found = []
        for name in sorted(set(names)):
            spec, stat, wanted = self._wanted[name]
            stored = self._stored.get(name)
            wider = self._wider.get(name, {})
            if stored is None or stored.lacks(wanted.values()) or wider:
                brought = {key: host for key, host in self._brought.get(name, {}).items() if host is not None}
                found.append(RequiredTable(spec, stat, tuple(wanted.values()), dict(wider), brought))
        return found

    def require(self, name: str) -> StoredStat:
        """Return the table, which must exist."""
        return self._stored[name]


def _select_columns(block: SampleBlock, places: Sequence[int]) -> SampleBlock:
    """Return the block with only the columns at these places, in their order."""
    printed = {}
    for row, words in block.printed.items():
        of_row = words.split(" ")
        printed[row] = " ".join(of_row[place] for place in places)
    return replace(
        block,
        fields=tuple(block.fields[place] for place in places),
        values=tuple(block.values[place] for place in places),
        missing=tuple(block.missing[place] for place in places) if block.missing else (),
        printed=printed,
    )


def _by_value(texts: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the keys of each value."""
    found: dict[str, list[str]] = {}
    for key, value in texts.items():
        found.setdefault(value, []).append(key)
    return found


def _some_of(keys: Sequence[str]) -> str:
    """Return the first keys for a sentence: there may be hundreds, and they may be long."""
    shown = name_some([key[:MAX_NAME_LENGTH] for key in keys], N_KEYS_SHOWN)
    return f"the column{'s' if len(keys) > 1 else ''} {shown}"


def _find_tight(fields: Sequence[Field], wanted: Mapping[str, Field], stored: StoredStat | None) -> tuple[int, ...] | None:
    """Return the places of the fields whose columns have fewer digits than they may have. Missing: None where one look at all of
    their numbers tells too little.
    """
    tight = []
    for place, field in enumerate(fields):
        made = None if stored is None else stored.columns.get(field.key)
        column: Column | Field = wanted[field.key] if made is None else made
        if field.storage is Storage.DEC4 is column.storage and field.decimals == column.decimals:
            continue
        if not field.storage.is_whole or not column.storage.is_whole:
            return None
        if column.storage is Storage.INT4:
            tight.append(place)
    return tuple(tight)
