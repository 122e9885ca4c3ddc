"""`advise`, `sheet`, `receipt`, `backtest`: what to do, what sessions of a project see, and whether it was right."""
