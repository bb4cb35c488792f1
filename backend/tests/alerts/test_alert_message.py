"""What a message says: short, with values and both times, whatever hosts are called."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from normstat.alerts.alert_message import AlertMessage, MessageFacts, SaidValue, build_message, format_local, host_link
from normstat.alerts.message_kind import MessageKind
from normstat.alerts.message_questions import ask_questions
from normstat.alerts.message_text import to_html, to_mattermost, to_slack, to_teams, to_text
from normstat.alerts.routing import RoutedEpisode
from normstat.watch.rules.rule_file import Colour, load_builtin_rules
from normstat.watch.watch_lists import EpisodeInfo, SeenValue
from tests.alerts.story import at, episode

URL = "https://normstat.example.org/"


def info(each: RoutedEpisode, **changed: Any) -> EpisodeInfo:
    usual = EpisodeInfo(
        id=each.id,
        source=each.source,
        source_version=1,
        title="Kernel mutexes" if each.source == "mutex" else each.source,
        host=each.host,
        instance=each.instance,
        start=each.start,
        last=each.last,
        ended_at=each.ended_at,
        ended_by=each.ended_by,
        colour=each.colour,
        sentence="The CPU spins.",
        action="Find the lock.",
        saw=[SeenValue("smtx", 900.0, "1/s", "900 /s", each.start), SeenValue("sys", 40.0, "%", "40 %", each.start)],
        acknowledged_at=None,
        acknowledged_by="",
        note="",
        exclusion_id=None,
        evidence=[],
    )
    return replace(usual, **changed)


def message(*episodes: RoutedEpisode, kind: MessageKind = MessageKind.FIRED, **changed: Any) -> AlertMessage:
    usual = MessageFacts(
        alert_id=12,
        number=1,
        kind=kind,
        route="nights",
        at=at(60),
        episodes=episodes,
        infos={each.id: info(each) for each in episodes},
        zones={"sun1": "Europe/Berlin"},
        limits={("sun1", "mutex"): [SaidValue("smtx", "500 /s")]},
        nouns={"mutex": "cpu", "swap": ""},
        questions=["Which lock is it?"],
        public_url=URL,
    )
    return build_message(replace(usual, **changed))


def test_one_cpu() -> None:
    built = message(episode(12, 0))
    assert built.subject == "[CRITICAL] sun1: Kernel mutexes (CPU 12)"
    assert to_text(built, "https://x/silence#token=1.a") == (
        "The CPU spins.\n"
        "\n"
        "sun1: Kernel mutexes, CPU 12, critical since 2026-11-23 04:00:00 CET (03:00:00 UTC)\n"
        "  smtx 900 /s, sys 40 %\n"
        "  limits: smtx 500 /s\n"
        "  Find the lock.\n"
        "\n"
        "Ask next:\n"
        "- Which lock is it?\n"
        "\n"
        "Graphs: https://normstat.example.org/hosts/sun1?v=1&from=2026-11-23T02:50:00Z&to=2026-11-23T03:10:00Z\n"
        "Silence: https://x/silence#token=1.a\n"
        "\n"
        "Route nights, alert 12, message 1: https://normstat.example.org/watch?tab=alerts&alert=12\n"
    )


def test_64_cpus_are_folded_to_the_worst() -> None:
    cpus = [episode(number, number * 0.1, colour=Colour.RED if number == 12 else Colour.AMBER) for number in range(64)]
    built = message(*cpus)
    [part] = built.parts
    assert (part.n_instances, part.instances, part.colour) == (64, "64 CPUs, worst CPU 12", "red")
    assert built.subject == "[CRITICAL] sun1: Kernel mutexes (64 CPUs, worst CPU 12)"
    assert len(to_text(built, None).splitlines()) < 20


@pytest.mark.parametrize(
    ("n", "text"), [(1, "CPU 0"), (2, "CPUs 0 and 1"), (5, "CPUs 0, 1, 2, 3 and 4"), (6, "6 CPUs, worst CPU 0")]
)
def test_few_instances_are_named(n: int, text: str) -> None:
    assert message(*(episode(number, 0) for number in range(n))).parts[0].instances == text


def test_several_hosts_and_rules() -> None:
    episodes = [
        episode(1, 5),
        episode(2, 0, host="web1", host_id=2, instance="", colour=Colour.BLACK),
        episode(3, 0, source="swap"),
    ]
    built = message(*episodes)
    assert built.subject == "[FAILING] web1 and 1 more host: Kernel mutexes and 1 more rule"
    assert (built.host, [(part.host, part.source) for part in built.parts]) == (
        "", [("web1", "mutex"), ("sun1", "swap"), ("sun1", "mutex")],
    )  # fmt: skip
    assert built.since == at(0)


def test_a_fleet_is_cut_for_people() -> None:
    built = message(*(episode(number, 0, host=f"h{number}", host_id=number) for number in range(300)))
    assert (len(built.parts), built.n_left_out) == (200, 100)
    assert "And 290 more findings." in to_text(built, None)
    assert "And 290 more findings." in to_html(built, None)
    assert "And 290 more findings." in str(to_slack(built, None))


def test_the_end_says_why_and_after_how_long() -> None:
    built = message(episode(1, 0, ended_at=at(600), ended_by="withdrawn"), kind=MessageKind.RESOLVED)
    assert built.subject == "[OVER] sun1: Kernel mutexes (CPU 1)"
    assert built.ended_text == "2026-11-23 04:10:00 CET (03:10:00 UTC), after 10 min: late samples disproved it"
    assert "Over since" in to_text(built, None)


def test_escalations_say_how_long_nobody_answered() -> None:
    built = message(episode(1, 0), kind=MessageKind.ESCALATED, escalated_after=timedelta(minutes=15))
    assert built.subject == "[NOT ACKNOWLEDGED, CRITICAL] sun1: Kernel mutexes (CPU 1)"
    assert built.sentence == "Not acknowledged for 15 min. The CPU spins."


def test_about_this_server() -> None:
    built = message(episode(1, 0, host=None, host_id=None, source="server-disk", instance=""))
    assert built.subject == "[CRITICAL] this normstat server: server-disk"
    assert built.link == "https://normstat.example.org/watch"


EVIL = "<b>x</b>\r\nBcc: all@example.org\t*_`[a](http://evil)|@all <!channel> &amp;"


@pytest.mark.parametrize("place", ["host", "instance", "title", "sentence", "action", "value"])
def test_nothing_from_outside_is_markup(place: str) -> None:
    each = episode(1, 0, **({place: EVIL} if place in ("host", "instance") else {}))
    changed: dict[str, Any] = {place: EVIL} if place in ("title", "sentence", "action") else {}
    if place == "value":
        changed = {"saw": [SeenValue(EVIL, 1.0, "1", EVIL, at(0))]}
    built = message(each, infos={1: info(each, **changed)})
    assert "\n" not in built.subject
    assert "\r" not in built.subject
    assert "<b>x" not in to_html(built, None)
    assert "<!channel>" not in str(to_slack(built, None))
    mattermost: Any = to_mattermost(built, None)
    teams: Any = to_teams(built, None)
    card = teams["attachments"][0]["content"]
    # Without the links of our own, and what stands behind a backslash.
    texts = [mattermost["text"].rpartition("\n\n")[0], *(block["text"] for block in card["body"])]
    for text in texts:
        plain = re.sub(r"\\.", "", text)
        assert not set("`[]<>|~@").intersection(plain), plain


@pytest.mark.parametrize(
    ("zone", "text"),
    [
        ("Europe/Berlin", "2026-11-23 00:30:00 CET (2026-11-22 23:30:00 UTC)"),
        ("America/New_York", "2026-11-22 18:30:00 EST (23:30:00 UTC)"),
        ("+0530", "2026-11-23 05:00:00 UTC+05:30 (2026-11-22 23:30:00 UTC)"),
        ("-0300", "2026-11-22 20:30:00 UTC-03:00 (23:30:00 UTC)"),
        ("UTC", "2026-11-22 23:30:00 UTC"),
        (None, "2026-11-22 23:30:00 UTC"),
        ("Mars/Olympus", "2026-11-22 23:30:00 UTC"),
        ("../../etc/passwd", "2026-11-22 23:30:00 UTC"),
        ("+9999", "2026-11-22 23:30:00 UTC"),
        ("", "2026-11-22 23:30:00 UTC"),
    ],
)
def test_times_are_those_of_the_host_with_utc_beside(zone: str | None, text: str) -> None:
    assert format_local(datetime(2026, 11, 22, 23, 30, tzinfo=UTC), zone) == text


def test_links_quote_the_host() -> None:
    assert host_link(URL, "a/b c?d", at(0), at(0)).startswith("https://normstat.example.org/hosts/a%2Fb%20c%3Fd?v=1&from=")


def test_questions_fit_what_was_too_high() -> None:
    rule = load_builtin_rules()["mutex"]
    asked = ask_questions(rule, info(episode(1, 0)))
    # The kernel's time and the spins together are more specific than the spins alone.
    assert asked[0].startswith("The kernel uses more CPU time and its mutexes are contended")
    assert ask_questions(None, info(episode(1, 0))) == []
    assert ask_questions(load_builtin_rules()["host-silent"], info(episode(1, 0))) == []
