"""Writes sessions in formats that other programs read."""
