"""Connect: what must change in an agent's own files so that it begins warm, is reviewed and asks."""
