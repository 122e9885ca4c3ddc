"""Recording, off the request path: exchanges become sessions in the store."""
