-- Version 2 to 3: ceilings of devices; clocks, cache policy, outliers and energy of results; what limits the occupancy
-- of kernels; units of counters; the objective of runs. Frozen: never changed again.

CREATE TABLE roof (
    identity TEXT NOT NULL,
    name TEXT NOT NULL,
    unit TEXT NOT NULL,
    value REAL NOT NULL CHECK (value > 0 AND value < 9e99),
    spread REAL NOT NULL CHECK (spread >= 0),
    theoretical REAL CHECK (theoretical > 0 AND theoretical < 9e99),
    ordinal INTEGER NOT NULL CHECK (ordinal >= 0),
    driver TEXT NOT NULL,
    measured TEXT NOT NULL CHECK (measured GLOB '????-??-??T??:??:??.??????Z'),
    PRIMARY KEY (identity, name)
) STRICT, WITHOUT ROWID;

ALTER TABLE run ADD COLUMN objective TEXT NOT NULL DEFAULT 'time' CHECK (objective IN ('time', 'energy', 'edp'));
ALTER TABLE result ADD COLUMN cache TEXT CHECK (cache IN ('steady', 'cold', 'hot'));
ALTER TABLE result ADD COLUMN clocks BLOB CHECK (clocks IS NULL OR length(clocks) = 4 * sample_count);
ALTER TABLE result ADD COLUMN clock_mhz REAL CHECK (clock_mhz > 0 AND clock_mhz < 9e99);
ALTER TABLE result ADD COLUMN clock_state TEXT CHECK (clock_state IN ('steady', 'unsteady', 'unknown'));
ALTER TABLE result ADD COLUMN outliers TEXT;
ALTER TABLE result ADD COLUMN energy_j REAL CHECK (energy_j > 0 AND energy_j < 9e99);
ALTER TABLE kernel ADD COLUMN occupancy_limit TEXT;
ALTER TABLE counter ADD COLUMN unit TEXT NOT NULL DEFAULT '';
