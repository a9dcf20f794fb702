"""The served document against the service: no fault, no status that is not declared, no body off its schema.

The cases are generated from the document (schemathesis), seeded, against a service that has rows; what is learned
from one answer (an id, a cursor) is not used in the next, so each case stands alone.
"""

from __future__ import annotations

import contextlib
import uuid
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.conftest import PASSWORD, SERVICE_LOGIN, fresh_database, settings_for
from tests.support import LiveService, with_login

if TYPE_CHECKING:
    from collections.abc import Iterator

CASES_A_CALL = 150
"""For each call and each of the two kinds of data, fit and unfit."""
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
LEAST_CASES = 2000


@pytest.fixture(scope="module")
def live(cluster_url: str, template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    with fresh_database(cluster_url, template) as url:
        settings_ = settings_for(with_login(url, SERVICE_LOGIN, PASSWORD), tmp_path_factory.mktemp("openapi"))
        with LiveService(settings_) as service:
            service.designate("storefront")
            yield service


def test_every_answer_is_as_the_document_says(live: LiveService) -> None:
    schema = schemathesis.openapi.from_url(f"{live.url}/openapi.json")
    schema.config.generation.update(modes=[GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
    token = live.tokens["root"]
    ids = [live.reviewed()["id"], live.recorded()["id"], str(uuid.uuid4())]
    answered: Counter[str] = Counter()

    def call_once(case: Any) -> None:
        # Half of the cases about a row are about one that is there.
        if "agreement_id" in (case.path_parameters or {}) and answered.total() % 2:
            case.path_parameters["agreement_id"] = ids[answered.total() % len(ids)]
        headers = {"Authorization": f"Bearer {token}"}
        answer = case.call_and_validate(base_url=live.url, headers=headers, checks=CHECKS, timeout=20)
        answered[f"{case.method} {case.path} {answer.status_code}"] += 1

    for result in schema.get_all_operations():
        operation = result.ok()
        for mode in GenerationMode.POSITIVE, GenerationMode.NEGATIVE:
            with contextlib.suppress(Unsatisfiable):  # a call without parameters has no unfit data
                exhaust(operation, mode, call_once)
    print(*sorted(answered.items()), sep="\n")
    assert answered.total() >= LEAST_CASES
    # The cases reached what they are about: rows were written and read, and faults were told.
    for status in ("200", "201", "404", "422"):
        assert any(key.endswith(status) for key in answered)


def exhaust(operation: Any, mode: GenerationMode, call_once: Any) -> None:
    from hypothesis import given

    test = given(case=operation.as_strategy(generation_mode=mode))(call_once)
    configured = settings(
        max_examples=CASES_A_CALL, deadline=None, phases=[Phase.generate], database=None,
        suppress_health_check=list(HealthCheck),
    )(test)  # fmt: skip
    seed(20261130)(configured)()


def test_the_document_is_openapi_3_1_and_names_every_problem(live: LiveService) -> None:
    document = live.as_(None).get("/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    for path, item in document["paths"].items():
        for method, operation in item.items():
            for status, answer in operation["responses"].items():
                if int(status) >= 400:
                    assert set(answer["content"]) == {"application/problem+json"}, (method, path, status)
            assert operation["summary"]
    assert "HTTPValidationError" not in document["components"]["schemas"]
