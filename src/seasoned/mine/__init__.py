"""Mines histories of any size on any engine: files to Arrow tables, tables to Parquet, Parquet to a store."""
