"""The command line: one file per noun, thin over the packages."""
