"""Stats: numbers in, intervals and tests out. It knows nothing of sessions; a cluster is whatever resembles itself."""
