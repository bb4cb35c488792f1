"""The sentences of the fleet page."""

from normstat.comparison.findings.human import format_human
from normstat.fleet.key_metrics import KEY_METRICS, KeyField
from normstat.fleet.normals import SeriesNormal


def describe_series(key: KeyField, instance: str, value: float, normal: SeriesNormal) -> str:
    """Return what a series is now and what is normal: `disk vda busy 98 %, normally 0 to 6 %`."""
    text = KEY_METRICS[key.metric].words.format(
        instance=instance or "all", value=format_human(value, key.field.unit), what=key.meaning.rpartition(".")[2]
    )
    return f"{text}, normally {describe_range(normal.low, normal.high, key.field.unit)}"


def describe_range(low: float, high: float, unit: str) -> str:
    """Return a band in human units.

    >>> describe_range(0, 6, "%"), describe_range(3, 3, "%"), describe_range(900, 4200, "KiB/s")
    ('0 to 6 %', '3 %', '900 KiB/s to 4.1 MiB/s')
    """
    first, last = format_human(low, unit), format_human(high, unit)
    if first == last:
        return last
    number, _, own = first.partition(" ")
    return f"{number if own == last.partition(' ')[2] or low == 0 else first} to {last}"


def describe_calm(n_series: int, baseline: str) -> str:
    """Return the sentence of a host as it normally is."""
    return f"as in {baseline}: {n_series} key metrics within their natural variability"


def name_line(key: KeyField, instance: str) -> str:
    """Return the label of a sparkline."""
    metric = KEY_METRICS[key.metric]
    match metric.resource:
        case "cpu":
            return "CPU not idle"
        case "run_queue":
            return "run queue"
        case "memory":
            return f"memory {key.meaning.rpartition('.')[2]}"
        case "disk":
            return f"{instance or 'disk'} busy"
        case "network":
            return f"{instance or 'network'} {'in' if key.meaning == 'net.in' else 'out'}"
