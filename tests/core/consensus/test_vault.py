"""Context blocks: what they hold, what they leave out, and how a faulty vault is named."""

import contextlib
import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.consensus.vault import assemble_context
from app.core.consensus.vault_errors import (
    BrokenFrontMatter,
    BrokenSql,
    CircularReference,
    DanglingLink,
    DuplicateName,
    UnknownName,
    VaultError,
    WrongType,
)
from app.runner.read_vault import read_vault

SHOP = read_vault(Path(__file__).parents[3] / "examples/vault")


def note(body="", **keys):
    lines = [f"{key.rstrip('_')}: {value}" for key, value in keys.items()]
    return "\n".join(["---", *lines, "---", body])


def view(table="shop.orders", **keys):
    return note(type="view", table=table, **keys)


def field(sql, view="orders", kind="dimension", **keys):
    return note(type="field", view=f'"[[{view}]]"', kind=kind, sql=json.dumps(sql), **keys)


def names(parts):
    return [part.name for part in parts]


def one(parts, name):
    (found,) = [part for part in parts if part.name == name]
    return found


# What the text alone tells: every fact that a writer needs for a question about sales and order lines.
FACTS = {
    "table": "- table: `shop.orders`",
    "grain": "- one row means: one order, whatever became of it",
    "primary key": "- primary key: `order_id`",
    "primary key of two columns": "- primary key: `order_id`, `line_no`",
    "primary key by a field": "- primary key: `customer_id`",
    "dedup key": "- dedup key: `order_id`",
    "restricted columns": "- restricted columns (never select them or filter on them): `email`, `birth_date`",
    "column": "- SQL: `shop.orders.ordered_at`",
    "inlined field": "- SQL: `shop.orders.amount - shop.orders.tax`",
    "field inlined three deep": (
        "- SQL: `SUM(shop.orders.amount - shop.orders.tax) / NULLIF(COUNT(DISTINCT shop.orders.order_id), 0)`"
    ),
    "kind": "- kind: time",
    "aggregation": "- aggregation: count_distinct",
    "default filter": "- default filter: `shop.orders.status = 'completed'`",
    "semi-additive": "- semi-additive: not to be summed over: customers.as_of",
    "join condition": "- on: `shop.orders.customer_id = shop.customers.customer_id`",
    "join sides": "- left: orders, table `shop.orders`\n- right: customers, table `shop.customers`",
    "cardinality": "- cardinality, left to right: many_to_one",
    "join type by default": "- join type: LEFT JOIN",
    "join type as said": "- join type: INNER JOIN",
    "concept's inherited fields": "- fields: orders.net_revenue, orders.average_order_value, customers.region",
    "concept's filter": "- filter: `COALESCE(shop.customers.region, 'unknown') <> 'unknown'`",
    "lore always there": "A day is a day in Europe/Berlin. Convert before truncating.",
    "lore of a field": "Never add tax back to orders.net_revenue.",
    "lore of a view": "Joining the lines repeats each order.",
    "prose of a field": "One of `open`, `completed`, `cancelled`, `refunded`.",
    "prose of a relation": "An order of a guest has no customer, and stays in the result.",
    "prose of a source": "PostgreSQL 18.",
}


@pytest.mark.parametrize("fact", FACTS.values(), ids=FACTS.keys())
def test_render_alone_tells_every_fact(fact):
    block = assemble_context(SHOP, ["sales", "order_lines", "orders.ordered_at", "customers.credit"])
    assert fact in block.render()


def test_render_leaves_no_hole_and_no_link():
    text = assemble_context(SHOP, ["sales", "order_lines", "customers", "orders"]).render()
    assert "${" not in text
    assert "[[" not in text


@settings(deadline=None, max_examples=20)
@given(st.randoms(use_true_random=False), st.permutations(["sales", "order_lines", "orders.ordered_at"]))
def test_render_is_the_same_whatever_the_order(shuffle: random.Random, asked):
    files = list(SHOP.items())
    shuffle.shuffle(files)
    expected = assemble_context(SHOP, ["sales", "order_lines", "orders.ordered_at"]).render()
    assert assemble_context(dict(files), asked).render() == expected


def test_block_is_hashable_and_leaves_the_vault_alone():
    before = dict(SHOP)
    assert hash(assemble_context(SHOP, ["sales"])) == hash(assemble_context(SHOP, ["sales"]))
    assert before == SHOP


