CREATE TABLE source (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    format TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    judge TEXT NOT NULL,
    resume TEXT,
    check_digest TEXT,
    stamps TEXT,
    scanned_at REAL NOT NULL,
    gone_at REAL
);
CREATE TABLE unreadable (
    source_id INTEGER NOT NULL REFERENCES source(id) ON DELETE CASCADE,
    place TEXT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (source_id, place, reason)
);
CREATE TABLE session (
    id INTEGER PRIMARY KEY,
    agent TEXT NOT NULL,
    native_id TEXT NOT NULL,
    source_id INTEGER REFERENCES source(id) ON DELETE SET NULL,
    -- The title that its agent gave it, and the one that it has in lists.
    own_title TEXT,
    title TEXT,
    cwd TEXT,
    model TEXT,
    platform TEXT,
    started REAL,
    ended REAL,
    parent_agent TEXT,
    parent_native_id TEXT,
    relation TEXT,
    root_id INTEGER,
    end_reason TEXT,
    succeeded INTEGER,
    messages INTEGER NOT NULL DEFAULT 0,
    compactions TEXT NOT NULL DEFAULT '[]',
    input_tokens INTEGER,
    output_tokens INTEGER,
    cache_read_tokens INTEGER,
    cache_write_tokens INTEGER,
    reasoning_tokens INTEGER,
    cost_usd REAL,
    calls INTEGER NOT NULL DEFAULT 0,
    ok INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    unclear INTEGER NOT NULL DEFAULT 0,
    declined INTEGER NOT NULL DEFAULT 0,
    cancelled INTEGER NOT NULL DEFAULT 0,
    interrupted INTEGER NOT NULL DEFAULT 0,
    trivial INTEGER NOT NULL DEFAULT 0,
    copies INTEGER NOT NULL DEFAULT 0,
    task_type TEXT,
    -- What the history recorded about a session's project, and the project that follows from it and from everything
    -- else that the store knows. The key is that of seasoned.project.
    remote TEXT,
    branch TEXT,
    application TEXT,
    project TEXT,
    project_part TEXT,
    last_prompt_tokens INTEGER,
    -- What the session cost, as far as the agent recorded it or prices are known.
    known_usd REAL,
    -- When the agent said that the session has ended: files of Claude Code and Codex do not tell.
    told_end_at REAL,
    -- When it was last learned from, and when it had ended by then.
    learned_at REAL,
    learned_ended REAL,
    at REAL GENERATED ALWAYS AS (COALESCE(ended, started, 0)) VIRTUAL,
    UNIQUE (agent, native_id)
);
CREATE INDEX session_parent ON session (parent_agent, parent_native_id);
CREATE INDEX session_root ON session (root_id);
CREATE INDEX session_started ON session (started);
CREATE INDEX session_at ON session (at, id);
CREATE INDEX session_learned ON session (agent, learned_ended) WHERE learned_at IS NOT NULL;
CREATE INDEX session_project ON session (project, ended);
CREATE INDEX session_project_facts ON session (cwd, remote, application, project, project_part);
CREATE INDEX session_of_source ON session (source_id);
-- What a session taught moves with it to another project, and its words name that project.
CREATE TRIGGER session_moved AFTER UPDATE OF project ON session
WHEN OLD.project IS NOT NEW.project
BEGIN
    DELETE FROM evidence WHERE session_id = NEW.id AND NEW.project IS NULL;
    UPDATE evidence SET project = NEW.project WHERE session_id = NEW.id;
    DELETE FROM lesson WHERE project = OLD.project;
    INSERT OR IGNORE INTO lesson (project, topic, key, content)
    SELECT value, 'stale', '', '' FROM json_each(json_array(OLD.project, NEW.project)) WHERE value IS NOT NULL;
    INSERT INTO waiting (work, session_id) VALUES ('search', NEW.id) ON CONFLICT DO UPDATE SET times = times + 1;
