"""`sheet` and `backtest`: what sessions of a project see, and whether that would have been right."""
