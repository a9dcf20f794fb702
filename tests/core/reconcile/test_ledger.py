"""One test a rule and one a precedence pair, over rows that are clean but for the thing in question.

As long as the table of parts in docs/reconcile.md, whose order it follows.
"""

from __future__ import annotations

import itertools
import json

import pytest

from app.core.reconcile import ledger
from app.core.reconcile.part import grade, weakest

from .row_builder import EXPECTED_FILES, aggregate, column, join, literal, output, row, table, undeclared


def parts(files, **how):
    return {part.part: part for part in ledger(files, **how).parts}


def verdicts(files, **how):
    return {name: part.verdict for name, part in parts(files, **how).items()}


def run(**record):
    return {"run.json": {"status": "ok", "rule": None, "kind": None, "remediation": None, **record}}


# --- runs and scope --------------------------------------------------------------------------------------------------


def test_a_clean_row_is_confirmed_and_has_no_open_part():
    graded = ledger(row())
    assert graded.verdict == "confirmed"
    assert [part.part for part in graded.parts] == ["runs", "scope"]
    assert graded.counts == {"confirmed": 2, "model_gap": 0, "query_defect": 0, "unresolved": 0, "noted": 0}


RUNS = {
    "column_not_found": ({"status": "failed", "kind": "column_not_found"}, "query_defect"),
    "table_not_found": ({"status": "failed", "kind": "table_not_found"}, "query_defect"),
    "syntax": ({"status": "failed", "kind": "syntax"}, "query_defect"),
    "timeout": ({"status": "failed", "kind": "timeout"}, "unresolved"),
    "failed_for_no_reason": ({"status": "failed"}, "unresolved"),
    "select_star": ({"status": "refused", "rule": "select_star"}, "query_defect"),
    "another_refusal": ({"status": "refused", "rule": "row_limit"}, "unresolved"),
    "a_refusal_with_a_failures_kind": ({"status": "refused", "kind": "syntax"}, "unresolved"),
    "a_failure_with_a_refusals_rule": ({"status": "failed", "rule": "select_star"}, "unresolved"),
    "failed_with_its_error": ({"status": "failed", "kind": "syntax", "error": "canary"}, "query_defect"),
    "ok_with_an_error": ({"status": "ok", "error": "canary"}, "unresolved"),
    "not_run": ({"status": "not_run"}, "unresolved"),
    "a_status_nobody_knows": ({"status": "OK"}, "unresolved"),
    "no_status": ({"status": None}, "unresolved"),
    "a_status_of_another_type": ({"status": True}, "unresolved"),
}


@pytest.mark.parametrize(("record", "verdict"), RUNS.values(), ids=RUNS)
def test_how_the_run_ended_decides_runs(record, verdict):
    graded = ledger({"run.json": json.dumps(record)})
    assert [(part.part, part.verdict) for part in graded.parts] == [("runs", verdict)]
    assert "canary" not in json.dumps(graded.to_json())


@pytest.mark.parametrize("rule", ["table_scope", "column_scope"])
def test_a_scope_refusal_is_a_gap_and_leaves_runs_open(rule):
    graded = ledger({"run.json": json.dumps({"status": "refused", "rule": rule})})
    assert {part.part: (part.verdict, part.kind) for part in graded.parts} == {
        "runs": ("unresolved", None),
        "scope": ("model_gap", "scope"),
    }
    assert graded.verdict == "unresolved"


@pytest.mark.parametrize("content", [None, "", "null", "[]", "{", '{"error": "x"}'], ids=str)
def test_no_run_record_is_open_never_confirmed(content):
    found = parts(row(files={"run.json": content}))
    assert found["runs"].verdict == "unresolved"
    assert "scope" not in found


def test_the_evidence_of_a_run_carries_kind_and_remediation_and_no_error_text():
    record = {
        "status": "failed",
        "kind": "syntax",
        "remediation": "mend it",
        "detail": "canary",
        "error_text": "canary",
    }
    graded = ledger({"run.json": json.dumps(record)})
    assert graded.parts[0].evidence["kind"] == "syntax"
    assert graded.parts[0].evidence["remediation"] == "mend it"
    assert "canary" not in json.dumps(graded.to_json())


# --- joins -----------------------------------------------------------------------------------------------------------

OVERLAP = ("join-1.overlap.0.csv", "join-1.overlap.1.csv")


def overlaps(*contents):
    return {name: content for name, content in zip(OVERLAP, contents, strict=False) if content is not None}


