"""`make test-e2e`: the built page in a real browser, on a real server, with an hour replayed by the real agent and this host live.

The browser tests are in frontend/e2e; they get what they need by environment: BASE_URL, LOGIN_LINK, OIDC_ISSUER, REPLAY_HOST,
REPLAY_START, BASELINE_START, BASELINE_END, INCIDENT_START, INCIDENT_END (ISO 8601), LIVE_HOST, CHROMIUM (the browser), and
SCREENSHOT_DIR to keep screenshots. Arguments go to Playwright: `python -m tests.e2e.page story` runs the tests of one file.
"""

import contextlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from normstat.server.embedded import EmbeddedPostgres
from tests.auth.provider import CLIENT_ID, CLIENT_SECRET, running_provider
from tests.e2e.product import CHECKOUT, Server, running_agent, wait_until
from tests.e2e.replay import Story, make_story, write_captures

# The first one that is installed; the one without windows takes half the CPU for a page.
BROWSERS = ("chromium-headless-shell", "chromium")

# What the live host records. All tools that the agent knows, each second, would take more CPU than the pages that show them.
LIVE_STATS = "vmstat_linux\tvmstat -t 1\n"


def instant(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


def environment_of(story: Story, server: Server) -> dict[str, str]:
    return {
        "BASE_URL": server.url,
        "LOGIN_LINK": server.normstat("login-link"),
        "OIDC_ISSUER": server.environment["NORMSTAT_OIDC_ISSUER"],
        "REPLAY_HOST": story.host,
        "REPLAY_START": instant(story.start),
        "BASELINE_START": instant(story.start + timedelta(minutes=5)),
        "BASELINE_END": instant(story.incident_start - timedelta(minutes=5)),
        "INCIDENT_START": instant(story.incident_start),
        "INCIDENT_END": instant(story.incident_end),
        "LIVE_HOST": platform.node(),
    }


def settings_of(issuer: str) -> dict[str, str]:
    """Return settings with a login provider, and a key for secrets of second factors."""
    return {
        "NORMSTAT_SECRET_KEY": "0123456789abcdef" * 4,
        "NORMSTAT_OIDC_ISSUER": issuer,
        "NORMSTAT_OIDC_CLIENT_ID": CLIENT_ID,
        "NORMSTAT_OIDC_CLIENT_SECRET": CLIENT_SECRET,
        "NORMSTAT_OIDC_OPERATOR_GROUPS": "ops",
        "NORMSTAT_OIDC_LABEL": "Company",
    }


@contextlib.contextmanager
def filled_server(folder: Path) -> Iterator[tuple[Server, Story]]:
    """A server with an hour replayed by the real agent, and with this host live."""
    story = make_story(datetime.now(UTC))
    stats = write_captures(story, folder / "captures")
    with contextlib.ExitStack() as stack:
        postgres = EmbeddedPostgres(folder, print)
        stack.callback(postgres.stop)
        postgres.start()
        os.environ["NORMSTAT_PAGE_DIR"] = str(CHECKOUT / "frontend/dist")
        settings = settings_of(stack.enter_context(running_provider()))
        server = Server(postgres.url, folder / "server.log", settings=settings)
        server.normstat("migrate")
        stack.enter_context(server)
        token = server.normstat("agent-token", "create", "page tests")
        spool = stack.enter_context(running_agent(server.url, token, folder / "replay", stats, host=story.host))
        stack.enter_context(running_agent(server.url, token, folder / "live", LIVE_STATS, host=platform.node()))
        client = stack.enter_context(server.log_in())

        def is_all_there() -> bool:
            answer = client.get(f"/hosts/{story.host}")
            n_acked = sum(s["acked_offset"] for s in answer.json()["streams"]) if answer.status_code == 200 else 0
            sizes = [path.stat().st_size for path in (folder / "captures").glob("*.txt")]
            return len(list(spool.glob("*.raw"))) == len(sizes) and n_acked == sum(sizes)

        wait_until(is_all_there, "the replayed hour is on the server", 120)
        yield server, story


def find_browser() -> str | None:
    """Return the path of the browser that runs the tests: that of the variable CHROMIUM, or the first that is installed."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)


def run(folder: Path, browser: str) -> int:
    with filled_server(folder) as (server, story):
        command = ["npm", "--prefix", str(CHECKOUT / "frontend"), "run", "--silent", "e2e", "--", *sys.argv[1:]]
        environment = os.environ | environment_of(story, server) | {"CHROMIUM": browser}
        return subprocess.run(command, env=environment, check=False).returncode


def main() -> int:
    browser = find_browser()
    if browser is None:
        missing = f"neither of {' and '.join(BROWSERS)} is installed"
        if os.environ.get("NORMSTAT_REQUIRE_ALL") == "1":
            print(f"page tests: {missing}", file=sys.stderr)
            return 1
        print(f"skipped: page tests, {missing}")
        return 0
    folder = Path(tempfile.mkdtemp(prefix="normstat-page-"))
    folder.chmod(0o755)  # the database's account must get through
    try:
        status = run(folder, browser)
        if status != 0:
            print((folder / "server.log").read_text()[-2000:], file=sys.stderr)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
