"""A report as one HTML page that needs nothing else."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.core.reconcile.report import Report

_STYLE: Final = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0 2rem; }
caption { text-align: left; font-weight: 600; font-size: 1.2rem; padding: .5rem 0; }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem; border-bottom: 1px solid #8884; }
td { overflow-wrap: anywhere; unicode-bidi: isolate; }
ul { margin: 0; padding-left: 1.1rem; }
.match, .confirmed { color: #18794e; } .match_unverified, .unresolved { color: #8a6100; }
.mismatch, .query_defect, .error { color: #c62a2f; } .expected_doubtful, .model_gap { color: #0b68cb; }
@media (prefers-color-scheme: dark) {
  .match, .confirmed { color: #4cc38a; } .match_unverified, .unresolved { color: #f1a10d; }
  .mismatch, .query_defect, .error { color: #ff6369; } .expected_doubtful, .model_gap { color: #52a9ff; }
}
"""
# Control characters are nothing to a page, and the marks that turn the direction of text around could make one word
# read as another; they are shown by number.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def report_html(report: Report) -> str:
    """The page. It loads nothing and runs nothing, and says so to the browser; every word from the run is escaped.

    >>> from app.core.reconcile.report import Report
    >>> report_html(Report((), (), ())).startswith("<!doctype html>")
    True
    """
    summary = ", ".join(f"{count} {_words(status)}" for status, count in report.statuses) or "no rows"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Reconcile report</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>Reconcile report</h1>
<p>{len(report.rows)} rows: {summary}.</p>
{_rows(report)}
{_findings(report)}
{_defects(report)}
</body>
</html>
"""


def _rows(report: Report) -> str:
    lines = (
        (
            str(row.number),
            _text(row.name),
            f'<span class="{row.status}">{_words(row.status)}</span>',
            f'<span class="{row.verdict}">{_words(row.verdict)}</span> of {row.graded}'
            if row.verdict
            else "no statement",
            _list(f"{_code(part)}: {_text(note)}" for part, note in row.open_parts),
        )
        for row in report.rows
    )
    return _table("Rows", ("Row", "Name", "Status", "Statement", "Could not be checked"), lines)


def _findings(report: Report) -> str:
    lines = (
        (
            _code(finding.key),
            _words(finding.kind),
            ", ".join(str(number) for number in dict.fromkeys(seen.row.number for seen in finding.evidence)),
            _list(_text(note) for note in dict.fromkeys(seen.note for seen in finding.evidence)),
        )
        for finding in report.findings
    )
    return _table("Findings about the semantic model", ("Key", "Kind", "Rows", "What was measured"), lines)


def _defects(report: Report) -> str:
    lines = ((str(defect.row), _code(defect.part), _text(defect.note)) for defect in report.query_defects)
    return _table("Proved wrong in the statements", ("Row", "Part", "Why"), lines)


def _table(caption: str, heads: tuple[str, ...], lines: Iterable[tuple[str, ...]]) -> str:
    body = "\n".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in line) + "</tr>" for line in lines)
    if not body:
        return f"<p>{caption}: none.</p>"
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    return f"<table>\n<caption>{caption}</caption>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def _list(items: Iterable[str]) -> str:
    body = "".join(f"<li>{item}</li>" for item in items)
    return f"<ul>{body}</ul>" if body else ""


def _words(word: str) -> str:
    return word.replace("_", " ")


def _code(text: str) -> str:
    return f"<code>{_text(text)}</code>"


def _text(text: str) -> str:
    return escape(visible(text))


def visible(text: str) -> str:
    """`text` with what cannot be seen in it spelled out.

    >>> visible("a\\x1b[2J")
    'a\\\\u001b[2J'
    """
    return _UNSEEN.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
