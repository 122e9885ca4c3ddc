"""The backtest as a page: what the pages of the server and the file that opens offline have in common."""
