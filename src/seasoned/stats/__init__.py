"""Intervals and tests from numbers. A cluster is a group of trials that resemble each other, such as a session."""
