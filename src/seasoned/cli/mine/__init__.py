"""`mine` and `query`: histories as Parquet, and questions about them."""
