"""Failed calls: what they were for, what repaired them, and which mistakes come back."""
