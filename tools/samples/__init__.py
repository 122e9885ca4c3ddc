"""The generator of the sample histories: an invented project, its stories, and one writer for each format."""
