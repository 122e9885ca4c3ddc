CREATE TABLE recall_waiting (
    session_id INTEGER PRIMARY KEY REFERENCES session(id) ON DELETE CASCADE,
    times INTEGER NOT NULL DEFAULT 1
);
CREATE TABLE recall_rules (
    id INTEGER PRIMARY KEY,
    digest TEXT NOT NULL
);
CREATE TABLE worked (
    call_id INTEGER PRIMARY KEY REFERENCES call(id) ON DELETE CASCADE,
    session_id INTEGER NOT NULL REFERENCES session(id) ON DELETE CASCADE,
    tool TEXT NOT NULL,
    time REAL NOT NULL
);
CREATE INDEX worked_by_tool ON worked (tool, time);
CREATE INDEX worked_of_session ON worked (session_id);
CREATE TABLE mistake (
    id INTEGER PRIMARY KEY,
    signature TEXT NOT NULL,
    tool TEXT NOT NULL,
    program TEXT NOT NULL,
    UNIQUE (signature, tool, program)
);
CREATE TABLE failure (
    call_id INTEGER PRIMARY KEY REFERENCES call(id) ON DELETE CASCADE,
    session_id INTEGER NOT NULL REFERENCES session(id) ON DELETE CASCADE,
    mistake_id INTEGER NOT NULL REFERENCES mistake(id),
    said INTEGER,
    repaired_by INTEGER REFERENCES call(id) ON DELETE SET NULL,
    how TEXT,
    speaks TEXT,
    tool TEXT NOT NULL,
    time REAL NOT NULL
);
CREATE INDEX failure_of_mistake ON failure (mistake_id, time);
CREATE INDEX failure_by_said ON failure (said, mistake_id, time) WHERE repaired_by IS NOT NULL;
CREATE INDEX failure_repaired ON failure (mistake_id, time) WHERE repaired_by IS NOT NULL;
CREATE INDEX failure_by_tool ON failure (tool, time);
CREATE INDEX failure_of_session ON failure (session_id);
CREATE INDEX failure_repaired_by ON failure (repaired_by) WHERE repaired_by IS NOT NULL;
-- What a mistake says was said in the sessions that made it, so it goes with the last of them.
CREATE TRIGGER mistake_forgotten AFTER DELETE ON failure
WHEN NOT EXISTS (SELECT 1 FROM failure WHERE mistake_id = OLD.mistake_id)
BEGIN
    DELETE FROM mistake WHERE id = OLD.mistake_id;
END;
