"""Files and databases of agents, read into sessions. Nothing of theirs is ever changed."""
