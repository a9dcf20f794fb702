"""What every call has in common: who may make it, which problems it can answer, and how its body is read.

A route says so with `**declare(…)`. One that does not cannot be built, so a call cannot be left open by accident.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

from fastapi import Depends, Request
from fastapi.routing import APIRoute
from pydantic import TypeAdapter, ValidationError

from app.platform import problems
from app.platform.read_body import read_body
from app.platform.service import Service
from app.platform.strict_json import parse_json
from app.platform.tokens import Principal, Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Coroutine, Mapping

    from pydantic import BaseModel
    from starlette.responses import Response

T = TypeVar("T")

SCOPES = "x-scopes"
"""The OpenAPI extension that holds the scopes, one of which is needed; empty for a call that needs no token."""

COMPONENTS = "x-components"
"""Schemas that a body refers to, on their way into the document's components."""

PUBLIC: frozenset[Scope] = frozenset()


def declare(
    access: Collection[Scope],
    *answers: type[problems.Problem],
    also: Mapping[int, tuple[str, type[BaseModel]]] | None = None,
    body: Any = None,
) -> dict[str, Any]:
    """The keyword arguments of a route: `access`, one of these scopes is needed (`PUBLIC`: no token); `answers`, the
    problems that it can answer besides those that follow from the access; `also`, further statuses of success; `body`,
    the type of a body that the endpoint reads itself, for the OpenAPI document."""
    common: tuple[type[problems.Problem], ...] = (
        problems.Invalid,
        problems.DatabaseUnavailable,
        problems.SchemaMismatch,
    )
    extra: dict[str, Any] = {SCOPES: sorted(access)}
    if access:
        common += (problems.Unauthenticated, problems.MissingScope)
        extra["security"] = [{"bearer": [scope]} for scope in sorted(access)]
    answered = problems.responses(*answers, *common)
    for status, (description, model) in (also or {}).items():
        answered[status] = {"description": description, "model": model}
    if body is not None:
        schema = TypeAdapter(body).json_schema(ref_template="#/components/schemas/{model}")
        extra[COMPONENTS] = schema.pop("$defs", {})
        extra["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    return {"responses": answered, "openapi_extra": extra}


BODY = (problems.MalformedJson, problems.BodyTooLarge, problems.UnsupportedMediaType)
"""What a call with a body can answer besides."""


class StrictRequest(Request):
    """A request whose JSON is read strictly."""

    async def body(self) -> bytes:
        """The bytes; raises the problems of `read_body`."""
        if not hasattr(self, "_body"):
            self._body = await read_body(self, service_of(self).settings.max_body_bytes)
        return self._body

    async def json(self) -> Any:
        """The body; raises the problems of `parse_json`."""
        return parse_json(await self.body(), max_depth=service_of(self).settings.max_json_depth)


class ApiRoute(APIRoute):
    """Lets a caller in before its body is read, so that nobody without a token can make the service work."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, behind the checks."""
        extra = self.openapi_extra or {}
        if SCOPES not in extra:
            raise RuntimeError(f"{self.path} does not declare who may call it")
        scopes: tuple[Scope, ...] = tuple(extra[SCOPES])
        inner = super().get_route_handler()
        takes_body = self.body_field is not None or "requestBody" in extra

        async def handle(request: Request) -> Response:
            service = service_of(request)
            if scopes:
                request.state.principal = _admit(service, request, scopes)
            await service.schema.require()
            if takes_body and not _is_json(request.headers.get("content-type", "")):
                raise problems.UnsupportedMediaType
            return await inner(StrictRequest(request.scope, request.receive))

        return handle


def validated(adapter: TypeAdapter[T], value: Any, *, pointer: str = "") -> T:
    """`value` as the type that `adapter` is of. Raises `Invalid`, with pointers below `pointer`."""
    try:
        return adapter.validate_python(value)
    except ValidationError as failure:
        found = failure.errors(include_url=False, include_context=False, include_input=False)
        raise problems.from_errors(found, pointer) from None


def service_of(request: Request) -> Service:
    """What the app was made with."""
    return cast("Service", request.app.state.service)


def _admit(service: Service, request: Request, scopes: tuple[Scope, ...]) -> Principal:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    principal = service.tokens.principal(token.strip()) if scheme.lower() == "bearer" else None
    if principal is None:
        raise problems.Unauthenticated
    if not principal.may(*scopes):
        raise problems.MissingScope(f"this call needs the scope {' or '.join(scopes)}")
    return principal


def _is_json(content_type: str) -> bool:
    media_type = content_type.partition(";")[0].strip().lower()
    return media_type == "application/json" or (media_type.startswith("application/") and media_type.endswith("+json"))


# Dependencies are coroutines although they wait for nothing: FastAPI sends a plain function to a thread, and the two
# hand-overs cost more than the whole insert.
async def _principal(request: Request) -> Principal:
    return cast("Principal", request.state.principal)


async def _service(request: Request) -> Service:
    return service_of(request)


Caller = Annotated[Principal, Depends(_principal)]
"""The parameter of an endpoint that receives who calls."""

TheService = Annotated[Service, Depends(_service)]
"""The parameter of an endpoint that receives the service."""
