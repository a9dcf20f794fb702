"""What a call on agreements can be refused for."""

from __future__ import annotations

from typing import Any

from app.platform.problems import FieldError, Problem


class AgreementNotFound(Problem):
    """No row has this id."""

    slug, title, status = "agreement-not-found", "There is no such agreement", 404
    default_detail = "no row has this id; list rows with GET /v1/agreements"


class Undesignated(Problem):
    """The property is not one that may be published."""

    slug, title, status = "undesignated-property", "The property is not designated", 403
    default_detail = "the property is not on the designation list, nothing was written; leave it out or designate it"


class AgentsDoNotReview(Problem):
    """A token of kind agent tried to author a review."""

    slug, title, status = "agents-do-not-review", "An agent cannot author a review", 403
    default_detail = "agreement is authored by a human: use a token of kind human, or of kind service that relays one"


class DecisionConflict(Problem):
    """The decision is recorded already, with other content."""

    slug, title, status = "decision-conflict", "The decision is recorded already with other content", 409
    default_detail = "the fields in `errors` differ from the row that was recorded first; what was written stays"


class IdTaken(Problem):
    """The id that the client chose belongs to another decision."""

    slug, title, status = "id-taken", "The id belongs to another decision", 409
    default_detail = "send another id, or none and let the service make one"


class AlreadySet(Problem):
    """A fill would replace what is there."""

    slug, title, status = "already-set", "A field is set already to another value", 409

    def __init__(self, agreement_id: object, fields: list[str]) -> None:
        call = f"/v1/agreements/{agreement_id}/corrections"
        super().__init__(
            f"what was written stays; to correct it, POST the new value and a reason to {call}",
            errors=[FieldError("is set already to another value", pointer=f"/{name}") for name in fields],
            corrections=call,
        )


class Superseded(Problem):
    """The row has been corrected; the newest revision is elsewhere."""

    slug, title, status = "superseded", "The row has been superseded", 409

    def __init__(self, current_id: object) -> None:
        address = f"/v1/agreements/{current_id}"
        extensions: dict[str, Any] = {"current": address}
        super().__init__(f"the current revision is {address}", headers={"Location": address}, **extensions)
