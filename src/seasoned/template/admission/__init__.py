"""Admission: what of a session may be shown to another one."""
