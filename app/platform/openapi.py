"""The OpenAPI document: what FastAPI derives, with the problem documents and the bearer scheme."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi.openapi.utils import get_openapi

from app.platform.problems import ProblemDocument
from app.platform.routing import COMPONENTS

if TYPE_CHECKING:
    from fastapi import FastAPI

# FastAPI's own error schemas, which no route answers with here
_UNUSED = ("HTTPValidationError", "ValidationError")


def install(app: FastAPI) -> None:
    """Replaces `app.openapi`."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]  # the way that FastAPI documents


def _document(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(title=app.title, version=app.version, summary=app.summary, routes=app.routes)
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for name in _UNUSED:
        schemas.pop(name, None)
    for operation in (o for path in document["paths"].values() for o in path.values()):
        schemas.update(operation.pop(COMPONENTS, {}))
    problem = ProblemDocument.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas.update(problem.pop("$defs", {}))
    schemas["ProblemDocument"] = problem
    components["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer"}}
    return document
