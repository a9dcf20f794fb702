"""The subcommands of `agreement-log`, one module each; `app.cli` mounts them."""
