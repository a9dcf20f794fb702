"""A workbook is a zip file out of anybody's hand: bounded, and never evaluated."""

from __future__ import annotations

import io
import zipfile

import openpyxl
import pytest

from app.core.reconcile import CannotRead, intake
from app.core.reconcile.workbook import MAX_COLUMNS, MAX_UNPACKED, NotWorkbook, workbook


def book(rows):
    made = openpyxl.Workbook()
    for line in rows:
        made.active.append(line)
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def with_sheet(xml):
    """A workbook whose first sheet is `xml` as it stands."""
    source = io.BytesIO(book([["Label", "Value"], ["Revenue", 5]]))
    out = io.BytesIO()
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, xml if name == "xl/worksheets/sheet1.xml" else old.read(name))
    return out.getvalue()


SHEET = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">{}<sheetData>{}</sheetData></worksheet>'


def test_a_workbook_is_known_by_its_bytes_whatever_its_name():
    read = intake([("numbers.dat", book([["Label", "Value"], ["Revenue", 5]]))])
    assert [(row.line, row.label, row.expected) for row in read.rows] == [(2, "Revenue", 5)]


def test_a_bomb_is_refused_before_it_is_unpacked():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("xl/sharedStrings.xml", "w") as part:
        for _ in range(MAX_UNPACKED // 1_000_000 + 1):
            part.write(b"\0" * 1_000_000)
    assert len(out.getvalue()) < 1_000_000
    with pytest.raises(CannotRead, match="unpacks"):
        intake([("bomb.xlsx", out.getvalue())])


def test_many_parts_are_refused():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for number in range(3_000):
            archive.writestr(f"part{number}", b"")
    with pytest.raises(NotWorkbook, match="unpacks"):
        workbook(out.getvalue(), 10)


def test_the_size_a_sheet_claims_is_not_believed():
    cell = '<row r="1"><c r="A1" t="inlineStr"><is><t>Revenue</t></is></c><c r="B1"><v>5</v></c></row>'
    claimed = SHEET.format('<dimension ref="A1:XFD1048576"/>', cell)
    assert [record.cells for record in workbook(with_sheet(claimed), 10)] == [("Revenue", "5")]


def test_a_row_far_below_is_more_rows_than_are_read():
    far = SHEET.format("", '<row r="1048576"><c r="A1048576"><v>5</v></c></row>')
    with pytest.raises(NotWorkbook, match="rows"):
        workbook(with_sheet(far), 1_000)


def test_a_column_far_to_the_right_is_not_read():
    far = SHEET.format("", '<row r="1"><c r="A1"><v>1</v></c><c r="XFD1"><v>5</v></c></row>')
    (record,) = workbook(with_sheet(far), 10)
    assert len(record.cells) <= MAX_COLUMNS


@pytest.mark.parametrize("xml", ["", "<broken", SHEET.format("", '<row r="1"><c r="A1" t="s"><v>99</v></c></row>')])
def test_a_broken_sheet_is_refused_by_name(xml):
    with pytest.raises(NotWorkbook, match="can be read"):
        workbook(with_sheet(xml), 10)


def test_entities_that_multiply_are_refused():
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "x" * 100}">' for n in range(10))
    xml = f"<!DOCTYPE worksheet [{entities}]>" + SHEET.format("", '<row r="1"><c r="A1"><v>&e9;</v></c></row>')
    with pytest.raises(NotWorkbook):
        workbook(with_sheet(xml), 10)
