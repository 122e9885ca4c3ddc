"""Connect an agent: the changes to its own files that make it run Seasoned's hooks, plugin and server."""
