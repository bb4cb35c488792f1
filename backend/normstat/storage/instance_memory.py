"""Ids of instances, as one process remembers them between batches: a host's CPUs and disks hardly ever change.

What is remembered is what was committed, and it is good while the host's `instance_epoch` is the one that it was learned in:
whoever deletes rows of instances lets that grow, with the host's row locked, as ingest has it.

`instances.last_sample_at` is written when it is more than LAST_STEP behind, and when an instance is not in its host's next report
any more; until then it is too early by that much at most, and readers who ask for instances of a window allow for it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

import psycopg

from normstat.window import from_us, to_us

LAST_STEP: Final = timedelta(minutes=5)
LAST_STEP_US: Final = LAST_STEP // timedelta(microseconds=1)
# Of all hosts together; each takes some 200 bytes.
MAX_NAMES: Final = 500_000
# Of hosts, stats and hours of which it is remembered how many instances were new.
MAX_COUNTED: Final = 200_000
HOUR_US: Final = 3_600_000_000

Key = tuple[int, int]
Spans = Mapping[str, tuple[int, int]]

# First those that exist: an insert that ends in a conflict would use up an id every time, and ids are int4 in the samples.
FIND: Final = """
    SELECT instances.host_id, instances.stat_id, instances.name, instances.id, instances.first_sample_at, instances.last_sample_at
    FROM unnest(%(host_ids)s::int8[], %(stat_ids)s::int8[], %(names)s::text[]) AS seen(host_id, stat_id, name)
    JOIN instances ON instances.host_id = seen.host_id AND instances.stat_id = seen.stat_id
      AND md5(instances.name) = md5(seen.name) AND instances.name = seen.name
"""
INSERT: Final = """
    INSERT INTO instances (host_id, stat_id, name, first_sample_at, last_sample_at)
    SELECT * FROM unnest(
        %(host_ids)s::int8[], %(stat_ids)s::int8[], %(names)s::text[], %(firsts)s::timestamptz[], %(lasts)s::timestamptz[]
    )
    RETURNING host_id, stat_id, name, id, first_sample_at, last_sample_at
"""
WIDEN: Final = """
    UPDATE instances SET first_sample_at = least(first_sample_at, seen.first), last_sample_at = greatest(last_sample_at, seen.last)
    FROM unnest(%(ids)s::int8[], %(firsts)s::timestamptz[], %(lasts)s::timestamptz[]) AS seen(id, first, last)
    WHERE instances.id = seen.id
