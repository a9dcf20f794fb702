"""Nothing called equivalent may have other rows: random statements and mutants, run in DuckDB."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from consensus_soundness import Report, run

from app.core.consensus import canonical as canonical_module
from app.core.consensus import normalise as normalise_module
from app.core.consensus.schema import NO_SCHEMA

if TYPE_CHECKING:
    from app.core.consensus.terms import Block


@pytest.mark.parametrize("seed", range(20, 24))
def test_no_statement_called_equivalent_has_other_rows(seed: int) -> None:
    report = run(seed, 500)
    print(report)
    assert report.faults == []
    assert report.wrong == []
    assert report.checked > 200
    assert report.recognised / report.keeping > 0.9


def test_unsound_rewrite_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def inner_without_reason(block: Block, *_: object) -> Block:
        if not block.lefts:
            return block
        first, *rest = block.lefts
        return replace(
            block, sources=(*block.sources, first.source), lefts=tuple(rest), where=(*block.where, *first.on)
        )

    rules = (*normalise_module.BLOCK_RULES, inner_without_reason)
    monkeypatch.setattr(normalise_module.normalise, "__defaults__", (None, rules))
    report = Report()
    for seed in range(40, 46):
        run(seed, 100, report)
        if report.wrong:
            return
    raise AssertionError("a left join was made an inner one, and no database told")


def test_fault_inside_reads_as_undetermined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canonical_module, "label", lambda *_, **__: 1 / 0)
    found = canonical_module.canonical("SELECT 1", NO_SCHEMA, dialect=None, ordered=False, seconds=1)
    assert (found.status, found.reason) == ("undetermined", "fault: ZeroDivisionError")
