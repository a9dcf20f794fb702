"""JSON in: strict, with every digit, and total."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.platform.json_response import to_json
from app.platform.problems import Invalid, MalformedJson, pointer_to
from app.platform.strict_json import UNFIT, parse_json, read_json

DEPTH = 20
TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]))
NUMBERS = st.integers() | st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30)
VALUES = st.recursive(
    st.none() | st.booleans() | TEXT | NUMBERS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_what_is_written_is_read_back_to_the_last_digit(value: Any) -> None:
    text = to_json(plain(value))
    for read in (parse_json(text, max_depth=100), read_json(text), read_json(text.decode())):
        assert read == value
        assert to_json(read) == text


def plain(value: Any) -> Any:
    """orjson writes integers of 64 bits; longer ones travel as Decimal, as they do in the service."""
    match value:
        case bool():
            return value
        case int():
            return Decimal(value)
        case list():
            return [plain(one) for one in value]
        case dict():
            return {key: plain(one) for key, one in value.items()}
        case _:
            return value


@given(st.binary() | st.text().map(str.encode) | st.text('[]{}",:0123456789.eE-tfn ').map(str.encode))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    try:
        parse_json(body, max_depth=DEPTH)
    except (MalformedJson, Invalid) as problem:
        document = json.loads(problem.response().body)  # the refusal itself can be sent
        if document["status"] not in (400, 422):
            raise


@given(
    st.lists(st.text(min_size=1).filter(lambda key: not UNFIT.search(key)) | st.integers(0, 3), min_size=1, max_size=8)
)
def test_the_pointer_leads_to_the_fault(path: list[str | int]) -> None:
    document: Any = "\x00"
    for part in reversed(path):
        document = [0] * part + [document] if isinstance(part, int) else {part: document}
    with pytest.raises(Invalid) as refused:
        parse_json(json.dumps(document).encode(), max_depth=DEPTH)
    [error] = refused.value.errors
    assert error.pointer == pointer_to(path)
    assert walk(document, error.pointer) == "\x00"


def walk(document: Any, pointer: str) -> Any:
    """What a JSON pointer points at, by RFC 6901."""
    for token in pointer.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        document = document[int(name)] if isinstance(document, list) else document[name]
    return document


def test_a_fault_is_told_with_its_place_in_the_text() -> None:
    with pytest.raises(MalformedJson, match=r"line 2, column 8"):
        parse_json(b'{\n  "a": canary}', max_depth=DEPTH)


def test_many_faults_are_told_at_once_and_not_without_end() -> None:
    with pytest.raises(Invalid) as refused:
        parse_json(json.dumps(["\x00"] * 500).encode(), max_depth=DEPTH)
    assert len(refused.value.errors) == 100
