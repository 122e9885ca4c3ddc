CREATE TABLE design (
    experiment TEXT PRIMARY KEY,
    tasks_digest TEXT NOT NULL,
    document TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL
);
CREATE TABLE material (
    task_set TEXT NOT NULL,
    tasks_digest TEXT NOT NULL,
    model TEXT NOT NULL,
    role TEXT NOT NULL,
    document TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (task_set, tasks_digest, model, role)
);
CREATE TABLE run (
    experiment TEXT NOT NULL,
    model TEXT NOT NULL,
    arm TEXT NOT NULL,
    bank TEXT NOT NULL,
    task_set TEXT NOT NULL,
    task TEXT NOT NULL,
    repeat INTEGER NOT NULL,
    part TEXT NOT NULL,
    session TEXT,
    ended_at DOUBLE PRECISION NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (experiment, model, arm, bank, task_set, task, repeat)
);
CREATE INDEX run_session ON run (session);
CREATE TABLE begun (
    session TEXT PRIMARY KEY,
    experiment TEXT NOT NULL,
    model TEXT NOT NULL,
    arm TEXT NOT NULL,
    bank TEXT NOT NULL,
    task_set TEXT NOT NULL,
    task TEXT NOT NULL,
    repeat INTEGER NOT NULL,
    at DOUBLE PRECISION NOT NULL
);
CREATE INDEX begun_experiment ON begun (experiment);
