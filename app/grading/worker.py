"""The process in which evidence is read and graded: `python -m app.grading.worker MEMORY_BYTES CPU_SECONDS`.

It talks to the service over the socket that is its standard input, in frames: eight bytes of length, then that many
bytes. A call is a frame of JSON, followed by a frame with the body where `call` takes one; each has one answer.
It is started with no credentials in its environment, and with no other way out: nothing that it reads is ever printed.
"""
# ruff: noqa: PLC0415 - the libraries are loaded by the first call, within the time that a start may take

from __future__ import annotations

import contextlib
import gc
import json
import os
import queue
import signal
import socket
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.grading.evidence import KINDS, Evidence

if TYPE_CHECKING:
    from collections.abc import Callable

NICE = 19
"""So that a heavy grading takes what the service leaves, and not the other way round."""


class _Desk:
    """What the worker knows between two calls: the evidence that it read last."""

    def __init__(self) -> None:
        self._items: list[list[Evidence]] = []

    def split(self, call: dict[str, Any], body: bytes) -> dict[str, Any]:
        """Parts the evidence of a body from the rest, and reads it."""
        from app.grading.read_evidence import EvidenceRefused, read_evidence
        from app.grading.split_body import NotJson, split_body

        self._items = []
        try:
            envelope, texts = split_body(body, batch=call["batch"])
        except NotJson as failure:
            return {"malformed": str(failure)}
        told: list[dict[str, Any]] = []
        for text in texts:
            try:
                read = read_evidence(text)
            except EvidenceRefused as refused:
                self._items.append([])
                told.append({"errors": refused.errors})
            else:
                self._items.append(read.items)
                told.append({"digest": read.digest, "kinds": [item.kind for item in read.items]})
        return {"envelope": envelope, "evidence": told}

    def grade(self, call: dict[str, Any], _body: bytes) -> dict[str, Any]:
        """Grades one item of what was read."""
        from app.grading.graders import grade_or_fail

        item = self._items[call["evidence"]][call["item"]]
        check = grade_or_fail(item, f"evidence/{call['item']}")
        return {"check": check.model_dump(mode="json")}

    def round(self, _call: dict[str, Any], body: bytes) -> dict[str, Any]:
        """Decides one round of a consensus."""
        from app.grading.read_evidence import EvidenceRefused
        from app.grading.rounds import decide_round
        from app.grading.split_body import NotJson, split_body

        try:
            split_body(body, batch=False)  # nothing is cut out here: it tells what is no JSON, as for any other body
            return {"decision": decide_round(body)}
        except NotJson as failure:
            return {"malformed": str(failure)}
        except EvidenceRefused as refused:
            return {"errors": refused.errors}

    def warm(self, _call: dict[str, Any], _body: bytes) -> dict[str, Any]:
        """Imports what the calls need."""
        from app.grading import graders, read_evidence, rounds, split_body

        del graders, read_evidence, rounds, split_body
        gc.collect()
        gc.freeze()
        return {"kinds": KINDS}


def main() -> None:
    """Serves calls until the service goes away."""
    memory_bytes, cpu_seconds = int(sys.argv[1]), int(sys.argv[2])
    channel = socket.socket(fileno=os.dup(0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is meant for the service, which ends its workers itself
    _give_way()
    _limit_memory(memory_bytes)
    gc.disable()  # millions of cells are read at once, none of them garbage; what is, is collected between calls
    desk = _Desk()
    calls: dict[str, Callable[[dict[str, Any], bytes], dict[str, Any]]] = {
        "warm": desk.warm,
        "split": desk.split,
        "grade": desk.grade,
        "round": desk.round,
    }
    frames: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(channel, frames), daemon=True).start()
    while True:
        call = json.loads(frames.get())
        body = frames.get() if call["body"] else b""
        _limit_cpu(cpu_seconds)
        answer = json.dumps(calls[call["call"]](call, body)).encode()
        del body
        channel.sendall(len(answer).to_bytes(8, "big") + answer)
        gc.collect()


def _receive(channel: socket.socket, frames: queue.SimpleQueue[bytes]) -> None:
    """Hands on what the service sends. When the service is gone, even killed, the worker goes too, whatever it does."""
    with contextlib.suppress(OSError, MemoryError), channel.makefile("rb") as stream:
        while len(head := stream.read(8)) == 8:
            frames.put(stream.read(int.from_bytes(head, "big")))
    os._exit(0)


def _give_way() -> None:
    """Whoever waits for a row goes first. On Linux a process that leads its session is weighed as a group of its own,
    and its niceness counts only within it; so the group is made nice as well, where there is such a thing."""
    with contextlib.suppress(OSError):
        os.nice(NICE)
    with contextlib.suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(NICE))


def _limit_memory(limit: int) -> None:
    if sys.platform != "win32":
        import resource

        # Data and not address space: Arrow and NumPy reserve far more addresses than they ever use.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def _limit_cpu(seconds: int) -> None:
    """The service kills a worker that takes too long; this holds where the service is gone and the worker is deep in
    code that lets no other thread run."""
    if sys.platform != "win32":
        import resource

        usage = resource.getrusage(resource.RUSAGE_SELF)
        used = int(usage.ru_utime + usage.ru_stime)
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        with contextlib.suppress(ValueError, OSError):
            # processor time runs faster than the clock where Arrow uses several processors at once
            limit = used + (seconds + 1) * (os.cpu_count() or 1)
            resource.setrlimit(resource.RLIMIT_CPU, (limit, hard))


if __name__ == "__main__":
    main()
