"""Every stat of the catalogue can have a table: otherwise the first sample of it would end the request that brings it."""

from normstat.stats.catalogue import load_catalogue
from normstat.store.stat_tables import LONGEST_NAME, RESERVED_KEYS


def test_names_can_be_those_of_a_table_and_its_columns() -> None:
    for name, (_, stat) in load_catalogue().stats.items():
        assert len(name) <= LONGEST_NAME, f"choose a shorter name than {name}"
        reserved = {field.key for field in stat.fields} & RESERVED_KEYS
        assert not reserved, f"every table has these columns already, choose other keys in {name}: {reserved}"
