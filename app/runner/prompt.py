"""What each of the five is told: the rules, the context, what was settled in earlier rounds, and the question."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.core.consensus.context_block import ContextBlock

_RULES = """\
You write one SQL statement that answers a question, from a context that describes all there is.

- Write one SELECT statement, complete and ready to run. Nothing that writes.
- Use only the tables and columns that the context describes. If you need another, say which under \
`not_in_data_model`.
- The SQL of a field is complete: names of tables and of other fields have been put in. Use it as it stands, with the \
table's alias in place of its name if you give it one.
- Never select a restricted column, nor filter on one.
- Whenever you use a metric, apply its default filters, and those of the fields it is built from.
- Qualify every column with its table or the table's alias.
- Join with LEFT JOIN unless the relation says otherwise, and on the relation's condition.
- The rules in the context hold, and so does what was settled below. Do not guess beyond them.

Answer with the statement (`sql`), the notes of the context you used, by name (`in_data_model`), and the tables and \
columns you used that no note describes (`not_in_data_model`)."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """The same for all five of a round: `instructions` are the system's part, `text` the user's."""

    instructions: str
    text: str

    @property
    def digest(self) -> str:
        """SHA-256 in hex over both parts; a transcript holds it in place of the text."""
        return hashlib.sha256(f"{self.instructions}\0{self.text}".encode()).hexdigest()


def write_prompt(
    question: str, context: ContextBlock, refinements: Sequence[str] = (), *, dialect: str | None = None
) -> Prompt:
    """The prompt of one round.

    Arguments: `question` as the person put it; `refinements`, what earlier rounds settled, oldest first; `dialect`,
    the SQL to write, None when the context says it or it does not matter.

    >>> from app.core.consensus.vault import assemble_context
    >>> write_prompt("How many orders?", assemble_context({}, [])).text.splitlines()[-1]
    'How many orders?'
    """
    spoken = f"{_RULES}\n\nWrite it in the {dialect} dialect." if dialect else _RULES
    settled = "".join(f"\n- {refinement}" for refinement in refinements)
    parts = (context.render().rstrip(), f"# Settled{chr(10)}{settled}" if settled else "", f"# Question\n\n{question}")
    return Prompt(spoken, "\n\n".join(part for part in parts if part))
