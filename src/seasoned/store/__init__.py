"""Everything that must last: one SQLite file, numbered migrations, named queries."""

from seasoned.store.database import Store, open_store, open_temporary

__all__ = ["Store", "open_store", "open_temporary"]
