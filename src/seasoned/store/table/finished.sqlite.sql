-- Sessions whose agent says that they have ended, and that did not go on since. Others are finished after an hour of quiet.
CREATE VIEW finished_session AS
SELECT session.id FROM session
-- What Claude Code and Codex record is the end of a turn.
WHERE (session.end_reason IS NOT NULL AND session.agent NOT IN ('claude-code', 'codex'))
   OR EXISTS (
       SELECT 1 FROM session_end
       -- A last message may be stamped a moment after the agent said it.
       WHERE session_end.session_id = session.id AND session_end.at + 2.0 >= COALESCE(session.ended, 0.0));
