"""Figures that benchmarks measure, on their way to `make bench`: each script prints what it finds, and notes it here too."""

import json
import os
from typing import Final

RECORD_VARIABLE: Final = "NORMSTAT_BENCH_RECORD"


def record(kind: str, name: str, value: float, unit: str) -> None:
    """Notes one measurement of a case; the same name again is another round.

    `kind` is the kind of database, "" where none is asked.
    """
    path = os.environ.get(RECORD_VARIABLE)
    if path:
        with open(path, "a", encoding="utf-8") as file:  # noqa: PTH123
            file.write(json.dumps({"kind": kind, "name": name, "value": value, "unit": unit}) + "\n")
