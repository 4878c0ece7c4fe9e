-- Version 4 to 5: with what effort a result was measured, and where around the turn of a solid. Frozen: never changed
-- again.

ALTER TABLE result ADD COLUMN effort REAL NOT NULL DEFAULT 1 CHECK (effort > 0 AND effort <= 1);
ALTER TABLE result ADD COLUMN turn_steps INTEGER CHECK (turn_steps >= 1);
ALTER TABLE result ADD COLUMN turn_windows INTEGER CHECK (turn_windows >= 1);
