"""Reading a restricted column is noticed, however it is written."""

import pytest

from app.core.consensus.context_block import ViewContext
from app.core.consensus.restricted import restricted_columns_read

PEOPLE = ViewContext("people", "hr.people", ("id",), None, (), ("salary", "ssn"), None, "")
OPEN = ViewContext("teams", "hr.teams", ("id",), None, (), (), None, "")


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("SELECT p.salary FROM hr.people p", ["salary"]),
        ("SELECT p.SALARY FROM HR.People p", ["salary"]),
        ('SELECT p."salary" FROM "hr"."people" p', ["salary"]),
        ("SELECT hr.people.salary FROM hr.people", ["salary"]),
        ("SELECT salary FROM people", ["salary"]),
        ("SELECT id FROM hr.people WHERE ssn = '1'", ["ssn"]),
        ("SELECT id FROM hr.people ORDER BY salary + 0", ["salary"]),
        ("SELECT id FROM hr.people GROUP BY id HAVING MAX(salary) > 1", ["salary"]),
        ("SELECT t.id FROM hr.teams t JOIN hr.people p ON p.ssn = t.name", ["ssn"]),
        ("SELECT t.id FROM hr.teams t JOIN hr.people p USING (ssn)", ["ssn"]),
        ("SELECT t.id FROM hr.teams t NATURAL JOIN hr.people p", ["salary", "ssn"]),
        ("SELECT * FROM hr.people", ["salary", "ssn"]),
        ("SELECT p.* FROM hr.teams t JOIN hr.people p ON p.id = t.lead", ["salary", "ssn"]),
        ("SELECT t.id FROM hr.teams t WHERE EXISTS (SELECT * FROM hr.people p)", ["salary", "ssn"]),
        ("WITH c AS (SELECT * FROM hr.people) SELECT c.id FROM c", ["salary", "ssn"]),
        ("WITH c AS (SELECT salary AS x FROM hr.people) SELECT c.x FROM c", ["salary"]),
        ("SELECT p.b FROM hr.people AS p(a, b)", ["salary", "ssn"]),
        ("SELECT p FROM hr.people p", ["salary", "ssn"]),
        ("SELECT ROW_TO_JSON(p) FROM hr.people p", ["salary", "ssn"]),
        ("SELECT id FROM hr.teams UNION ALL SELECT salary FROM hr.people", ["salary"]),
        ("SELECT (SELECT MAX(p.salary) FROM hr.people p) FROM hr.teams", ["salary"]),
        ("SELECT COUNT(*) FROM hr.people", []),
        ("SELECT p.id, COUNT(*) FROM hr.people p GROUP BY p.id", []),
        ("SELECT t.salary FROM hr.people p JOIN hr.teams t ON t.id = p.team", []),
        ("SELECT t.* FROM hr.people p JOIN hr.teams t ON t.id = p.team", []),
        ("SELECT * FROM (SELECT p.id FROM hr.people p) AS q", []),
        ("SELECT p.salary_band FROM hr.people p", []),
        ("SELECT salary FROM payroll.people", []),
        ("SELECT salary FROM hr.teams", []),
    ],
)
def test_restricted_column_is_found(sql, found):
    assert restricted_columns_read(sql, [OPEN, PEOPLE]) == tuple(f"people.{column}" for column in found)


@pytest.mark.parametrize("sql", ["", "SELECT FROM WHERE", "(" * 5000])
def test_statement_that_cannot_be_read_is_not_known_to_be_free_of_them(sql):
    assert restricted_columns_read(sql, [PEOPLE]) is None
