"""Reads the files and databases of agents into sessions. It never changes them."""