JOINS = {
    "declared": (join(), {}, "confirmed", None),
    "wrong_key": (join(status="wrong_key"), {}, "query_defect", None),
    "wrong_key_whatever_a_probe_says": (join(status="wrong_key"), overlaps("matched\n50\n"), "query_defect", None),
    "undeclarable": (join(status="undeclarable"), {}, "unresolved", None),
    "undeclarable_though_keys_meet": (undeclared() | {"status": "undeclarable"},
                                      overlaps("matched\n5\n", "matched\n5\n"), "unresolved", None),
    "undetermined": (join(status="undetermined"), {}, "unresolved", None),
    "no_status": (join(status=None), {}, "unresolved", None),
    "unknown_status": (join(status="Declared"), {}, "unresolved", None),
    "status_of_another_type": (join(status=1), {}, "unresolved", None),
    "some_keys_meet": (undeclared(), overlaps("matched\n0\n", "matched\n50\n"), "model_gap", "relationship"),
    "some_keys_meet_beside_a_failed_probe": (undeclared(), overlaps("", "matched\n1\n"), "model_gap", "relationship"),
    "keys_never_meet": (undeclared(), overlaps("matched\n0\n", "matched\n0\n"), "query_defect", None),
    "header_only_found_nothing": (undeclared(), overlaps("matched\n", "matched\n0\n"), "query_defect", None),
    "one_probe_empty": (undeclared(), overlaps("", "matched\n0\n"), "unresolved", None),
    "one_probe_missing": (undeclared(), overlaps("matched\n0\n"), "unresolved", None),
    "no_probe_answered": (undeclared(), {}, "unresolved", None),
    "no_probe_planned": (undeclared(probes=0, too_big_to_probe=True), {}, "unresolved", None),
    "a_driver_error_as_result": (undeclared(), overlaps("ERROR: no such table\n", "matched\n0\n"), "unresolved", None),
    "a_row_too_many": (undeclared(), overlaps("matched\n0\n0\n", "matched\n0\n"), "unresolved", None),
    "a_header_twice": (undeclared(), overlaps("matched,matched\n0,0\n", "matched\n0\n"), "unresolved", None),
    "a_wider_result": (undeclared(), overlaps("n,m\n0,0\n", "matched\n0\n"), "unresolved", None),
    "another_name_for_the_only_column": (undeclared(), overlaps("n\n0\n", "COUNT\n0\n"), "query_defect", None),
    "a_value_that_is_no_count": (undeclared(), overlaps("matched\n-5\n", "matched\n0\n"), "unresolved", None),
}  # fmt: skip


@pytest.mark.parametrize(("written", "files", "verdict", "kind"), JOINS.values(), ids=JOINS)
def test_a_join_is_graded_by_its_status_and_its_probes(written, files, verdict, kind):
    part = parts(row(joins=[written], files=files))["join:customers-orders"]
    assert (part.verdict, part.kind) == (verdict, kind)


def test_an_undeclarable_join_repeats_why_it_was_not_probed():
    part = parts(row(joins=[join(status="undeclarable", not_probed_because="a CTE")]))["join:customers-orders"]
    assert part.note == "a CTE"


def test_two_joins_of_one_pair_are_two_parts_whichever_way_they_are_written():
    first = join("orders", "customers", "wrong_key")
    second = join("customers", "orders", id="join-2")
    found = verdicts(row(joins=[first, second]))
    assert found["join:customers-orders"] == "query_defect"
    assert found["join:customers-orders#2"] == "confirmed"


def test_two_joins_that_share_an_id_have_no_probe_of_their_own():
    joins = [undeclared(), undeclared("orders", "items")]
    found = verdicts(row(joins=joins, files=overlaps("matched\n5\n", "matched\n5\n")))
    assert (found["join:customers-orders"], found["join:items-orders"]) == ("unresolved", "unresolved")


@pytest.mark.parametrize(
    "broken", [5, {}, {"endpoints": "orders"}, {"endpoints": ["a"]}, {"endpoints": ["a", 5]}], ids=str
)
def test_a_join_of_another_shape_is_open(broken):
    assert verdicts(row(joins=[broken]))["join:*"] == "unresolved"
    assert ledger(row(joins=[broken])).verdict == "unresolved"


ONE_ROW = {
    "the_one_side": (join(), (), True),
    "the_many_side": (
        join("customers", "orders") | {"declared_cardinality": join()["declared_cardinality"]},
        (),
        False,
    ),
    "a_relationship_not_matched": (
        join(declared_cardinality=[{"one_side": ["customers"], "matched": False}]),
        (),
        False,
    ),
    "a_relationship_that_does_not_say": (join(declared_cardinality=[{"one_side": ["customers"]}]), (), False),
    "a_unique_column": (join(declared_cardinality=[]), ("customers.id",), True),
    "a_unique_column_in_other_case": (join(declared_cardinality=[]), ("CUSTOMERS.Id",), True),
    "a_unique_column_on_the_left": (join(declared_cardinality=[]), ("orders.customers_id",), False),
    "nothing_known": (join(declared_cardinality=[]), (), False),
    "a_self_join": (join("orders", "orders"), ("orders.id", "orders.orders_id"), False),
}


@pytest.mark.parametrize(("written", "unique", "one_row"), ONE_ROW.values(), ids=ONE_ROW)
def test_a_join_says_whether_it_brings_in_one_row(written, unique, one_row):
    found = [p for p in ledger(row(joins=[written], unique=unique)).parts if p.part.startswith("join:")]
    assert found[0].evidence["one_row_on_right"] is one_row


JOIN_KEYS = {
    "found": (undeclared(), overlaps("matched\n0\n", "matched\n5\n"), "confirmed"),
    "none": (undeclared(), overlaps("matched\n0\n", "matched\n0\n"), "query_defect"),
    "not_all_answered": (undeclared(), overlaps("matched\n0\n", ""), "unresolved"),
    "planned_and_none_answered": (undeclared(), {}, "unresolved"),
    "answered_and_not_planned": (join(), overlaps("matched\n5\n"), "confirmed"),
    "neither": (join(), {}, None),
}


