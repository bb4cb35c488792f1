"""Cache of instance ids in one process: a host's CPUs and disks hardly ever change.

Only committed instances are cached, and they are valid while the host's `instance_epoch` is the one they were read in: deleting
rows of instances increases it, with the host's row locked, as ingest locks it.

`instances.last_sample_at` is written when it is more than LAST_STEP behind, and when an instance is missing from its host's next
report; until then it is too early by at most that much, and readers who ask for instances of a window allow for it.
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
# For all hosts together; each takes some 200 bytes.
MAX_NAMES: Final = 500_000
# Number of hosts, stats and hours for which the count of new instances is cached.
MAX_COUNTED: Final = 200_000
HOUR_US: Final = 3_600_000_000

Key = tuple[int, int]
Spans = Mapping[str, tuple[int, int]]

# Existing ones first: an insert that ends in a conflict would use up an id every time, and ids are int4 in the samples.
FIND: Final = """
    SELECT instances.host_id, instances.stat_id, instances.name, instances.id, instances.first_sample_at, instances.last_sample_at
    FROM unnest(%(host_ids)s::int8[], %(stat_ids)s::int8[], %(names)s::text[]) AS seen(host_id, stat_id, name)
    JOIN instances ON instances.host_id = seen.host_id AND instances.stat_id = seen.stat_id
      AND md5(instances.name)::uuid = md5(seen.name)::uuid AND instances.name = seen.name
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
class KnownInstance:
    """An instance: its first and last sample, and the last one as stored in its row. Units: microseconds since the epoch."""

    id: int
    first_us: int
    last_us: int
    written_us: int


@dataclass(slots=True)
class SeenInstances:
    """The instances that a transaction has read or created; they are cached once it has committed."""

    epochs: dict[int, int]
    by_key: dict[Key, dict[str, KnownInstance]] = field(default_factory=dict)
    # The number created by hour of their first sample, and, by stat, those above the limit: nothing was created then.
    n_new: Counter[tuple[Key, int]] = field(default_factory=Counter)
    refused: dict[Key, frozenset[str]] = field(default_factory=dict)

    def ids(self, key: Key) -> dict[str, int]:
        """Return the ids of the instances of a host and stat by name."""
        return {name: known.id for name, known in self.by_key[key].items()}


class InstanceCache:
    """The cache of one process."""

    def __init__(self) -> None:
        self._by_key: dict[Key, tuple[int, dict[str, KnownInstance]]] = {}
        self._n_names = 0
        self._n_new: Counter[tuple[Key, int]] = Counter()

    def clear(self) -> None:
        """Clear the cache: after a lost connection the database may be another one."""
        self._by_key.clear()
        self._n_names = 0

    def remember(self, learned: SeenInstances) -> None:
        """Cache the instances; call it after the commit."""
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

    async def resolve(
        self,
        connection: psycopg.AsyncConnection,
        epochs: Mapping[int, int],
        spans: Mapping[Key, Spans],
        *,
        max_new: int | None = None,
    ) -> SeenInstances:
        """Return the ids of all instances by host and stat, created if new, with their first and last samples extended.

        `epochs` are those of the locked hosts by id. `max_new` limits the new instances per host and stat whose first sample is in
        the same hour; those above it are named in `refused`, and nothing is written.
        Units: spans in microseconds since the epoch
        """
        learned = SeenInstances(dict(epochs))
        changed: dict[int, tuple[int, int]] = {}
        unknown: list[tuple[Key, str]] = []
        for key, seen in spans.items():
            epoch, before = self._by_key.get(key, (-1, {}))
            if epoch != epochs[key[0]]:
                before = {}
            learned.by_key[key] = {
                name: _extend(before[name], first, last, changed) for name, (first, last) in seen.items() if name in before
            }
            unknown += [(key, name) for name in seen if name not in before]
            # Those missing from the report have ended and may never return.
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
                    learned.by_key[key][name] = _extend(known, *spans[key][name], changed)
        if changed:
            await _write(connection, changed)
        return learned

    def _count_new(
        self, learned: SeenInstances, names: Sequence[tuple[Key, str]], spans: Mapping[Key, Spans], max_new: int | None
    ) -> None:
        """Count the instances to create, by the hours of their first samples; the first ones of an hour are accepted."""
        refused: dict[Key, set[str]] = {}
        for key, name in sorted(names, key=lambda place: spans[place[0]][place[1]][0]):
            place = key, spans[key][name][0] // HOUR_US
            if max_new is not None and self._n_new[place] + learned.n_new[place] >= max_new:
                refused.setdefault(key, set()).add(name)
            else:
                learned.n_new[place] += 1
        learned.refused = {key: frozenset(own) for key, own in refused.items()}


def _extend(known: KnownInstance, first_us: int, last_us: int, changed: dict[int, tuple[int, int]]) -> KnownInstance:
    """Return the instance with its span extended; add it to `changed` when its row is too far behind."""
    first, last, written = min(known.first_us, first_us), max(known.last_us, last_us), known.written_us
    if first < known.first_us or last - written > LAST_STEP_US:
        changed[known.id] = (first, last)
        written = last
    return KnownInstance(known.id, first, last, written)


async def _look_up(
    connection: psycopg.AsyncConnection, statement: str, names: Sequence[tuple[Key, str]], spans: Mapping[Key, Spans]
) -> list[tuple[Key, str, KnownInstance]]:
    """Return the instances that the statement finds or creates."""
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
        ((host_id, stat_id), name, KnownInstance(id_, to_us(first_at), to_us(last_at), to_us(last_at)))
        for host_id, stat_id, name, id_, first_at, last_at in rows
    ]


async def _write(connection: psycopg.AsyncConnection, changed: Mapping[int, tuple[int, int]]) -> None:
    arguments = {
        "ids": list(changed),
        "firsts": [from_us(first) for first, _ in changed.values()],
        "lasts": [from_us(last) for _, last in changed.values()],
    }
    await connection.execute(WIDEN, arguments)
