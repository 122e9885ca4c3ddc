"""Puts the program together: stores, scans, agents, the scheduler, the gateway and the service."""
