"""Mines histories of any size: files to Arrow tables, tables to Parquet, on one machine or a Dask cluster."""
