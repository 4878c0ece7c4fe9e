-- Version 9 to 10: objectives of the user's and metrics, of runs and of results; whether a second launch from equal inputs
-- gave the same. Frozen: never changed again.

ALTER TABLE run ADD COLUMN goals TEXT NOT NULL DEFAULT 'time' CHECK (goals <> '');
UPDATE run SET goals = objective;
ALTER TABLE run DROP COLUMN objective;
ALTER TABLE run RENAME COLUMN goals TO objective;
ALTER TABLE run ADD COLUMN metrics TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(metrics) AND json_type(metrics) = 'array');
ALTER TABLE result ADD COLUMN spread REAL CHECK (spread >= 0 AND spread < 9e99);

CREATE TABLE metric (
    result INTEGER NOT NULL REFERENCES result (id) ON DELETE CASCADE,
    name TEXT NOT NULL CHECK (name <> ''),
    ordinal INTEGER NOT NULL CHECK (ordinal >= 0),
    value REAL,
    PRIMARY KEY (result, name)
) STRICT, WITHOUT ROWID;
