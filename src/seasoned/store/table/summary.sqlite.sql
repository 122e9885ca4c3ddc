-- What pages show first is kept as it changes: a page that counted millions of calls would take seconds.
CREATE TABLE session_line (
    id INTEGER PRIMARY KEY REFERENCES session(id) ON DELETE CASCADE,
    at REAL NOT NULL,
    agent TEXT NOT NULL,
    task_type TEXT,
    messages INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    rate REAL NOT NULL,
    cost REAL NOT NULL,
    succeeded INTEGER,
    words TEXT NOT NULL
);
CREATE INDEX session_line_at ON session_line (at, id, agent, task_type, messages, failed, succeeded, words);
CREATE INDEX session_line_agent ON session_line (agent);
CREATE INDEX session_line_messages ON session_line (messages, id);
CREATE INDEX session_line_calls ON session_line (calls, id);
CREATE INDEX session_line_failed ON session_line (failed, id);
CREATE INDEX session_line_rate ON session_line (rate, id);
CREATE INDEX session_line_cost ON session_line (cost, id);
CREATE TABLE day_total (
    day TEXT NOT NULL,
    agent TEXT NOT NULL,
    model TEXT NOT NULL,
    sessions INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    ok INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    unclear INTEGER NOT NULL,
    left_out INTEGER NOT NULL,
    copies INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    priced INTEGER NOT NULL,
    cost_micro_usd INTEGER NOT NULL,
    -- Of the sessions with calls that count: how many, and the squares from which an interval over sessions is made.
    counted INTEGER NOT NULL,
    total_squared INTEGER NOT NULL,
    failed_squared INTEGER NOT NULL,
    failed_by_total INTEGER NOT NULL,
    PRIMARY KEY (day, agent, model)
) WITHOUT ROWID;
CREATE TABLE tool_total (
    tool TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    calls INTEGER NOT NULL,
    ok INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    unclear INTEGER NOT NULL,
    left_out INTEGER NOT NULL,
    sessions INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE mistake_session (
    mistake_id INTEGER NOT NULL,
    session_id INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    PRIMARY KEY (mistake_id, session_id)
) WITHOUT ROWID;
CREATE TABLE mistake_total (
    mistake_id INTEGER PRIMARY KEY,
    sessions INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    repaired INTEGER NOT NULL
);
CREATE INDEX mistake_total_sessions ON mistake_total (sessions, failures);
CREATE TRIGGER session_added AFTER INSERT ON session BEGIN
    INSERT INTO session_line (id, at, agent, task_type, messages, calls, failed, rate, cost, succeeded, words)
    VALUES (
        NEW.id, COALESCE(NEW.ended, NEW.started, 0), NEW.agent, NEW.task_type, NEW.messages, NEW.calls, NEW.failed,
        COALESCE(1.0 * NEW.failed / NULLIF(NEW.ok + NEW.failed, 0), -1), COALESCE(NEW.cost_usd, -1), NEW.succeeded,
        COALESCE(NEW.title, '') || ' ' || NEW.native_id || ' ' || COALESCE(NEW.cwd, '') || ' ' || COALESCE(NEW.model, '')
    );
    INSERT INTO day_total VALUES (
        COALESCE(date(COALESCE(NEW.started, NEW.ended), 'unixepoch'), ''), NEW.agent, COALESCE(NEW.model, ''), 1,
        NEW.messages, NEW.calls, NEW.ok, NEW.failed, NEW.unclear,
        NEW.declined + NEW.cancelled + NEW.interrupted + NEW.trivial, NEW.copies,
        COALESCE(NEW.input_tokens, 0), COALESCE(NEW.output_tokens, 0), NEW.cost_usd IS NOT NULL,
        CAST(round(COALESCE(NEW.cost_usd, 0) * 1000000) AS INTEGER), NEW.ok + NEW.failed > 0,
        (NEW.ok + NEW.failed) * (NEW.ok + NEW.failed), NEW.failed * NEW.failed, NEW.failed * (NEW.ok + NEW.failed)
    )
    ON CONFLICT (day, agent, model) DO UPDATE SET
        sessions = sessions + excluded.sessions, messages = messages + excluded.messages,
        calls = calls + excluded.calls, ok = ok + excluded.ok, failed = failed + excluded.failed,
        unclear = unclear + excluded.unclear, left_out = left_out + excluded.left_out, copies = copies + excluded.copies,
        input_tokens = input_tokens + excluded.input_tokens, output_tokens = output_tokens + excluded.output_tokens,
        priced = priced + excluded.priced, cost_micro_usd = cost_micro_usd + excluded.cost_micro_usd,
        counted = counted + excluded.counted, total_squared = total_squared + excluded.total_squared,
        failed_squared = failed_squared + excluded.failed_squared,
        failed_by_total = failed_by_total + excluded.failed_by_total;
END;
CREATE TRIGGER session_changed AFTER UPDATE OF
    title, cwd, model, started, ended, succeeded, messages, input_tokens, output_tokens, cost_usd,
    calls, ok, failed, unclear, declined, cancelled, interrupted, trivial, copies, task_type
ON session BEGIN
    UPDATE session_line SET
        at = COALESCE(NEW.ended, NEW.started, 0), task_type = NEW.task_type, messages = NEW.messages,
        calls = NEW.calls, failed = NEW.failed,
        rate = COALESCE(1.0 * NEW.failed / NULLIF(NEW.ok + NEW.failed, 0), -1), cost = COALESCE(NEW.cost_usd, -1),
        succeeded = NEW.succeeded,
        words = COALESCE(NEW.title, '') || ' ' || NEW.native_id || ' ' || COALESCE(NEW.cwd, '') || ' '
            || COALESCE(NEW.model, '')
    WHERE id = NEW.id;
    UPDATE day_total SET
        sessions = sessions - 1, messages = messages - OLD.messages, calls = calls - OLD.calls, ok = ok - OLD.ok,
        failed = failed - OLD.failed, unclear = unclear - OLD.unclear,
        left_out = left_out - (OLD.declined + OLD.cancelled + OLD.interrupted + OLD.trivial),
        copies = copies - OLD.copies, input_tokens = input_tokens - COALESCE(OLD.input_tokens, 0),
        output_tokens = output_tokens - COALESCE(OLD.output_tokens, 0), priced = priced - (OLD.cost_usd IS NOT NULL),
        cost_micro_usd = cost_micro_usd - CAST(round(COALESCE(OLD.cost_usd, 0) * 1000000) AS INTEGER),
        counted = counted - (OLD.ok + OLD.failed > 0),
        total_squared = total_squared - (OLD.ok + OLD.failed) * (OLD.ok + OLD.failed),
        failed_squared = failed_squared - OLD.failed * OLD.failed,
        failed_by_total = failed_by_total - OLD.failed * (OLD.ok + OLD.failed)
    WHERE day = COALESCE(date(COALESCE(OLD.started, OLD.ended), 'unixepoch'), '') AND agent = OLD.agent
        AND model = COALESCE(OLD.model, '');
    INSERT INTO day_total VALUES (
        COALESCE(date(COALESCE(NEW.started, NEW.ended), 'unixepoch'), ''), NEW.agent, COALESCE(NEW.model, ''), 1,
        NEW.messages, NEW.calls, NEW.ok, NEW.failed, NEW.unclear,
        NEW.declined + NEW.cancelled + NEW.interrupted + NEW.trivial, NEW.copies,
        COALESCE(NEW.input_tokens, 0), COALESCE(NEW.output_tokens, 0), NEW.cost_usd IS NOT NULL,
        CAST(round(COALESCE(NEW.cost_usd, 0) * 1000000) AS INTEGER), NEW.ok + NEW.failed > 0,
        (NEW.ok + NEW.failed) * (NEW.ok + NEW.failed), NEW.failed * NEW.failed, NEW.failed * (NEW.ok + NEW.failed)
    )
    ON CONFLICT (day, agent, model) DO UPDATE SET
        sessions = sessions + excluded.sessions, messages = messages + excluded.messages,
        calls = calls + excluded.calls, ok = ok + excluded.ok, failed = failed + excluded.failed,
        unclear = unclear + excluded.unclear, left_out = left_out + excluded.left_out, copies = copies + excluded.copies,
        input_tokens = input_tokens + excluded.input_tokens, output_tokens = output_tokens + excluded.output_tokens,
        priced = priced + excluded.priced, cost_micro_usd = cost_micro_usd + excluded.cost_micro_usd,
        counted = counted + excluded.counted, total_squared = total_squared + excluded.total_squared,
        failed_squared = failed_squared + excluded.failed_squared,
        failed_by_total = failed_by_total + excluded.failed_by_total;
    DELETE FROM day_total
    WHERE sessions = 0 AND day = COALESCE(date(COALESCE(OLD.started, OLD.ended), 'unixepoch'), '')
        AND agent = OLD.agent AND model = COALESCE(OLD.model, '');
END;
CREATE TRIGGER session_forgotten AFTER DELETE ON session BEGIN
    UPDATE day_total SET
        sessions = sessions - 1, messages = messages - OLD.messages, calls = calls - OLD.calls, ok = ok - OLD.ok,
        failed = failed - OLD.failed, unclear = unclear - OLD.unclear,
        left_out = left_out - (OLD.declined + OLD.cancelled + OLD.interrupted + OLD.trivial),
        copies = copies - OLD.copies, input_tokens = input_tokens - COALESCE(OLD.input_tokens, 0),
        output_tokens = output_tokens - COALESCE(OLD.output_tokens, 0), priced = priced - (OLD.cost_usd IS NOT NULL),
        cost_micro_usd = cost_micro_usd - CAST(round(COALESCE(OLD.cost_usd, 0) * 1000000) AS INTEGER),
        counted = counted - (OLD.ok + OLD.failed > 0),
        total_squared = total_squared - (OLD.ok + OLD.failed) * (OLD.ok + OLD.failed),
        failed_squared = failed_squared - OLD.failed * OLD.failed,
        failed_by_total = failed_by_total - OLD.failed * (OLD.ok + OLD.failed)
    WHERE day = COALESCE(date(COALESCE(OLD.started, OLD.ended), 'unixepoch'), '') AND agent = OLD.agent
        AND model = COALESCE(OLD.model, '');
    DELETE FROM day_total
    WHERE sessions = 0 AND day = COALESCE(date(COALESCE(OLD.started, OLD.ended), 'unixepoch'), '')
        AND agent = OLD.agent AND model = COALESCE(OLD.model, '');
END;
CREATE TRIGGER tool_added AFTER INSERT ON session_tool BEGIN
    INSERT INTO tool_total VALUES (
        NEW.tool, NEW.kind, NEW.calls, NEW.ok, NEW.failed, NEW.unclear, NEW.left_out, 1
    )
    ON CONFLICT (tool) DO UPDATE SET
        calls = calls + excluded.calls, ok = ok + excluded.ok, failed = failed + excluded.failed,
        unclear = unclear + excluded.unclear, left_out = left_out + excluded.left_out, sessions = sessions + 1;
END;
CREATE TRIGGER tool_forgotten AFTER DELETE ON session_tool BEGIN
    UPDATE tool_total SET
        calls = calls - OLD.calls, ok = ok - OLD.ok, failed = failed - OLD.failed, unclear = unclear - OLD.unclear,
        left_out = left_out - OLD.left_out, sessions = sessions - 1
    WHERE tool = OLD.tool;
    DELETE FROM tool_total WHERE tool = OLD.tool AND sessions = 0;
END;
CREATE TRIGGER failure_added AFTER INSERT ON failure BEGIN
    INSERT INTO mistake_total VALUES (NEW.mistake_id, 0, 1, NEW.repaired_by IS NOT NULL)
    ON CONFLICT (mistake_id) DO UPDATE SET
        failures = failures + 1, repaired = repaired + (NEW.repaired_by IS NOT NULL);
    INSERT INTO mistake_session VALUES (NEW.mistake_id, NEW.session_id, 1)
    ON CONFLICT (mistake_id, session_id) DO UPDATE SET failures = failures + 1;
END;
CREATE TRIGGER failure_changed AFTER UPDATE OF repaired_by ON failure BEGIN
    UPDATE mistake_total SET repaired = repaired + (NEW.repaired_by IS NOT NULL) - (OLD.repaired_by IS NOT NULL)
    WHERE mistake_id = NEW.mistake_id;
END;
CREATE TRIGGER failure_forgotten AFTER DELETE ON failure BEGIN
    UPDATE mistake_total SET failures = failures - 1, repaired = repaired - (OLD.repaired_by IS NOT NULL)
    WHERE mistake_id = OLD.mistake_id;
    UPDATE mistake_session SET failures = failures - 1
    WHERE mistake_id = OLD.mistake_id AND session_id = OLD.session_id;
    DELETE FROM mistake_session
    WHERE mistake_id = OLD.mistake_id AND session_id = OLD.session_id AND failures = 0;
    DELETE FROM mistake_total WHERE mistake_id = OLD.mistake_id AND failures = 0;
END;
CREATE TRIGGER mistake_met AFTER INSERT ON mistake_session BEGIN
    UPDATE mistake_total SET sessions = sessions + 1 WHERE mistake_id = NEW.mistake_id;
END;
CREATE TRIGGER mistake_no_more AFTER DELETE ON mistake_session BEGIN
    UPDATE mistake_total SET sessions = sessions - 1 WHERE mistake_id = OLD.mistake_id;
END;
INSERT INTO session_line
SELECT id, COALESCE(ended, started, 0), agent, task_type, messages, calls, failed,
    COALESCE(1.0 * failed / NULLIF(ok + failed, 0), -1), COALESCE(cost_usd, -1), succeeded,
    COALESCE(title, '') || ' ' || native_id || ' ' || COALESCE(cwd, '') || ' ' || COALESCE(model, '')
FROM session;
INSERT INTO day_total
SELECT COALESCE(date(COALESCE(started, ended), 'unixepoch'), ''), agent, COALESCE(model, ''), count(*), sum(messages),
    sum(calls), sum(ok), sum(failed), sum(unclear), sum(declined + cancelled + interrupted + trivial), sum(copies),
    sum(COALESCE(input_tokens, 0)), sum(COALESCE(output_tokens, 0)), sum(cost_usd IS NOT NULL),
    sum(CAST(round(COALESCE(cost_usd, 0) * 1000000) AS INTEGER)), sum(ok + failed > 0),
    sum((ok + failed) * (ok + failed)), sum(failed * failed), sum(failed * (ok + failed))
FROM session GROUP BY 1, 2, 3;
INSERT INTO tool_total
SELECT tool, min(kind), sum(calls), sum(ok), sum(failed), sum(unclear), sum(left_out), count(*)
FROM session_tool GROUP BY tool;
INSERT INTO mistake_total
SELECT mistake_id, 0, count(*), count(repaired_by) FROM failure GROUP BY mistake_id;
INSERT INTO mistake_session
SELECT mistake_id, session_id, count(*) FROM failure GROUP BY mistake_id, session_id;
