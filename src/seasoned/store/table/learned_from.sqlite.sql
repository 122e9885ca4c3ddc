-- Sessions that were written, and whose totals are not up to date yet: what a killed process left undone.
CREATE TABLE unsettled (session_id INTEGER PRIMARY KEY REFERENCES session(id) ON DELETE CASCADE);
-- When an agent said that a session has ended. Files of Claude Code and Codex do not tell.
CREATE TABLE session_end (
    session_id INTEGER PRIMARY KEY REFERENCES session(id) ON DELETE CASCADE,
    reason TEXT NOT NULL,
    at REAL NOT NULL
);
-- When each session was last learned from.
CREATE TABLE learned_from (
    session_id INTEGER PRIMARY KEY REFERENCES session(id) ON DELETE CASCADE,
    agent TEXT NOT NULL,
    ended REAL NOT NULL,
    at REAL NOT NULL
);
CREATE INDEX learned_from_agent ON learned_from (agent, ended);
