"""The tools that act on the machine: terminal, files, code and web, each within limits."""
