-- Version 7 to 8: a row of the kernel table of a team says how fast its fastest part is. Rows of teams that were measured
-- before are of whichever part, and go. Frozen: never changed again.

ALTER TABLE kernel ADD COLUMN fastest_us REAL CHECK (fastest_us >= 0);
DELETE FROM kernel WHERE result IN (
    SELECT result.id FROM result JOIN run ON run.id = result.run JOIN environment ON environment.id = run.environment
    WHERE environment.device GLOB '[1-9]* x *');
