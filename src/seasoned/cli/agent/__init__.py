"""The built-in agent: `chat`, `review`, `memory`, `skill` and `cron`."""
