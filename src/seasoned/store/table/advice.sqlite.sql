-- Advice that a person applied or dismissed: what it was about, so that before and after can be compared.
CREATE TABLE advice (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    project TEXT,
    sentence TEXT NOT NULL,
    subject TEXT NOT NULL,
    step TEXT NOT NULL,
    state TEXT NOT NULL,
    at REAL NOT NULL
);