@pytest.mark.parametrize(("written", "files", "verdict"), JOIN_KEYS.values(), ids=JOIN_KEYS)
def test_a_join_key_is_graded_where_probes_were_planned_or_answered(written, files, verdict):
    assert verdicts(row(joins=[written], files=files)).get("join_key:customers-orders") == verdict


HEAD = "total,distinct_count,null_count\n"
LEFT, RIGHT = "cardinality.orders.customers_id.csv", "cardinality.customers.id.csv"
REPEATS, UNIQUE = HEAD + "4000,900,10\n", HEAD + "1000,990,10\n"
CARDINALITIES = {
    "right_unique": ({LEFT: REPEATS, RIGHT: UNIQUE}, (), "confirmed", "customers.id"),
    "left_unique": ({LEFT: UNIQUE, RIGHT: REPEATS}, (), "confirmed", "orders.customers_id"),
    "by_the_model": ({LEFT: REPEATS}, ("Customers.ID",), "confirmed", "customers.id"),
    "both_repeat": ({LEFT: REPEATS, RIGHT: REPEATS}, (), "query_defect", None),
    "one_unknown": ({RIGHT: UNIQUE}, (), "unresolved", None),
    "one_failed": ({LEFT: "", RIGHT: UNIQUE}, (), "unresolved", None),
    "header_only": ({LEFT: HEAD, RIGHT: UNIQUE}, (), "unresolved", None),
    "a_column_short": ({LEFT: "total,distinct_count\n5,5\n", RIGHT: UNIQUE}, (), "unresolved", None),
    "counts_that_cannot_be": ({LEFT: HEAD + "5,6,0\n", RIGHT: UNIQUE}, (), "unresolved", None),
    "more_than_there_are_with_nulls": ({LEFT: HEAD + "5,4,3\n", RIGHT: UNIQUE}, (), "unresolved", None),
    "headers_in_capitals": ({LEFT: REPEATS, RIGHT: UNIQUE.upper()}, (), "confirmed", "customers.id"),
    "headers_in_another_order": ({LEFT: REPEATS, RIGHT: "null_count,total,distinct_count\n10,1000,990\n"}, (),
                                 "confirmed", "customers.id"),
    "file_names_in_capitals": ({LEFT: REPEATS, "cardinality.Customers.ID.csv": UNIQUE}, (),
                               "confirmed", "customers.id"),
}  # fmt: skip


@pytest.mark.parametrize(("files", "unique", "verdict", "one_side"), CARDINALITIES.values(), ids=CARDINALITIES)
def test_cardinality_needs_both_sides_and_one_of_them_unique(files, unique, verdict, one_side):
    part = parts(row(joins=[undeclared()], unique=unique, files=files))["cardinality:customers-orders"]
    assert (part.verdict, part.evidence.get("one_side")) == (verdict, one_side)


def test_cardinality_is_no_part_where_nobody_planned_to_measure_it():
    assert "cardinality:customers-orders" not in parts(row(joins=[join()], files={RIGHT: UNIQUE}))


def test_two_columns_that_repeat_alone_may_be_unique_together():
    pairs = [[["orders", "a"], ["customers", "a"]], [["orders", "b"], ["customers", "b"]]]
    columns = ["customers.a", "customers.b", "orders.a", "orders.b"]
    written = undeclared(pairs=pairs)
    written["probes"]["cardinality"] = columns
    files = {f"cardinality.{name}.csv": REPEATS for name in columns}
    assert verdicts(row(joins=[written], files=files))["cardinality:customers-orders"] == "unresolved"


PROBE = {"sql": "…", "left": "orders", "right": "customers"}
DROPPED = {
    "some": ("total,dropped\n4000,12\n", {"total": 4000, "dropped": 12}, "12 of 4000 orders rows have no customers"),
    "none": ("TOTAL,DROPPED\n4000,0\n", {"total": 4000, "dropped": 0}, "no orders row is dropped"),
    "by_header": ("dropped,total\n12,4000\n", {"total": 4000, "dropped": 12}, "12 of 4000"),
    "one_number_short": ("dropped\n12\n", {}, "nothing is claimed"),
    "failed": ("", {}, "nothing is claimed"),
    "header_only": ("total,dropped\n", {}, "nothing is claimed"),
    "more_than_there_are": ("total,dropped\n5,6\n", {}, "nothing is claimed"),
    "not_run": (None, {}, "nothing is claimed"),
}


@pytest.mark.parametrize(("content", "counts", "note"), DROPPED.values(), ids=DROPPED)
def test_dropped_rows_are_noted_and_never_graded(content, counts, note):
    graded = ledger(row(joins=[join(dropped_rows_probe=PROBE)], files={"join-1.dropped_rows.csv": content}))
    (part,) = [p for p in graded.parts if p.part == "dropped_rows:customers-orders"]
    assert part.verdict == "noted"
    assert part.evidence == {"left": "orders", "right": "customers", **counts}
    assert note in part.note
    assert graded.verdict == "confirmed"


def test_dropped_rows_name_the_side_that_was_not_counted():
    written = join(dropped_rows_probe={**PROBE, "unexamined": "customers"})
    part = parts(row(joins=[written], files={"join-1.dropped_rows.csv": "total,dropped\n5,1\n"}))
    assert "customers" in part["dropped_rows:customers-orders"].note.split(";")[1]
    assert part["dropped_rows:customers-orders"].evidence["unexamined"] == "customers"