# Selection


def test_selection_of_a_field_brings_its_view_and_the_fields_in_it_and_nothing_else():
    block = assemble_context(SHOP, ["orders.net_revenue"])
    assert names(block.views) == ["orders"]
    assert names(block.fields) == ["orders.net_amount", "orders.net_revenue", "orders.status"]
    assert block.relations == ()
    assert names(block.lore) == ["revenue_excludes_tax", "time_zone"]


def test_selection_of_a_view_alone_brings_all_its_fields():
    block = assemble_context(SHOP, ["order_lines"])
    assert names(block.fields) == ["order_lines.order_id", "order_lines.units"]


def test_selection_of_a_view_beside_one_of_its_fields_keeps_to_that_field():
    block = assemble_context(SHOP, ["orders", "orders.status"])
    assert names(block.fields) == ["orders.status"]


def test_selection_of_a_view_is_not_narrowed_by_a_field_that_another_field_needs():
    vault = {
        "orders.md": view(),
        "orders.x.md": field("${TABLE}.x"),
        "orders.y.md": field("${TABLE}.y"),
        "lines.md": view("shop.lines"),
        "lines.share.md": field("${TABLE}.price / ${[[orders.x]]}", view="lines"),
    }
    assert names(assemble_context(vault, ["orders", "lines.share"]).fields) == ["lines.share", "orders.x", "orders.y"]


def test_selection_of_a_topic_that_lists_views_alone_brings_their_fields():
    vault = SHOP | {"stock.md": note(type="topic", views="[[order_lines]]")}
    assert names(assemble_context(vault, ["stock"]).fields) == ["order_lines.order_id", "order_lines.units"]


def test_selection_of_two_views_brings_the_relation_between_them():
    block = assemble_context(SHOP, ["orders.status", "customers.region"])
    assert names(block.relations) == ["orders_to_customers"]
    assert {"orders.customer_id", "customers.id"} <= set(names(block.fields))


def test_selection_of_a_topic_brings_concepts_relations_and_views():
    block = assemble_context(SHOP, ["sales"])
    assert names(block.topics) == ["sales"]
    assert names(block.concepts) == ["regional_revenue", "revenue"]
    assert names(block.relations) == ["orders_to_customers"]
    assert names(block.views) == ["customers", "orders"]


def test_selection_of_lore_when_it_is_named():
    assert "lines_multiply_orders" in names(assemble_context(SHOP, ["lines_multiply_orders"]).lore)


def test_selection_leaves_untriggered_lore_out():
    assert names(assemble_context(SHOP, ["customers.region"]).lore) == ["time_zone"]


@pytest.mark.parametrize("asked", ["[[orders.status]]", "orders.status", " orders.status__field.md "])
def test_selection_takes_a_name_as_it_is_written_anywhere(asked):
    assert names(assemble_context(SHOP, [asked]).fields) == ["orders.status"]


# Substitution


@pytest.mark.parametrize(
    ("inner", "outer", "resolved"),
    [
        ("${TABLE}.x", "${[[orders.inner]]} * 2", "shop.orders.x * 2"),
        ("${TABLE}.x + 1", "${[[orders.inner]]} * 2", "(shop.orders.x + 1) * 2"),
        ("${TABLE}.x + 1", "SUM(${[[orders.inner]]})", "SUM(shop.orders.x + 1)"),
        ("${TABLE}.x + 1", "COALESCE(0, ${[[orders.inner]]}, 1)", "COALESCE(0, shop.orders.x + 1, 1)"),
        ("${TABLE}.x + 1", "${[[orders.inner]]}", "shop.orders.x + 1"),
        ("-1", "2 - ${[[orders.inner]]}", "2 - (-1)"),
        ("SUM(${TABLE}.x)", "${[[orders.inner]]} / 2", "SUM(shop.orders.x) / 2"),
        ("SUM(x) + SUM(y)", "${[[orders.inner]]} / 2", "(SUM(x) + SUM(y)) / 2"),
        ("(x + y)", "${[[orders.inner]]} / 2", "(x + y) / 2"),
        ("(x) + (y)", "${[[orders.inner]]} / 2", "((x) + (y)) / 2"),
        ("NOT (x)", "${[[orders.inner]]} = y", "(NOT (x)) = y"),
        ("a OR b", "${[[orders.inner]]} AND c", "(a OR b) AND c"),
        ("'a -- b'", "${[[orders.inner]]} || 'c'", "'a -- b' || 'c'"),
        ("CASE WHEN a THEN 1 END", "${[[orders.inner]]} + 1", "(CASE WHEN a THEN 1 END) + 1"),
        ("SUM(x) OVER (PARTITION BY y)", "${[[orders.inner]]} / 2", "(SUM(x) OVER (PARTITION BY y)) / 2"),
    ],
)
def test_substitution_keeps_what_the_expression_means(inner, outer, resolved):
    vault = {"orders.md": view(), "orders.inner.md": field(inner), "orders.outer.md": field(outer)}
    assert one(assemble_context(vault, ["orders.outer"]).fields, "orders.outer").sql == resolved


