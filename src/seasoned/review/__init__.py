"""Memory, skills, the journal of their changes, and reviews that keep what a session taught."""
