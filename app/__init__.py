"""Agreement Log: an append-only record of guardrail verdicts, human agreement and post-merge outcomes."""
