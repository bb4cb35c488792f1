"""The sentences of the fleet page."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from normstat.baselines.rolling_baseline import MIN_RECORDED
from normstat.comparison.findings.human import describe_range, format_human
from normstat.watch.fleet.key_metrics import KEY_METRICS, KeyField
from normstat.watch.fleet.normals import SeriesNormal
from normstat.window import Window

DAY: Final = timedelta(days=1)
HOUR: Final = timedelta(hours=1)
HOUR_S: Final = 3600.0


def describe_series(key: KeyField, instance: str, value: float, normal: SeriesNormal) -> str:
    """Return what a series is now and what is normal: `disk vda busy 98 %, normally 0 to 6 %`."""
    text = KEY_METRICS[key.metric].words.format(
        instance=instance or "all", value=format_human(value, key.field.unit), what=key.meaning.rpartition(".")[2]
    )
    return f"{text}, normally {describe_range(normal.low, normal.high, key.field.unit)}"


def describe_calm(n_series: int, baseline: str) -> str:
    """Return the sentence of a host as it normally is."""
    return f"as in {baseline}: {n_series} key metrics within their natural variability"


def describe_last_days(windows: Sequence[Window]) -> str:
    """Return what a rolling baseline is: `the last 7 days`."""
    days = round((windows[-1].end - windows[0].start) / DAY) if windows else 0
    return "the last day" if days <= 1 else f"the last {days} days"


def describe_learning(recorded_s: float) -> str:
    """Return why a host that sends has no normal yet."""
    needed_h = MIN_RECORDED / HOUR
    if recorded_s >= needed_h * HOUR_S:
        return "learning what is normal: its last days are read next"
    return f"learning what is normal: {recorded_s / HOUR_S:.0f} h of {needed_h:.0f} h recorded"


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
