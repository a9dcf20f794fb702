"""The worker processes: started when they are first needed, lent to one request at a time, replaced when they end.

A worker is a plain subprocess on one end of a socket pair, and not a `multiprocessing` child: it inherits no thread,
no descriptor and no credential of the service, and everything on this side is awaited, so that neither a large body
nor a slow grading holds the event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Self, cast

import structlog
from prometheus_client import Counter, Gauge

from app.grading.errors import GradingBusy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from prometheus_client import CollectorRegistry

    from app.settings import Settings

log = structlog.get_logger("agreement_log.grading")

START_TIMEOUT_S = 30.0
_CHUNK = 256 * 1024
# What a worker needs of the environment to find Python and its libraries; no token, no database address.
_ENVIRONMENT = ("PATH", "PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "TMPDIR")


class WorkerEnded(Exception):
    """The worker ended in the middle of a call: `cut_off` where it was stopped for taking too long."""

    def __init__(self, *, cut_off: bool) -> None:
        super().__init__("cut off" if cut_off else "died")
        self.cut_off = cut_off


class Worker:
    """One process. After a call that raised it is of no more use."""

    def __init__(
        self, process: subprocess.Popen[bytes], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.process = process
        self._reader, self._writer = reader, writer

    @classmethod
    async def start(cls, memory_bytes: int, cpu_seconds: int) -> Self:
        """A new worker, its libraries loaded. Raises `WorkerEnded`."""
        ours, theirs = socket.socketpair()
        with theirs:
            process = await asyncio.to_thread(_spawn, theirs, memory_bytes, cpu_seconds)
        ours.setblocking(False)
        worker = cls(process, *await asyncio.open_unix_connection(sock=ours))
        try:
            await worker.call("warm", timeout_s=START_TIMEOUT_S)
        except BaseException:
            await worker.end()
            raise
        return worker

    async def call(self, name: str, body: bytes | None = None, *, timeout_s: float, **arguments: Any) -> dict[str, Any]:
        """The answer to one call. Raises `WorkerEnded`."""
        try:
            async with asyncio.timeout(timeout_s):
                self._write(json.dumps({"call": name, "body": body is not None, **arguments}).encode())
                if body is not None:
                    await self._write_body(body)
                size = int.from_bytes(await self._reader.readexactly(8), "big")
                answer = await self._reader.readexactly(size)
        except TimeoutError:
            raise WorkerEnded(cut_off=True) from None
        except (OSError, EOFError):
            raise WorkerEnded(cut_off=False) from None
        return cast("dict[str, Any]", json.loads(answer))

    async def end(self) -> None:
        """Kills the process, which has nothing of its own to save, and waits until it is gone."""
        self._writer.close()
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        await asyncio.to_thread(self.process.wait)

    def _write(self, frame: bytes) -> None:
        self._writer.write(len(frame).to_bytes(8, "big") + frame)

    async def _write_body(self, body: bytes) -> None:
        # Piece by piece: handing over 32 MiB at once would hold the loop while it is copied.
        self._writer.write(len(body).to_bytes(8, "big"))
        for start in range(0, len(body), _CHUNK):
            self._writer.write(body[start : start + _CHUNK])
            await self._writer.drain()


def _spawn(channel: socket.socket, memory_bytes: int, cpu_seconds: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "app.grading.worker", str(memory_bytes), str(cpu_seconds)],
        stdin=channel.fileno(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
        start_new_session=True,
    )


class Loan:
    """A worker lent to one request. `worker` is a fresh one after the last one ended."""

    def __init__(self, pool: WorkerPool, idle: Worker | None) -> None:
        self._pool = pool
        self._worker = idle

    async def call(self, name: str, body: bytes | None = None, **arguments: Any) -> dict[str, Any]:
        """As `Worker.call`, within the time that one call may take."""
        if self._worker is None:
            self._worker = await self._pool.start()
        worker, self._worker = self._worker, None
        try:
            answer = await worker.call(name, body, timeout_s=self._pool.timeout_s, **arguments)
        except BaseException as failure:
            # Cancelled callers too: what the worker is in the middle of is nobody's any more.
            await self._pool.discard(worker, "cut_off" if getattr(failure, "cut_off", False) else "ended")
            raise
        self._worker = worker
        return answer

    def give_back(self) -> Worker | None:
        """The worker, if there is one still."""
        worker, self._worker = self._worker, None
        return worker


class WorkerPool:
    """As many workers as the settings say, and a queue before them."""

    def __init__(self, settings: Settings, registry: CollectorRegistry) -> None:
        self.timeout_s = settings.grading_timeout_s
        self.request_timeout_s = settings.grading_request_timeout_s
        self._settings = settings
        self._slots = asyncio.Semaphore(settings.grading_workers)
        self._limit = settings.grading_workers + settings.grading_queue
        self._admitted = 0
        self._idle: list[Worker] = []
        self._all: set[Worker] = set()
        self.gradings = Counter("agreement_log_gradings", "Checks made", ("kind", "status"), registry=registry)
        self._ended = Counter("agreement_log_grading_workers_ended", "Workers replaced", ("why",), registry=registry)
        Gauge("agreement_log_grading_workers", "Worker processes", registry=registry).set_function(
            lambda: len(self._all)
        )
        Gauge("agreement_log_gradings_admitted", "Requests that hold evidence", registry=registry).set_function(
            lambda: self._admitted
        )

    @asynccontextmanager
    async def admission(self) -> AsyncIterator[None]:
        """A place among the requests that may hold evidence in memory. Raises `GradingBusy` where there is none."""
        if self._admitted >= self._limit:
            raise GradingBusy
        self._admitted += 1
        try:
            yield
        finally:
            self._admitted -= 1

    @asynccontextmanager
    async def lend(self, *, held_bytes: int) -> AsyncIterator[Loan]:
        """A worker, as soon as one is free. Raises `GradingBusy` where that takes longer than a request's checks may.

        `held_bytes`: how large a body it will read. One that read a large body is not kept: its memory would be.
        """
        try:
            async with asyncio.timeout(self.request_timeout_s):
                await self._slots.acquire()
        except TimeoutError:
            raise GradingBusy from None
        loan = Loan(self, await self._take_idle())
        try:
            yield loan
        finally:
            worker = loan.give_back()
            try:
                if worker is not None and held_bytes > self._settings.max_body_bytes:
                    await self.discard(worker, "large_body")
                elif worker is not None:
                    self._idle.append(worker)
            finally:
                self._slots.release()

    async def _take_idle(self) -> Worker | None:
        while self._idle:
            worker = self._idle.pop()
            if worker.process.poll() is None:
                return worker
            await self.discard(worker, "ended")
        return None

    async def start(self) -> Worker:
        """A new worker. Raises `GradingBusy` where it does not come up: the machine lacks memory or time."""
        try:
            worker = await Worker.start(self._settings.grading_memory_bytes, int(self.timeout_s) + 1)
        except WorkerEnded:
            self._ended.labels("not_started").inc()
            raise GradingBusy from None
        self._all.add(worker)
        return worker

    async def discard(self, worker: Worker, why: str) -> None:
        """Ends a worker; the next that is needed takes its place."""
        self._all.discard(worker)
        self._ended.labels(why).inc()
        await worker.end()
        log.info("grading worker ended", why=why, exit_code=worker.process.returncode)

    async def close(self) -> None:
        """Ends all workers: the service stops, and its requests have been answered."""
        workers, self._all = self._all, set()
        self._idle.clear()
        await asyncio.gather(*(worker.end() for worker in workers))
