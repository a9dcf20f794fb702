"""One request with evidence: its body, the worker that it has, and what a crash or a cut-off costs it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import TypeAdapter

from app.grading.check import Check, failed
from app.grading.errors import EvidenceTooCostly
from app.grading.evidence import Kind  # noqa: TC001 - pydantic reads it
from app.grading.worker_pool import WorkerEnded
from app.platform.problems import FieldError, Invalid, MalformedJson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.grading.worker_pool import Loan, WorkerPool


@dataclass(frozen=True, slots=True)
class SentEvidence:
    """What is known of one evidence before it is graded. `errors`: pointers from its root, and what is wrong there."""

    digest: str | None = None
    kinds: tuple[Kind, ...] = ()
    errors: tuple[tuple[str, str], ...] = ()


class SplitText(NamedTuple):
    """The body without its evidence, and what is known of that."""

    envelope: str
    evidence: list[SentEvidence]


_SENT: TypeAdapter[list[SentEvidence]] = TypeAdapter(list[SentEvidence])


class Session:
    """Calls a worker for one request, and starts over with a fresh one where it ends."""

    def __init__(self, pool: WorkerPool, loan: Loan, body: bytes, *, batch: bool) -> None:
        self._pool = pool
        self._loan = loan
        self._body = body
        self._batch = batch
        self._held = False
        self._deadline = time.monotonic() + pool.request_timeout_s

    async def read(self) -> SplitText:
        """Reads the body. Raises `MalformedJson`, and `EvidenceTooCostly` where no worker can hold it."""
        try:
            answer = await self._read()
        except WorkerEnded:
            raise EvidenceTooCostly from None
        if "malformed" in answer:
            raise MalformedJson(answer["malformed"])
        return SplitText(answer["envelope"], _SENT.validate_python(answer["evidence"]))

    async def _read(self) -> dict[str, Any]:
        answer = await self._loan.call("split", self._body, batch=self._batch)
        self._held = True
        return answer

    async def grade(self, evidence: int, kinds: Sequence[Kind]) -> tuple[Check, ...]:
        """The checks of one evidence, by its index and the kinds of its items."""
        return tuple([await self._grade(evidence, item, kind) for item, kind in enumerate(kinds)])

    async def _grade(self, evidence: int, item: int, kind: Kind) -> Check:
        name = f"evidence/{item}"
        try:
            check = await self._check(evidence, item, name, kind)
        except WorkerEnded as ended:
            self._held = False
            if ended.cut_off:
                check = failed(name, kind, "timed_out", f"it took longer than {self._pool.timeout_s:g} s")
            else:
                check = failed(name, kind, "error", "the worker ended, at its memory limit or in a crash")
        self._pool.gradings.labels(kind, check.status).inc()
        return check

    async def _check(self, evidence: int, item: int, name: str, kind: Kind) -> Check:
        if time.monotonic() > self._deadline:
            return failed(name, kind, "timed_out", "the time for all checks of a request was used up before it")
        if not self._held:
            await self._read()
        answer = await self._loan.call("grade", evidence=evidence, item=item)
        return Check.model_validate(answer["check"])


async def decide_round(loan: Loan, body: bytes) -> dict[str, Any]:
    """One round of a consensus. Raises `MalformedJson`, `Invalid`, and `EvidenceTooCostly`."""
    try:
        answer = await loan.call("round", body)
    except WorkerEnded:
        raise EvidenceTooCostly from None
    if "malformed" in answer:
        raise MalformedJson(answer["malformed"])
    if "errors" in answer:
        raise Invalid(errors=[FieldError(detail, pointer=pointer) for pointer, detail in answer["errors"]])
    decision: dict[str, Any] = answer["decision"]
    return decision
