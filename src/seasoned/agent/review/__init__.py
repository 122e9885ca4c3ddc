"""The background review: a fork of the agent looks back on a conversation and keeps what will help later ones."""
