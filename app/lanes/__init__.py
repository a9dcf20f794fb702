"""What the log says of a lane: its rates over a window."""
