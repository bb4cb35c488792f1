"""The ledger in short texts: what the CLI and the report print."""

from dataclasses import replace

from normstat.comparison.ledger.ledger_table import describe_ledger, to_rows
from tests.report.made import ledger_line, ledger_of_memory, ledger_part

NETWORK = ledger_line(
    resource="network", name="eth0", instance="eth0", unit="KiB/s", capacity=None, incident=12.0, low=3.0, high=20.0, outside=0.0,
    certainty="nothing", parts=[],
)  # fmt: skip
DISK = ledger_line(
    resource="disk", name="vda", instance="vda", unit="1/s", capacity=None, incident=427.0, low=0.0, high=46.0, certainty="likely",
    parts=[], sentence="vda served 427 requests/s (normally 0 to 46/s).",
)  # fmt: skip


def test_sentences_then_what_is_as_normal_in_one_line() -> None:
    assert describe_ledger([ledger_line(), DISK, ledger_of_memory(), NETWORK]) == [
        "yes (812), which is new, used 170 % of a CPU; the CPUs were busy 98 % of the time (normally 12 to 19 %).",
        "Likely: vda served 427 requests/s (normally 0 to 46/s).",
        "As normal: memory 1.3 of 23.6 GiB, network eth0 12 KiB/s.",
    ]


def test_who_is_new_at_a_full_resource_is_named_where_its_total_is_as_normal() -> None:
    full = ledger_line(
        is_full=True, incident=199.0, low=180.0, high=200.0, outside=0.0, certainty="nothing",
        parts=[
            ledger_part(name="mypy", incident=40.0, is_new=False), ledger_part(name="find", incident=4.0),
            ledger_part(name="cc (2 processes)", incident=26.4),
        ],
    )  # fmt: skip
    assert describe_ledger([full]) == ["As normal: CPU 100 % (cc (2 processes), which are new, used 26 % of a CPU)."]
    assert describe_ledger([replace(full, parts=full.parts[:2])]) == ["As normal: CPU 100 %."]


def test_a_sentence_that_the_verdict_has_said_is_left_out() -> None:
    said = f"{ledger_line().sentence} 3 of 9 series changed."
    assert describe_ledger([ledger_line(), NETWORK], said) == ["As normal: network eth0 12 KiB/s."]


def test_several_hosts_are_named() -> None:
    told = describe_ledger([ledger_line(), NETWORK, ledger_of_memory(host="web2")])
    assert [line.partition(": ")[0] for line in told] == ["web1", "web1", "web2"]
    assert describe_ledger([]) == []


def test_rows_have_the_words_of_the_page() -> None:
    gone = ledger_part(name="tar (7)", baseline=50.0, incident=0.0, change=-50.0, share=1.0, is_new=False, is_gone=True)
    written = ledger_part(name="dd (9)", quantity="written", unit="KiB/s", incident=1.81 * 2**20, is_new=False)
    lines = [ledger_line(), ledger_line(outside=-20.0, parts=[gone]), DISK, ledger_line(parts=[written]), ledger_of_memory()]
    assert [(row.resource, row.now, row.normal, row.who, row.certainty) for row in to_rows(lines)] == [
        ("CPU", "98 %", "12 to 19 %", "yes (812) 85 %, 97 % of the rise, new", "sure"),
        ("CPU", "98 %", "12 to 19 %", "tar (7) 25 % in the baseline, 100 % of the fall, gone", "sure"),
        ("disk vda", "427 requests/s", "0 to 46 requests/s", "no recorded tool shows who", "likely"),
        ("CPU", "98 %", "12 to 19 %", "dd (9) wrote 1.81 GiB/s, 97 % of the rise", "sure"),
        ("memory", "1.3 of 23.6 GiB", "1.1 to 1.4 GiB", "", "as normal"),
    ]


def test_nobody_is_named_for_what_nobody_saw() -> None:
    unseen = ledger_part(name="not seen", kind="remainder", command="", share=None, is_new=False, is_outside=False)
    row = to_rows([ledger_line(parts=[], remainder=unseen)])[0]
    assert row.who == "not seen: processes too short to be sampled, the kernel"


def test_what_was_not_recorded_is_said_after_who_is_known() -> None:
    note = "the agent may not read whose I/O it was"
    rows = to_rows([ledger_line(note=note, parts=[]), ledger_line(note=note)])
    assert [row.who for row in rows] == [note, f"yes (812) 85 %, 97 % of the rise, new; {note}"]
