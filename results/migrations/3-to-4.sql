-- Version 3 to 4: what a run decided. Frozen: never changed again.

ALTER TABLE run ADD COLUMN winner INTEGER CHECK (winner >= 0);
ALTER TABLE run ADD COLUMN noise_floor REAL CHECK (noise_floor >= 0 AND noise_floor < 9e99);
