"""Readers of logs and of benchmarks: sessions that no agent keeps in a home folder."""
