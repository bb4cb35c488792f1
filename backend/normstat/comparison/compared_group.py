"""A host group as baseline: what its other hosts did in the window of the incident.

Each host is one period of the baseline. So the level is the median over the hosts, and what differs between them anyway is part of
the normal variation: a host is unusual when it differs from the others by more than they differ among themselves.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baselines.host_group_rows import find_group
from normstat.comparison.divisor import Rate
from normstat.comparison.read_side import StatSide
from normstat.errors import BadRequest
from normstat.samples.lookup import require_host


@dataclass(frozen=True, slots=True)
class ComparedGroup:
    """A host group and its hosts that are not compared themselves, with their ids."""

    name: str
    host_ids: Mapping[str, int]


async def read_compared_group(session: AsyncSession, name: str, hosts: Collection[str]) -> ComparedGroup:
    """Return the hosts of a group without those that are compared.

    Raises: NotFound for an unknown group; BadRequest when no host is left
    """
    members = [host for host in (await find_group(session, name)).hosts if host not in hosts]
    if not members:
        raise BadRequest(f"Host group {name} has no host besides {', '.join(hosts)} to compare with; add one", {"group": name})
    return ComparedGroup(name, {host: await require_host(session, host) for host in members})


def join_sides(sides: Sequence[StatSide], length_s: float) -> StatSide:
    """Return the samples of several hosts in one window as one side: one host after the other, each `length_s` after the one
    before.
    """
    if len(sides) == 1:
        return sides[0]
    names = list(dict.fromkeys(name for side in sides for name in side.names))
    codes = {name: code for code, name in enumerate(names)}
    keys = list(dict.fromkeys(key for side in sides for key in side.values))
    n_before = np.cumsum([0, *(len(side.times_s) for side in sides)])
    instance = np.concatenate([np.array([codes[name] for name in side.names], np.int64)[side.instance] for side in sides])
    # By instance, then by time, so that a series is contiguous.
    order = np.argsort(instance, kind="stable")
    values = {key: np.concatenate([side.values.get(key, np.full(side.n_rows, np.nan)) for side in sides])[order] for key in keys}
    return replace(
        sides[0],
        names=names,
        times_s=np.concatenate([side.times_s + number * length_s for number, side in enumerate(sides)]),
        report=np.concatenate([side.report + before for side, before in zip(sides, n_before[:-1], strict=True)])[order],
        instance=instance[order],
        values=values,
        n_rows_skipped=sum(side.n_rows_skipped for side in sides),
    )


def join_rates(rates: Sequence[Rate], length_s: float) -> Rate:
    """Return the divisors of several hosts in one window, as `join_sides` does their samples."""
    times = [rate.times_s + number * length_s for number, rate in enumerate(rates)]
    return Rate(np.concatenate(times), np.concatenate([rate.values for rate in rates]))
