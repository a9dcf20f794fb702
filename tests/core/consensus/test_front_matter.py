"""The head of a note: what YAML may say there, and how its faults are named."""

import contextlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.consensus.front_matter import MAX_DEPTH, MAX_LENGTH, read_front_matter
from app.core.consensus.notes import read_notes
from app.core.consensus.vault_errors import BrokenFrontMatter


def read(head):
    return read_front_matter("a.md", f"---\n{head}\n---\nbody\n")


@pytest.mark.parametrize(
    ("head", "value"),
    [
        ("k: no", "no"),
        ("k: 2024-01-01", "2024-01-01"),
        ("k: 1_000", "1_000"),
        ("k: 0o17", "0o17"),
        ("k: [on, y, .inf, 1e3]", ["on", "y", ".inf", "1e3"]),
        ("k: [[orders]]", "[[orders]]"),
        ('k:\n  - [[a]]\n  - "[[b]]"', ["[[a]]", "[[b]]"]),
        ("k: [[[a]], [[b]]]", ["[[a]]", "[[b]]"]),
        ("k: ${TABLE}.x # a note", "${TABLE}.x"),
        ("k: ${[[a]]} - ${[[b]]}", "${[[a]]} - ${[[b]]}"),
        ("k: |\n  a\n  b", "a\nb"),
        ("k:", None),
        ("k: ~", None),
        ("k: '~'", "~"),
        ("k: {a: [b]}", {"a": ["b"]}),
    ],
)
def test_value_stays_text(head, value):
    assert read(head).values == {"k": value}


def test_lines_and_body_are_told_apart_with_windows_line_ends_and_a_byte_order_mark():
    front = read_front_matter("a.md", "\ufeff---\r\na: 1\r\n\r\nb: 2\r\n---\r\n\r\nProse\r\n---\r\nmore\r\n")
    assert front.lines == {"a": 2, "b": 4}
    assert front.body == "Prose\n---\nmore"


@pytest.mark.parametrize(
    ("text", "line", "match"),
    [
        ("", 1, "begins with a line"),
        ("# Title\n", 1, "begins with a line"),
        ("---\na: 1\n", 1, "not closed"),
        ("---\na: 1\nb: [\n---\n", 3, "not YAML"),
        ("---\na: 1\na: 2\n---\n", 3, "`a` is written twice"),
        ("---\na: 1\nk: &x [1]\n---\n", 3, "anchors and aliases"),
        ("---\na: &x 1\nk: *x\n---\n", 2, "anchors and aliases"),
        ("---\na: 1\nk: !!python/object:os.system x\n---\n", 3, "tags are not read"),
        ("---\n!!map\na: 1\n---\n", 2, "tags"),
        ("---\n- a\n---\n", 2, "`key: value`"),
        ("---\n? [a]\n: b\n---\n", 2, "a key is one word"),
        ("---\na: 1\nb: \x07\n---\n", 3, "not YAML"),
        ('---\na: 1\nb: "\\UFFFFFFFF"\n---\n', 2, "escape"),
        ('---\na: 1\nb: "\\uD800"\n---\n', 3, "half a character"),
        (f"---\na: {'[' * 5000}\n---\n", 2, "deeper"),
        (f"---\na: {'[' * (MAX_DEPTH + 1)}{']' * (MAX_DEPTH + 1)}\n---\n", 2, "deeper"),
        (f"---\na: {'x' * MAX_LENGTH}\n---\n", 1, "longer"),
    ],
)
def test_fault_is_named_with_file_and_line(text, line, match):
    with pytest.raises(BrokenFrontMatter, match=match) as caught:
        read_front_matter("a.md", text)
    assert (caught.value.file, caught.value.line) == ("a.md", line)
    assert str(caught.value).startswith(f"a.md, line {line}: ")


@pytest.mark.parametrize(
    ("head", "line", "match"),
    [
        ("table: t", 1, "`type` is missing"),
        ("type: table", 2, "`type` is one of source, view"),
        ("type: [view]", 2, "`type` is one of"),
        ("type: view", 1, "`table` is missing; a view needs it"),
        ("type: view\ntable:", 3, "`table` is missing"),
        ("type: view\ntable: [a, b]", 3, "`table`"),
        ("type: view\ntable: t\nrestricted_colums: [a]", 4, "did you mean `restricted_columns`"),
        ("type: view\ntable: t\nsql: SELECT 1", 4, "`sql` is a key of a field; those of a view"),
        ("type: view\ntable: t\nrestricted_columns: {a: b}", 4, "`restricted_columns`"),
        ("type: field\nview: o\nkind: measure\nsql: x", 4, "`kind`: input should be 'identifier'"),
        ("type: field\nview: o\nkind: metric\nsql: x\nfilters: [{field: a}]", 6, "`filters.0`: write SQL"),
        ("type: relation\nfrom: a.b\nto: c.d\ncardinality: some", 5, "`cardinality`"),
        ("type: relation\nfrom: a.b\nto: c.d\ncardinality: one_to_one\njoin_type: outer", 6, "`join_type`"),
        ("type: concept", 1, "a concept has `fields`"),
        ("type: lore", 1, "`when` is missing"),
        ("type: lore\nwhen: sometimes", 3, "`when` is `always`"),
        ("type: lore\nwhen: {}", 3, "`when`"),
        ("type: lore\nwhen: {field: [a]}", 3, "`when` knows no `field`"),
    ],
)
def test_key_fault_is_named_with_its_line(head, line, match):
    with pytest.raises(BrokenFrontMatter, match=match) as caught:
        read_notes({"a.md": f"---\n{head}\n---\n"})
    assert caught.value.line == line


@settings(deadline=None, max_examples=300)
@given(st.text(alphabet="ab:-?[]{},&*!|>'\"%@`#~ \n\t\\uUxD8F0", max_size=40))
def test_any_head_is_read_or_refused_by_name(head):
    with contextlib.suppress(BrokenFrontMatter):
        front = read(head)
        assert set(front.lines) == set(front.values)
        json.dumps(front.values).encode()


def test_type_may_stand_in_the_file_name_alone():
    assert read_notes({"o__view.md": "---\ntable: t\n---\n"})["o"].keys.note_type == "view"


def test_type_that_the_file_name_contradicts_is_refused():
    with pytest.raises(BrokenFrontMatter, match="says view, and the file name says field"):
        read_notes({"o__field.md": "---\ntype: view\ntable: t\n---\n"})


def test_keys_of_others_are_passed_over():
    text = "---\ntype: view\ntable: t\ntags: [a]\ntitle: T\nlabel: L\naliases: []\nowner: finance\n---\n"
    assert read_notes({"a.md": text})["a"].keys.table == "t"


@pytest.mark.parametrize("column", ["no", "on", "2024-01-01", "007", "1e3"])
def test_column_with_a_name_that_yaml_takes_for_something_else(column):
    text = f"---\ntype: view\ntable: t\nprimary_key: {column}\nrestricted_columns: [{column}]\n---\n"
    keys = read_notes({"a.md": text})["a"].keys
    assert keys.primary_key == keys.restricted_columns == (column,)
