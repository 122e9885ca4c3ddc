-- The projects of sessions of other machines that taught a template here.
CREATE TABLE known_project (
    session TEXT PRIMARY KEY,
    project TEXT NOT NULL
) WITHOUT ROWID;
