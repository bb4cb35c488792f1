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
