"""Faults for made-up hosts: each kind of change that a comparison must find, from obvious to hard.

A fault takes what a tool would print of one series in the incident and gives what it prints instead. How large it is counts in the
series' own usual swing (5 % to 95 % of the baseline), so that "obvious", "medium" and "hard" mean the same for all series.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from bench.compare_host import N_CPUS, FloatArray
from bench.compare_scene import Key, Scene

BUSY_FIELDS: Final = (
    *("mpstat/usr", "mpstat/sys", "mpstat/csw", "mpstat/syscl", "mpstat/intr", "mpstat/smtx", "mpstat/xcal", "mpstat/minf"),
    *("iostat/r", "iostat/w", "iostat/asvc_t", "vmstat/r", "vmstat/free", "prstat/cpu", "prstat/faults"),
    *("nicstat/ipkts", "nicstat/opkts"),
)
FLOW_FIELDS: Final = ("mpstat/csw", "mpstat/syscl", "mpstat/intr", "iostat/r", "iostat/w", "nicstat/ipkts", "nicstat/opkts")
LEAK_FIELDS: Final = ("vmstat/free", "vmstat/swap", "prstat/rss", "prstat/cpu", "iostat/asvc_t", "mpstat/smtx", "vmstat/r")
EVENT_FIELDS: Final = (
    *("nicstat/ierrs", "nicstat/oerrs", "vmstat/sr", "vmstat/de", "vmstat/po", "mpstat/mjf", "mpstat/srw", "iostat/wait"),
)
STILL_FIELDS: Final = ("prstat/nlwp", "prstat/rss", "vmstat/w", "mpstat/set")
# What the tool computes of it for the same instance, and prints beside it: whoever finds that has found it.
SAME_STORY: Final = {
    "mpstat/usr": ("idl",),
    "mpstat/sys": ("idl",),
    "iostat/r": ("kr",),
    "iostat/w": ("kw",),
    "iostat/asvc_t": ("actv", "pct_b"),
    "iostat/wait": ("wsvc_t", "pct_w"),
    "nicstat/ipkts": ("rkb",),
    "nicstat/opkts": ("wkb",),
}

Fault = Callable[[Scene], None]


def level_shift(scene: Scene) -> None:
    key = scene.pick(BUSY_FIELDS, scene.is_lively)
    shift(scene, key, scene.by_size(3.0, 1.3, 0.7))


def shift(scene: Scene, key: Key, swings: float) -> None:
    """Takes a level up (or down, where there is room), by adding or by a factor."""
    values, swing = scene.incident(key), scene.swing(key)
    by = swings * swing
    middle = float(np.median(values))
    if scene.rng.random() < 0.25 and middle > by:
        scene.put(key, values - by)
    elif scene.rng.random() < 0.5 and middle > 0:
        scene.put(key, values * (1 + by / middle))
    else:
        scene.put(key, values + by)


def level_in_swing(scene: Scene) -> None:
    """As high (or low) as on any day, only not at this load: the rest of the host is at the other end of its swing."""
    shares = {"obvious": (0.25, 0.97), "medium": (0.35, 0.93), "hard": (0.45, 0.88)}[scene.size]

    def suits(key: Key) -> bool:
        if not scene.is_lively(key):
            return False
        place = float((scene.baseline(key) < np.median(scene.incident(key))).mean())
        return place < shares[0] or place > 1 - shares[0]

    key = scene.pick(("mpstat/csw", "mpstat/syscl", "mpstat/sys", "iostat/r", "iostat/w", "prstat/cpu", "nicstat/ipkts"), suits)
    values, middle = scene.incident(key), float(np.median(scene.incident(key)))
    is_low = float((scene.baseline(key) < middle).mean()) < 0.5
    aim = float(np.quantile(scene.baseline(key), shares[1] if is_low else 1 - shares[1]))
    scene.put(key, values * (aim / middle) if middle > 0 and scene.rng.random() < 0.5 else values + aim - middle)


def wider(scene: Scene) -> None:
    key = scene.pick(BUSY_FIELDS, scene.is_lively)
    scene.put(key, stretched(scene.incident(key), scene.by_size(6.0, 3.5, 2.2)))


def narrower(scene: Scene) -> None:
    key = scene.pick(BUSY_FIELDS, scene.is_lively)
    scene.put(key, stretched(scene.incident(key), scene.by_size(0.03, 0.12, 0.3)))


def stretched(values: FloatArray, factor: float) -> FloatArray:
    """The same middle with another spread; in logarithms where values would fall below zero."""
    middle = float(np.median(values))
    if factor > 1 and middle > 0 and (middle + factor * (values.min() - middle)) < 0:
        logs = np.log(np.maximum(values, 0.05 * middle) / middle)
        return middle * np.exp(np.minimum(factor * logs, 4.0))
    return middle + factor * (values - middle)


def rare_spikes(scene: Scene) -> None:
    """So few samples that only p99 moves."""
    key = scene.pick(BUSY_FIELDS, scene.is_lively)
    values, baseline = scene.incident(key), scene.baseline(key)
    middle = float(np.median(baseline))
    height = (float(np.quantile(baseline, 0.998)) - middle) * scene.by_size(5.0, 2.5, 1.6)
    n_spikes = max(2, round(scene.rng.uniform(0.01, 0.02) * len(values)))
    at = scene.rng.choice(len(values), n_spikes, replace=False)
    values[at] = middle + height * scene.rng.uniform(0.8, 1.3, n_spikes)
    scene.put(key, values)


def second_mode(scene: Scene) -> None:
    """Part of the time at another level, in runs or sample by sample; the median stays."""
    key = scene.pick(BUSY_FIELDS, scene.is_lively)
    values = scene.incident(key)
    is_other = runs(scene, len(values), scene.by_size(0.38, 0.3, 0.22))
    scene.put(key, values + is_other * scene.swing(key) * scene.by_size(2.5, 1.4, 0.9))


def runs(scene: Scene, n: int, share: float) -> FloatArray:
    """Where something happens: `share` of n samples, in runs of one to some samples. Shape: (n,) of 0 and 1."""
    length = int(scene.rng.integers(1, max(2, min(30, n // 8))))
    period = max(length + 1, round(length / share))
    return (((np.arange(n) + scene.rng.integers(period)) % period) < length).astype(np.float64)


def stalls(scene: Scene) -> None:
    """Nothing gets through for 5 s every 40 s, or for 3 s every 60 s; a sample that is longer sees a part of it."""
    key = scene.pick(FLOW_FIELDS, lambda key: scene.is_lively(key) and never_stalls(scene.baseline(key)))
    length_s, period_s, rest = {"obvious": (5.0, 40.0, 0.0), "medium": (5.0, 40.0, 0.15), "hard": (3.0, 60.0, 0.0)}[scene.size]
    ends = scene.plan.times[scene.n :] + scene.rng.uniform(0, period_s)

    def stalled_until(moments: FloatArray) -> FloatArray:
        whole = np.floor(moments / period_s)
        return whole * length_s + np.minimum(moments - whole * period_s, length_s)

    share = (stalled_until(ends) - stalled_until(ends - scene.plan.interval_s)) / scene.plan.interval_s
    scene.put(key, scene.incident(key) * (1 - (1 - rest) * np.clip(share, 0, 1)))


def never_stalls(values: FloatArray) -> bool:
    return bool((values < 0.3 * np.median(values)).mean() < 0.02)


def saturation(scene: Scene) -> None:
    """More is wanted than goes: flat at a limit, most of the time."""
    if scene.rng.random() < 0.3:
        key = scene.pick(("mpstat/usr",), scene.is_lively)
        limit = 100.0 - scene.printed["mpstat/sys"][scene.n :, key[1]].min()
    else:
        key = scene.pick(BUSY_FIELDS, scene.is_lively)
        share = {"obvious": 0.995, "medium": 0.95, "hard": 0.85}[scene.size]
        limit = float(np.quantile(scene.baseline(key), share))
    values = scene.incident(key)
    wanted = values * limit / max(float(np.quantile(values, scene.by_size(0.05, 0.15, 0.25))), 1e-9)
    scene.put(key, np.minimum(wanted, limit))


def trend(scene: Scene) -> None:
    """A slow leak: it ends far from where it began."""
    key = scene.pick(LEAK_FIELDS, lambda key: scene.is_lively(key) or key[0] == "prstat/rss")
    values = scene.incident(key)
    swing = max(scene.swing(key), 0.003 * float(np.median(scene.baseline(key))))
    way = np.linspace(0, 1, len(values)) ** scene.rng.choice([1.0, 1.0, 2.0])
    by = swing * scene.by_size(4.0, 2.0, 1.2)
    is_down = key[0] in {"vmstat/free", "vmstat/swap"} and values.min() > by
    scene.put(key, values - by * way if is_down else values + by * way)


def frozen(scene: Scene) -> None:
    """The same value again and again, from some sample on."""
    key = scene.pick(BUSY_FIELDS, scene.is_lively)
    values = scene.incident(key)
    first = round({"obvious": 0.0, "medium": 0.2, "hard": 0.4}[scene.size] * len(values))
    # A value that the series often has: only its stillness is odd.
    values[first:] = np.sort(values)[len(values) // 2]
    scene.put(key, values)


def came_alive(scene: Scene) -> None:
    """Never moved, and now does."""
    key = scene.pick(STILL_FIELDS, lambda key: len(np.unique(scene.baseline(key))) == 1)
    values = scene.incident(key)
    n = len(values)
    height = max(1.0, 0.1 * float(values[0]) * scene.by_size(3.0, 1.0, 0.3))
    if scene.rng.random() < 0.5:
        steps = scene.rng.integers(-1, 2, n) * max(1.0, round(0.2 * height))
        values = values + np.clip(np.cumsum(steps), -values[0], height * 4)
    else:
        values = values + np.where(scene.rng.random(n) < scene.by_size(0.8, 0.4, 0.15), np.ceil(height * scene.rng.random(n)), 0.0)
    scene.put(key, values)


def missing(scene: Scene) -> None:
    """Samples of one series do not come: at random, or for a while."""
    key = scene.pick(BUSY_FIELDS, scene.is_lively)
    values = scene.incident(key)
    share = scene.by_size(0.6, 0.3, 0.15)
    n_gone = max(2, round(share * len(values)))
    if scene.rng.random() < 0.5:
        gone = scene.rng.choice(len(values), n_gone, replace=False)
    else:
        gone = (np.arange(n_gone) + scene.rng.integers(len(values))) % len(values)
    scene.gone = np.zeros(len(values), dtype=bool)
    scene.gone[gone] = True
    scene.injected.append(key)


def zero_to_errors(scene: Scene) -> None:
    """Events that (nearly) never happened do happen."""
    key = scene.pick(EVENT_FIELDS, lambda key: (scene.baseline(key) != 0).mean() <= 0.01)
    values = scene.incident(key)
    happen = scene.rng.random(len(values)) < scene.by_size(0.7, 0.25, 0.08)
    happen[scene.rng.choice(len(values), min(3, len(values)), replace=False)] = True
    known = scene.baseline(key)[scene.baseline(key) > 0]
    height = max(2.0 if scene.size == "hard" else 5.0, float(np.median(known)) if len(known) else 0.0)
    scene.put(key, values + happen * np.ceil(height * scene.rng.gamma(2.0, 0.5, len(values))))


def oscillation(scene: Scene) -> None:
    """Up and down around its usual level, with a steady period; as high as the swing that it has at this load."""
    share = scene.by_size(1.5, 0.9, 0.6)

    def height(key: Key) -> float:
        low, high = np.quantile(scene.incident(key), (0.05, 0.95))
        return share * float(high - low)

    def suits(key: Key) -> bool:
        return scene.is_lively(key) and height(key) < 0.95 * float(np.median(scene.incident(key)))

    key = scene.pick(BUSY_FIELDS, suits)
    values = scene.incident(key)
    period = scene.rng.uniform(2.0, min(20.0, len(values) / 4))
    wave = np.sin(2 * np.pi * np.arange(len(values)) / period + scene.rng.uniform(0, 6))
    if scene.rng.random() < 0.4:
        wave = np.where(wave >= 0, 1.0, -1.0)
    scene.put(key, values + height(key) * wave)


def one_cpu(scene: Scene) -> None:
    """One CPU of 64 does something of its own: computes, serves interrupts, waits for locks."""
    cpu = int(scene.rng.integers(N_CPUS))
    story = scene.rng.choice(["computes", "interrupts", "locks", "calls"])
    points = scene.by_size(70.0, 40.0, 20.0)
    usr, sys = scene.incident(("mpstat/usr", cpu)), scene.incident(("mpstat/sys", cpu))
    if story == "computes":
        scene.put(("mpstat/usr", cpu), np.minimum(usr + points * noise(scene, 0.1), 100.0))
        return
    scene.put(("mpstat/sys", cpu), np.minimum(sys + 0.6 * points * noise(scene, 0.15), 100.0 - usr))
    factor = scene.by_size(12.0, 5.0, 2.5)
    names = {"interrupts": ("mpstat/intr", "mpstat/ithr"), "locks": ("mpstat/smtx",), "calls": ("mpstat/syscl", "mpstat/csw")}
    for name in names[str(story)]:
        scene.put((name, cpu), scene.incident((name, cpu)) * factor * noise(scene, 0.1))


def noise(scene: Scene, width: float) -> FloatArray:
    return np.exp(width * scene.rng.standard_normal(len(scene.plan.times) - scene.n))


def one_disk(scene: Scene) -> None:
    """One disk of 30: slow, flooded, queueing, or silent."""
    names = ("iostat/asvc_t", "iostat/r", "iostat/w")
    key = scene.pick(names, scene.is_lively)
    story = scene.rng.choice(["worse", "worse", "queue", "silent"])
    if story == "silent" and key[0] != "iostat/asvc_t" and never_stalls(scene.baseline(key)):
        scene.put(key, scene.incident(key) * {"obvious": 0.0, "medium": 0.1, "hard": 0.25}[scene.size])
    elif story == "queue":
        queue = scene.rng.gamma(1.5, scene.by_size(4.0, 1.5, 0.5), len(scene.plan.times) - scene.n)
        scene.put(("iostat/wait", key[1]), queue)
    else:
        scene.put(key, scene.incident(key) * scene.by_size(8.0, 3.5, 2.0) * noise(scene, 0.1))


def beside_the_load(scene: Scene) -> None:
    """Everything has another load; one series is what no load explains."""
    fields = ("mpstat/syscl", "mpstat/csw", "mpstat/sys", "iostat/asvc_t", "iostat/w", "prstat/cpu", "nicstat/ipkts", "vmstat/r")
    key = scene.pick(fields, scene.is_lively)
    values = scene.incident(key)
    # Where the load is less, the fault must show above what that takes away.
    factor = scene.by_size(7.0, 4.0, 2.5) / min(1.0, scene.plan.more_load) ** 0.5
    scene.put(key, values * factor * noise(scene, 0.05))


def stale_baseline(scene: Scene) -> None:
    """The baseline is of another time: some series stand elsewhere since long. The fault begins within the window."""
    fields = (*BUSY_FIELDS, "prstat/rss", "prstat/nlwp", "vmstat/swap")
    for _ in range(int(scene.rng.integers(10, 60))):
        key = scene.pick(fields, lambda key: key not in scene.injected)
        factor = float(np.exp(scene.rng.choice([-1.0, 1.0]) * scene.rng.uniform(0.4, 2.0)))
        scene.put(key, scene.incident(key) * factor)
    others = set(scene.injected)
    scene.injected.clear()
    key = scene.pick(BUSY_FIELDS, lambda key: key not in others and scene.is_lively(key))
    values = scene.incident(key)
    n_before = scene.plan.n_before
    first = n_before + round(float(scene.rng.uniform(0.3, 0.5)) * (len(values) - n_before))
    values[first:] = values[first:] * scene.by_size(8.0, 4.5, 3.0) * noise(scene, 0.1)[first:]
    scene.put(key, values)


def all_cpus(scene: Scene) -> None:
    """The same story on all CPUs, or nearly all."""
    name = str(scene.rng.choice(["mpstat/smtx", "mpstat/xcal", "mpstat/syscl", "mpstat/csw", "mpstat/sys"]))
    left_out = set(scene.rng.choice(N_CPUS, int(scene.rng.integers(0, 4)), replace=False).tolist())
    factor = scene.by_size(6.0, 3.0, 1.8)
    for cpu in range(N_CPUS):
        if cpu not in left_out:
            scene.put((name, cpu), scene.incident((name, cpu)) * factor * noise(scene, 0.05))


def mid_incident(scene: Scene) -> None:
    """Nothing for the first part of the window, then a shift or a wide spread."""
    key = scene.pick(BUSY_FIELDS, scene.is_lively)
    values = scene.incident(key)
    first = round(float(scene.rng.uniform(0.4, 0.7)) * len(values))
    if scene.rng.random() < 0.7:
        shift(scene, key, scene.by_size(3.5, 2.0, 1.2))
    else:
        scene.put(key, stretched(values, scene.by_size(8.0, 5.0, 3.0)))
    stat_field, column = key
    scene.raw[stat_field][scene.n : scene.n + first, column] = values[:first]


FAULTS: Final[dict[str, Fault]] = {
    "level_shift": level_shift,
    "level_in_swing": level_in_swing,
    "wider": wider,
    "narrower": narrower,
    "rare_spikes": rare_spikes,
    "second_mode": second_mode,
    "stalls": stalls,
    "saturation": saturation,
    "trend": trend,
    "frozen": frozen,
    "came_alive": came_alive,
    "missing": missing,
    "zero_to_errors": zero_to_errors,
    "oscillation": oscillation,
    "one_cpu": one_cpu,
    "one_disk": one_disk,
    "all_cpus": all_cpus,
    "fleet_load": beside_the_load,
    "sparse_other_load": beside_the_load,
    "stale_baseline": stale_baseline,
    "mid_incident": mid_incident,
}
