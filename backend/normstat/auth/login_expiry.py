"""How long logins are kept. Without the libraries that check them, which a server that no one logs in to does not load."""

from datetime import timedelta
from typing import Final

from normstat.auth import account_rows, join_token_rows
from normstat.auth.access import Sessions
from normstat.auth.throttle import delete_old_attempts
from normstat.db.session import open_write_session
from normstat.records import share_link_rows

# For this long, an expired link is reported as used or too old instead of unknown.
KEEP_LINKS: Final = timedelta(days=7)
# How long a browser is remembered after its last login.
KEEP_BROWSERS: Final = timedelta(days=180)
# For this long, ended join tokens and share links, and agent tokens that were replaced, stay in the lists.
KEEP_TOKENS: Final = timedelta(days=30)


async def delete_expired_logins(sessions: Sessions) -> None:
    """Delete ended sessions, old links and tokens, browsers that have not logged in for long, and old counts of attempts.

    A periodic job.
    """
    async with open_write_session(sessions) as session:
        await account_rows.delete_expired(session, keep_links=KEEP_LINKS, keep_browsers=KEEP_BROWSERS)
        await join_token_rows.delete_old(session, keep=KEEP_TOKENS)
        await share_link_rows.delete_old(session, keep=KEEP_TOKENS)
    await delete_old_attempts(sessions)
