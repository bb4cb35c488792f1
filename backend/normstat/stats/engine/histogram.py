"""Distributions as samples: one row for each printed bucket, so that a bucket is a series and a stat a heatmap.

    @usecs{[256, 512)}   count 2, low 256, high 512
    7110 -bash{1024}     count 2, low 1024, high missing

The instance is the key of the distribution and, in braces, the bucket's label as printed.

>>> bucket_instance("@usecs", "[256, 512)"), split_bucket("@usecs{[256, 512)}")
('@usecs{[256, 512)}', ('@usecs', '[256, 512)'))
"""

import re
from typing import Final

from normstat.stats.engine.number_formats import SUFFIXES

BUCKET_END: Final = "}"
BUCKET_BEGIN: Final = "{"
NUMBER: Final = r"-?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?[KMGTPE]?"
INTERVAL: Final = re.compile(rf"([\[(])({NUMBER}|\.\.\.), *({NUMBER}|\.\.\.)([\])])")
ARROW: Final = re.compile(rf"({NUMBER})? *-> *({NUMBER})?")
SINGLE: Final = re.compile(rf"\[?({NUMBER})\]?")
BELOW: Final = re.compile(rf"< *({NUMBER})")
ABOVE: Final = re.compile(rf">=? *({NUMBER})")


def bucket_instance(key: str, label: str) -> str:
    """Return the instance of a bucket."""
    return f"{key}{BUCKET_BEGIN}{label}{BUCKET_END}"


def split_bucket(instance: str) -> tuple[str, str]:
    """Return key and label of a bucket's instance. A label never holds an opening brace."""
    key, _, label = instance.removesuffix(BUCKET_END).rpartition(BUCKET_BEGIN)
    return key, label


def bucket_bounds(label: str) -> tuple[float | None, float | None]:
    """Return the low and high end of a bucket, if its label states them.

    Units: those of the tool; K, M, ... of bpftrace are powers of 1024. Missing: None where the label does not say or has no end.

    >>> bucket_bounds("[1K, 2K)"), bucket_bounds("256 -> 511"), bucket_bounds("< 0"), bucket_bounds(">= 10"), bucket_bounds("512")
    ((1024.0, 2048.0), (256.0, 511.0), (None, 0.0), (10.0, None), (512.0, None))
    """
    label = label.strip()
    if (found := INTERVAL.fullmatch(label)) is not None:
        return _number(found[2]), _number(found[3])
    if (found := ARROW.fullmatch(label)) is not None:
        return _number(found[1]), _number(found[2])
    if (found := BELOW.fullmatch(label)) is not None:
        return None, _number(found[1])
    if (found := ABOVE.fullmatch(label)) is not None or (found := SINGLE.fullmatch(label)) is not None:
        return _number(found[1]), None
    return None, None


def _number(text: str | None) -> float | None:
    if not text or text == "...":
        return None
    if text[-1] in SUFFIXES:
        return float(text[:-1]) * 1024.0 ** (SUFFIXES.index(text[-1]) + 1)
    return float(text)
