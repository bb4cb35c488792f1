"""Cache of instance ids in one process: a host's CPUs and disks hardly ever change.

Only committed instances are cached, and they are valid while the host's `instance_epoch` is the one they were read in: deleting
rows of instances increases it, with the host's row locked, as ingest locks it.

`instances.last_sample_at` is written when it is more than LAST_STEP behind, and when an instance is missing from its host's next
report; until then it is too early by at most that much, and readers of the instances of a window allow for it.
"""

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

import psycopg

from normstat.samples.packed_instances import restore_named
from normstat.window import LATEST_US, from_us, to_us

LAST_STEP: Final = timedelta(minutes=5)
LAST_STEP_US: Final = LAST_STEP // timedelta(microseconds=1)
# For all hosts together; each takes some 200 bytes.
MAX_NAMES: Final = 500_000
# Number of hosts, stats and hours for which the count of new instances is cached.
MAX_COUNTED: Final = 200_000
HOUR_US: Final = 3_600_000_000

Key = tuple[int, int]
Spans = Mapping[str, tuple[int, int]]
# Id, first and last sample, and the last one as stored.
StoredInstance = tuple[int, int, int, int]
Names = Sequence[tuple[Key, str]]
FoundInstance = tuple[Key, str, StoredInstance]

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
    """Invalidate all processes' caches of the host's instances after rows were deleted or renumbered; the host's row must be
    locked.
    """
    await connection.execute(FORGET, {"host_id": host_id})


def _numbers() -> "array[int]":
    return array("q")


@dataclass(slots=True)
class KnownInstances:
    """The instances of a host and stat: ids by name and, in the same order, the first and last sample of each, and the last one as
    stored in its row.

    The garbage collector looks at none of this: with an object for each instance of 1,000 hosts it took a tenth of the time of
    ingest. Other ones may share the parts: they only grow, by `_add`, before they are shared.
    Units: microseconds since the epoch
    """

    ids: dict[str, int] = field(default_factory=dict)
    first_us: "array[int]" = field(default_factory=_numbers)
    last_us: "array[int]" = field(default_factory=_numbers)
    written_us: "array[int]" = field(default_factory=_numbers)
    # The limits between which samples of all of them change nothing but `last_us`.
    usual_from_us: int = LATEST_US
    usual_until_us: int = 0

    def rows(self) -> Iterator[tuple[str, StoredInstance]]:
        """Yield each name with its id, first and last sample, and the last one as stored."""
        return zip(self.ids, zip(self.ids.values(), self.first_us, self.last_us, self.written_us, strict=True), strict=True)

    def set_limits(self) -> None:
        """Find the limits of usual samples: after the last one of each instance, and soon after those of the rows."""
        if self.ids:
            self.usual_from_us = max(self.last_us)
            self.usual_until_us = min(self.written_us) + LAST_STEP_US

    def with_usual(self, spans: Spans) -> "KnownInstances | None":
        """Return the instances with their last samples extended. Missing: None when their rows change too."""
        if not spans or spans.keys() != self.ids.keys():
            return None
        firsts, lasts = zip(*map(spans.__getitem__, self.ids), strict=True)
        latest_us = max(lasts)
        if latest_us > self.usual_until_us or min(firsts) < self.usual_from_us:
            return None
        return KnownInstances(self.ids, self.first_us, array("q", lasts), self.written_us, latest_us, self.usual_until_us)


@dataclass(slots=True)
class SeenInstances:
    """The instances that a transaction has read or created; they are cached once it has committed."""

    epochs: dict[int, int]
    by_key: dict[Key, KnownInstances] = field(default_factory=dict)
    # The number created by hour of their first sample, and, by stat, those above the limit: nothing was created then.
    n_new: Counter[tuple[Key, int]] = field(default_factory=Counter)
    refused: dict[Key, frozenset[str]] = field(default_factory=dict)

    def ids(self, key: Key) -> Mapping[str, int]:
        """Return the ids of the instances of a host and stat by name."""
        return self.by_key[key].ids


NOTHING_KNOWN: Final = (-1, KnownInstances())


