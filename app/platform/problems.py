"""One error tree, one problem shape (RFC 9457). A message says what to change and repeats nothing that was sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from app.platform.json_response import JsonResponse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from fastapi import FastAPI, Request
    from fastapi.exceptions import RequestValidationError
    from starlette.responses import Response

MEDIA_TYPE = "application/problem+json"
TYPE_PREFIX = "urn:agreement-log:problem:"
MAX_ERRORS = 100


@dataclass(frozen=True, slots=True)
class FieldError:
    """What is wrong with one field."""

    detail: str
    pointer: str | None = None
    """A JSON pointer into the body; None where the field is not in the body."""
    parameter: str | None = None
    """The name of a query, path or header parameter."""

    def to_json(self) -> dict[str, str]:
        """The error as it stands in a problem document."""
        pairs = (("pointer", self.pointer), ("parameter", self.parameter), ("detail", self.detail))
        return {key: value for key, value in pairs if value is not None}


class Problem(HTTPException):
    """The root of the tree. A subclass sets `slug`, `title` and `status`; an instance adds the particulars."""

    slug: ClassVar[str]
    title: ClassVar[str]
    status: ClassVar[int]
    default_detail: ClassVar[str] = ""

    def __init__(
        self,
        detail: str | None = None,
        *,
        errors: Sequence[FieldError] = (),
        headers: dict[str, str] | None = None,
        **extensions: Any,
    ) -> None:
        super().__init__(self.status, detail or self.default_detail or self.title, headers)
        self.errors = tuple(errors[:MAX_ERRORS])
        self.extensions = extensions

    def response(self) -> Response:
        """The problem document."""
        body: dict[str, Any] = {
            "type": TYPE_PREFIX + self.slug,
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
        }
        if self.errors:
            body["errors"] = [error.to_json() for error in self.errors]
        return JsonResponse(body | self.extensions, self.status, dict(self.headers or {}), MEDIA_TYPE)


class MalformedJson(Problem):
    """The body is not JSON."""

    slug, title, status = "malformed-json", "The body is not valid JSON", 400


class Unauthenticated(Problem):
    """No token, or one that is not known."""

    slug, title, status = "unauthenticated", "A valid bearer token is needed", 401
    default_detail = "send `Authorization: Bearer …` with a token made by `agreement-log token new`"

    def __init__(self) -> None:
        super().__init__(headers={"WWW-Authenticate": "Bearer"})


class MissingScope(Problem):
    """The token is known and may not do this."""

    slug, title, status = "missing-scope", "The token lacks a scope", 403


class NotFound(Problem):
    """Nothing is there."""

    slug, title, status = "not-found", "Not found", 404


class MethodNotAllowed(Problem):
    """The path is there, the method is not."""

    slug, title, status = "method-not-allowed", "Method not allowed", 405


class BodyTooLarge(Problem):
    """The body is longer than the service takes."""

    slug, title, status = "body-too-large", "The body is too large", 413


class UnsupportedMediaType(Problem):
    """The body is not sent as JSON."""

    slug, title, status = "unsupported-media-type", "The body must be JSON", 415
    default_detail = "send the body with `Content-Type: application/json`"


class Invalid(Problem):
    """The request can be read, and a field of it cannot be taken."""

    slug, title, status = "invalid", "A field cannot be taken", 422
    default_detail = "see `errors`; nothing was written"


class InternalError(Problem):
    """A fault of the service's own."""

    slug, title, status = "internal-error", "The service failed", 500
    default_detail = "the fault was logged under the request id in X-Request-Id; whether a write happened is not known"


class DatabaseUnavailable(Problem):
    """Postgres is down, slow, or out of connections."""

    slug, title, status = "database-unavailable", "The database does not answer", 503
    default_detail = "try again; sending the same request twice is safe"

    def __init__(self) -> None:
        super().__init__(headers={"Retry-After": "1"})


class SchemaMismatch(Problem):
    """The schema is older or newer than this version of the service."""

    slug, title, status = "schema-mismatch", "The database schema does not fit the service", 503

    def __init__(self, detail: str) -> None:
        super().__init__(detail, headers={"Retry-After": "5"})


class FieldErrorDocument(BaseModel):
    """What is wrong with one field."""

    pointer: str | None = Field(None, description="JSON pointer into the body")
    parameter: str | None = Field(None, description="query, path or header parameter")
    detail: str


class ProblemDocument(BaseModel):
    """RFC 9457 problem details."""

    type: str = Field(examples=[TYPE_PREFIX + "invalid"])
    title: str
    status: int
    detail: str
    errors: list[FieldErrorDocument] | None = None


ALWAYS: tuple[type[Problem], ...] = (InternalError,)


def responses(*problems: type[Problem]) -> dict[int | str, dict[str, Any]]:
    """The OpenAPI `responses` of a route that can answer these problems."""
    by_status: dict[int | str, list[str]] = {}
    for problem in (*problems, *ALWAYS):
        by_status.setdefault(problem.status, []).append(f"`{problem.slug}`: {problem.title}")
    schema = {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}
    return {
        status: {"description": "; ".join(dict.fromkeys(titles)), "content": {MEDIA_TYPE: schema}}
        for status, titles in sorted(by_status.items(), key=lambda item: int(item[0]))
    }


def pointer_to(path: Iterable[str | int]) -> str:
    """RFC 6901: `("rows", 3, "a/b")` is `/rows/3/a~1b`."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def from_validation(error: RequestValidationError) -> Invalid:
    """The problem of a request that FastAPI refused; the input that it carries is left behind."""
    return Invalid(errors=[_field_error(item) for item in error.errors()])


def from_errors(errors: Iterable[Any], pointer: str) -> Invalid:
    """The problem of a value in a body, at `pointer`, that pydantic refused with `errors`."""
    return Invalid(errors=[FieldError(_said(item), pointer=pointer + pointer_to(item["loc"])) for item in errors])


def _field_error(item: dict[str, Any]) -> FieldError:
    where, *path = item["loc"]
    if where == "body":
        return FieldError(_said(item), pointer=pointer_to(path))
    return FieldError(_said(item), parameter=str(path[0]) if path else str(where))


def _said(item: Any) -> str:
    return str(item["msg"]).removeprefix("Value error, ")


def install(app: FastAPI, *, on_problem: Callable[[str], None]) -> None:
    """Every error that leaves the app is a problem document; `on_problem` is told the slug of each."""
    from fastapi.exceptions import RequestValidationError  # noqa: PLC0415 - a cycle through FastAPI's own typing

    def answer(problem: Problem) -> Response:
        on_problem(problem.slug)
        return problem.response()

    @app.exception_handler(Problem)
    async def _problem(_request: Request, error: Problem) -> Response:
        return answer(error)

    @app.exception_handler(RequestValidationError)
    async def _validation(_request: Request, error: RequestValidationError) -> Response:
        return answer(from_validation(error))

    @app.exception_handler(HTTPException)
    async def _http(_request: Request, error: HTTPException) -> Response:
        known: dict[int, type[Problem]] = {404: NotFound, 405: MethodNotAllowed, 413: BodyTooLarge}
        kind = known.get(error.status_code, Invalid)
        return answer(kind("see /openapi.json for what there is", headers=dict(error.headers or {})))
