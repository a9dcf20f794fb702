"""The log: records what was proposed, judged, decided and seen, one row a revision."""
