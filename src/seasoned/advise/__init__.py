"""What is worth doing now: advice with its evidence and one step, applied, undone and followed up."""
