"""Mining and questions about what was mined, put together for the command line."""
