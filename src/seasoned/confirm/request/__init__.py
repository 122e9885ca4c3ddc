"""Requests for confirmation: what is asked, how it is stored, and how it is decided and redeemed."""
