"""Reference lines: by meaning, in the unit of the field, with a source."""

from normstat.comparison.next_questions.reference_lines import list_reference_rules


def test_a_disk_access_is_known_whichever_tool_printed_it() -> None:
    found = {(rule.stat, rule.field): rule for rule in list_reference_rules()}
    assert {("iostat_linux", "await_ms"), ("iostat_solaris", "asvc_t_ms"), ("sar_linux_disk", "await_ms")} <= set(found)
    assert {(rule.value, rule.unit) for rule in found.values()} == {(8.0, "ms")}
    assert all(rule.source and rule.label.startswith("8 ms") for rule in found.values())
    assert ("iostat_linux", "util_pct") not in found
