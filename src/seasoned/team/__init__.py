"""The experience of a team: what machines push to its server, and what they pull from there."""
