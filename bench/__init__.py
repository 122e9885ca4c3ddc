"""Speed and memory, as ratios against named peers measured in the same run."""
