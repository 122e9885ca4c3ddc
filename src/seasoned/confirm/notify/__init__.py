"""How people hear of a request and answer it: Telegram, Discord, signed webhooks. Whoever answers is checked."""
