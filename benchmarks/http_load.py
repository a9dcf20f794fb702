"""A client that costs little: sockets in one epoll loop, requests made beforehand, answers not parsed."""

from __future__ import annotations

import selectors
import socket
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True, slots=True)
class Load:
    """What a run came to."""

    requests: int
    seconds: float
    latencies: tuple[float, ...]
    """Seconds, sorted."""
    client_cpu: float
    """Processor seconds that the client itself took."""

    @property
    def rate(self) -> float:
        """Requests per second."""
        return self.requests / self.seconds

    def percentile(self, share: float) -> float:
        """Seconds within which this share of the requests was answered."""
        return self.latencies[min(len(self.latencies) - 1, int(share * len(self.latencies)))]


def request(method: str, path: str, token: str, body: bytes = b"") -> bytes:
    """The bytes of an HTTP request on a connection that stays open."""
    head = f"{method} {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {token}\r\n"
    if body:
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"\r\n" + body


class Connection:
    """One client's connection."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.socket = socket.create_connection(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received = b""
        self._length = 0
        self.sent_at = 0.0

    def send(self, data: bytes) -> None:
        """Sends a request."""
        self._received, self._length = b"", 0
        self.sent_at = time.perf_counter()
        self.socket.sendall(data)

    def receive(self) -> bytes | None:
        """Reads what is there; the whole answer once it is whole, else None. Raises SystemExit unless it is a 2xx."""
        part = self.socket.recv(1 << 20)
        self._received = self._received + part if self._received else part
        if not self._length:
            head, blank, _ = self._received.partition(b"\r\n\r\n")
            if blank:
                if not part or head[9:10] != b"2":
                    raise SystemExit(f"the service answered {self._received[:2000]!r}")
                at = head.lower().index(b"content-length:") + 15
                self._length = len(head) + 4 + int(head[at:].split(b"\r\n", 1)[0])
        return self._received if self._length and len(self._received) >= self._length else None


def ask(address: tuple[str, int], data: bytes) -> bytes:
    """One request's whole answer."""
    connection = Connection(address)
    connection.send(data)
    while (answer := connection.receive()) is None:
        pass
    connection.socket.close()
    return answer


def load(address: tuple[str, int], make: Callable[[], Iterator[bytes]], clients: int, seconds: float) -> Load:
    """Keeps `clients` connections busy with the requests that `make` gives, each with one request under way."""
    requests = make()
    latencies: list[float] = []
    connections = [Connection(address) for _ in range(clients)]
    with selectors.DefaultSelector() as selector:
        for connection in connections:
            selector.register(connection.socket, selectors.EVENT_READ, connection)
        cpu, started = time.process_time(), time.perf_counter()
        for connection in connections:
            connection.send(next(requests))
        while (now := time.perf_counter()) < started + seconds:
            for key, _ in selector.select(1):
                connection = key.data
                if connection.receive() is not None:
                    now = time.perf_counter()
                    latencies.append(now - connection.sent_at)
                    connection.send(next(requests))
        elapsed, cpu = now - started, time.process_time() - cpu
    for connection in connections:
        connection.socket.close()
    return Load(len(latencies), elapsed, tuple(sorted(latencies)), cpu)
