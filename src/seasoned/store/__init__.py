"""Persistent data: one SQLite file, PostgreSQL for what machines share; migrations and named queries."""

from seasoned.store.database import Store, open_database, open_store, open_temporary
from seasoned.store.interface import Database, DatabaseRow

__all__ = ["Database", "DatabaseRow", "Store", "open_database", "open_store", "open_temporary"]
