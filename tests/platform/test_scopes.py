"""Who may call what: every call, every scope, no token, a revoked one. Made from the routes: none can be forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx
import pytest
from fastapi.routing import APIRoute

from app.main import create_app
from app.platform.routing import SCOPES
from app.platform.tokens import Kind, Scope, TokenFile
from app.settings import Settings

if TYPE_CHECKING:
    from tests.support import LiveService

# What a call needs, as the design says it. A route that is not here fails the first test.
NEEDED: dict[tuple[str, str], frozenset[Scope]] = {
    ("POST", "/v1/agreements"): frozenset({Scope.RECORD}),
    ("POST", "/v1/agreements/batch"): frozenset({Scope.RECORD}),
    ("POST", "/v1/grade"): frozenset({Scope.RECORD}),
    ("POST", "/v1/consensus/rounds"): frozenset({Scope.RECORD}),
    ("GET", "/v1/agreements"): frozenset({Scope.READ}),
    ("GET", "/v1/agreements/{agreement_id}"): frozenset({Scope.READ}),
    ("GET", "/v1/agreements/{agreement_id}/history"): frozenset({Scope.READ}),
    ("PATCH", "/v1/agreements/{agreement_id}"): frozenset({Scope.REVIEW, Scope.RECORD, Scope.OUTCOME}),
    ("POST", "/v1/agreements/{agreement_id}/corrections"): frozenset({Scope.REVIEW}),
    ("GET", "/v1/lanes"): frozenset({Scope.READ}),
    ("GET", "/v1/lanes/{lane:path}"): frozenset({Scope.READ}),
}
OPEN = {
    ("GET", "/v1/public/agreements"),
    ("GET", "/v1/public/lanes"),
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/metrics"),
}


def routes() -> list[tuple[str, APIRoute]]:
    app = create_app(Settings(database_url="postgresql://nobody@localhost/none"))
    found: list[tuple[str, APIRoute]] = []
    for route in _flat(app.routes):
        if isinstance(route, APIRoute):
            found += [(method, route) for method in sorted(route.methods)]
    return found


def _flat(routes: Any) -> Any:
    """The routes of the app and of the routers that it includes."""
    for route in routes:
        inner = getattr(getattr(route, "original_router", None), "routes", None)
        yield from _flat(inner) if inner is not None else (route,)


ROUTES = routes()
IDS = [f"{method} {route.path}" for method, route in ROUTES]


def test_every_route_is_in_the_table() -> None:
    assert {(method, route.path) for method, route in ROUTES} == set(NEEDED) | OPEN


def request(service: LiveService, method: str, path: str, token: str | None) -> httpx.Response:
    address = path.replace("{agreement_id}", "00000000-0000-0000-0000-000000000000").replace("{lane:path}", "a/b")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    # The body is wrong on purpose: whoever is let in sees 404 or 422, and nothing is written.
    body = {"json": {"nonsense": 1}} if method in ("POST", "PATCH") else {}
    return httpx.request(method, service.url + address, headers=headers, trust_env=False, **body)


@pytest.mark.parametrize(("method", "route"), ROUTES, ids=IDS)
def test_a_call_lets_in_the_scopes_that_it_needs_and_no_other(
    service: LiveService, method: str, route: APIRoute
) -> None:
    needed = NEEDED.get((method, route.path), frozenset(Scope))
    tokens = TokenFile(service.settings.tokens_file)
    for scope in Scope:
        answer = request(service, method, route.path, tokens.new(f"only-{scope}", Kind.HUMAN, frozenset({scope})))
        assert (answer.status_code != 403) is (scope in needed), (scope, answer.text)
        assert answer.status_code != 401
    everything_else = frozenset(Scope) - needed
    if everything_else:
        answer = request(service, method, route.path, tokens.new("all-but", Kind.HUMAN, everything_else))
        assert answer.status_code == 403


@pytest.mark.parametrize(("method", "route"), ROUTES, ids=IDS)
def test_a_call_refuses_no_token_a_wrong_one_and_a_revoked_one(
    service: LiveService, method: str, route: APIRoute
) -> None:
    tokens = TokenFile(service.settings.tokens_file)
    revoked = tokens.new("gone", Kind.HUMAN, frozenset(Scope))
    assert request(service, method, route.path, revoked).status_code != 401
    tokens.revoke("gone")
    for token in (None, "agl_wrong", revoked, revoked[:-1], ""):
        answer = request(service, method, route.path, token)
        if (method, route.path) in OPEN:
            assert answer.status_code == 200
        else:
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"


def test_a_route_that_does_not_say_who_may_call_it_cannot_be_built() -> None:
    from fastapi import APIRouter

    from app.platform.routing import ApiRoute

    router = APIRouter(route_class=ApiRoute)
    with pytest.raises(RuntimeError, match="does not declare"):
        router.get("/open")(lambda: None)


def test_the_document_says_what_each_call_needs() -> None:
    document = create_app(Settings(database_url="postgresql://nobody@localhost/none")).openapi()
    for (method, path), scopes in NEEDED.items():
        operation = document["paths"][path.replace(":path", "")][method.lower()]
        assert operation[SCOPES] == sorted(scopes)
        assert {"401", "403"} <= set(operation["responses"])
