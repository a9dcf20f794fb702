"""The life of a row: which groups of fields there are, who may fill them, and what a review has to hold.

Agreement is authored. Nothing here computes it, and nothing refuses a word because the verdicts "should" give
another: `warnings` may point at a contradiction, and the row is stored as written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from app.agreements.errors import AgentsDoNotReview, AlreadySet
from app.platform.problems import FieldError, Invalid, MissingScope
from app.platform.tokens import Kind, Principal, Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Row = Mapping[str, Any]

REVIEW = ("human_verdict", "human_reason", "agreement", "human_review_latency", "reviewed_by", "reviewed_at")
MERGE = ("proposal_to_merge_diff", "pr_id", "merged_at")
OUTCOME = ("post_merge_outcome", "outcome_at")
# Who reports an outcome is taken from the token and cannot be sent, so it is none of the fields above.

WORDS = ("human_verdict", "human_reason", "agreement")
"""What the reviewer said, within the review group."""

SCOPE_OF_GROUP = ((REVIEW, Scope.REVIEW), (MERGE, Scope.RECORD), (OUTCOME, Scope.OUTCOME))
IMPORT_ONLY = ("reviewed_at", "outcome_at")
"""Times of the log's own clock, which only a principal that brings over an older log may send."""

# Each names the constraint that says the same in the database, what must hold of a whole row, and what to tell
# whoever breaks it. The database stays the law; this is the polite answer, and names every fault at once.
Rule = tuple[str, "Callable[[Row], bool]", str, str]
RULES: tuple[Rule, ...] = (
    (
        "ck_agreements_human_reason_given",
        lambda row: row["human_verdict"] not in ("revise", "waive") or bool((row["human_reason"] or "").strip()),
        "/human_reason",
        "is required with the human verdict `revise` or `waive`",
    ),
    (
        "ck_agreements_agreement_needs_human_verdict",
        lambda row: row["agreement"] is None or row["human_verdict"] is not None,
        "/human_verdict",
        "is required with an agreement",
    ),
    (
        "ck_agreements_waive_needs_agreement",
        lambda row: row["human_verdict"] != "waive" or row["agreement"] is not None,
        "/agreement",
        "is required with the human verdict `waive`",
    ),
    (
        "ck_agreements_reject_takes_no_outcome",
        lambda row: row["human_verdict"] != "reject" or row["post_merge_outcome"] is None,
        "/post_merge_outcome",
        "cannot stand on a rejected row: it was never merged",
    ),
    (
        "ck_agreements_reviewer_is_not_agent",
        lambda row: row["reviewed_by"] is None or row["reviewed_by"] != row["agent_id"],
        "/reviewed_by",
        "must not be the agent that made the proposal",
    ),
)


def check_rules(row: Row) -> None:
    """Raises `Invalid` where a row, as it would be stored, breaks a rule."""
    errors = [FieldError(detail, pointer=pointer) for _, holds, pointer, detail in RULES if not holds(row)]
    if errors:
        raise Invalid(errors=errors)


def check_scopes(fields: Iterable[str], principal: Principal) -> None:
    """Raises `MissingScope` or `AgentsDoNotReview` where `principal` may not write one of `fields`."""
    sent = set(fields)
    for group, scope in SCOPE_OF_GROUP:
        if sent.isdisjoint(group):
            continue
        if scope is Scope.REVIEW:
            check_author(principal)
        elif not principal.may(scope):
            raise MissingScope(f"{', '.join(sorted(sent.intersection(group)))}: needs the scope {scope}")
    check_import(sent.intersection(IMPORT_ONLY), principal)


def check_author(principal: Principal) -> None:
    """Raises where `principal` may not author a review."""
    if principal.kind is Kind.AGENT:
        raise AgentsDoNotReview
    if not principal.may(Scope.REVIEW):
        raise MissingScope("a review needs the scope review")


def check_import(fields: Iterable[str], principal: Principal) -> None:
    """Raises where `principal` may not set times of the past."""
    given = sorted(fields)
    if given and not principal.may(Scope.IMPORT):
        raise MissingScope(f"{', '.join(given)}: is the service's clock; setting it needs the scope import")


def fill(row: Row, sent: Row, principal: Principal) -> dict[str, Any]:
    """What a PATCH would write: the columns of `sent` that are null in `row`, and who wrote them.

    A value that is there already is left out, so an empty answer means that nothing changes. A different
    post-merge outcome is not refused here: it appends a revision (`changes_outcome`).
    Raises `AlreadySet` for another value in the review or merge group, `Invalid` for a broken rule.
    """
    filled = {name: value for name, value in sent.items() if row[name] is None}
    conflicts = [
        name
        for name, value in sent.items()
        if name not in filled and row[name] != value and name not in (*OUTCOME, "reviewed_by")
    ]
    words = [name for name in filled if name in REVIEW and name != "reviewed_by"]
    reviewer = sent.get("reviewed_by") or principal.name
    if row["reviewed_by"] is None:
        if words or "reviewed_by" in sent:
            filled["reviewed_by"] = reviewer
    elif row["reviewed_by"] != reviewer and (words or "reviewed_by" in sent):
        # A second human's word must not be filed under the first one's name.
        conflicts.append("reviewed_by")
    if conflicts:
        raise AlreadySet(row["id"], conflicts)
    if "reviewed_by" in filled and not words and row["human_verdict"] is None:
        raise Invalid(errors=[FieldError("is required with reviewed_by", pointer="/human_verdict")])
    if "post_merge_outcome" in filled:
        filled["outcome_by"] = principal.name
    elif "outcome_at" in filled:
        raise Invalid(errors=[FieldError("is required with outcome_at", pointer="/post_merge_outcome")])
    check_rules({**row, **filled})
    return filled


def changes_outcome(row: Row, sent: Row) -> bool:
    """Whether a PATCH reports another outcome than the row has: normal life, which appends a revision."""
    outcome = sent.get("post_merge_outcome")
    return outcome is not None and row["post_merge_outcome"] not in (None, outcome)


def correct(row: Row, sent: Row, principal: Principal) -> dict[str, Any]:
    """The columns that a correction changes, with their new values; None takes a value away.

    Raises `Invalid` where nothing changes or a rule would break.
    """
    changed = {name: value for name, value in sent.items() if row[name] != value}
    if not changed:
        raise Invalid("nothing differs from the row as it is; nothing was written")
    if changed.keys() & set(WORDS):
        # Whose word it now is; a correction of the latency alone leaves the word with whoever gave it.
        changed["reviewed_by"] = sent.get("reviewed_by") or principal.name
    if "post_merge_outcome" in changed:
        changed["outcome_by"] = principal.name if changed["post_merge_outcome"] is not None else None
    if {**row, **changed}["human_verdict"] is None:
        changed["reviewed_by"] = None
    check_rules({**row, **changed})
    return changed


def contradicts(guardrail_verdict: str, agreement: str | None) -> bool:
    """Whether the authored word names the other side than the guardrail verdict. The word stands all the same.

    >>> contradicts("pass", "true_fail"), contradicts("pass", "false_pass"), contradicts("pass", None)
    (True, False, False)
    """
    return agreement is not None and not agreement.endswith(guardrail_verdict)


def warnings(row: Row) -> list[str]:
    """What a reader of the row may want to look at; the row is stored as written."""
    if contradicts(row["guardrail_verdict"], row["agreement"]):
        return [f"the agreement is {row['agreement']}, the guardrail said {row['guardrail_verdict']}"]
    return []
