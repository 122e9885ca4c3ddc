"""Skills: found, viewed, created and changed."""
