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
-- What older versions learned from; when, they did not keep.
INSERT INTO learned_from (session_id, agent, ended, at)
SELECT session.id, session.agent, COALESCE(session.ended, 0.0), COALESCE(source.scanned_at, session.ended, 0.0)
FROM session LEFT JOIN source ON source.id = session.source_id
WHERE session.calls > 0 AND session.id NOT IN (SELECT session_id FROM recall_waiting);