"""


FORGET: Final = "UPDATE hosts SET instance_epoch = instance_epoch + 1 WHERE id = %(host_id)s"


async def forget_instances(connection: psycopg.AsyncConnection, host_id: int) -> None:
    """Tell all processes that rows of the host's instances were deleted or renumbered; the host's row must be locked."""
    await connection.execute(FORGET, {"host_id": host_id})


@dataclass(slots=True)
class Known:
    """An instance: its first and last sample, and the last one as its row has it. Units: microseconds since the epoch."""

    id: int
    first_us: int
    last_us: int
    written_us: int


@dataclass(slots=True)
class Learned:
    """What a transaction learned: it is remembered when the transaction was committed."""

    epochs: dict[int, int]
    by_key: dict[Key, dict[str, Known]] = field(default_factory=dict)
    # How many were made whose first sample is in an hour, and, by stat, those that would be too many: nothing was made then.
    n_new: Counter[tuple[Key, int]] = field(default_factory=Counter)
    refused: dict[Key, frozenset[str]] = field(default_factory=dict)

    def ids(self, key: Key) -> dict[str, int]:
        """Return the ids of the instances of a host and stat by name."""
        return {name: known.id for name, known in self.by_key[key].items()}


class InstanceMemory:
    """What one process remembers."""

    def __init__(self) -> None:
        self._by_key: dict[Key, tuple[int, dict[str, Known]]] = {}
        self._n_names = 0
        self._n_new: Counter[tuple[Key, int]] = Counter()

    def clear(self) -> None:
        """Forget everything: after a connection was lost the database may be another one."""
        self._by_key.clear()
        self._n_names = 0

    def remember(self, learned: Learned) -> None:
        """Call it after the commit."""
        self._n_new.update(learned.n_new)
        if len(self._n_new) > MAX_COUNTED:
            # The oldest half: they were counted first.
            for place in list(self._n_new)[: MAX_COUNTED // 2]:
                del self._n_new[place]
        for key, names in learned.by_key.items():
            self._n_names += len(names) - len(self._by_key.get(key, (0, {}))[1])
            self._by_key[key] = (learned.epochs[key[0]], names)
        if self._n_names > MAX_NAMES:
            self.clear()

    async def see(
        self,
        connection: psycopg.AsyncConnection,
        epochs: Mapping[int, int],
        spans: Mapping[Key, Spans],
        *,
        max_new: int | None = None,
    ) -> Learned:
        """Return the ids of all instances by host and stat, made if they are new, with their first and last samples widened.

        `epochs` are those of the locked hosts by id. With `max_new`, a host may have so many new ones of a stat whose first sample
        is in the same hour; where there are more, those are named in `refused`, and nothing is written.
        Units: spans in microseconds since the epoch
        """
        learned = Learned(dict(epochs))
        changed: dict[int, tuple[int, int]] = {}
        unknown: list[tuple[Key, str]] = []
        for key, seen in spans.items():
            epoch, before = self._by_key.get(key, (-1, {}))
            if epoch != epochs[key[0]]:
                before = {}
            learned.by_key[key] = {
                name: _widen(before[name], first, last, changed) for name, (first, last) in seen.items() if name in before
            }
            unknown += [(key, name) for name in seen if name not in before]
            # Those that are not there any more ended: nobody may come back to them.
            ended = [known for name, known in before.items() if name not in seen and known.last_us > known.written_us]
            changed |= {known.id: (known.first_us, known.last_us) for known in ended}
        for statement in (FIND, INSERT):
            missing = [(key, name) for key, name in unknown if name not in learned.by_key[key]]
            if statement == INSERT:
                self._count_new(learned, missing, spans, max_new)
                if learned.refused:
                    return learned
            if missing:
                for key, name, known in await _look_up(connection, statement, missing, spans):
                    learned.by_key[key][name] = _widen(known, *spans[key][name], changed)
        if changed:
            await _write(connection, changed)
        return learned

    def _count_new(
        self, learned: Learned, names: Sequence[tuple[Key, str]], spans: Mapping[Key, Spans], max_new: int | None
    ) -> None:
        """Count the instances that are to be made, by the hours of their first samples; the first ones of an hour are taken."""
        refused: dict[Key, set[str]] = {}
        for key, name in sorted(names, key=lambda place: spans[place[0]][place[1]][0]):
            place = key, spans[key][name][0] // HOUR_US
            if max_new is not None and self._n_new[place] + learned.n_new[place] >= max_new:
                refused.setdefault(key, set()).add(name)
            else:
                learned.n_new[place] += 1
        learned.refused = {key: frozenset(own) for key, own in refused.items()}


def _widen(known: Known, first_us: int, last_us: int, changed: dict[int, tuple[int, int]]) -> Known:
    """Return the instance with what came; it is put among the changed when its row is too far behind."""
    first, last, written = min(known.first_us, first_us), max(known.last_us, last_us), known.written_us
    if first < known.first_us or last - written > LAST_STEP_US:
        changed[known.id] = (first, last)
        written = last
    return Known(known.id, first, last, written)


async def _look_up(
    connection: psycopg.AsyncConnection, statement: str, names: Sequence[tuple[Key, str]], spans: Mapping[Key, Spans]
) -> list[tuple[Key, str, Known]]:
    """Return those of the instances that the statement finds or makes."""
    wanted = [(*key, name, *spans[key][name]) for key, name in names]
    arguments: dict[str, object] = {
        "host_ids": [host_id for host_id, *_ in wanted],
        "stat_ids": [stat_id for _, stat_id, *_ in wanted],
        "names": [name for _, _, name, *_ in wanted],
        "firsts": [from_us(first) for *_, first, _ in wanted],
        "lasts": [from_us(last) for *_, last in wanted],
    }
    rows: list[tuple[Any, ...]] = await (await connection.execute(statement, arguments)).fetchall()
    return [
        ((host_id, stat_id), name, Known(id_, to_us(first_at), to_us(last_at), to_us(last_at)))
        for host_id, stat_id, name, id_, first_at, last_at in rows
    ]


async def _write(connection: psycopg.AsyncConnection, changed: Mapping[int, tuple[int, int]]) -> None:
    arguments = {
        "ids": list(changed),
        "firsts": [from_us(first) for first, _ in changed.values()],
        "lasts": [from_us(last) for _, last in changed.values()],
    }
    await connection.execute(WIDEN, arguments)
