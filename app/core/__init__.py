"""The pure core: it judges evidence, executes nothing and opens nothing, and would run in a notebook."""
