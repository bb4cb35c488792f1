"""Host facts, as the agent prints them: `normstat.stats.fact_lines` describes the text.

Facts that are numbers with a field in the spec are samples, so that a lost CPU shows in graphs and comparisons. All others are
text, which the host's page reads from the raw output.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> text = b"1795305600\\ncpus\\t2\\nkernel\\t6.1.0-13-amd64\\n"
>>> (block,) = read(require_spec("host_facts"), text, state={}, offset=0, is_final=True).blocks
>>> [field.key for field in block.fields], [column.tolist() for column in block.values]
(['cpus'], [[2]])
"""

from typing import Final

from normstat.stats.engine.lines import Line
from normstat.stats.engine.outcome import NOT_MINE, Claim
from normstat.stats.engine.snapshot import SnapshotReader
from normstat.stats.fact_lines import parse_fact
from normstat.stats.layout import OneStatLayout
from normstat.stats.records import LineKind

LAYOUT: Final = OneStatLayout


class Reader(SnapshotReader[OneStatLayout]):
    """One call of the reader."""

    def take_data(self, line: Line, text: str) -> Claim:
        """Return the kind of a fact's line, after adding its number to the sample."""
        # The line as printed: a value may be empty, and its tab must stay.
        del text
        fact = parse_fact(line.text.rstrip("\r\n").lstrip())
        if fact is None:
            return NOT_MINE
        stat = self.spec.stats[0]
        if fact.name.item or all(fact.name.key != field.key for field in stat.fields):
            return LineKind.STATE_CHANGE
        if self.has_gathered(stat.name, "", [fact.name.key]):
            # The clock rate of CPUs of another model.
            return LineKind.STATE_CHANGE
        return self.gather(stat, [fact.name.key], [fact.value], offset=line.offset) or LineKind.SAMPLE
