"""`make screenshot`: the pictures of docs/, made from `normstat demo` by frontend/e2e/demo.pictures.ts."""

import os
import re
import signal
import subprocess
import sys
import tempfile

from tests.e2e.page import BROWSERS, find_browser
from tests.e2e.product import CHECKOUT, free_port, wait_until

LINK = re.compile(r"http://\S+/login#token=\S+")
# A busy machine takes minutes to fill the demo.
START_S = 600.0


def main() -> int:
    browser = find_browser()
    if browser is None:
        print(f"neither of {' and '.join(BROWSERS)} is installed", file=sys.stderr)
        return 1
    command = [sys.executable, "-m", "normstat", "demo", "--port", str(free_port())]
    with tempfile.TemporaryFile() as output:
        demo = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)

        def said() -> str:
            output.seek(0)
            return output.read().decode()

        try:
            wait_until(lambda: LINK.search(said()) is not None or demo.poll() is not None, "the demo runs", START_S)
            link = LINK.search(said())
            if link is None:
                print(said(), file=sys.stderr)
                return 1
            take = ["npm", "--prefix", str(CHECKOUT / "frontend"), "exec", "--", "playwright", "test"]
            take += ["--config", str(CHECKOUT / "frontend/e2e/pictures.config.ts")]
            environment = os.environ | {"LOGIN_LINK": link[0], "PICTURES": str(CHECKOUT / "docs"), "CHROMIUM": browser}
            return subprocess.run(take, env=environment, cwd=CHECKOUT / "frontend", check=False).returncode
        finally:
            demo.send_signal(signal.SIGINT)
            demo.wait()


if __name__ == "__main__":
    sys.exit(main())
