"""Add-ons as people write them, for tests: dim_STAT's two worked examples, `app_time 10` and `app_user 10`."""

APP_USER = r"""
name = "app_user"
tool = "app_user"
os = "any"
title = "Users of the application"
commands = ["app_user 10"]
reader = "columns"

[layout]
ignored = ['^.{0,3}$']

[[layout.tables]]
stat = "app_user"
header = ["User", "Calls", "Wait"]
instance = ["User"]
time = "line"

[[stats]]
name = "app_user"
title = "Users of the application"
instance_title = "user"

[[stats.fields]]
key = "calls"
column = "Calls"
group = ""
unit = ""
kind = "gauge"
worse = "neither"
storage = "float8"
help = "Calls."
source = "app_user"

[[stats.fields]]
key = "wait"
column = "Wait"
group = ""
unit = "ms"
kind = "gauge"
worse = "higher"
decimals = 1
help = "Wait."
source = "app_user"
"""


def app_user_text(n_reports: int, users: int = 3, start_s: int = 1_795_262_400) -> bytes:
    """Reports every ten seconds: an epoch line, a header, a line for each user; their number varies."""
    parts = []
    for number in range(n_reports):
        rows = "".join(f"user{user} {number * 10 + user} {user}.{number % 10}\n" for user in range(1 + number % users))
        parts.append(f"{start_s + 10 * number}\nUser Calls Wait\n{rows}")
    return "".join(parts).encode()


TIMINGS = ("login", "search", "order", "pay", "mail", "logout")


def app_time_spec() -> str:
    """Six timings a line, without a header."""
    fields = "".join(
        f"""
[[stats.fields]]
key = "{name}_s"
column = "{name}"
group = ""
unit = "s"
kind = "gauge"
worse = "higher"
decimals = 2
help = "How long a {name} took."
source = "app_time"
"""
        for name in TIMINGS
    )
    return f"""
name = "app_time"
tool = "app_time"
os = "any"
title = "Response times"
commands = ["app_time 10"]
reader = "fixed_columns"

[layout]
stat = "app_time"
columns = [{", ".join(f'"{name}"' for name in TIMINGS)}]

[[stats]]
name = "app_time"
title = "Response times"
{fields}
[[stats.panels]]
key = "times"
title = "Response times"
section = "other"
fields = ["login_s", "search_s"]
"""


def app_time_text(n_reports: int, start_s: int = 1_795_262_400, *, slow: float = 0.0) -> bytes:
    """A line each ten seconds, the time on a line before it."""
    rows = (
        f"{start_s + 10 * number}\n" + " ".join(f"{timing / 10 + number % 7 / 100 + slow:.2f}" for timing in range(6)) + "\n"
        for number in range(n_reports)
    )
    return "".join(rows).encode()
