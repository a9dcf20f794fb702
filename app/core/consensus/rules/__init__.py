"""The rewrites. Each is one named function whose docstring says why it keeps every statement's rows."""
