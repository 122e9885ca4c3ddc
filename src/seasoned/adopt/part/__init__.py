"""One module for each kind of thing that is taken over: `survey` finds it, `undo` brings back what was before."""
