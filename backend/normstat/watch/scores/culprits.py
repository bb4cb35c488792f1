"""Name the processes responsible in the sentence of a spell, from the ledger of its worst minutes, as a comparison does."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.baselines.covering_rows import read_covering_baselines
from normstat.baselines.rolling_baseline import MIN_PROFILED_S
from normstat.baselines.window_sets import Windows
from normstat.comparison.host_ledger import read_ledger
from normstat.comparison.ledger.ledger_words import describe_certainty
from normstat.comparison.ledger_model import LedgerLine
from normstat.comparison.stories.ledger_stories import TOPICS
from normstat.db.schema.watch_models import EpisodeRow
from normstat.db.session import open_read_session
from normstat.records.episode_rows import FoundEpisode
from normstat.watch.fleet.baseline_normals import choose_profiles
from normstat.watch.scores.minute_scores import KEPT_LENGTH, LENGTHS
from normstat.watch.scores.spells import REPEATS
from normstat.window import Window

# The score of a minute covers this many minutes that end with it.
JUDGED: Final = timedelta(minutes=LENGTHS[KEPT_LENGTH])
MINUTE: Final = timedelta(minutes=1)
# Maximum number of rows of a stat and side: not all of thousands of processes in five minutes.
MAX_ROWS: Final = 200_000
# Maximum time of a run for naming culprits; the other spells keep the sentence of their series until the next one.
BUDGET_S: Final = 10.0
MAX_ASKED: Final = 10_000

# The host, the subsystem and the worst minute of a spell, with what was seen in it: late samples change that.
SpellKey = tuple[int, str, datetime, str]


@dataclass(slots=True)
class AskedSpells:
    """The spells whose ledger was read, with its sentence; None without one."""

    found: dict[SpellKey, str | None] = field(default_factory=dict)

    async def name_culprits(
        self,
        sessions: async_sessionmaker[AsyncSession],
        spells: Mapping[int, Sequence[FoundEpisode]],
        stored: Sequence[EpisodeRow],
        now: datetime,
    ) -> dict[int, list[FoundEpisode]]:
        """Return the spells of each host, with the sentence of a ledger line where one explains them.

        `stored`: the stored spells, whose sentence stays while its minute is the worst
        """
        known = {_key(row.host_id, row): row for row in stored if row.host_id is not None}
        asked = [(host_id, spell) for host_id, own in spells.items() for spell in own if spell.instance in TOPICS.values()]
        missing = [
            (host_id, spell)
            for host_id, spell in asked
            if (key := _key(host_id, spell)) not in self.found and not _is_told(known.get(key), spell)
        ]
        # The latest first, as they are looked at now.
        await self._ask(sessions, sorted(missing, key=lambda one: one[1].worst_at, reverse=True), now)
        return {host_id: [self._tell(host_id, spell, known) for spell in own] for host_id, own in spells.items()}

    def _tell(self, host_id: int, spell: FoundEpisode, known: Mapping[SpellKey, EpisodeRow]) -> FoundEpisode:
        key = _key(host_id, spell)
        sentence = self.found.get(key)
        row = known.get(key)
        if sentence is not None:
            sentence = " ".join([sentence, *(str(item[REPEATS]) for item in spell.saw if REPEATS in item)])
        if sentence is None and _is_told(row, spell):
            assert row is not None
            sentence = row.sentence
        return spell if sentence is None else replace(spell, sentence=sentence)

    async def _ask(
        self, sessions: async_sessionmaker[AsyncSession], missing: Sequence[tuple[int, FoundEpisode]], now: datetime
    ) -> None:  # fmt: skip
        if not missing:
            return
        ends_at = time.monotonic() + BUDGET_S
        async with open_read_session(sessions) as session:
            covering = await read_covering_baselines(session, min_s=MIN_PROFILED_S, now=now)
        ledgers: dict[tuple[int, datetime], list[LedgerLine]] = {}
        for host_id, spell in missing:
            if time.monotonic() > ends_at or host_id not in covering:
                continue
            at = Window(spell.worst_at + MINUTE - JUDGED, spell.worst_at + MINUTE)
            if (host_id, spell.worst_at) not in ledgers:
                async with open_read_session(sessions) as session:
                    profile = (await choose_profiles(session, {host_id: covering[host_id]}, at)).get(host_id)
                    windows: Windows = () if profile is None else profile.effective
                    ledgers[host_id, spell.worst_at] = (
                        await read_ledger(session, host_id, at, windows, max_rows=MAX_ROWS) if windows else []
                    )
            self.found[_key(host_id, spell)] = _sentence_of(ledgers[host_id, spell.worst_at], spell.instance)
        while len(self.found) > MAX_ASKED:
            self.found.pop(next(iter(self.found)))


def _key(host_id: int, spell: FoundEpisode | EpisodeRow) -> SpellKey:
    return host_id, spell.instance, spell.worst_at, str([item.get("text") for item in spell.saw])


def _is_told(row: EpisodeRow | None, spell: FoundEpisode) -> bool:
    """Return whether the stored spell has the sentence of a ledger."""
    return row is not None and row.sentence != spell.sentence


def _sentence_of(lines: Sequence[LedgerLine], topic: str) -> str | None:
    line = next((line for line in lines if TOPICS[line.resource] == topic and line.certainty != "nothing"), None)
    return None if line is None else describe_certainty(line)
