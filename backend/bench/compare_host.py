"""A made-up host for `make bench-compare`: what mpstat, iostat, vmstat, prstat and nicstat would print of it, before rounding.

One latent load moves nearly everything, as on a real host; each series adds noise of its own that remembers itself (AR(1)), bursts
with heavy tails, and events that hardly ever happen. Percentages add up, sums over CPUs are sums. Nothing here knows a method.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
Raw = dict[str, FloatArray]

N_CPUS: Final = 64
N_DISKS: Final = 30
N_PROCESSES: Final = 12
N_INTERFACES: Final = 4
JOB_PERIOD_S: Final = 300.0
# How long noise remembers itself, in seconds (0 is white noise), and how wide it then is: what wanders slowly wanders little, or
# the baseline would not have seen what a series does by itself.
MEMORIES_S: Final = np.array([0.0, 0.0, 15.0, 60.0, 300.0])
WIDTHS: Final = np.array([1.0, 1.0, 0.9, 0.6, 0.4])
# Decimals that the tools print; percentages of mpstat are drawn for each host.
DECIMALS: Final = {"iostat/pct_w": 0, "iostat/pct_b": 0, "prstat/cpu": 1, "nicstat/rkb": 1, "nicstat/wkb": 1, "nicstat/util": 1}
UNITS: Final = {
    **dict.fromkeys(("usr", "sys", "wt", "idl", "pct_w", "pct_b", "cpu", "util", "cpu_us", "cpu_sy", "cpu_id"), "%"),
    **dict.fromkeys(("wsvc_t", "asvc_t"), "ms"),
    **dict.fromkeys(("rss", "swap", "free"), "kB"),
    **dict.fromkeys(("kr", "kw", "rkb", "wkb"), "kB/s"),
    **dict.fromkeys(("set", "nlwp", "r", "b", "w", "wait", "actv"), ""),
}


@dataclass(frozen=True, slots=True)
class Plan:
    """When samples are taken, and how the host is used.

    `load`: usual busy share of a CPU; `swing`: how far the cycle takes the logarithm of the load up and down; `period_s`: of that
    cycle; `restless`, `memory_s`: wandering of the load; `burst_rate`: bursts per second; `more_load`: factor in the incident.
    """

    times: FloatArray
    n_baseline: int
    interval_s: float
    load: float
    swing: float
    period_s: float
    phase: float
    restless: float
    memory_s: float
    burst_rate: float
    has_jobs: bool
    more_load: float = 1.0
    # Samples between the baseline and the incident, of the time right before it.
    n_before: int = 0
    percent_decimals: int = 0


def ar1(rng: np.random.Generator, plan: Plan, memory_s: FloatArray) -> FloatArray:
    """Noise of mean 0 and variance 1 that remembers itself. Shape: memory_s (k,) -> (n_times, k)."""
    out = rng.standard_normal((len(plan.times), len(memory_s)))
    steps = np.diff(plan.times)
    with np.errstate(divide="ignore"):
        kept = np.exp(-plan.interval_s / memory_s)
        far = np.exp(-steps.max() / memory_s) if len(steps) else kept
    fresh, fresh_far = np.sqrt(1 - kept**2), np.sqrt(1 - far**2)
    for i in range(1, len(out)):
        is_far = steps[i - 1] > 1.5 * plan.interval_s
        out[i] *= fresh_far if is_far else fresh
        out[i] += (far if is_far else kept) * out[i - 1]
    return out


def job_share(plan: Plan, offset_s: float, length_s: float) -> FloatArray:
    """Which part of each sample's interval a job of every five minutes was running. Shape: (n_times,)."""
    ends = plan.times - offset_s

    def run_until(moments: FloatArray) -> FloatArray:
        whole = np.floor(moments / JOB_PERIOD_S)
        return whole * length_s + np.minimum(moments - whole * JOB_PERIOD_S, length_s)

    return (run_until(ends) - run_until(ends - plan.interval_s)) / plan.interval_s


