"""A report says what is open and what was found, and nothing from a run can act on its reader."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from app.core.reconcile import RunRow, ledger, report, report_html
from app.core.reconcile.report_html import visible

from .row_builder import literal, output, row, table

HOSTILE = "<script>alert(1)</script>\"'&\u202eevil\x1b[2J"


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text = set(), ""

    def handle_starttag(self, tag, attrs):
        self.tags.add((tag, tuple(name for name, _ in attrs)))

    def handle_data(self, data):
        self.text += data


def read(page):
    tags = Tags()
    tags.feed(page)
    tags.close()
    return tags


def rows(word="x"):
    files = row(
        tables=[table(word, [(word, "omitted")])],
        outputs=[output(word, "undetermined")],
        literals=[literal(word, "query_defect", note=word)],
    )
    return [
        RunRow(1, {"label": word, "match": False}, ledger(files)),
        RunRow(2, {"question": word, "match": True}, None),
    ]


def test_a_report_counts_its_rows_and_names_what_is_open():
    told = report(rows())
    assert told.statuses == (("expected_doubtful", 1), ("match", 1))
    assert [part for part, _ in told.rows[0].open_parts] == ["metric:x"]
    assert told.rows[1].verdict is None
    assert [finding.key for finding in told.findings] == ["filter:x:x"]
    assert [defect.part for defect in told.query_defects] == ["literal:orders.status=x"]


def test_nothing_from_a_run_is_markup():
    plain, hostile = read(report_html(report(rows()))), read(report_html(report(rows(HOSTILE))))
    assert hostile.tags == plain.tags
    assert "<script>alert(1)</script>" in hostile.text


@given(st.text(max_size=30))
def test_no_text_at_all_changes_the_page(word):
    page = report_html(report(rows(word)))
    assert read(page).tags == read(report_html(report(rows()))).tags
    assert page.encode()
    assert not re.search("[\x00-\x08\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069]", page)


def test_the_page_loads_and_runs_nothing():
    page = report_html(report(rows(HOSTILE)))
    assert "default-src 'none'" in page
    assert not re.search(r"\b(src|href|action|onload|style)=", page)


def test_what_cannot_be_seen_is_spelled_out():
    assert visible("a\u202eb\x1b[0m") == r"a\u202eb\u001b[0m"


def test_an_empty_run_is_a_page():
    assert "no rows" in report_html(report([]))
