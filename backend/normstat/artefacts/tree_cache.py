"""The trees of stack parts that are being viewed: read and unpacked once, not for each click."""

import asyncio
from collections import OrderedDict
from datetime import datetime
from typing import Final

import anyio.to_thread
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.artefacts.artefact_service import load_part
from normstat.artefacts.call_tree import CallTree, make_tree
from normstat.artefacts.parts import StackPart
from normstat.records import artefact_rows

MAX_CACHED_BYTES: Final = 384 << 20
Key = tuple[int, int, datetime]


class TreeCache:
    """Trees by their part, the latest used up to MAX_CACHED_BYTES; one is made at a time."""

    def __init__(self, max_bytes: int = MAX_CACHED_BYTES) -> None:
        self._max_bytes = max_bytes
        self._trees: OrderedDict[Key, CallTree] = OrderedDict()
        self._lock = asyncio.Lock()

    async def load(self, session: AsyncSession, artefact_id: int, position: int) -> CallTree:
        """Return the tree of a stack part.

        Raises: NotFound; BadRequest for a part of another kind; DamagedArtefact
        """
        stamp = await artefact_rows.read_part_stamp(session, artefact_id, position)
        key = (artefact_id, position, stamp)
        async with self._lock:
            known = self._trees.get(key)
            if known is None:
                part = await load_part(session, artefact_id, position, StackPart)
                known = await anyio.to_thread.run_sync(make_tree, part)
            self._trees[key] = known
            self._trees.move_to_end(key)
            while len(self._trees) > 1 and sum(tree.n_bytes for tree in self._trees.values()) > self._max_bytes:
                self._trees.popitem(last=False)
            return known
