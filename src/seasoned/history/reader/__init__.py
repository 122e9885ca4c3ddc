"""One module for each format that Seasoned reads."""