# --- aggregates ------------------------------------------------------------------------------------------------------

ON = ["orders → customers"]
FAN_OUTS = {
    "not_multiplied": (aggregate(), [], "confirmed"),
    "over_a_confirmed_join": (aggregate(joins=ON), [join()], "confirmed"),
    "over_an_open_join": (aggregate(joins=ON), [join(status="undetermined")], "unresolved"),
    "over_a_gap": (aggregate(joins=ON), [undeclared()], "unresolved"),
    "over_a_defect": (aggregate(joins=ON), [join(status="wrong_key")], "unresolved"),
    "over_a_join_nobody_lists": (aggregate(joins=["orders → refunds"]), [join()], "unresolved"),
    "over_one_good_and_one_bad": (aggregate(joins=[*ON, "orders → items"]),
                                  [join(), join("orders", "items", "wrong_key", id="j2")], "unresolved"),
    "beside_a_bad_join": (aggregate(joins=ON), [join(), join("orders", "items", "wrong_key", id="j2")], "confirmed"),
    "one_of_two_joins_of_the_pair_is_bad": (aggregate(joins=ON),
                                            [join(), join(status="wrong_key", id="j2")], "unresolved"),
    "multiplied": (aggregate(status="multiplied", risks=["fan_trap"]), [], "query_defect"),
    "multiplied_with_no_risk_named": (aggregate(status="multiplied"), [], "query_defect"),
    "multiplied_and_harmless": (aggregate(status="multiplied", risks=["fan_out_invariant"]), [], "confirmed"),
    "multiplied_harmless_and_not": (aggregate(status="multiplied", risks=["fan_out_invariant", "chasm_trap"]), [],
                                    "query_defect"),
    "multiplied_over_an_open_join": (aggregate(status="multiplied", risks=["fan_trap"], joins=ON),
                                     [join(status="undetermined")], "unresolved"),
    "harmless_over_an_open_join": (aggregate(status="multiplied", risks=["fan_out_invariant"], joins=ON),
                                   [join(status="undetermined")], "unresolved"),
    "undetermined_without_joins": (aggregate(status="undetermined"), [], "confirmed"),
    "undetermined_over_one_row_joins": (aggregate(status="undetermined"), [join()], "confirmed"),
    "undetermined_over_a_many_side": (aggregate(status="undetermined"), [join(declared_cardinality=[])], "unresolved"),
    "undetermined_over_an_open_join": (aggregate(status="undetermined"), [join(status="undetermined")], "unresolved"),
    "undetermined_beside_a_bad_join": (aggregate(status="undetermined"),
                                       [join(), join("orders", "items", "wrong_key", id="j2")], "unresolved"),
    "undetermined_over_a_self_join": (aggregate(status="undetermined"), [join("orders", "orders")], "unresolved"),
    "a_status_nobody_knows": (aggregate(status="fine"), [], "unresolved"),
    "no_status": (aggregate(status=None), [], "unresolved"),
    "joins_not_said_and_all_confirmed": (aggregate() | {"joins": None}, [join()], "confirmed"),
    "joins_not_said_and_one_open": (aggregate() | {"joins": None}, [join(status="undetermined")], "unresolved"),
}  # fmt: skip


@pytest.mark.parametrize(("total", "joins", "verdict"), FAN_OUTS.values(), ids=FAN_OUTS)
def test_a_fan_out_stands_on_its_joins_and_then_on_its_status(total, joins, verdict):
    assert verdicts(row(aggregates=[total], joins=joins))["fan_out:SUM(o.total)"] == verdict


def test_a_fan_out_names_the_joins_it_stands_on():
    part = parts(row(aggregates=[aggregate(joins=ON)], joins=[join(status="undetermined")]))["fan_out:SUM(o.total)"]
    assert part.depends_on == ("join:customers-orders",)
    assert "join:customers-orders" in part.note
    unlisted = parts(row(aggregates=[aggregate(joins=["items -> orders"])]))["fan_out:SUM(o.total)"]
    assert unlisted.depends_on == ("join:items-orders",)


REFERENCES = ["orders → customers", "customers -> orders", "ORDERS => Customers", "orders - customers", "join-1",
              "join:customers-orders", "customers-orders", "orders.customers_id = customers.id",
              "public.orders → public.customers", "orders JOIN customers"]  # fmt: skip


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize(("status", "verdict"), [("declared", "confirmed"), ("wrong_key", "unresolved")])
def test_a_join_is_found_by_any_name_it_goes_by(reference, status, verdict):
    part = parts(row(aggregates=[aggregate(joins=[reference])], joins=[join(status=status)]))["fan_out:SUM(o.total)"]
    assert (part.verdict, part.depends_on) == (verdict, ("join:customers-orders",))


def test_a_chain_of_tables_is_as_many_joins():
    joins = [join(), join("customers", "regions", "wrong_key", id="j2")]
    part = parts(row(aggregates=[aggregate(joins=["orders → customers → regions"])], joins=joins))[
        "fan_out:SUM(o.total)"
    ]
    assert part.verdict == "unresolved"
    assert part.depends_on == ("join:customers-orders", "join:customers-regions")


