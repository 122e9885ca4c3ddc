CREATE TABLE foregone (
    experiment TEXT NOT NULL,
    session TEXT NOT NULL,
    arm TEXT NOT NULL,
    example_ids TEXT NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (experiment, session, arm)
);
CREATE INDEX foregone_session ON foregone (session);