def test_substitution_takes_each_field_to_its_own_table():
    vault = {
        "orders.md": view(),
        "lines.md": view("shop.lines"),
        "lines.price.md": field("${TABLE}.price", view="lines"),
        "orders.share.md": field("${[[lines.price]]} / ${TABLE}.amount"),
    }
    assert one(assemble_context(vault, ["orders.share"]).fields, "orders.share").sql == (
        "shop.lines.price / shop.orders.amount"
    )


def test_substitution_of_fields_five_deep():
    vault = {"orders.md": view(), "f0.md": field("${TABLE}.x")}
    vault |= {f"f{i}.md": field(f"${{[[f{i - 1}]]}} + {i}") for i in range(1, 6)}
    assert one(assemble_context(vault, ["f5"]).fields, "f5").sql == "((((shop.orders.x + 1) + 2) + 3) + 4) + 5"


def test_substitution_of_a_thousand_fields_deep_does_not_run_out_of_stack():
    vault = {"orders.md": view(), "f0.md": field("${TABLE}.x")}
    vault |= {f"f{i}.md": field(f"ABS(${{[[f{i - 1}]]}})") for i in range(1, 1000)}
    assert one(assemble_context(vault, ["f999"]).fields, "f999").sql.startswith("ABS(ABS(ABS(")


def test_substitution_drops_a_comment_that_would_swallow_the_rest():
    vault = {
        "orders.md": view(),
        "orders.a.md": field("${TABLE}.x -- without tax"),
        "orders.b.md": field("${[[orders.a]]} + 1"),
    }
    assert one(assemble_context(vault, ["orders.b"]).fields, "orders.b").sql == "shop.orders.x + 1"


def test_substitution_that_doubles_at_each_step_is_refused():
    vault = {"orders.md": view(), "f0.md": field("${TABLE}.x")}
    vault |= {f"f{i}.md": field(f"${{[[f{i - 1}]]}} + ${{[[f{i - 1}]]}}") for i in range(1, 60)}
    with pytest.raises(BrokenSql, match="too long"):
        assemble_context(vault, ["f59"])


@pytest.mark.parametrize(
    "sql",
    ["SUM(x", "x)", "'open", "x; DROP TABLE y", "x AS y", "a, b", "${amount}", "${[[a]]", " ", "-- nothing"],
)
def test_substitution_refuses_sql_that_is_no_expression(sql):
    vault = {"orders.md": view(), "orders.a.md": field(sql)}
    with pytest.raises(BrokenFrontMatter, match=r"orders\.a\.md, line 5: `sql`"):
        assemble_context(vault, ["orders.a"])


# Relations and concepts


def relation(**keys):
    return note(type="relation", **{"cardinality": "many_to_one", **keys})


STAFF = {
    "staff.md": view("hr.staff"),
    "staff.id.md": field("${TABLE}.id", view="staff"),
    "staff.boss.md": field("${TABLE}.boss_id", view="staff"),
}


def test_relation_of_a_view_to_itself_names_the_two_sides():
    vault = STAFF | {"reports_to.md": relation(from_="[[staff.boss]]", to="[[staff.id]]")}
    block = assemble_context(vault, ["reports_to"])
    assert block.relations[0].join_sql == "staff_left.boss_id = staff_right.id"
    assert "- left: staff, table `hr.staff AS staff_left`" in block.render()


