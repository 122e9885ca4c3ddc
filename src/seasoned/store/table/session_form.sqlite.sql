-- The forms of the calls that worked in a session, eight bytes of a digest for each: who makes which form of call.
CREATE TABLE session_form (
    session_id INTEGER PRIMARY KEY REFERENCES session(id) ON DELETE CASCADE,
    forms BLOB NOT NULL
);
