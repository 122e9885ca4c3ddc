"""The gateway: between an agent and its model; records, accounts and provisions, and changes nothing else."""
