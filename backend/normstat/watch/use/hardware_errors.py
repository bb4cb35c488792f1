"""Read hardware errors from artefacts of hosts: output of mcelog, stored by hand or by an agent."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.artefacts.artefact_service import load_parts
from normstat.artefacts.parts import Part, TablePart
from normstat.query.artefact_times import find_artefacts_of_tool
from normstat.window import Window

TOOL: Final = "mcelog"
STATS: Final = ("mcelog_events", "mcelog_memory")
# mcelog itself counts errors within 24 hours.
LASTING: Final = timedelta(hours=24)
# Maximum number of artefacts of all hosts, the latest first; more repeat the same errors.
MAX_ARTEFACTS: Final = 200
ErrorCounts = dict[tuple[str, str], dict[str, float]]


async def read_hardware_errors(session: AsyncSession, host_ids: Sequence[int], window: Window) -> dict[int, ErrorCounts]:
    """Return the counts of mcelog's artefacts by host, stat and field, and instance, as samples would have them; later ones count.

    Missing: a host without such artefacts has no entry

    Raises: DamagedArtefact
    """
    artefacts = await find_artefacts_of_tool(session, TOOL, host_ids, window, limit=MAX_ARTEFACTS)
    found: dict[int, ErrorCounts] = {}
    for artefact_id, host_id in artefacts:
        for stat, field, instance, value in _counts_of(await load_parts(session, artefact_id)):
            found.setdefault(host_id, {}).setdefault((stat, field), {})[instance] = value
    return found


def _counts_of(parts: Sequence[Part]) -> Iterator[tuple[str, str, str, float]]:
    for part in parts:
        if not isinstance(part, TablePart) or part.stat not in STATS:
            continue
        for row in range(part.n_rows):
            words = [f"{name} {keys[row]}" for name, keys in zip(part.key_names, part.keys, strict=True) if keys[row]]
            for column, values in zip(part.columns, part.values, strict=True):
                value = values[row]
                if value is not None:
                    yield part.stat, column.key, " ".join(words), float(value)
