"""What every feature stands on: the database, tokens, problems, telemetry."""
