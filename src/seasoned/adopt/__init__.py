"""Takes over what the first version kept in the folder of Hermes: shown first, taken once, and undone on request."""
