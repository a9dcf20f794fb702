"""What must hold of every ledger, over generated rows: no silence is a pass, and no spelling or order decides."""

from __future__ import annotations

import json
import re
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.reconcile import ledger

from .row_builder import EXPECTED_FILES, aggregate, column, join, literal, output, row, table

TABLES = ["orders", "customers", "items", "regions"]
COUNT = st.sampled_from(["matched\n0\n", "matched\n7\n", "matched\n", "", "matched\nx\n", None])
CARDINALITY = st.sampled_from(["5,5,0", "5,3,0", "5,4,1", "5,9,0", ""])
RISKS = ["fan_trap", "fan_out_invariant", "bad_aggregation", "semi_additive"]


@st.composite
def joins(draw, number):
    left, right = draw(st.sampled_from(TABLES)), draw(st.sampled_from(TABLES))
    status = draw(st.sampled_from(["declared", "wrong_key", "undeclared", "undeclarable", "undetermined", None]))
    planned = draw(st.integers(0, 2)) if status == "undeclared" else 0
    columns = sorted([f"{left}.{right}_id", f"{right}.id"])
    written = join(left, right, status, id=f"join-{number}")
    written["probes"] = {"overlap": [{}] * planned, "cardinality": columns if planned else []}
    written["dropped_rows_probe"] = draw(st.none() | st.just({"left": left, "right": right}))
    files = {f"join-{number}.overlap.{i}.csv": draw(COUNT) for i in range(planned)}
    header = "total,distinct_count,null_count\n"
    files |= {f"cardinality.{name}.csv": header + draw(CARDINALITY) for name in columns if planned}
    return written, files


@st.composite
def rows(draw):
    written = [draw(joins(number)) for number in range(draw(st.integers(0, 3)))]
    pairs = [f"{a['endpoints'][0]} → {a['endpoints'][1]}" for a, _ in written]
    references = st.lists(st.sampled_from([*pairs, "orders → refunds"]), max_size=2)
    totals = [
        aggregate(
            draw(st.sampled_from(["COUNT(*)", "SUM(o.total)"])),
            draw(st.sampled_from(["multiplied", "not_multiplied", "undetermined", None])),
            draw(references),
            draw(st.lists(st.sampled_from(RISKS), max_size=2, unique=True)),
        )
        for _ in range(draw(st.integers(0, 3)))
    ]
    filters = draw(
        st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from(["applied", "omitted", "?"])), max_size=2)
    )
    outputs = [
        output(
            name,
            draw(st.sampled_from(["matched", "unmatched", "undetermined"])),
            source_tables=draw(st.none() | st.just(["orders"])),
        )
        for name in draw(st.lists(st.sampled_from("abc"), max_size=2, unique=True))
    ]
    grades = st.sampled_from(["confirmed", "model_gap", "query_defect", "unresolved"])
    literals = [
        literal(value, draw(grades)) for value in draw(st.lists(st.sampled_from("pqr"), max_size=2, unique=True))
    ]
    facts = st.sampled_from([column(), column("populated"), column(distinct="overflow"), column(distinct="failed")])
    files = {name: content for _, more in written for name, content in more.items()}
    return row(
        aggregates=totals,
        tables=[table(filters=filters)],
        outputs=outputs,
        joins=[a for a, _ in written],
        literals=literals,
        columns=draw(st.dictionaries(st.sampled_from(["t.c", "t.d"]), facts, max_size=2)),
        unique=draw(st.sets(st.sampled_from([f"{name}.id" for name in TABLES]))),
        files=files,
    )  # fmt: skip


def graded(files):
    """The verdicts of each part, in any order; several may share a name."""
    return sorted((part.part, part.verdict) for part in ledger(files).parts)


def rewritten(files, name, change):
    value = json.loads(files[name])
    change(value)
    return {**files, name: json.dumps(value)}


CORRUPTIONS = st.sampled_from([None, "", "  ", "{", "null", "[]", "{}", '{"error": "no_model"}', "5", '"ok"', b"\xff"])


@given(files=rows(), name=st.sampled_from(list(EXPECTED_FILES)), content=CORRUPTIONS)
def test_an_expected_input_lost_never_leaves_a_pass(files, name, content):
    lost = {k: v for k, v in files.items() if k != name} | ({} if content is None else {name: content})
    after = ledger(lost)
    assert after.verdict in ("unresolved", "query_defect")
    assert (EXPECTED_FILES[name], "unresolved") in [(p.part, p.verdict) for p in after.parts]


@given(files=rows(), data=st.data())
def test_an_expected_input_cut_short_never_leaves_a_pass(files, data):
    name = data.draw(st.sampled_from(list(EXPECTED_FILES)))
    cut = files[name][: data.draw(st.integers(0, len(files[name]) - 1))]
    assert ledger({**files, name: cut}).verdict in ("unresolved", "query_defect")


def _by_name(files):
    """Each part and its verdict; the same aggregate in two scopes has one name, so the second gets a number too."""
    seen = Counter()
    for part in ledger(files).parts:
        seen[part.part] += 1
        yield (part.part, seen[part.part]), part.verdict


