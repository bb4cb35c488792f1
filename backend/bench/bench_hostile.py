"""What hostile lines cost each reader: seconds for a line of n bytes and of twice as many; a ratio far above 2 is no linear reader.

Run: python bench/bench_hostile.py [KiB] [spec ...]. Lines end below the limit of 1 MiB, beyond which no reader looks at them. The
last lines of the output give the guess of a file and 50 MB without a newline.
"""

import sys
import time
from pathlib import Path

from normstat.stats.catalogue import load_catalogue
from normstat.stats.guess import guess_spec
from normstat.stats.readers import read
from normstat.stats.spec import Spec

PATTERNS = {
    "x": b"x",
    "digits": b"7",
    "words": b"7 ",
    "text": b"ab ",
    "blanks": b" ",
    "tabs": b"\t",
    "dashes": b"-",
    "rules": b"--- ",
    "bars": b"|",
    "at": b"@[a",
    "brackets": b"[1, 2) ",
    "parens": b"(",
    "close": b")",
    "braces": b'{"a":[',
    "colons": b"a:",
    "clocks": b"12:00:00 ",
    "percents": b"1.0% ",
    "equals": b"a=1 ",
    "semicolons": b"1;",
    "commas": b"1,234,",
    "dots": b"1.2.",
    "ticks": b"a`b+0x1 ",
    "stars": b"*",
    "arrows": b"1 -> 2 : ",
    "units": b"1.0 us ",
    "quotes": b'"',
    "backslash": b"\\",
    "zzz": b"zzz ***",
    "hash": b"# ",
}
SLOW_S = 0.2


def seconds(spec: Spec, data: bytes) -> float:
    """The time of one reading."""
    started = time.process_time()
    read(spec, data, state={}, offset=0, is_final=True)
    return time.process_time() - started


def beginning(spec: Spec) -> bytes:
    """A little of a real output, so that the hostile line stands where rows are expected."""
    golden = Path(__file__).parent.parent / "tests" / "golden"
    files = sorted(golden.glob(f"*/{spec.name}/*.txt"), key=lambda path: path.name)
    return files[0].read_bytes()[:1500].rpartition(b"\n")[0] + b"\n" if files else b""


def main() -> None:
    """Prints what is slow or grows too fast, and the worst of each spec."""
    size = int(sys.argv[1]) * 1024 if len(sys.argv) > 1 else 200 * 1024
    names = sys.argv[2:]
    n_bad = 0
    for spec in load_catalogue().specs.values():
        if names and spec.name not in names:
            continue
        head = beginning(spec)
        worst = (0.0, 0.0, "")
        for name, part in PATTERNS.items():
            line = part * (size // len(part))
            once = seconds(spec, head + line + b"\n")
            if once > SLOW_S * size / 200_000:
                twice = seconds(spec, head + line * 2 + b"\n")
                n_bad += twice > 3 * once
                print(
                    f"{spec.name:28} {name:12} {once:8.3f} s, twice as long: {twice:8.3f} s, {twice / once:5.1f} times", flush=True
                )
            worst = max(worst, (once, 0.0, name))
        print(f"{spec.name:28} worst {worst[0]:8.3f} s for {size // 1024} KiB of {worst[2]}", flush=True)
    for name, part in PATTERNS.items():
        started = time.process_time()
        guess_spec(part * (1_000_000 // len(part)))
        spent = time.process_time() - started
        if spent > 1:
            print(f"guess: {spent:.2f} s for 1 MB of {name}")
    spec = load_catalogue().specs["vmstat_linux"]
    print(f"50 MB without a newline: {seconds(spec, b'7 ' * 25_000_000):.2f} s; {n_bad} cases grow more than linearly")


if __name__ == "__main__":
    main()
