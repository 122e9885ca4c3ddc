-- What arms show, by digest, for machines that do not have the template.
CREATE TABLE arm_template (
    digest TEXT PRIMARY KEY,
    document TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL
);
-- How sessions of other machines ended: the calls themselves are in their own stores.
CREATE TABLE session_outcome (
    experiment TEXT NOT NULL,
    session TEXT NOT NULL,
    document TEXT NOT NULL,
    is_settled INTEGER NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (experiment, session)
);
CREATE INDEX session_outcome_session ON session_outcome (session);
