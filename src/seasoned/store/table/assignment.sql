CREATE TABLE split (
    experiment TEXT NOT NULL,
    digest TEXT NOT NULL,
    document TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (experiment, digest)
);
CREATE TABLE assignment (
    experiment TEXT NOT NULL,
    session TEXT NOT NULL,
    arm TEXT NOT NULL,
    split TEXT NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (experiment, session)
);
CREATE INDEX assignment_session ON assignment (session);
CREATE TABLE exposure (
    experiment TEXT NOT NULL,
    session TEXT NOT NULL,
    arm TEXT NOT NULL,
    example_ids TEXT NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (experiment, session)
);
CREATE INDEX exposure_session ON exposure (session);
