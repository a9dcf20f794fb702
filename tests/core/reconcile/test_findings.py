"""One gap seen twice is one finding, and nothing is proposed from what the data proved wrong."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.reconcile import RunRow, finding_key, findings, ledger, row_status
from app.core.reconcile.part import grade

from .row_builder import aggregate, column, join, literal, output, row, table, undeclared
from .test_ledger import overlaps
from .test_ledger_metamorphic import rows


def run(*files, **record):
    return [RunRow(number, {"question": f"q{number}", **record}, ledger(f)) for number, f in enumerate(files, 1)]


def keys(*files, **record):
    return {
        found.key: [seen.row.number for seen in found.evidence] for found in findings(run(*files, **record)).findings
    }


def filters(expr, ref="orders", alias=None):
    return row(tables=[table(ref, [(expr, "omitted")], alias)])


MEET = overlaps("matched\n5\n", "matched\n0\n")


def test_a_missing_join_seen_from_either_side_is_one_finding():
    one, other = undeclared("orders", "customers"), undeclared("Customers", "ORDERS")
    assert keys(row(joins=[one], files=MEET), row(joins=[other], files=MEET)) == {
        "relationship:customers-orders": [1, 2]
    }


def test_a_second_join_of_the_pair_is_the_same_finding():
    second = undeclared(id="join-2", probes=1)
    files = row(joins=[undeclared(), second], files={**MEET, "join-2.overlap.0.csv": "matched\n5\n"})
    assert keys(files) == {"relationship:customers-orders": [1, 1]}


SAME_FILTER = ["o.status != 'x'", "orders.status  != 'x'", "O.STATUS != 'X'", "status != 'x'",
               "public.orders.status != 'x'", '"o".status != \'x\'', "o . status\n!= 'x'"]  # fmt: skip


def test_one_filter_under_any_alias_is_one_finding():
    found = keys(*(filters(expr) for expr in SAME_FILTER))
    assert found == {"filter:orders:status != 'x'": list(range(1, len(SAME_FILTER) + 1))}


KEPT = {
    "o.note = 'a.b.c'": "note = 'a.b.c'",
    "o.rate > 1.5": "rate > 1.5",
    "o.it = 'o''clock o.x'": "it = 'o''clock o.x'",
    "o.a = o.b AND lower(o.c) IN ('o.d')": "a = b and lower(c) in ('o.d')",
}


@pytest.mark.parametrize(("expr", "kept"), KEPT.items())
def test_only_an_alias_is_taken_from_a_filter(expr, kept):
    assert list(keys(filters(expr))) == [f"filter:orders:{kept}"]


def test_a_filter_gap_and_a_metric_gap_never_share_a_key():
    files = row(tables=[table(filters=[("total", "omitted")])], outputs=[output("orders:total", "unmatched")])
    assert set(keys(files)) == {"filter:orders:total", "metric:orders:total"}


def test_a_column_without_values_and_one_with_stale_values_is_one_finding():
    missing = row(columns={"Orders.Status": column()})
    stale = row(literals=[literal("refunded", "model_gap"), literal("void", "model_gap")])
    assert keys(missing, stale) == {"description:orders.status": [1, 2, 2]}


def test_a_scope_refusal_is_a_finding_by_its_rule():
    refused = {"run.json": json.dumps({"status": "refused", "rule": "column_scope"})}
    assert keys(refused, refused) == {"scope:column_scope": [1, 2]}


def test_only_a_gap_has_a_key():
    with pytest.raises(ValueError, match="gap"):
        finding_key(grade("runs", "confirmed", ""))


def test_a_query_defect_is_in_query_defects_and_in_no_finding():
    found = findings(run(row(literals=[literal("b", "query_defect"), literal("a", "query_defect")]), status="mismatch"))
    assert found.findings == ()
    assert [(defect.row, defect.part) for defect in found.query_defects] == [
        (1, "literal:orders.status=a"), (1, "literal:orders.status=b"),
    ]  # fmt: skip
    assert list(found.query_defects[0].to_json()) == ["row", "part", "note"]


def test_the_json_names_of_a_finding_are_fixed():
    record = {"statement": "SELECT 1", "expected": 5, "claims": {"claims": []}}
    (found,) = findings(run(filters("o.x"), **record)).to_json()["findings"]
    assert list(found) == ["key", "kind", "evidence"]
    (seen,) = found["evidence"]
    assert list(seen) == ["row", "part", "question", "statement", "expected", "note", "ledger", "claims"]
    assert (seen["row"], seen["part"], seen["question"]) == (1, "default_filter:orders:o.x", "q1")
    assert (seen["statement"], seen["expected"], seen["claims"]) == ("SELECT 1", 5, {"claims": []})


# --- examples --------------------------------------------------------------------------------------------------------

CLAIM = {"claims.json": json.dumps({"claims": [{"name": "date_window", "status": "differs"}]})}
OPEN = row(outputs=[output(status="undetermined")])
EXAMPLES = {
    "a_clean_statement": (row(), {}, True),
    "with_a_noted_fact": (row(columns={"t.n": column(distinct="overflow")}), {}, True),
    "that_differs_from_another": ({**row(), **CLAIM}, {}, True),
    "with_an_open_part": (OPEN, {}, False),
    "with_a_gap": (filters("o.x"), {}, False),
    "in_a_row_that_matches": (row(), {"status": "match"}, False),
    "in_a_row_that_failed": (row(), {"status": "error"}, False),
    "in_a_row_whose_numbers_agree": (row(), {"match": True}, False),
}


@pytest.mark.parametrize(("files", "record", "is_example"), EXAMPLES.values(), ids=EXAMPLES)
def test_a_statement_that_held_in_a_mismatch_is_an_example(files, record, is_example):
    record = {"question": "What is  Total revenue?", "status": "mismatch", **record}
    found = findings([RunRow(1, record, ledger(files, with_claims="claims.json" in files))]).findings
    assert ("example:what is total revenue?" in {f.key for f in found if f.kind == "example"}) == is_example


def test_a_row_never_graded_is_no_example():
    assert findings([RunRow(1, {"question": "q", "status": "mismatch"}, None)]).findings == ()


def test_an_example_without_a_question_goes_by_its_label():
    (found,) = findings([RunRow(7, {"label": "Revenue", "expected": 1, "actual": 2}, ledger(row()))]).findings
    assert (found.key, found.evidence[0].part) == ("example:revenue", None)


# --- row status ------------------------------------------------------------------------------------------------------

STATUSES = {
    (True, None): "match", (True, "confirmed"): "match", (True, "model_gap"): "match_unverified",
    (True, "unresolved"): "match_unverified", (True, "query_defect"): "match_unverified",
    (False, None): "mismatch", (False, "confirmed"): "mismatch", (False, "model_gap"): "mismatch",
    (False, "unresolved"): "mismatch", (False, "query_defect"): "expected_doubtful",
    (None, None): "error", (None, "confirmed"): "error", (None, "query_defect"): "error",
}  # fmt: skip


@pytest.mark.parametrize(("what", "status"), STATUSES.items(), ids=str)
def test_numbers_and_statement_together_are_the_status(what, status):
    assert row_status(*what) == status


ROWS = {
    "recorded": ({"status": "mismatch"}, None, "mismatch"),
    "recorded_and_not_known": ({"status": "great"}, None, "error"),
    "the_match_is_fresher_than_the_status": ({"status": "match", "match": True}, OPEN, "match_unverified"),
    "an_error_stays_one": ({"status": "error", "match": False}, None, "error"),
    "computed": ({"expected": "$100", "actual": 100.5}, None, "match"),
    "computed_and_differs": ({"expected": 100, "actual": 110}, None, "mismatch"),
    "nothing_to_compare": ({"expected": 100}, None, "error"),
    "agrees_and_nobody_graded_its_statement": ({"match": True, "statement": "SELECT 1"}, None, "match_unverified"),
    "agrees_and_has_no_statement": ({"match": True}, None, "match"),
}


@pytest.mark.parametrize(("record", "files", "status"), ROWS.values(), ids=ROWS)
def test_a_row_knows_its_status(record, files, status):
    assert RunRow(1, record, ledger(files) if files else None).status == status


# --- properties ------------------------------------------------------------------------------------------------------


@given(st.lists(rows(), max_size=4), st.randoms(use_true_random=False))
def test_every_gap_is_in_one_finding_every_defect_in_none_and_order_does_not_matter(files, random):
    numbered = [RunRow(number, {"match": None}, ledger(f)) for number, f in enumerate(files, 1)]
    found = findings(numbered)
    gaps = Counter((r.number, p.part) for r in numbered for p in r.ledger.parts if p.verdict == "model_gap")
    assert Counter((seen.row.number, seen.part.part) for f in found.findings for seen in f.evidence) == gaps
    defects = Counter((r.number, p.part) for r in numbered for p in r.ledger.parts if p.verdict == "query_defect")
    assert Counter((defect.row, defect.part) for defect in found.query_defects) == defects
    assert all(f.key.startswith(f"{f.kind}:") for f in found.findings)
    assert len({f.key for f in found.findings}) == len(found.findings)
    random.shuffle(numbered)
    assert findings(numbered).to_json() == found.to_json()


def test_a_clean_run_finds_nothing():
    found = findings(run(row(), row(joins=[join()], aggregates=[aggregate()]), match=True))
    assert found.to_json() == {"findings": [], "query_defects": []}
