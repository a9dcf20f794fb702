"""One service for the tests of a module: a worker takes a moment to start, and no test here counts rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import PASSWORD, SERVICE_LOGIN, fresh_database, settings_for
from tests.support import LiveService, with_login

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture(scope="module")
def serve(
    cluster_url: str, template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., LiveService]]:
    """Starts a service with settings of the caller's."""
    from contextlib import ExitStack

    with ExitStack() as stack:

        def start(**changes: Any) -> LiveService:
            url = with_login(stack.enter_context(fresh_database(cluster_url, template)), SERVICE_LOGIN, PASSWORD)
            return stack.enter_context(LiveService(settings_for(url, tmp_path_factory.mktemp("grading"), **changes)))

        yield start


@pytest.fixture(scope="module")
def live(serve: Callable[..., LiveService]) -> LiveService:
    return serve()
