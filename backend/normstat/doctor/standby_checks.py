"""Checks of the standby that large reads go to. Pure."""

from typing import Final

from normstat.db.standby import LagGauge, StandbyPosition, StandbyState, judge
from normstat.doctor.check_result import CheckResult, error, ok, warning

CHECK: Final = "standby"


def check_standby(found: StandbyPosition | str, max_lag_s: float) -> CheckResult:
    """Check the standby that NORMSTAT_DATABASE_READ_URL names. `found`: where it is, or why it does not answer."""
    fallback = "graphs, comparisons and exports are read from the primary meanwhile"
    if isinstance(found, str):
        advice = "start the standby, or correct NORMSTAT_DATABASE_READ_URL"
        return error(CHECK, f"it does not answer: {found}; {fallback}", "it answers", advice)
    lag_s = LagGauge().measure(found, 0.0)
    judged = judge(found, lag_s, max_lag_s)
    if judged.state is StandbyState.USED:
        return ok(CHECK, f"{_lag(found, lag_s)}; graphs, comparisons and exports are read from it")
    if judged.state is StandbyState.BEHIND and lag_s is not None:
        expected = f"at most {max_lag_s:g} s (NORMSTAT_DATABASE_READ_MAX_LAG_S)"
        advice = "see pg_stat_replication on the primary, and long queries or slow disks of the standby"
        return warning(CHECK, f"{_lag(found, lag_s)}; {fallback}", expected, advice)
    return error(
        CHECK, f"{judged.message}; {fallback}", "a standby of the database in NORMSTAT_DATABASE_URL", "correct the two URLs"
    )


def _lag(found: StandbyPosition, lag_s: float | None) -> str:
    return f"the standby is {lag_s or 0:.0f} s ({found.lag_bytes or 0:,} bytes of log) behind"
