"""What tools print in other languages is read as what they print in English."""

import re

import pytest

from normstat.stats.catalogue import built_in_catalogue, require_spec
from normstat.stats.readers import read
from normstat.stats.records import ReadResult
from normstat.stats.translated_lines import HOLE, Translations, read_translations, skeleton, translation_names
from tests.stats.reading import guessed


def read_text(spec: str, text: str) -> ReadResult:
    return read(require_spec(spec), text.encode(), state={}, offset=0, is_final=True)


def keys_and_values(result: ReadResult) -> list[tuple[list[str], list[list[float]]]]:
    return [([field.key for field in block.fields], [column.tolist() for column in block.values]) for block in result.blocks]


def filled(text: str) -> str:
    """The line with 11, 12, ... for its numbers."""
    number = iter(range(11, 100))
    return re.sub(HOLE, lambda _: str(next(number)), text)


def test_every_file_is_a_specs() -> None:
    assert {spec.translations for spec in built_in_catalogue().specs.values()} - {""} == set(translation_names())


@pytest.mark.parametrize("name", translation_names())
def test_every_line_becomes_the_english_one_with_its_numbers(name: str) -> None:
    known = read_translations(name)
    assert known.lines or known.starts
    for text, english in known.lines.items():
        found = known.translate(filled(text))
        assert found is not None, text
        assert found.text == filled(english.text) if HOLE in english.text else skeleton(found.text) == skeleton(english.text)


@pytest.mark.parametrize("name", translation_names())
def test_english_lines_stay_as_they_are(name: str) -> None:
    known = read_translations(name)
    for english in known.lines.values():
        assert known.translate(filled(english.text)) is None, english.text


VMSTAT_ROW = " 7 1 5 18582152 14212 3735024 3 4 2663 1291 633 2007 66 15 17 1 1 2"


def vmstat_headers() -> list[str]:
    known = read_translations("vmstat")
    return sorted(
        text for text, english in known.lines.items() if english.text.startswith("r b swpd") and english.text.endswith("gu")
    )


def test_every_language_of_vmstat_has_a_header() -> None:
    assert len(vmstat_headers()) > 20


@pytest.mark.parametrize("header", vmstat_headers())
def test_vmstat_gives_the_same_fields_in_every_language(header: str) -> None:
    own = filled(header)
    rows = f"{VMSTAT_ROW}\n{VMSTAT_ROW.replace('66', '67')}\n"
    english = read_text("vmstat_linux", "r b swpd free buff cache si so bi bo in cs us sy id wa st gu\n" + rows)
    active = read_text("vmstat_linux", "r b swpd free inact active si so bi bo in cs us sy id wa st gu\n" + rows)
    found = read_text("vmstat_linux", f"{own}\n{rows}")
    assert not found.rejected
    assert keys_and_values(found) in (keys_and_values(english), keys_and_values(active))


def test_columns_keep_the_names_that_were_printed() -> None:
    header = " r  b   swpd   frei   buff  Cache   si   so    bi    bo   in   cs us sy id wa st\n"
    row = " 7  0      0 18582152  14212 3735024    0    0  2663  1291  633 2007 66 15 19  0  0\n"
    block = read_text("vmstat_linux", header + row + row).blocks[0]
    named = {field.printed_key: field.key for field in block.fields}
    assert (named["frei"], named["Cache"], named["us"]) == ("memory_free", "memory_cache", "cpu_us")


def test_columns_of_one_name_are_told_by_their_places() -> None:
    """Korean vmstat names si and bi alike, and so and bo."""
    header = " r  b 스왑 가용 버퍼 캐시  입  출   입   출   in   cs us sy id wa st\n"
    row = " 1  2      3      4    5    6    7   8    9   10   11   12 13 14 15 16 17\n"
    block = read_text("vmstat_linux", header + row + row).blocks[0]
    values = {field.key: column.tolist() for field, column in zip(block.fields, block.values, strict=True)}
    assert [values[key] for key in ("swap_si", "swap_so", "io_bi", "io_bo")] == [[7], [8], [9], [10]]
    assert len({field.printed_key for field in block.fields}) == len(block.fields)


def test_a_text_that_stands_for_two_lines_is_not_translated() -> None:
    known = Translations.of(lines={"# paged in": ["# ჩაწერა"], "# paged out": ["# ჩაწერა"], "# forks": ["# ფორკი"]})
    assert known.translate("5 ჩაწერა") is None
    assert known.english("5 ფორკი") == "5 forks"


