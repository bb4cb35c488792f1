"""Every stat of the catalogue can have a table: otherwise the first sample of it would end the request that brings it."""

from normstat.samples.stat_tables import MAX_NAME_LENGTH, RESERVED_KEYS
from normstat.stats.catalogue import load_catalogue


def test_names_can_be_those_of_a_table_and_its_columns() -> None:
    for name, (_, stat) in load_catalogue().stats.items():
        assert len(name) <= MAX_NAME_LENGTH, f"choose a shorter name than {name}"
        reserved = {field.key for field in stat.fields} & RESERVED_KEYS
        assert not reserved, f"every table has these columns already, choose other keys in {name}: {reserved}"