def test_relation_by_plain_columns():
    vault = {"o.md": view("shop.o"), "c.md": view("shop.c"), "r.md": relation(from_="o.customer", to="c.id")}
    assert assemble_context(vault, ["o", "c"]).relations[0].join_sql == "shop.o.customer = shop.c.id"


def test_relation_by_its_own_condition():
    vault = STAFF | {
        "o.md": view("shop.o"),
        "r.md": relation(from_="[[o]]", to="[[staff]]", join_type="FULL", join_sql="${[[staff.id]]} = o.seller"),
    }
    (found,) = assemble_context(vault, ["r"]).relations
    assert (found.left, found.right, found.join_type, found.join_sql) == (
        "o",
        "staff",
        "full",
        "hr.staff.id = o.seller",
    )


@pytest.mark.parametrize(
    ("keys", "match"),
    [
        ({"from_": "[[o]]", "to": "[[staff]]"}, "`join_sql` says how"),
        ({"from_": "[[o]]", "to": "[[staff]]", "join_sql": "${TABLE}.a = b"}, r"write \$\{\[\["),
        ({"from_": "[[staff]]", "to": "[[staff]]", "join_sql": "${[[staff.id]]} = b"}, "view_left.column"),
    ],
    ids=["no condition", "table of which side", "one side twice"],
)
def test_relation_without_a_clear_condition_is_refused(keys, match):
    with pytest.raises(BrokenSql, match=match):
        assemble_context(STAFF | {"o.md": view("shop.o"), "r.md": relation(**keys)}, ["r"])


def test_concept_filter_takes_the_table_of_its_fields():
    vault = {
        "orders.md": view(),
        "orders.x.md": field("${TABLE}.x"),
        "live.md": note(type="concept", fields="[[orders.x]]", filter="${TABLE}.live"),
        "recent.md": note(type="concept", extends="[[live]]", filter="${[[orders.x]]} > 3"),
    }
    assert one(assemble_context(vault, ["recent"]).concepts, "recent").filters == (
        "shop.orders.live",
        "shop.orders.x > 3",
    )


def test_concept_filter_of_several_tables_is_refused():
    vault = STAFF | {
        "orders.md": view(),
        "orders.x.md": field("${TABLE}.x"),
        "c.md": note(type="concept", fields="'[[orders.x]], [[staff.id]]'", filter="${TABLE}.live"),
    }
    with pytest.raises(BrokenSql, match="several views"):
        assemble_context(vault, ["c"])


@pytest.mark.parametrize(
    ("written", "column"),
    [
        ("margin", "margin"),
        ("${TABLE}.margin", "margin"),
        ("[[orders.m]]", "margin"),
        ("orders.m", "margin"),
        ('"Mar gin"',) * 2,
    ],
)
def test_restricted_column_however_it_is_written(written, column):
    vault = {
        "orders.md": view(restricted_columns=json.dumps(written)),
        "orders.m.md": field("${TABLE}.margin"),
    }
    assert assemble_context(vault, ["orders"]).views[0].restricted_columns == (column,)


@pytest.mark.parametrize("written", ["orders.margin", "[[orders.m]]", "COALESCE(margin 0)", "*"])
def test_restricted_column_that_is_no_column_is_refused(written):
    vault = {"orders.md": view(restricted_columns=json.dumps(written)), "orders.m.md": field("${TABLE}.margin + 1")}
    with pytest.raises(BrokenSql, match=r"orders\.md: `restricted_columns` are columns by name"):
        assemble_context(vault, ["orders.m"])


def test_field_that_reads_a_restricted_column_says_so():
    vault = {
        "orders.md": view(restricted_columns="[margin]"),
        "orders.m.md": field("SUM(${TABLE}.Margin)"),
        "orders.n.md": field("SUM(${TABLE}.margin_note)"),
    }
    block = assemble_context(vault, ["orders"])
    assert [(f.name, f.restricted) for f in block.fields] == [("orders.m", ("margin",)), ("orders.n", ())]
    assert "- reads restricted columns: `margin`" in block.render()


# Faulty vaults


