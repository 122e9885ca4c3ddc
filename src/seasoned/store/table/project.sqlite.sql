-- What the history recorded about a session's project, and the project that follows from it and from everything else
-- that the store knows. The key is that of seasoned.project.
ALTER TABLE session ADD COLUMN remote TEXT;
ALTER TABLE session ADD COLUMN application TEXT;
ALTER TABLE session ADD COLUMN project TEXT;
ALTER TABLE session ADD COLUMN project_part TEXT;
CREATE INDEX session_project ON session (project, ended);
CREATE INDEX session_project_facts ON session (cwd, remote, application, project, project_part);
-- Folders whose repository is known: the top of a checkout that was found on this machine, or a folder for which a
-- history recorded the remote. They tell the project of sessions in a checkout that is gone.
CREATE TABLE project_folder (
    folder TEXT PRIMARY KEY,
    key TEXT NOT NULL,
    found_in TEXT NOT NULL CHECK (found_in IN ('checkout', 'history', 'several'))
) WITHOUT ROWID;
-- What the user decided: one project is another, or a folder is a project.
CREATE TABLE project_merge (
    key TEXT PRIMARY KEY,
    target TEXT NOT NULL,
    at REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE project_split (
    folder TEXT PRIMARY KEY,
    project TEXT NOT NULL,
    at REAL NOT NULL
) WITHOUT ROWID;
-- Holds a row while all sessions wait for their project.
CREATE TABLE project_due (due INTEGER PRIMARY KEY);
INSERT INTO project_due SELECT 1 FROM session LIMIT 1;
-- These formats record a remote or an application; the others say nothing more than the store has.
UPDATE source SET size = -1, resume = NULL, stamps = NULL
WHERE format IN ('codex', 'copilot', 'otel', 'inspect_log', 'openai_log', 'anthropic_log');
