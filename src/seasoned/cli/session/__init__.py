"""Commands about sessions: reading, listing, showing and finding them."""
