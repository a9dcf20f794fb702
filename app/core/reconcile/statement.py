"""Which text is a statement a person may hand over: one that reads, and only reads."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal

from sqlglot import expressions as exp

from app.core.sql import SqlRefused, parse_sql, split_sql

if TYPE_CHECKING:
    from collections.abc import Iterator

DIALECT: Final = "postgres"
"""The dialect SQL is read in when nobody names one. There is no second try in another: a text that one dialect reads
as a harmless literal can be a DELETE in the next, so trying dialects until one agrees would wave writes through."""

Kind = Literal["select", "writes", "several", "other", "unreadable", "not_sql"]
"""`other` is SQL that is no query (SHOW, EXPLAIN, BEGIN); `unreadable` begins like SQL and cannot be parsed."""

REASONS: Final[dict[Kind, str]] = {
    "writes": "not a SELECT or WITH statement: it writes or takes locks",
    "several": "not a SELECT or WITH statement: it holds more than one statement",
    "other": "not a SELECT or WITH statement",
    "unreadable": "not a SELECT or WITH statement that can be read; another SQL dialect has to be named",
}

_WRITES = (
    exp.DML, exp.DDL, exp.Into, exp.Lock, exp.Drop, exp.Alter, exp.Copy, exp.TruncateTable, exp.LoadData, exp.Grant,
    exp.Revoke,
)  # fmt: skip
_PLAIN_WRITES = (exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.TruncateTable)
_QUERIES = (exp.Select, exp.SetOperation)
# First words after which a text is worth parsing. Of these, SELECT and WITH begin a query; the others are looked at
# only so that a DROP is reported as what it is, and never lands in a label or a question.
_QUERY_WORDS = frozenset({"SELECT", "WITH"})
_OTHER_LIST = (
    "INSERT UPDATE DELETE MERGE REPLACE DROP CREATE ALTER TRUNCATE GRANT REVOKE COPY CALL EXEC EXECUTE DO SET RESET "
    "SHOW EXPLAIN DESCRIBE DESC ANALYZE VACUUM BEGIN START COMMIT ROLLBACK LOCK VALUES TABLE REINDEX COMMENT USE "
    "ATTACH DETACH PRAGMA REFRESH CLUSTER DECLARE FETCH PREPARE DEALLOCATE LISTEN NOTIFY IMPORT EXPORT LOAD"
)
_OTHER_WORDS = frozenset(_OTHER_LIST.split())


@dataclass(frozen=True, slots=True)
class Statement:
    """What one text is. `kind` is `select` for a statement; every other kind has its sentence in `REASONS`,
    except `not_sql`, which is no SQL at all."""

    kind: Kind


def statement(text: str, dialect: str | None = DIALECT) -> Statement:
    """Whether `text` is one SELECT or WITH … SELECT that writes nothing, decided on the parsed tree.

    Comments, brackets and blank space in front change nothing. A CTE that deletes, SELECT … INTO, a row lock, a second
    statement are never a statement. What a function does when it is called (`nextval`, a procedure of the person's
    own) cannot be known from the text: run what passes here in a read-only transaction.

    >>> statement("/* trusted */ (SELECT count(*) FROM orders)").kind
    'select'
    >>> statement("WITH gone AS (DELETE FROM orders RETURNING 1) SELECT * FROM gone").kind
    'writes'
    >>> statement("Select the best seller?").kind
    'not_sql'

    Arguments: `text` in any length (past the parser's limit it is `unreadable`); `dialect`, a sqlglot dialect name.
    Never raises.
    """
    # A cell is looked at more than once on its way into a row, and parsing is what reading it costs.
    return _cached(text, dialect) if len(text) <= _CACHED_LENGTH else _judge(text, dialect)


def _judge(text: str, dialect: str | None) -> Statement:
    word = _first_word(text)
    if word not in _QUERY_WORDS and word not in _OTHER_WORDS:
        return Statement("not_sql")
    try:
        trees = parse_sql(text, dialect)
    except SqlRefused:
        return Statement("unreadable" if _looks_like_sql(text, word) else "not_sql")
    if word in _OTHER_WORDS and not (_looks_like_sql(text, word) or isinstance(trees[0], _PLAIN_WRITES)):
        return Statement("not_sql")  # `Copy sold`, `Update on revenue`: English that a parser waves through
    if any(_writes(tree) for tree in trees):
        return Statement("writes")
    if word in _OTHER_WORDS:
        return Statement("other")
    if len(trees) > 1 or (";" in text and len(split_sql(text, dialect)) > 1):
        return Statement("several")
    return Statement("select" if _is_query(trees[0]) else "other")


_CACHED_LENGTH = 10_000
_cached = lru_cache(maxsize=256)(_judge)


def _is_query(tree: exp.Expr) -> bool:
    while isinstance(tree, (exp.Subquery, exp.Paren)):
        tree = tree.this
    # A SELECT without columns is a word at the start of a sentence.
    return isinstance(tree, _QUERIES) and all(arm.expressions for arm in _arms(tree))


def _arms(tree: exp.Expr) -> Iterator[exp.Select]:
    """The SELECTs whose rows come out. On a stack of its own: a union of thousands leans as deep as it is long."""
    waiting = [tree]
    while waiting:
        match waiting.pop():
            case exp.Select() as arm:
                yield arm
            case exp.SetOperation() as union:
                waiting += [union.this, union.expression]
            case exp.Subquery() | exp.Paren() as wrapped:
                waiting.append(wrapped.this)


def _writes(tree: exp.Expr) -> bool:
    return any(isinstance(node, _WRITES) for node in tree.walk())


def _looks_like_sql(text: str, word: str) -> bool:
    """Whether a text that starts with a SQL word was meant as SQL, when the parser cannot say.

    A question says so by its mark. `With` and a command word open many an English sentence, so they need the second
    word that only SQL has."""
    stripped = text.rstrip()
    if stripped.endswith("?"):
        return False
    words = stripped.upper().partition(word)[2].split()
    match word:
        case "WITH":
            return _CTE.search(stripped) is not None
        case "SELECT":
            return True
        case "COPY":
            return "'" in text or "(" in text
        case _:
            second = words[0].strip("(;\"`'") if words else ""
            return stripped.endswith(";") or second in _SECOND_WORDS.get(word, ())


_CTE = re.compile(r"\bAS\s+(?:NOT\s+)?(?:MATERIALIZED\s*)?\(|\bAS\(", re.IGNORECASE)
_OBJECT_LIST = (
    "TABLE VIEW INDEX SCHEMA DATABASE ROLE USER FUNCTION TYPE SEQUENCE MATERIALIZED TEMP UNIQUE OR IF POLICY TRIGGER "
    "EXTENSION ALL SYSTEM"
)
_OBJECTS = frozenset(_OBJECT_LIST.split())
_SECOND_WORDS = {
    "INSERT": frozenset({"INTO", "OVERWRITE"}),
    "REPLACE": frozenset({"INTO"}),
    "MERGE": frozenset({"INTO"}),
    "DELETE": frozenset({"FROM"}),
    "GRANT": frozenset({"ALL", "SELECT", "INSERT", "UPDATE", "DELETE", "USAGE"}),
    "EXPLAIN": frozenset({"SELECT", "ANALYZE", "WITH"}),
    "SHOW": frozenset({"TABLES", "DATABASES"}),
    "REFRESH": frozenset({"MATERIALIZED"}),
    "START": frozenset({"TRANSACTION"}),
    **dict.fromkeys(("DROP", "CREATE", "ALTER", "TRUNCATE", "LOCK"), _OBJECTS),
}


def _first_word(text: str) -> str:
    """The first word behind comments, opening brackets and blank space, in capitals."""
    at, end = 0, len(text)
    while at < end:
        if text[at].isspace() or text[at] == "(":
            at += 1
        elif text.startswith("--", at):
            newline = text.find("\n", at)
            at = end if newline < 0 else newline + 1
        elif text.startswith("/*", at):
            at = _past_comment(text, at)
        else:
            break
    start = at
    while at < end and (text[at].isalpha() or text[at] == "_"):
        at += 1
    return text[start:at].upper()


def _past_comment(text: str, at: int) -> int:
    depth = 0
    while at < len(text):
        if text.startswith("/*", at):
            depth, at = depth + 1, at + 2
        elif text.startswith("*/", at):
            depth, at = depth - 1, at + 2
            if not depth:
                break
        else:
            at += 1
    return at
