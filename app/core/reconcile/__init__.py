"""Read what a person brings, and grade a SQL statement part by part."""
