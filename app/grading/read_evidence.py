"""Evidence from its text: values, shapes, digest. A refusal names places and rules, and nothing that stood there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from app.core.tagged_json import TaggedJsonRefused, read_tagged_json
from app.grading import evidence, round_body
from app.grading.evidence_digest import evidence_digest

if TYPE_CHECKING:
    from collections.abc import Iterable

T = TypeVar("T")
_EVIDENCE: TypeAdapter[list[evidence.Evidence]] = TypeAdapter(evidence.EvidenceList)


def _names() -> frozenset[str]:
    models = [m for module in (evidence, round_body) for m in vars(module).values() if isinstance(m, type)]
    fields = [m.model_fields for m in models if issubclass(m, BaseModel)]
    return frozenset(info.alias or name for of_model in fields for name, info in of_model.items())


# What a pointer may be made of. Every other key (a file's name, a column, a field nobody knows) may be a secret.
_NAMES = _names()


class ReadEvidence(NamedTuple):
    """Evidence, ready to be graded."""

    items: list[evidence.Evidence]
    digest: str


class EvidenceRefused(ValueError):
    """Evidence that cannot be taken. `errors` are pairs: a JSON pointer from its root, and what is wrong there."""

    def __init__(self, errors: Iterable[tuple[str, str]]) -> None:
        super().__init__("the evidence cannot be taken")
        self.errors = tuple(dict(errors).items())


def read_evidence(text: str) -> ReadEvidence:
    """The items of evidence that `text`, a JSON array, spells. Raises `EvidenceRefused`.

    >>> read_evidence('[{"kind": "number", "expected": 1, "actual": 1}]').items[0].kind
    'number'
    """
    value = _read(text)
    items = _shaped(_EVIDENCE, value)
    try:
        return ReadEvidence(items, evidence_digest(value))
    except RecursionError:
        raise EvidenceRefused([("", "is nested too deep")]) from None


def read_round(text: bytes) -> round_body.RoundBody:
    """One round of a consensus. Raises `EvidenceRefused`."""
    return _shaped(TypeAdapter(round_body.RoundBody), _read(text))


def _read(text: str | bytes) -> Any:
    try:
        return read_tagged_json(text)
    except TaggedJsonRefused as refused:
        raise EvidenceRefused([("", str(refused))]) from None


def _shaped(adapter: TypeAdapter[T], value: Any) -> T:
    try:
        return adapter.validate_python(value)
    except ValidationError as failure:
        found = failure.errors(include_url=False, include_context=False, include_input=False)
        raise EvidenceRefused(
            (_pointer(error["loc"]), _detail(error["type"], error["msg"])) for error in found
        ) from None


def _pointer(path: Iterable[str | int]) -> str:
    parts: list[str] = []
    for part in path:
        if isinstance(part, str) and part in evidence.KINDS:
            continue  # not a key: pydantic's name for a branch of the union
        if isinstance(part, str) and part not in _NAMES:
            break
        parts.append(f"/{part}")
    return "".join(parts)


def _detail(kind: str, message: str) -> str:
    # The one kind of message that quotes what it read.
    if kind.startswith("union_tag"):
        return f"must be an object whose kind is one of {', '.join(evidence.KINDS)}"
    return message.removeprefix("Value error, ")
