-- Experiments that another machine of the team began: this one takes part.
CREATE TABLE team_experiment (
    experiment TEXT PRIMARY KEY,
    split TEXT NOT NULL
) WITHOUT ROWID;
