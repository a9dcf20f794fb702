"""What a call on grading can be refused for."""

from __future__ import annotations

from app.platform.problems import Problem


class GradingBusy(Problem):
    """Every worker is busy, and enough callers wait already."""

    slug, title, status = "grading-busy", "Too many gradings are under way", 503
    default_detail = "try again; sending the same request twice is safe"

    def __init__(self) -> None:
        super().__init__(headers={"Retry-After": "2"})


class EvidenceTooCostly(Problem):
    """Reading the body took more time or memory than a worker has."""

    slug, title, status = "evidence-too-costly", "The evidence takes too much to read", 413
    default_detail = "reading it took more time or memory than grading allows; send less evidence in one request"