def test_a_total_that_names_more_joins_than_are_looked_up_stays_open():
    joins = [join("orders", f"t{n}", id=f"j{n}") for n in range(201)]
    names = [f"orders → t{n}" for n in range(201)]
    within = verdicts(row(aggregates=[aggregate(joins=names[:200])], joins=joins))
    beyond = parts(row(aggregates=[aggregate(joins=names)], joins=joins))["fan_out:SUM(o.total)"]
    assert within["fan_out:SUM(o.total)"] == "confirmed"
    assert (beyond.verdict, beyond.depends_on[-1]) == ("unresolved", "join:*")


def test_hundreds_of_totals_over_hundreds_of_joins_of_one_pair_are_a_ledger():
    joins = [join(id=f"join-{n}") for n in range(300)]
    totals = [aggregate(f"SUM(c{n})", joins=[*REFERENCES, f"join-{n}"]) for n in range(300)]
    graded = ledger(row(joins=joins, aggregates=totals))
    assert graded.verdict == "confirmed"
    assert len(graded.parts[-2].depends_on) == 300


def probes(**changes):
    listed = {"joins": [join()], "joins_written": 1, "dropped": 0, "unique_by_model": {}, "unreadable": None, **changes}
    return {"join-probes.json": listed}


UNLISTED = {
    "one_dropped": probes(dropped=1),
    "one_written_and_not_listed": probes(joins_written=2),
    "nobody_counted_the_written": probes(joins_written=None),
    "nobody_counted_the_dropped": probes(dropped=None),
    "none_listed_and_nobody_counted": probes(joins=[], joins_written=None),
    "none_listed_and_one_written": probes(joins=[], joins_written=1),
    "the_statement_unreadable": probes(joins=[], joins_written=0, unreadable="no"),
    "one_of_another_shape": probes(joins=[5]),
    "no_file": {"join-probes.json": None},
}


@pytest.mark.parametrize("files", UNLISTED.values(), ids=UNLISTED)
def test_an_undetermined_total_stays_open_unless_every_written_join_is_listed(files):
    total = aggregate("COUNT(*)", "undetermined", reason="the aggregate names no column")
    part = parts(row(aggregates=[total], files=files))["fan_out:COUNT(*)"]
    assert part.verdict == "unresolved"
    assert part.note.endswith("the aggregate names no column")


AGGREGATIONS = {
    "none": (aggregate(), "confirmed"),
    "another_risk": (aggregate(status="multiplied", risks=["fan_trap"]), "confirmed"),
    "bad_aggregation": (aggregate(risks=["bad_aggregation"]), "query_defect"),
    "semi_additive": (aggregate(risks=["fan_trap", "semi_additive"]), "query_defect"),
    "undetermined": (aggregate(status="undetermined"), "confirmed"),
}


@pytest.mark.parametrize(("total", "verdict"), AGGREGATIONS.values(), ids=AGGREGATIONS)
def test_an_aggregation_is_wrong_by_its_risks_alone(total, verdict):
    assert verdicts(row(aggregates=[total]))["aggregation:SUM(o.total)"] == verdict


def test_an_aggregate_that_lists_no_findings_takes_those_of_the_statement():
    total = aggregate() | {"findings": None}
    listed = {"aggregates": [total], "findings": [{"risk": "bad_aggregation", "aggregate": "sum(O.total)"}]}
    found = verdicts(row(files={"statement-prepare.json": listed}))
    assert found["aggregation:SUM(o.total)"] == "query_defect"
    found = verdicts(row(files={"statement-prepare.json": {"aggregates": [total]}}))
    assert found["aggregation:SUM(o.total)"] == "unresolved"


def test_a_pre_flight_that_did_not_check_is_one_open_part():
    listed = {"aggregates": [], "findings": [], "unchecked": "no parser"}
    assert verdicts(row(files={"statement-prepare.json": listed}))["fan_out:*"] == "unresolved"


# --- filters and metrics ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "verdict", "kind"),
    [("applied", "confirmed", None), ("omitted", "model_gap", "filter"), ("undetermined", "unresolved", None),
     (None, "unresolved", None), ("Applied", "unresolved", None), (1, "unresolved", None)],
)  # fmt: skip
def test_a_default_filter_is_graded_by_its_status(status, verdict, kind):
    part = parts(row(tables=[table(filters=[("o.deleted_at IS NULL", status)])]))
    found = part["default_filter:orders:o.deleted_at IS NULL"]
    assert (found.verdict, found.kind) == (verdict, kind)