class InstanceCache:
    """The cache of one process."""

    def __init__(self) -> None:
        self._by_key: dict[Key, tuple[int, KnownInstances]] = {}
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
            self._n_names += len(names.ids) - len(self._by_key[key][1].ids if key in self._by_key else ())
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
        fresh: list[KnownInstances] = []
        for key, seen in spans.items():
            before = self._known(key, epochs[key[0]])
            usual = before.with_usual(seen)
            learned.by_key[key] = usual or _extend(before, seen, changed)
            if usual is None:
                fresh.append(learned.by_key[key])
                unknown += [(key, name) for name in seen if name not in before.ids]
        for look_up in (_find, _restore, _create):
            missing = [(key, name) for key, name in unknown if name not in learned.by_key[key].ids]
            if look_up is _create:
                self._count_new(learned, missing, spans, max_new)
                if learned.refused:
                    return learned
            if missing:
                for key, name, own in await look_up(connection, missing, spans):
                    _add(learned.by_key[key], name, own, spans[key][name], changed)
        for known in fresh:
            known.set_limits()
        if changed:
            await _write(connection, changed)
        return learned

    def _known(self, key: Key, epoch: int) -> KnownInstances:
        """Return what is cached of a host and stat; nothing from before rows of its instances were deleted."""
        of_epoch, known = self._by_key.get(key, NOTHING_KNOWN)
        return known if of_epoch == epoch else NOTHING_KNOWN[1]

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


def _extend(before: KnownInstances, seen: Spans, changed: dict[int, tuple[int, int]]) -> KnownInstances:
    """Return those of the instances that were seen, with their spans extended; add to `changed` those whose rows must change."""
    known = KnownInstances()
    for name, own in before.rows():
        if name in seen:
            _add(known, name, own, seen[name], changed)
        elif own[2] > own[3]:
            # Those missing from the report have ended and may never return.
            changed[own[0]] = own[1:3]
    return known


def _add(known: KnownInstances, name: str, own: StoredInstance, span: tuple[int, int], changed: dict[int, tuple[int, int]]) -> None:
    """Add the instance with its span extended; add it to `changed` when its row is too far behind."""
    id_, first, last, written = own
    extended = min(first, span[0]), max(last, span[1])
    if extended[0] < first or extended[1] - written > LAST_STEP_US:
        changed[id_] = extended
        written = extended[1]
    known.ids[name] = id_
    known.first_us.append(extended[0])
    known.last_us.append(extended[1])
    known.written_us.append(written)


async def _find(connection: psycopg.AsyncConnection, names: Names, spans: Mapping[Key, Spans]) -> list[FoundInstance]:
    """Return those of the instances that have rows."""
    return await _look_up(connection, FIND, names, spans)


async def _create(connection: psycopg.AsyncConnection, names: Names, spans: Mapping[Key, Spans]) -> list[FoundInstance]:
    """Return the instances, which are new."""
    return await _look_up(connection, INSERT, names, spans)


async def _restore(connection: psycopg.AsyncConnection, names: Names, _: Mapping[Key, Spans]) -> list[FoundInstance]:
    """Return those of the instances that were packed; they are rows again."""
    found = await restore_named(connection, [(*key, name) for key, name in names])
    return [((own.host_id, own.stat_id), own.name, (own.id, own.first_us, own.last_us, own.last_us)) for own in found]


async def _look_up(
    connection: psycopg.AsyncConnection, statement: str, names: Names, spans: Mapping[Key, Spans]
) -> list[FoundInstance]:
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
        ((host_id, stat_id), name, (id_, to_us(first_at), to_us(last_at), to_us(last_at)))
        for host_id, stat_id, name, id_, first_at, last_at in rows
    ]


async def _write(connection: psycopg.AsyncConnection, changed: Mapping[int, tuple[int, int]]) -> None:
    arguments = {
        "ids": list(changed),
        "firsts": [from_us(first) for first, _ in changed.values()],
        "lasts": [from_us(last) for _, last in changed.values()],
    }
    await connection.execute(WIDEN, arguments)
