ALTER TABLE call ADD COLUMN intent TEXT;
ALTER TABLE call ADD COLUMN corrected INTEGER NOT NULL DEFAULT 0;
UPDATE source SET size = -1, resume = NULL, stamps = NULL;