SUM, COUNT = aggregate(), aggregate("COUNT( * )", "not_multiplied")
METRICS = {
    "matched": (output(), [SUM], "confirmed", None),
    "matched_on_a_table_read": (output(source_tables=["Orders", "refunds"]), [SUM], "confirmed", None),
    "matched_on_a_table_with_its_schema": (output(source_tables=["public.orders"]), [SUM], "confirmed", None),
    "matched_on_tables_not_read": (output(source_tables=["refunds"]), [SUM], "unresolved", None),
    "matched_on_another_schemas_table": (output(source_tables=["hr.orders"]), [SUM], "unresolved", None),
    "unmatched": (output(status="unmatched"), [SUM], "model_gap", "metric"),
    "unmatched_bare_count": (output(status="unmatched"), [COUNT], "confirmed", None),
    "unmatched_bare_count_beside_a_sum": (output(status="unmatched"), [COUNT, SUM], "model_gap", "metric"),
    "unmatched_count_of_a_column": (output(status="unmatched"), [aggregate("COUNT(id)")], "model_gap", "metric"),
    "unmatched_without_aggregates": (output(status="unmatched"), [], "model_gap", "metric"),
    "unmatched_beside_an_aggregate_nobody_can_read": (output(status="unmatched"), [COUNT, 5], "unresolved", None),
    "undetermined": (output(status="undetermined"), [SUM], "unresolved", None),
    "no_status": (output(status=None), [SUM], "unresolved", None),
    "of_another_shape": (output(source_tables="orders"), [SUM], "unresolved", None),
    "no_aggregate": (output(status="unmatched", aggregate=False), [SUM], None, None),
    "an_aggregate": (output(status="unmatched", aggregate=True), [SUM], "model_gap", "metric"),
}


@pytest.mark.parametrize(("column_", "aggregates", "verdict", "kind"), METRICS.values(), ids=METRICS)
def test_an_output_is_graded_against_the_declared_metrics(column_, aggregates, verdict, kind):
    part = parts(row(tables=[table()], outputs=[column_], aggregates=aggregates)).get("metric:total")
    assert (part and part.verdict, part and part.kind) == (verdict, kind)


def test_a_matched_metric_names_itself():
    assert parts(row(outputs=[output()]))["metric:total"].evidence == {"metric": "revenue"}


def test_a_lost_pre_flight_turns_no_output_into_a_gap():
    """Whether it is a bare count(*) can no longer be told."""
    files = row(outputs=[output(status="unmatched")], aggregates=[COUNT], files={"statement-prepare.json": None})
    assert verdicts(files)["metric:total"] == "unresolved"


def test_columns_that_are_no_outputs_are_no_metrics():
    assert set(parts(row(outputs=[{"kind": "filter", "column": "status"}]))) == {"runs", "scope"}


# --- literals and declared values ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verdict", "graded", "kind"),
    [("confirmed", "confirmed", None), ("model_gap", "model_gap", "description"),
     ("query_defect", "query_defect", None), ("unresolved", "unresolved", None),
     (None, "unresolved", None), ("ok", "unresolved", None),
     ("noted", "unresolved", None)],
)  # fmt: skip
def test_a_literal_carries_the_judges_grade(verdict, graded, kind):
    part = parts(row(literals=[literal(verdict=verdict, near_miss="paid")]))["literal:orders.status=Paid"]
    assert (part.verdict, part.kind, part.evidence["near_miss"]) == (graded, kind, "paid")


def test_a_literal_of_another_shape_is_open():
    assert verdicts(row(literals=[literal(value=["a"])]))["literal:*"] == "unresolved"


COLUMNS = {
    "populated": (column("populated", "not_run", None), "confirmed", None),
    "populated_and_sensitive": (column("populated", "not_run", None, sensitive=True), "confirmed", None),
    "sensitive": (column(sensitive=True), "noted", None),
    "absent_and_listed": (column(), "model_gap", "description"),
    "empty_and_listed": (column("empty"), "model_gap", "description"),
    "overflow": (column(distinct="overflow"), "noted", None),
    "empty": (column(distinct="empty"), "noted", None),
    "failed": (column(distinct="failed"), "unresolved", None),
    "not_run": (column(distinct="not_run"), "unresolved", None),
    "nobody_says_what_is_declared": (column(None), "unresolved", None),
    "nobody_says_and_sensitive": (column(None, sensitive=True), "unresolved", None),
    "of_another_shape": (column() | {"sensitive": "no"}, "unresolved", None),
    "no_object": (5, "unresolved", None),
}


@pytest.mark.parametrize(("judged", "verdict", "kind"), COLUMNS.values(), ids=COLUMNS)
def test_the_declared_values_of_a_column_are_graded(judged, verdict, kind):
    part = parts(row(columns={"orders.status": judged}))["values_declared:orders.status"]
    assert (part.verdict, part.kind) == (verdict, kind)


def test_a_column_without_declared_values_says_how_many_it_holds():
    note = parts(row(columns={"c.slug": column()}))["values_declared:c.slug"].note
    assert "8 distinct values and the semantic model lists none" in note


# --- question fit and claims -----------------------------------------------------------------------------------------

FITS = {
    "plausible": ({"fit": "plausible", "reason": None}, "confirmed"),
    "doubtful": ({"fit": "doubtful", "reason": "the grain differs"}, "unresolved"),
    "no_question": ({"fit": "no_question"}, None),
    "another_word": ({"fit": "maybe"}, "unresolved"),
    "empty": ("", "unresolved"),
    "an_error": ({"error": "x"}, "unresolved"),
    "of_another_shape": ([], "unresolved"),
    "not_there": (None, None),
}


@pytest.mark.parametrize(("content", "verdict"), FITS.values(), ids=FITS)
def test_the_question_fit_is_graded_where_it_is_there(content, verdict):
    assert verdicts(row(files={"question_fit.json": content})).get("question_fit") == verdict


