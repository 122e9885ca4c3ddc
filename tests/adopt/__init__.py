"""Tests of the adoption."""
