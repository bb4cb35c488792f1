#!/opt/normstat-server/bin/python3 -I
"""Ask the server of this container whether it and its database answer; exit status 1 when not."""

import os
import ssl
import sys
import urllib.error
import urllib.request

scheme = "https" if os.environ.get("NORMSTAT_TLS_CERT") else "http"
# Its certificate is made out to another name than this one.
context = ssl._create_unverified_context()  # noqa: S323, SLF001
try:
    with urllib.request.urlopen(f"{scheme}://127.0.0.1:8080/api/v1/health", timeout=4, context=context):
        pass
except OSError as error:
    sys.exit(f"normstat-health: {error}")