END;
CREATE TABLE call (
    id INTEGER PRIMARY KEY,
    session_id INTEGER NOT NULL REFERENCES session(id) ON DELETE CASCADE,
    call_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    message INTEGER NOT NULL,
    tool TEXT NOT NULL,
    kind TEXT NOT NULL,
    counts_as TEXT NOT NULL,
    arguments TEXT NOT NULL,
    result TEXT,
    time REAL,
    place INTEGER NOT NULL,
    verdict TEXT NOT NULL,
    evidence TEXT NOT NULL,
    fault TEXT NOT NULL,
    reason TEXT NOT NULL,
    judge TEXT NOT NULL,
    flag INTEGER,
    unique_id INTEGER NOT NULL,
    copy_of INTEGER REFERENCES call(id) ON DELETE SET NULL,
    -- What was said before the call, and whether the user then corrected it.
    intent TEXT,
    corrected INTEGER NOT NULL DEFAULT 0,
    -- Whether it repeats a sentence of an earlier result: such words are not the agent's.
    is_foreign INTEGER NOT NULL DEFAULT 0,
    UNIQUE (session_id, call_id)
);
CREATE INDEX call_by_id ON call (call_id);
CREATE INDEX call_copy_of ON call (copy_of) WHERE copy_of IS NOT NULL;
CREATE TABLE forgotten (
    agent TEXT NOT NULL,
    native_id TEXT NOT NULL,
    forgotten_at REAL NOT NULL,
    PRIMARY KEY (agent, native_id)
);
CREATE TABLE session_tool (
    session_id INTEGER NOT NULL REFERENCES session(id) ON DELETE CASCADE,
    tool TEXT NOT NULL,
    kind TEXT NOT NULL,
    calls INTEGER NOT NULL,
    ok INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    unclear INTEGER NOT NULL,
    left_out INTEGER NOT NULL,
    PRIMARY KEY (session_id, tool)
);
CREATE INDEX session_tool_by_tool ON session_tool (tool, session_id);
-- Sessions for which something is still to be done: their totals (what a killed process left undone), what they teach,
-- and their words in the index. `times` tells whether one was written again during the work.
CREATE TABLE waiting (
    work TEXT NOT NULL CHECK (work IN ('totals', 'lesson', 'search')),
    session_id INTEGER NOT NULL REFERENCES session(id) ON DELETE CASCADE,
    times INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (work, session_id)
) WITHOUT ROWID;
CREATE INDEX waiting_session ON waiting (session_id);
-- Folders whose repository is known: the top of a checkout that was found on this machine, or a folder for which a
-- history recorded the remote. They tell the project of sessions in a checkout that is gone.
CREATE TABLE project_folder (
    folder TEXT PRIMARY KEY,
    key TEXT NOT NULL,
    found_in TEXT NOT NULL CHECK (found_in IN ('checkout', 'history', 'several'))
) WITHOUT ROWID;
-- The repositories on this machine that have a remote, by the git folder that their worktrees share, with the remote
-- and the first commits (apart by spaces; `?` if they cannot be known). The first row of a remote is the real one.
CREATE TABLE project_repository (
    id INTEGER PRIMARY KEY,
    folder TEXT NOT NULL UNIQUE,
    key TEXT NOT NULL,
    roots TEXT NOT NULL
);
CREATE INDEX project_repository_key ON project_repository (key);
-- What each answer of a provider used. Copies of it in forks, resumed sessions and other files have the same key.
CREATE TABLE usage_event (
    session_id INTEGER NOT NULL REFERENCES session(id) ON DELETE CASCADE,
    key INTEGER NOT NULL,
    at REAL,
    model TEXT,
    input INTEGER,
    output INTEGER,
    cache_read INTEGER,
    cache_write INTEGER,
    reasoning INTEGER,
    cache_write_1h INTEGER NOT NULL,
    PRIMARY KEY (session_id, key)
) WITHOUT ROWID;
CREATE INDEX usage_event_key ON usage_event (key);
-- What each session used, by hour, model and size of the prompt. Costs are computed from it and `model_price`.
CREATE TABLE usage_part (
    session_id INTEGER NOT NULL REFERENCES session(id) ON DELETE CASCADE,
    hour INTEGER NOT NULL,
    model TEXT NOT NULL,
    is_long INTEGER NOT NULL,
    input INTEGER,
    output INTEGER,
    cache_read INTEGER,
    cache_write INTEGER,
    reasoning INTEGER,
    cache_write_1h INTEGER NOT NULL,
    -- The part of the cost that the agent itself recorded, by tokens; NULL if it recorded none.
    recorded_usd REAL,
    PRIMARY KEY (session_id, hour, model, is_long)
) WITHOUT ROWID;
CREATE INDEX usage_part_hour ON usage_part (hour);
-- Dollars for one token. A model that has no known price has a row without figures, so that it is not looked up again.
CREATE TABLE model_price (
    agent TEXT NOT NULL,
    model TEXT NOT NULL,
    day INTEGER NOT NULL,
    is_long INTEGER NOT NULL,
    input REAL,
    output REAL,
    cache_read REAL,
    cache_write REAL,
    cache_write_1h REAL,
    source TEXT NOT NULL,
    PRIMARY KEY (agent, model, day, is_long)
) WITHOUT ROWID;
-- The beginning of what people and agents said, redacted. Programs' own messages and results are not in it.
CREATE TABLE said (
    session_id INTEGER NOT NULL REFERENCES session(id) ON DELETE CASCADE,
    -- One row for each stretch of a session: the index of its first message, and for each message its index, 1 for a
    -- person, and the text.
    first_message INTEGER NOT NULL,
    messages TEXT NOT NULL,
    PRIMARY KEY (session_id, first_message)
);
CREATE TABLE search_document (
    -- Begins with the time of the session: in the order of ids the newest come last.
    id INTEGER PRIMARY KEY,
    session_id INTEGER NOT NULL UNIQUE REFERENCES session(id) ON DELETE CASCADE,
    -- Project, agent, tools and verdicts as words, so that the index filters by them.
    facts TEXT NOT NULL,
    -- Where each line of the text stands in the session.
    places TEXT NOT NULL,
    text TEXT NOT NULL
);
CREATE TRIGGER search_document_added AFTER INSERT ON search_document BEGIN
    INSERT INTO search_index (rowid, facts, text) VALUES (NEW.id, NEW.facts, unpacked(NEW.text));
