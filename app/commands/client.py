"""The commands' way to a running service: AGREEMENT_LOG_URL and AGREEMENT_LOG_TOKEN, and errors a person can act on."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from app.commands.settings import fail

if TYPE_CHECKING:
    import httpx

DEFAULT_URL = "http://127.0.0.1:8000"
EXIT_REFUSED, EXIT_UNREACHABLE = 1, 3


def open_client(url: str | None, token: str | None = None) -> httpx.Client:
    """A client of the service at `url` (default AGREEMENT_LOG_URL), with the token of AGREEMENT_LOG_TOKEN."""
    import httpx

    token = token or os.environ.get("AGREEMENT_LOG_TOKEN")
    if not token:
        fail("set AGREEMENT_LOG_TOKEN to a token made by `agreement-log token new`")
    address = url or os.environ.get("AGREEMENT_LOG_URL") or DEFAULT_URL
    return httpx.Client(base_url=address, headers={"Authorization": f"Bearer {token}"}, timeout=60)


def call(client: httpx.Client, method: str, path: str, **parts: Any) -> Any:
    """The JSON of an answer; ends the command with the problem's own words where there is one."""
    import httpx

    try:
        answer = client.request(method, path, **parts)
    except httpx.HTTPError as error:
        fail(f"{client.base_url} does not answer ({type(error).__name__}); is the service running?", EXIT_UNREACHABLE)
    if answer.is_success:
        return answer.json()
    fail(_explain(answer), EXIT_UNREACHABLE if answer.status_code >= 500 else EXIT_REFUSED)


def _explain(answer: httpx.Response) -> str:
    try:
        problem = answer.json()
        lines = [f"{problem['title']}: {problem['detail']}"]
        lines += [f"  {e.get('pointer') or e.get('parameter')}: {e['detail']}" for e in problem.get("errors", ())]
    except (ValueError, KeyError, TypeError):
        return f"status {answer.status_code}, and no problem document; is that the address of an Agreement Log?"
    return "\n".join(lines)