@pytest.mark.parametrize(
    ("files", "path"),
    [
        ({"a.md": field("${[[a]]}")}, ("a", "a")),
        ({"b.md": field("${[[c]]}"), "c.md": field("1 + ${[[a]]}"), "a.md": field("${[[b]]}")}, ("a", "b", "c", "a")),
        ({"a.md": field("1", filters='["${[[b]]} > 1"]'), "b.md": field("${[[a]]}")}, ("a", "b", "a")),
        (
            {"y.md": note(type="concept", extends="[[x]]"), "x.md": note(type="concept", extends="[[y]]")},
            ("x", "y", "x"),
        ),
    ],
    ids=["itself", "three fields", "through a filter", "concepts"],
)
def test_circle_is_named_whole(files, path):
    with pytest.raises(CircularReference) as caught:
        assemble_context({"orders.md": view(), **files}, ["orders"])
    assert caught.value.path == path
    assert " → ".join(f"[[{name}]]" for name in path) in str(caught.value)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("f.md", field("${[[gone]]}")),
        ("f.md", field("1", filters='["${[[gone]]} > 1"]')),
        ("f.md", field("1", view="gone")),
        ("v.md", view(primary_key='"[[gone]]"')),
        ("v.md", view(source="[[gone]]")),
        ("r.md", relation(from_="[[gone]]", to="[[orders]]", join_sql="x = y")),
        ("c.md", note(type="concept", fields="[[gone]]")),
        ("c.md", note(type="concept", extends="[[gone]]")),
        ("t.md", note(type="topic", views="[[gone]]")),
        ("l.md", note(type="lore", when='{fields: ["[[gone]]"]}')),
        ("l.md", note("See [[gone]].", type="lore", when="always")),
    ],
    ids=["sql", "filter", "view", "key", "source", "relation", "concept", "extends", "topic", "lore", "prose"],
)
def test_dangling_link_is_named_with_its_file(file, text):
    with pytest.raises(DanglingLink, match=rf"{file} links \[\[gone\]\]") as caught:
        assemble_context({"orders.md": view(), file: text}, ["orders"])
    assert caught.value.links == ((file, "gone"),)


def test_dangling_links_are_all_named_at_once():
    vault = {f"l{i:02}.md": note(f"[[gone{i}]]", type="lore", when="always") for i in range(12)}
    with pytest.raises(DanglingLink, match="and 2 more") as caught:
        assemble_context(vault, ["l00"])
    assert len(caught.value.links) == 12


def test_links_in_code_and_pictures_are_not_followed():
    body = "`[[1, 2]]` and ![[chart.png]]\n```\narr[[x]]\n```\n"
    assert assemble_context({"l.md": note(body, type="lore", when="always")}, ["l"]).lore


@pytest.mark.parametrize(
    "files", [("a/orders.md", "b/orders.md"), ("orders.md", "orders__view.md"), ("caf\u00e9.md", "cafe\u0301.md")]
)
def test_duplicate_name_is_named_with_its_files(files):
    with pytest.raises(DuplicateName) as caught:
        assemble_context(dict.fromkeys(files, view()), ["orders"])
    assert set(caught.value.files) == set(files)
    assert all(file in str(caught.value) for file in files)


def test_unknown_name_gets_the_nearest():
    with pytest.raises(UnknownName, match=r"\[\[orders.statsu\]\]; did you mean \[\[orders.status\]\]"):
        assemble_context(SHOP, ["orders.statsu"])


def test_link_to_a_note_of_another_type_is_refused():
    vault = {"orders.md": view(), "t.md": note(type="topic", concepts="[[orders]]")}
    with pytest.raises(WrongType, match=r"t\.md: `concepts` links \[\[orders\]\], a view; it wants a concept"):
        assemble_context(vault, ["t"])


@settings(deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["a.md", "b__view.md", "c.md", "x/a.md"]),
        st.lists(
            st.sampled_from(
                [
                    "---",
                    "type: view",
                    "type: field",
                    "table: t",
                    "view: [[b]]",
                    "kind: metric",
                    "sql: ${[[a]]} + 1",
                    "- x",
                    "when: always",
                    "type: lore",
                    "fields: [[[a]]]",
                    "from: b.x",
                    "  y: &a [*a]",
                    "\t",
                    "'",
                    "{",
                ]
            ),
            max_size=8,
        ).map(lambda lines: "\n".join(["---", *lines, "---", "See [[b]]."])),
    ),
    st.lists(st.sampled_from(["a", "b", "c"])),
)
def test_any_text_gives_a_block_or_a_named_error(vault, asked):
    with contextlib.suppress(VaultError):
        assert assemble_context(vault, asked).render().startswith("# Context")
