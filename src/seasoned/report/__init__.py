"""What judged sessions show: profiles, cohorts, recurring mistakes, compressions, comparisons, the report."""
