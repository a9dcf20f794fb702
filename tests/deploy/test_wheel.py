"""What an installation that is not a checkout gets."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_a_wheel_carries_every_migration_where_the_service_looks_for_them(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    [wheel] = tmp_path.glob("*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    expected = {f"app/_migrations/{path.relative_to(ROOT / 'migrations')}" for path in ROOT.glob("migrations/**/*.py")}
    assert len(expected) > 3
    assert expected <= held
    assert {name.split("/")[0] for name in held} == {"app", wheel.name.rpartition("-py3")[0] + ".dist-info"}
