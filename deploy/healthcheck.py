"""Asks the service in this container for one path, and exits 0 when the answer is 200.

Standard library alone, and no proxy: it must cost little, and a proxy setting of the container must not answer for
the service. What it prints is shown by `docker inspect`.
"""

from __future__ import annotations

import http.client
import os
import sys


def main(path: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", int(os.environ.get("AGREEMENT_LOG_PORT", "8000")), timeout=3)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        print(answer.status, answer.read(2000).decode(errors="replace"))
    except OSError as error:
        print(f"no answer: {error}")
        return 1
    return 0 if answer.status == 200 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
