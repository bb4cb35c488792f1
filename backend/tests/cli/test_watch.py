"""`normstat watch` prints what is on."""

from normstat.watch.watcher import Watcher
from tests.cli.commands import Commands
from tests.databases import Sessions, on_either_database
from tests.watch.live import at, send_mpstat

pytestmark = on_either_database


async def test_what_is_on_is_printed(sessions: Sessions, normstat: Commands) -> None:
    code, out, _ = await normstat("watch")
    assert (code, out.splitlines()[1]) == (0, "Nothing is watched yet.")
    await send_mpstat(sessions, "sun1", range(60), range(50, 60))
    await Watcher(sessions).run(at(60))
    code, out, err = await normstat("watch")
    assert (code, err) == (1, "")
    assert "red    sun1  Kernel mutexes  1" in out
    assert "smtx 900 /s, usr 10 %, sys 40 %" in out
    assert "lockstat -C" in out
    code, out, _ = await normstat("watch", "--history")
    assert (code, "lasts" in out) == (0, True)
    code, out, _ = await normstat("watch", "--csv")
    assert out.splitlines()[1].split(",")[1:4] == ["mutex", "sun1", "1"]