def claims(predicates="agrees", window="agrees", generated="a", golden="b", **more):
    sides = {"sql_file": None, "against_sql_file": None}
    zero = {"sql_file": 0, "against_sql_file": 0}
    listed = [{"name": "filter_predicates", "status": predicates, "generated": ["a"], "golden": ["b"]},
              {"name": "date_window", "status": window, "generated": generated, "golden": golden}]  # fmt: skip
    return {"claims.json": {"claims": listed, "unreadable": sides, "temporal_predicates": zero, **more}}


NULLS = {"window": "unknown", "generated": None, "golden": None}
WINDOWS = {
    "agrees": (claims(), "confirmed"),
    "differs": (claims(window="differs"), "unresolved"),
    "unknown": (claims(window="unknown"), "unresolved"),
    "no_window_on_either_side": (claims(**NULLS), "confirmed"),
    "a_window_on_one_side": (claims(**{**NULLS, "golden": {"start": "x"}}), "unresolved"),
    "one_side_unreadable": (claims(**NULLS, unreadable={"sql_file": None, "against_sql_file": "syntax"}), "unresolved"),
    "nobody_says_what_was_readable": (claims(**NULLS, unreadable=None), "unresolved"),
    "one_side_left_out": (claims(**NULLS, unreadable={"sql_file": None}), "unresolved"),
    "a_date_filter_on_one_side": (
        claims(**NULLS, temporal_predicates={"sql_file": 1, "against_sql_file": 0}),
        "unresolved",
    ),
    "nobody_counted": (claims(**NULLS, temporal_predicates=None), "unresolved"),
    "a_count_that_is_none": (
        claims(**NULLS, temporal_predicates={"sql_file": False, "against_sql_file": 0}),
        "unresolved",
    ),
    "no_status": (claims(window=None), "unresolved"),
    "not_compared": ({"claims.json": {"claims": []}}, "unresolved"),
    "compared_twice": ({"claims.json": {"claims": [{"name": "date_window", "status": "agrees"}] * 2}}, "unresolved"),
    "no_file": ({}, "unresolved"),
    "an_empty_file": ({"claims.json": ""}, "unresolved"),
}


@pytest.mark.parametrize(("files", "verdict"), WINDOWS.values(), ids=WINDOWS)
def test_the_date_windows_agree_or_the_part_is_open(files, verdict):
    assert verdicts(row(files=files), with_claims=True)["date_window"] == verdict


@pytest.mark.parametrize(
    ("status", "verdict"), [("agrees", "confirmed"), ("differs", "unresolved"), ("unknown", "unresolved")]
)
def test_the_predicates_agree_or_the_part_is_open_with_both_sides_named(status, verdict):
    part = parts(row(files=claims(predicates=status, **NULLS)), with_claims=True)["predicates"]
    assert (part.verdict, part.evidence) == (verdict, {"generated": ["a"], "golden": ["b"]})


def test_claims_nobody_asked_for_are_no_part():
    assert set(parts(row(files=claims(predicates="differs")))) == {"runs", "scope"}


# --- open parts ------------------------------------------------------------------------------------------------------

PROBLEMS = {
    "missing": (None, "was not written"),
    "zero_bytes": ("", "is empty"),
    "blank": (" \n", "is empty"),
    "an_error": ({"error": "canary"}, "carries an error"),
    "an_error_beside_the_rest": (
        {"error": {"canary": 1}, "aggregates": [], "literals": [], "joins": []},
        "carries an error",
    ),
    "not_json": ("{canary", "is not JSON that can be read"),
    "not_utf8": (b"\xff\xfe{}", "is not UTF-8"),
    "another_shape": ({"aggregates": "canary", "literals": {}, "joins": 5, "tables": []}, "is of another shape"),
    "an_empty_object": ({}, "is of another shape"),
    "a_list": ("[]", "is of another shape"),
    "null": ("null", "is of another shape"),
    "a_key_twice": ('{"joins": [], "joins": []}', "is not JSON that can be read"),
    "not_a_number": ('{"joins": NaN}', "is not JSON that can be read"),
    "endless": ('{"joins": [], "x": 1e999}', "is not JSON that can be read"),
    "deep": ("[" * 100 + "]" * 100, "is nested too deep"),
    "deeper_than_a_parser": ("[" * 100_000, "is not JSON that can be read"),
    "too_many": ({"joins": [0] * 2_000}, "lists more than 1,000 entries"),
    "too_large": ("[" + " " * 9_000_000 + "]", "is larger than 8 MB"),
}


@pytest.mark.parametrize(("content", "problem"), PROBLEMS.values(), ids=PROBLEMS)
@pytest.mark.parametrize(("name", "part"), EXPECTED_FILES.items(), ids=EXPECTED_FILES.values())
def test_after_an_ok_run_a_file_that_cannot_be_used_is_an_open_part(name, part, content, problem):
    graded = ledger(row(files={name: content}))
    opened = {p.part: p for p in graded.parts}[part]
    assert (opened.verdict, opened.evidence) == ("unresolved", {"file": name, "problem": problem})
    assert graded.verdict == "unresolved"
    assert "canary" not in json.dumps(graded.to_json())


def test_after_a_run_that_failed_no_file_is_expected():
    assert set(parts({"run.json": '{"status": "failed", "kind": "timeout"}'})) == {"runs"}


