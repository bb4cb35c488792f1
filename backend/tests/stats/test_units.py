"""What units stand for, and that specs say what their tools mean."""

import re

from normstat.stats.catalogue import load_catalogue

DECIMAL = re.compile(r"([kKMGTP]B|[kKMGTP]|[kKMG]bytes?|kilobytes|megabytes)(/.*)?")


def test_sizes_of_tools_are_powers_of_1024_by_name() -> None:
    """No tool of the catalogue counts kilobytes of 1000: a unit of kB would be scaled by it."""
    found = {
        f"{stat.name}.{field.key}: {field.unit}"
        for _, stat in load_catalogue().stats.values()
        for field in stat.fields
        if DECIMAL.fullmatch(field.unit)
    }
    assert found == set()
