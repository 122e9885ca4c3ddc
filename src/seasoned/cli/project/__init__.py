"""Commands for projects, and the choice of one."""
