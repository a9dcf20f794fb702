"""The door between evidence and a verdict: it calls the core and hands the log a row."""
