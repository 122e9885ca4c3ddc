"""What agents call before and after their own steps: quick, on the thin core, and never in the way without need."""