def burst_heights(rng: np.random.Generator, plan: Plan) -> FloatArray:
    """Extra load by bursts, as a share of the usual load; heights are Pareto. Shape: (n_times,)."""
    out = np.zeros(len(plan.times))
    n_bursts = rng.poisson(plan.burst_rate * plan.interval_s * len(out))
    for at in rng.integers(0, len(out), n_bursts):
        seconds = rng.exponential(8.0) + 1
        height = min(0.4 * rng.pareto(2.5), 6.0) * min(1.0, seconds / plan.interval_s)
        out[at : at + max(1, round(seconds / plan.interval_s))] += height
    return out


def make_factors(rng: np.random.Generator, plan: Plan) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Load, disk work and network work as multiples of the usual. Shape: (n_times,) each."""
    noise = ar1(rng, plan, np.array([plan.memory_s, plan.memory_s, plan.memory_s, 20.0]))
    cycle = plan.swing * np.sin(2 * np.pi * (plan.times / plan.period_s + plan.phase))
    load = np.exp(cycle + plan.restless * (noise[:, 0] + 0.3 * noise[:, 3])) * (1 + burst_heights(rng, plan))
    load[plan.n_baseline :] *= plan.more_load
    disk = load ** rng.uniform(0.6, 1.0) * np.exp(0.6 * plan.restless * noise[:, 1])
    net = load ** rng.uniform(0.7, 1.1) * np.exp(0.5 * plan.restless * noise[:, 2])
    return load, disk, net


class _Noise:
    """Columns of noise, drawn at once because the loop over time is what costs."""

    def __init__(self, rng: np.random.Generator, plan: Plan, n_columns: int) -> None:
        self.rng = rng
        # A baseline has seen what its series do by themselves: nothing remembers longer than a tenth of it.
        longest_s = plan.n_baseline * plan.interval_s / 10
        chosen = rng.integers(0, len(MEMORIES_S), n_columns)
        self.columns = WIDTHS[chosen] * ar1(rng, plan, np.minimum(MEMORIES_S[chosen], longest_s))
        self.used = 0
        self.interval_s = plan.interval_s

    def take(self, k: int) -> FloatArray:
        self.used += k
        return self.columns[:, self.used - k : self.used]

    def lognormal(self, k: int, low: float, high: float) -> FloatArray:
        """Factors around 1 whose width differs between the columns; coarser samples average some of it away."""
        width = self.rng.uniform(low, high, k) * max(0.4, self.interval_s**-0.15)
        factors: FloatArray = np.exp(width * self.take(k))
        return factors

    def rate(self, expected: FloatArray) -> FloatArray:
        """A rate per second that is counted over an interval: small ones are zero mostly."""
        events = expected * self.interval_s
        few = events < 30
        out = np.maximum(0.0, events + np.sqrt(events) * self.rng.standard_normal(events.shape))
        out[few] = self.rng.poisson(events[few])
        return out / self.interval_s

    def rare_bursts(self, shape: tuple[int, int]) -> FloatArray:
        """Factors that are 1 mostly; some of the series have bursts now and then, with a heavy tail."""
        out = np.ones(shape)
        hit = self.rng.random(shape) < np.where(self.rng.random(shape[1]) < 0.3, 0.01, 0.0)
        out[hit] += np.minimum(self.rng.pareto(1.8, int(hit.sum())), 20.0)
        return out


def make_host(rng: np.random.Generator, plan: Plan) -> Raw:
    """What the tools count before they print: "stat/field" -> (n_times, n_instances)."""
    load, disk, net = (factor[:, None] for factor in make_factors(rng, plan))
    noise = _Noise(rng, plan, 12 * N_CPUS + 5 * N_DISKS + 4 * N_PROCESSES + 3 * N_INTERFACES + 4)
    raw: Raw = {}
    _add_cpus(raw, plan, noise, load, net)
    _add_disks(raw, plan, noise, disk)
    _add_system(raw, plan, noise, load)
    _add_processes(raw, plan, noise, load)
    _add_interfaces(raw, noise, net)
    if plan.has_jobs:
        _add_jobs(raw, rng, plan)
    return raw


def _add_cpus(raw: Raw, plan: Plan, noise: _Noise, load: FloatArray, net: FloatArray) -> None:
    rng = noise.rng
    k = N_CPUS
    shares = np.exp(0.2 * rng.standard_normal(k))
    idle_ones = rng.random(k) < rng.choice([0.0, 0.2])
    shares[idle_ones] *= 0.1
    usr_part = rng.uniform(0.5, 0.85)
    raw["mpstat/usr"] = 100 * plan.load * usr_part * load * shares * noise.lognormal(k, 0.15, 0.5)
    raw["mpstat/sys"] = 100 * plan.load * (1 - usr_part) * load**0.9 * shares * noise.lognormal(k, 0.15, 0.5)
    raw["mpstat/wt"] = np.where(rng.random((len(load), k)) < 0.01, rng.uniform(0, 8, (len(load), k)), 0.0)
    scale = plan.load * load * shares
    busy_now = scale * noise.lognormal(k, 0.05, 0.3)
    rate = noise.rate
    raw["mpstat/minf"] = rate(200 * busy_now**0.8 * noise.lognormal(k, 0.3, 0.9))
    raw["mpstat/mjf"] = rate(np.broadcast_to(10 ** rng.uniform(-4.5, -1.5, k), (len(load), k)).copy())
    raw["mpstat/xcal"] = rate(400 * scale * noise.lognormal(k, 0.3, 0.7) * noise.rare_bursts((len(load), k)))
    interrupt_cpus = np.where(rng.random(k) < 0.08, rng.uniform(1000, 6000, k), rng.uniform(5, 60, k))
    raw["mpstat/intr"] = rate(100 + interrupt_cpus * net * noise.lognormal(k, 0.05, 0.2))
    raw["mpstat/ithr"] = 0.6 * raw["mpstat/intr"] * noise.lognormal(k, 0.01, 0.06)
    switches = 2500 * busy_now**0.9 * noise.lognormal(k, 0.1, 0.3)
    raw["mpstat/csw"] = rate(switches)
    raw["mpstat/icsw"] = rate(0.3 * switches * np.minimum(np.sqrt(scale), 1.0))
    raw["mpstat/migr"] = rate(0.08 * switches * noise.lognormal(k, 0.1, 0.3))
    raw["mpstat/smtx"] = rate(150 * scale**1.2 * noise.lognormal(k, 0.3, 0.6) * noise.rare_bursts((len(load), k)))
    raw["mpstat/srw"] = rate(np.full((len(load), k), 10 ** rng.uniform(-3.5, -1)))
    raw["mpstat/syscl"] = rate(12000 * scale * noise.lognormal(k, 0.15, 0.4))
    raw["mpstat/set"] = np.broadcast_to(np.arange(k) // 32, (len(load), k)).astype(np.float64)


def _add_disks(raw: Raw, plan: Plan, noise: _Noise, disk: FloatArray) -> None:
    rng = noise.rng
    k, n = N_DISKS, len(disk)
    reads, writes = 10 ** rng.uniform(0.3, 2.7, k), 10 ** rng.uniform(0.3, 2.5, k)
    idle_ones, log_ones = rng.random(k) < 0.25, rng.random(k) < 0.1
    reads[idle_ones], writes[idle_ones] = 0.005, 0.02
    reads[log_ones] = 0.01
    load_scale = max(plan.load, 0.02) / 0.4
    r = reads * load_scale * disk * noise.lognormal(k, 0.2, 0.8)
    w = np.where(log_ones, writes * np.ones_like(disk), writes * load_scale * disk) * noise.lognormal(k, 0.2, 0.7)
    raw["iostat/r"], raw["iostat/w"] = noise.rate(r), noise.rate(w * noise.rare_bursts((n, k)))
    raw["iostat/read_kb"] = rng.choice([4.0, 8.0, 16.0, 64.0], k) * noise.lognormal(k, 0.05, 0.3)
    raw["iostat/write_kb"] = rng.choice([4.0, 8.0, 32.0, 128.0], k) * noise.lognormal(k, 0.05, 0.3)
    raw["iostat/asvc_t"] = rng.choice([0.4, 0.7, 4.0, 7.0], k) * (1 + 0.1 * disk) * noise.lognormal(k, 0.1, 0.4)
    # Some disks queue now and then; the others never do.
    queues = rng.random((n, k)) < np.where(rng.random(k) < 0.25, 0.03, 0.0)
    raw["iostat/wait"] = np.where(queues, rng.gamma(2.0, 0.15, (n, k)), 0.0)


def _add_system(raw: Raw, plan: Plan, noise: _Noise, load: FloatArray) -> None:
    rng = noise.rng
    n = len(load)
    one = (n, 1)
    raw["vmstat/r"] = rng.poisson(np.minimum(plan.load * load * 30 * noise.lognormal(1, 0.1, 0.3), 500)).astype(np.float64)
    raw["vmstat/b"] = rng.poisson(rng.choice([0.05, 0.5]), one).astype(np.float64)
    raw["vmstat/w"] = np.zeros(one)
    slow = ar1(rng, plan, np.array([3 * plan.memory_s, 3 * plan.memory_s]))
    raw["vmstat/swap"] = 9.0e7 * (1 + 0.004 * slow[:, :1])
    raw["vmstat/free"] = 3.0e7 * (1 + rng.uniform(0.003, 0.06) * slow[:, 1:]) * (1 + 0.001 * rng.standard_normal(one))
    raw["vmstat/re"] = noise.rate(40 * load * noise.lognormal(1, 0.3, 0.6))
    raw["vmstat/pi"] = noise.rate(np.full(one, 10 ** rng.uniform(-2, 0))) * 8
    for field in ("po", "fr", "de", "sr"):
        raw[f"vmstat/{field}"] = np.zeros(one)
    rare = rng.random(one) < rng.choice([0.0, 0.002])
    raw["vmstat/sr"][rare] = rng.integers(10, 2000, int(rare.sum()))


def _add_processes(raw: Raw, plan: Plan, noise: _Noise, load: FloatArray) -> None:
    rng = noise.rng
    k, n = N_PROCESSES, len(load)
    raw["prstat/cpu"] = 10 ** rng.uniform(-1, 1.3, k) * load * noise.lognormal(k, 0.2, 0.6)
    # Memory is taken and given back in pieces: flat mostly, then a step.
    pieces = np.round(rng.uniform(0.3, 3, k) * ar1(rng, plan, np.full(k, plan.memory_s)))
    raw["prstat/rss"] = 10 ** rng.uniform(4, 6.8, k) * (1 + 0.004 * np.where(rng.random(k) < 0.3, 0.0, pieces))
    raw["prstat/nlwp"] = np.broadcast_to(rng.integers(1, 200, k), (n, k)).astype(np.float64)
    raw["prstat/faults"] = noise.rate(10 ** rng.uniform(-1, 2, k) * load * noise.lognormal(k, 0.3, 0.7))


def _add_interfaces(raw: Raw, noise: _Noise, net: FloatArray) -> None:
    rng = noise.rng
    k, n = N_INTERFACES, len(net)
    packets = 10 ** rng.uniform(0, 4, k) * net
    raw["nicstat/ipkts"] = noise.rate(packets * noise.lognormal(k, 0.1, 0.4))
    raw["nicstat/opkts"] = noise.rate(packets * rng.uniform(0.5, 1.2, k) * noise.lognormal(k, 0.1, 0.4))
    raw["nicstat/packet_kb"] = rng.uniform(0.1, 1.2, k) * noise.lognormal(k, 0.02, 0.1)
    raw["nicstat/ierrs"], raw["nicstat/oerrs"] = np.zeros((n, k)), np.zeros((n, k))
    rare = rng.random((n, k)) < rng.choice([0.0, 0.001])
    raw["nicstat/ierrs"][rare] = 1.0


def _add_jobs(raw: Raw, rng: np.random.Generator, plan: Plan) -> None:
    """A few cron jobs: a process, a disk, and a CPU, or one of a few that the baseline has seen it on."""
    runs = np.floor(plan.times / JOB_PERIOD_S).astype(np.int64)
    n_runs = len(np.unique(runs[: plan.n_baseline]))
    for _ in range(int(rng.integers(1, 4))):
        share = job_share(plan, rng.uniform(0, 200), rng.uniform(5, 60))
        homes = rng.choice(N_CPUS, max(1, min(4, n_runs // 12)), replace=False)
        cpus = homes[np.random.default_rng(rng.integers(1 << 32)).integers(0, len(homes), runs[-1] - runs[0] + 1)[runs - runs[0]]]
        raw["mpstat/usr"][np.arange(len(runs)), cpus] += share * rng.uniform(30, 90)
        raw["mpstat/syscl"][np.arange(len(runs)), cpus] += share * rng.uniform(500, 20000)
        disk, process = int(rng.integers(N_DISKS)), int(rng.integers(N_PROCESSES))
        field = rng.choice(["iostat/r", "iostat/w"])
        raw[field][:, disk] += share * rng.uniform(20, 600)
        raw["prstat/cpu"][:, process] += share * rng.uniform(1, 15)


def print_tools(raw: Raw, plan: Plan) -> tuple[list[str], FloatArray]:
    """What the tools print of it: names and rounded values. Shape: (n_series, n_times)."""
    shown = dict(raw)
    digits = plan.percent_decimals
    usr: FloatArray = np.clip(raw["mpstat/usr"], 0, 100).round(digits)
    sys: FloatArray = np.clip(raw["mpstat/sys"], 0, 100 - usr).round(digits)
    wt: FloatArray = np.clip(raw["mpstat/wt"], 0, 100 - usr - sys).round(digits)
    shown |= {"mpstat/usr": usr, "mpstat/sys": sys, "mpstat/wt": wt, "mpstat/idl": np.round(100 - usr - sys - wt, digits)}
    _print_disks(shown, raw)
    shown["vmstat/mf"] = raw["mpstat/minf"].sum(axis=1, keepdims=True)
    for field, part in (("in", "intr"), ("sy", "syscl"), ("cs", "csw")):
        shown[f"vmstat/{field}"] = raw[f"mpstat/{part}"].sum(axis=1, keepdims=True)
    for field, shares in (("cpu_us", usr), ("cpu_sy", sys), ("cpu_id", shown["mpstat/idl"])):
        shown[f"vmstat/{field}"] = shares.mean(axis=1, keepdims=True)
    size = shown.pop("nicstat/packet_kb")
    shown["nicstat/rkb"], shown["nicstat/wkb"] = raw["nicstat/ipkts"] * size, raw["nicstat/opkts"] * size
    shown["nicstat/util"] = np.minimum(100.0, (shown["nicstat/rkb"] + shown["nicstat/wkb"]) / 1200.0)
    names, rows = [], []
    instances = {
        "mpstat": [str(number) for number in range(N_CPUS)],
        "iostat": [f"sd{number}" for number in range(N_DISKS)],
        "vmstat": [""],
        "prstat": [f"{1000 + 37 * number}" for number in range(N_PROCESSES)],
        "nicstat": [f"net{number}" for number in range(N_INTERFACES)],
    }
    for key in sorted(shown):
        stat, field = key.split("/")
        decimals = digits if field in {"usr", "sys", "wt", "idl"} else DECIMALS.get(key, 1 if stat == "iostat" else 0)
        rows.append(np.maximum(0.0, np.round(shown[key], decimals)).T)
        names += [f"{stat}/{instance}/{field}" if instance else f"{stat}/{field}" for instance in instances[stat]]
    return names, np.concatenate(rows)


def _print_disks(shown: Raw, raw: Raw) -> None:
    r, w = np.round(np.maximum(0, raw["iostat/r"]), 1), np.round(np.maximum(0, raw["iostat/w"]), 1)
    read_kb, write_kb = shown.pop("iostat/read_kb"), shown.pop("iostat/write_kb")
    shown["iostat/kr"], shown["iostat/kw"] = r * read_kb, w * write_kb
    is_used = ~(r + w == 0)
    shown["iostat/asvc_t"] = np.where(is_used, raw["iostat/asvc_t"], 0.0)
    shown["iostat/actv"] = (r + w) * shown["iostat/asvc_t"] / 1000
    shown["iostat/wsvc_t"] = np.where(is_used, 1000 * raw["iostat/wait"] / np.where(is_used, r + w, 1.0), 0.0)
    shown["iostat/pct_w"] = np.minimum(100.0, 100 * raw["iostat/wait"])
    shown["iostat/pct_b"] = 100 * (1 - np.exp(-shown["iostat/actv"]))
