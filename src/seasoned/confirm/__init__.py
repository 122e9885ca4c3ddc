"""Confirmations: agents hand over risky actions, and a person agrees, once, to exactly that one."""