def test_a_line_that_is_another_english_one_is_not_translated() -> None:
    known = Translations.of(lines={"# reads": ["# writes"], "# writes": ["# Schreibvorgänge"]})
    assert known.english("5 writes") == "5 writes"


def test_headers_of_chosen_columns_in_any_order() -> None:
    known = read_translations("top")
    assert known.english("  PID  %PAM UŻYTK.    CZAS+ KOMENDA").split() == ["PID", "%MEM", "USER", "TIME+", "COMMAND"]
    # Columns of top 2.0; PRI is also Romanian.
    old = "  PID USER     PRI  NI  SIZE  RSS SHARE STAT %CPU %MEM   TIME CPU COMMAND"
    assert known.translate(old) is None
    # Without the column that every header of top has it may be anything.
    assert known.translate("UŻYTK. CZAS+ KOMENDA") is None


def test_a_column_that_was_cut_to_its_width() -> None:
    assert (
        read_translations("top").english("  PID ANVÄNDAR  PR  NI    VIRT    RES   DELT S  %CPU  %MIN      TID+ KOMMANDO").split()[1]
        == "USER"
    )


def test_a_line_that_a_terminal_cut_keeps_its_whole_numbers() -> None:
    known = read_translations("top")
    line = "Zadania:razem: 220, działających:   4, śpiących: 202, zatrzymanych:   0, zombie:"
    assert known.english(line) == "Tasks: 220 total, 4 running, 202 sleeping, 0 stopped"
    # The last number may have lost digits.
    assert known.english(line + " 1").endswith("1 zombie")
    assert known.translate("Zadania:razem: 220, działających:   4, śpiących: 20") is None


def test_several_cpus_in_one_line() -> None:
    one = "%CPU0  :  1,0 uż,  2,0 sy,  3,0 ni, 94,0 be,  0,0 io,  0,0 hi,  0,0 si,  0,0 sk"
    found = read_translations("top").english(f"{one}   {one.replace('CPU0', 'CPU1')}")
    assert found.count("%Cpu") == 2
    assert "94,0 id" in found


GERMAN_FREE = (
    "              gesamt       benutzt     frei      gemns.  Puffer/Cache verfügbar\n"
    "Speicher:   9     4     3       1           1           5\n"
)


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_other_encodings(encoding: str) -> None:
    result = read(require_spec("free_linux"), GERMAN_FREE.encode(encoding), state={}, offset=0, is_final=True)
    assert [field.key for field in result.blocks[0].fields][-1] == "available"
    assert not result.rejected


POLISH_DISK_SUMS = """\
Dysków:                10
Partycji:              0
Odczytów razem:        8683957
Odczyty w ms:          9363299
"""
JAPANESE_INTERFACES = """\
カーネルインタフェーステーブル
Iface    MTU    RX-OK RX-ERR RX-DRP RX-OVR    TX-OK TX-ERR TX-DRP TX-OVR Flg
eth0    1400   320066      0      0 0        214704      0      0      0 BMRU
"""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("vmstat_disk_sum_linux", POLISH_DISK_SUMS),
        ("netstat_i_linux", JAPANESE_INTERFACES),
    ],
    ids=lambda value: value if value.isidentifier() else "",
)
def test_the_tool_is_recognised_and_all_is_read(name: str, text: str) -> None:
    assert guessed(text.encode()) == name
    result = read_text(name, text)
    assert not result.rejected
    assert all(field.is_documented for block in (*result.blocks, *result.since_boot) for field in block.fields)


def test_the_names_survive_pieces_of_any_size() -> None:
    text = (
        b"S.ficheros  bloques de 1K   Usados Disponibles Uso% Montado en\n"
        b"/dev/vda  264212084 28362176    67139088  30% /\n"
        b"/dev/vdb  1000 500    500  50% /b\n"
    )
    spec = require_spec("df_linux")
    whole = read(spec, text, state={}, offset=0, is_final=True)
    state: dict[str, object] = {}
    names = []
    at = 0
    for end in [*range(1, len(text)), len(text)]:
        result = read(spec, text[at:end], state=state, offset=at, is_final=end == len(text))
        state, at = dict(result.state), at + result.n_taken
        names += [(block.instances, [field.printed_key for field in block.fields]) for block in result.blocks]
    assert [one for _, one in names] == [[field.printed_key for field in whole.blocks[0].fields]] * len(names)
    assert sum(len(instances) for instances, _ in names) == 2