END;
CREATE TRIGGER search_document_gone AFTER DELETE ON search_document BEGIN
    INSERT INTO search_index (search_index, rowid, facts, text)
    VALUES ('delete', OLD.id, OLD.facts, unpacked(OLD.text));
END;
-- No texts and no lengths are stored a second time.
CREATE VIRTUAL TABLE search_index USING fts5 (
    facts, text, content = 'search_text', content_rowid = 'id', columnsize = 0,
    tokenize = 'unicode61 remove_diacritics 2'
);
-- Sessions whose agent says that they have ended, and that did not go on since. Others are finished after an hour of quiet.
CREATE VIEW finished_session AS
SELECT session.id FROM session
-- What Claude Code and Codex record is the end of a turn.
WHERE (session.end_reason IS NOT NULL AND session.agent NOT IN ('claude-code', 'codex'))
   -- A last message may be stamped a moment after the agent said it.
   OR session.told_end_at + 2.0 >= COALESCE(session.ended, 0.0);
CREATE VIEW usage_cost AS
SELECT part.session_id, part.hour, part.model, part.input, part.output, part.cache_read, part.cache_write,
    part.reasoning, session.agent, session.native_id, session.project, session.last_prompt_tokens,
    COALESCE(session.ended, session.started) AS at,
    -- Without input or output there is no cost: half of it would be too little.
    COALESCE(part.recorded_usd, part.input * price.input + part.output * price.output
        + COALESCE(part.cache_read, 0) * price.cache_read
        + (COALESCE(part.cache_write, 0) - part.cache_write_1h) * price.cache_write
        + part.cache_write_1h * price.cache_write_1h) AS usd,
    CASE WHEN part.recorded_usd IS NULL AND price.input IS NOT NULL THEN price.source END AS price_source
FROM usage_part AS part
CROSS JOIN session ON session.id = part.session_id
LEFT JOIN model_price AS price ON price.agent = session.agent AND price.model = part.model
    AND price.day = part.hour / 24 AND price.is_long = part.is_long;
-- What the index reads: `unpacked` is a function of every connection that Seasoned opens.
CREATE VIEW search_text AS SELECT id, facts, unpacked(text) AS text FROM search_document;
