"""`advise`, `sheet`, `receipt` and `backtest`: what to do, what sessions of a project see, and whether that was right."""
