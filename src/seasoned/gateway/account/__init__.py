"""Accounting: what each request used, keys of the gateway, and their budgets."""
