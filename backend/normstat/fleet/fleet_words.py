"""The sentences of the fleet page."""

from normstat.comparison.findings.human import describe_range, format_human
from normstat.fleet.key_metrics import KEY_METRICS, KeyField
from normstat.fleet.normals import SeriesNormal


def describe_series(key: KeyField, instance: str, value: float, normal: SeriesNormal) -> str:
    """Return what a series is now and what is normal: `disk vda busy 98 %, normally 0 to 6 %`."""
    text = KEY_METRICS[key.metric].words.format(
        instance=instance or "all", value=format_human(value, key.field.unit), what=key.meaning.rpartition(".")[2]
    )
    return f"{text}, normally {describe_range(normal.low, normal.high, key.field.unit)}"


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
