"""Library: templates in the store and in files, how they are used, and when examples retire."""
