"""Memory files, and the journal of every change to memory and skills."""
