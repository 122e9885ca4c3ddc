"""Requests on their way: from a client to its upstream, and the answer back."""