@pytest.mark.parametrize(("name", "part"), [("join-probes.json", "join:*"), ("filter-values.judge.json", "literal:*")])
def test_a_check_that_could_not_read_the_statement_is_an_open_part(name, part):
    content = json.loads(row()[name]) | {"unreadable": "canary"}
    graded = ledger(row(files={name: content}))
    opened = {p.part: p for p in graded.parts}[part]
    assert (opened.verdict, opened.evidence["file"]) == ("unresolved", name)
    assert "canary" not in json.dumps(graded.to_json())


@pytest.mark.parametrize("changes", [{"dropped": 1}, {"joins_written": 2}, {"joins_written": 3, "dropped": 2}], ids=str)
def test_a_join_that_is_written_and_not_listed_is_an_open_part(changes):
    graded = ledger(row(files=probes(**changes)))
    assert {p.part: p.verdict for p in graded.parts}["join:*"] == "unresolved"
    assert graded.verdict == "unresolved"


def test_a_receipt_that_could_not_make_out_a_section_is_an_open_part():
    receipt = {"tables": {"items": [], "undetermined": "a CTE"}, "columns": {"items": []}}
    assert verdicts(row(files={"statement-receipt.json": receipt}))["receipt:*"] == "unresolved"


MALFORMED = {
    "aggregate": ({"aggregates": [aggregate(status=5)]}, ["fan_out:SUM(o.total)", "aggregation:SUM(o.total)"]),
    "nameless_aggregate": ({"aggregates": [{"status": "not_multiplied"}]}, ["fan_out:*", "aggregation:*"]),
    "risk": ({"aggregates": [aggregate() | {"findings": [{"risk": 5}]}]}, ["fan_out:SUM(o.total)"]),
    "table": ({"tables": [{"ref": "orders", "filters": "none"}]}, ["default_filter:orders:*"]),
    "nameless_table": ({"tables": [{}]}, ["receipt:*"]),
    "filter": ({"tables": [table() | {"filters": [{"expr": "x", "status": 1}]}]}, ["default_filter:orders:x"]),
    "column": ({"outputs": [{"column": "x"}]}, ["receipt:*"]),
    "output": ({"outputs": [{"kind": "output", "status": "matched"}]}, ["receipt:*"]),
}


@pytest.mark.parametrize(("what", "opened"), MALFORMED.values(), ids=MALFORMED)
def test_a_wrong_type_opens_its_own_part_and_no_other(what, opened):
    found = verdicts(row(**what))
    assert {name: found[name] for name in opened} == dict.fromkeys(opened, "unresolved")
    assert found["runs"] == found["scope"] == "confirmed"


def test_an_unknown_key_is_ignored():
    files = {
        name: json.dumps({**json.loads(content), "more": [1]}) for name, content in row(joins=[join(more=5)]).items()
    }
    assert ledger(files) == ledger(row(joins=[join()]))


# --- precedence ------------------------------------------------------------------------------------------------------

ORDER = ["query_defect", "unresolved", "model_gap", "confirmed"]
SHOWS = {
    "query_defect": {"literals": [literal("a", "query_defect")]},
    "unresolved": {"outputs": [output(status="undetermined")]},
    "model_gap": {"tables": [table(filters=[("x", "omitted")])]},
    "confirmed": {"columns": {"t.c": column("populated")}},
    "noted": {"columns": {"t.n": column(distinct="overflow")}},
}


@pytest.mark.parametrize(("weak", "strong"), list(itertools.combinations(ORDER, 2)))
def test_the_weaker_of_two_grades_decides(weak, strong):
    graded = ledger(row(**SHOWS[weak], **SHOWS[strong]))
    assert graded.verdict == weak
    assert graded.counts[weak] >= 1 <= graded.counts[strong]


@pytest.mark.parametrize("verdict", ORDER)
def test_a_noted_fact_decides_nothing(verdict):
    columns = {**SHOWS["noted"]["columns"], **SHOWS[verdict].get("columns", {})}
    graded = ledger(row(**{**SHOWS[verdict], "columns": columns}))
    assert (graded.verdict, graded.counts["noted"]) == (verdict, 1)


def test_nothing_graded_is_not_a_pass():
    assert weakest([]) == "unresolved"
    assert weakest([grade("x", "noted", "")]) == "unresolved"


# --- the value -------------------------------------------------------------------------------------------------------


def test_a_ledger_is_the_same_twice_frozen_and_hashable():
    files = row(joins=[undeclared()], aggregates=[aggregate(joins=ON)], literals=[literal()])
    first, second = ledger(files), ledger(dict(reversed(files.items())))
    assert first == second
    assert hash(first) == hash(second)
    assert first.to_json() == second.to_json()
    first.parts[0].evidence["status"] = "changed"
    assert first == second


def test_the_json_names_are_fixed():
    found = ledger(row()).to_json()
    assert list(found) == ["rows", "verdict", "counts"]
    assert list(found["rows"][0]) == ["part", "verdict", "kind", "depends_on", "evidence", "note"]


def test_text_and_bytes_are_the_same_files():
    files = row(joins=[undeclared()], files=overlaps("matched\n5\n", "matched\n0\n"))
    assert ledger({name: content.encode() for name, content in files.items()}) == ledger(files)
    assert ledger({name: b"\xef\xbb\xbf" + content.encode() for name, content in files.items()}) == ledger(files)
