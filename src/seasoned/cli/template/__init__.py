"""The commands of templates."""
