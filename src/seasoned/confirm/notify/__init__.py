"""Notifies people of requests and receives their decisions: Telegram, Discord, signed webhooks, one-time links."""