def _probe_files(files):
    return [name for name in files if name.endswith(".csv")]


@given(files=rows(), data=st.data())
def test_a_probe_file_lost_never_turns_a_part_to_confirmed_or_model_gap(files, data):
    names = _probe_files(files)
    if not names:
        return
    lost = dict(files)
    for name in data.draw(st.lists(st.sampled_from(names), min_size=1, unique=True)):
        content = data.draw(st.sampled_from([None, "", "ERROR: no such table\n", "a,b\n1,2\n", b"\xff\xff"]))
        lost.pop(name, None)
        if content is not None:
            lost[name] = content
    before = dict(_by_name(files))
    for name, verdict in _by_name(lost):
        if verdict in ("confirmed", "model_gap"):
            assert before[name] == verdict, name


@given(files=rows(), data=st.data())
def test_a_noted_fact_never_changes_a_verdict(files, data):
    noted = data.draw(st.sampled_from([column(distinct="overflow"), column(distinct="empty"), column(sensitive=True)]))
    more = rewritten(files, "filter-values.judge.json", lambda judge: judge["columns"].update({"n.n": noted}))
    before, after = ledger(files), ledger(more)
    assert after.verdict == before.verdict
    assert after.counts["noted"] == before.counts["noted"] + 1
    probed = rewritten(files, "join-probes.json", lambda p: [j.update(dropped_rows_probe={}) for j in p["joins"]])
    assert ledger(probed).verdict == before.verdict


@given(files=rows(), random=st.randoms(use_true_random=False))
def test_the_order_of_joins_aggregates_and_literals_changes_no_verdict(files, random):
    def shuffle(key):
        return lambda value: random.shuffle(value[key])

    shuffled = rewritten(files, "statement-prepare.json", shuffle("aggregates"))
    shuffled = rewritten(shuffled, "filter-values.judge.json", shuffle("literals"))
    shuffled = rewritten(shuffled, "join-probes.json", shuffle("joins"))
    before, after = ledger(files), ledger(shuffled)
    assert (after.verdict, after.counts) == (before.verdict, before.counts)

    def without_numbers(found):
        # Which of two joins of one pair is `#2` is their order, and nothing else may be.
        return sorted((re.sub(r"#\d+$", "", part.part), part.verdict, part.kind or "") for part in found.parts)

    assert without_numbers(after) == without_numbers(before)


def _capitals(text):
    names = "|".join([*TABLES, "refunds"])
    return re.sub(rf"\b({names})\b", lambda found: found.group().upper(), text)


@given(files=rows())
def test_the_case_of_headers_and_table_names_changes_no_verdict(files):
    def folded(found):
        return sorted((part.part.lower(), part.verdict) for part in found.parts)

    for name in files:
        if name.endswith(".csv"):
            assert graded({**files, name: files[name].upper()}) == graded(files)
    probes = {**files, "join-probes.json": _capitals(files["join-probes.json"])}
    assert folded(ledger(probes)) == folded(ledger(files))
    prepare = {**files, "statement-prepare.json": files["statement-prepare.json"].replace("orders", "Orders")}
    assert folded(ledger(prepare)) == folded(ledger(files))
    receipt = {**files, "statement-receipt.json": files["statement-receipt.json"].replace("orders", "Orders")}
    assert folded(ledger(receipt)) == folded(ledger(files))
    renamed = {_capitals(name) if name.startswith("cardinality") else name: text for name, text in files.items()}
    assert folded(ledger(renamed)) == folded(ledger(files))


@given(files=rows())
def test_the_verdict_is_that_of_its_weakest_part_and_the_counts_are_of_all(files):
    found = ledger(files)
    order = ["query_defect", "unresolved", "model_gap", "confirmed"]
    assert found.verdict == next(v for v in order if found.counts[v])
    assert sum(found.counts.values()) == len(found.parts)
    assert all((part.kind is not None) == (part.verdict == "model_gap") for part in found.parts)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def one_wrong_value(draw):
    """A row with one value, anywhere in one of its files, replaced by any other."""
    files = draw(rows())
    name = draw(st.sampled_from([*EXPECTED_FILES, "run.json"]))
    value = json.loads(files[name])
    places = []
    stack = [value]
    while stack:
        here = stack.pop()
        keys = here.keys() if isinstance(here, dict) else range(len(here)) if isinstance(here, list) else ()
        for key in keys:
            places.append((here, key))
            stack.append(here[key])
    here, key = draw(st.sampled_from(places))
    here[key] = draw(json_values)
    return {**files, name: json.dumps(value)}


@settings(max_examples=300)
@given(files=one_wrong_value())
def test_a_wrong_type_anywhere_is_a_ledger_and_no_crash(files):
    found = ledger(files)
    assert found == ledger(files)
    json.dumps(found.to_json(), allow_nan=False)


@given(st.dictionaries(st.sampled_from([*EXPECTED_FILES, "run.json", "claims.json", "question_fit.json", "x"]),
                       json_values.map(json.dumps) | st.text(max_size=20) | st.binary(max_size=20)))  # fmt: skip
def test_any_mapping_is_a_ledger(files):
    assert ledger(files, with_claims=True).parts[0].part == "runs"
