-- Version 1 to 2: nights, their processes, verdicts and pins; how often a kernel is launched. Frozen: never changed again.
-- A CHECK cannot be altered, so the two tables whose CHECKs know the new words are written anew (foreign keys are off).

CREATE TABLE run_2 (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- the number of a pruned run is not given out again
    uuid TEXT NOT NULL UNIQUE CHECK (length(uuid) = 36),
    environment INTEGER NOT NULL REFERENCES environment (id),
    scene INTEGER NOT NULL REFERENCES scene (id),
    space INTEGER NOT NULL REFERENCES space (id),
    system TEXT NOT NULL,
    strategy TEXT NOT NULL,
    budget TEXT NOT NULL,
    seed INTEGER NOT NULL,          -- unsigned 64 bit, stored with the same bits
    origin TEXT NOT NULL CHECK (origin IN ('measured', 'imported', 'nightly')),
    state TEXT NOT NULL CHECK (state IN ('running', 'finished', 'interrupted', 'failed')),
    started TEXT NOT NULL CHECK (started GLOB '????-??-??T??:??:??.??????Z'),
    ended TEXT CHECK (ended GLOB '????-??-??T??:??:??.??????Z'),
    process TEXT,                   -- that writes it: boot, number, start time
    CONSTRAINT ended_or_running CHECK ((state = 'running') = (ended IS NULL)),
    CONSTRAINT process_while_running CHECK ((state = 'running') = (process IS NOT NULL))
) STRICT;
INSERT INTO run_2 SELECT * FROM run;
-- The numbers of pruned runs are not given out again.
DELETE FROM sqlite_sequence WHERE name = 'run_2';
INSERT INTO sqlite_sequence (name, seq) SELECT 'run_2', seq FROM sqlite_sequence WHERE name = 'run';
DROP TABLE run;
ALTER TABLE run_2 RENAME TO run;
CREATE INDEX run_scene ON run (scene, environment);
CREATE INDEX run_environment ON run (environment);
CREATE INDEX run_space ON run (space);

CREATE TABLE result_2 (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    sequence INTEGER NOT NULL CHECK (sequence >= 0),
    role TEXT NOT NULL CHECK (role IN ('search', 'final', 'import', 'nightly') OR role GLOB 'preset:?*'),
    config INTEGER NOT NULL REFERENCES config (id),
    build INTEGER REFERENCES build (id),
    state TEXT NOT NULL CHECK (state IN ('ok', 'wrong_result', 'crash', 'timeout', 'invalid', 'compile',
                                         'out_of_memory', 'skipped')),
    reason TEXT,
    measured TEXT NOT NULL CHECK (measured GLOB '????-??-??T??:??:??.??????Z'),

    step_us REAL CHECK (step_us > 0 AND step_us < 9e99),     -- median of the samples: one whole time step
    q1_us REAL, q3_us REAL, minimum_us REAL, maximum_us REAL,
    low_us REAL, high_us REAL,                               -- about 95 % confidence interval of the median
    sample_count INTEGER NOT NULL CHECK (sample_count >= 0),
    samples BLOB,                                            -- 32-bit IEEE 754, little-endian, microseconds, in order
    batch INTEGER CHECK (batch >= 1),                        -- steps that one sample is the mean of
    stop TEXT CHECK (stop IN ('precise', 'samples', 'time')),
    mlups REAL CHECK (mlups >= 0 AND mlups < 9e99),          -- million node updates a second
    bandwidth REAL CHECK (bandwidth >= 0 AND bandwidth < 9e99), -- least bytes a step / time, bytes/s

    verification_error REAL CHECK (verification_error >= 0),
    verification_bound REAL CHECK (verification_bound >= 0),
    mass_drift REAL,
    load_error REAL,
    worst TEXT,

    compile_s REAL CHECK (compile_s >= 0),
    verify_s REAL CHECK (verify_s >= 0),
    measure_s REAL CHECK (measure_s >= 0),

    before_sm_clock_mhz REAL, before_memory_clock_mhz REAL, before_temperature_c REAL, before_power_w REAL,
    before_throttle_reasons INTEGER NOT NULL,                -- NVML bits
    after_sm_clock_mhz REAL, after_memory_clock_mhz REAL, after_temperature_c REAL, after_power_w REAL,
    after_throttle_reasons INTEGER NOT NULL,

    UNIQUE (run, sequence),
    -- A NULL in a CHECK counts as passed, so presence is checked on its own.
    CONSTRAINT ok_has_time CHECK ((state = 'ok') = (step_us IS NOT NULL)),
    CONSTRAINT only_failures_have_reason CHECK ((state = 'ok') = (reason IS NULL)),
    CONSTRAINT ok_has_stop CHECK ((state = 'ok') = (stop IS NOT NULL)),
    CONSTRAINT quartiles_with_time
        CHECK ((step_us IS NULL) = (q1_us IS NULL) AND (step_us IS NULL) = (q3_us IS NULL)),
    CONSTRAINT extremes_with_time
        CHECK ((step_us IS NULL) = (minimum_us IS NULL) AND (step_us IS NULL) = (maximum_us IS NULL)),
    CONSTRAINT interval_with_time
        CHECK ((step_us IS NULL) = (low_us IS NULL) AND (step_us IS NULL) = (high_us IS NULL)),
    CONSTRAINT rates_need_time CHECK (step_us IS NOT NULL OR (mlups IS NULL AND bandwidth IS NULL)),
    CONSTRAINT time_above_first_quartile CHECK (minimum_us > 0 AND minimum_us <= q1_us AND q1_us <= step_us),
    CONSTRAINT time_below_third_quartile CHECK (step_us <= q3_us AND q3_us <= maximum_us AND maximum_us < 9e99),
    CONSTRAINT time_within_interval
        CHECK (minimum_us <= low_us AND low_us <= step_us AND step_us <= high_us AND high_us <= maximum_us),
    CONSTRAINT samples_are_counted CHECK (ifnull(length(samples), 0) = 4 * sample_count),
    CONSTRAINT samples_have_batch
        CHECK ((samples IS NULL) = (sample_count = 0) AND (samples IS NULL) = (batch IS NULL)),
    CONSTRAINT failures_have_no_samples CHECK (samples IS NULL OR state IN ('ok', 'skipped')),
    CONSTRAINT ok_has_samples CHECK (state <> 'ok' OR sample_count > 0),
    -- Fast and wrong is not fast: what is ok was verified (a final shares the verification of its search, a
    -- night's process that of the night's first).
    CONSTRAINT ok_is_verified CHECK (
        state <> 'ok' OR ifnull(verification_error <= verification_bound,
                                verification_error IS NULL AND role IN ('final', 'import', 'nightly')))
) STRICT;
INSERT INTO result_2 SELECT * FROM result;
DROP TABLE result;
ALTER TABLE result_2 RENAME TO result;
CREATE INDEX result_listing ON result (run, state, role, step_us, mlups); -- covers `store list`
CREATE INDEX result_config ON result (config, run, sequence);
CREATE INDEX result_build ON result (build);

ALTER TABLE kernel ADD COLUMN
    launches_per_step REAL CHECK (launches_per_step > 0 AND launches_per_step < 9e99);


CREATE TABLE night (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid TEXT NOT NULL UNIQUE CHECK (length(uuid) = 36),
    suite TEXT NOT NULL,
    suite_hash TEXT NOT NULL CHECK (length(suite_hash) = 64),
    program TEXT NOT NULL CHECK (length(program) = 64),
    label TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('running', 'finished', 'interrupted')),
    started TEXT NOT NULL CHECK (started GLOB '????-??-??T??:??:??.??????Z'),
    ended TEXT CHECK (ended GLOB '????-??-??T??:??:??.??????Z'),
    process TEXT,
    CONSTRAINT ended_or_running CHECK ((state = 'running') = (ended IS NULL)),
    CONSTRAINT process_while_running CHECK ((state = 'running') = (process IS NOT NULL))
) STRICT;


CREATE TABLE nightly (
    night INTEGER NOT NULL REFERENCES night (id) ON DELETE CASCADE,
    benchmark TEXT NOT NULL,
    arm TEXT NOT NULL CHECK (arm IN ('night', 'reference', 'candidate')),
    ordinal INTEGER NOT NULL CHECK (ordinal >= 0),
    series TEXT NOT NULL CHECK (length(series) = 64),
    program TEXT NOT NULL CHECK (length(program) = 64),
    job TEXT NOT NULL CHECK (json_valid(job)),
    result INTEGER NOT NULL UNIQUE REFERENCES result (id) ON DELETE CASCADE,
    PRIMARY KEY (night, benchmark, arm, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX nightly_series ON nightly (benchmark, series, arm, night);


CREATE TABLE verdict (
    night INTEGER NOT NULL REFERENCES night (id) ON DELETE CASCADE,
    benchmark TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('SAME', 'FAST', 'SLOW', 'AMBIGUOUS', 'NODATA', 'DRIFT', 'WRONG')),
    reason TEXT NOT NULL,
    series TEXT CHECK (length(series) = 64),
    time_us REAL CHECK (time_us > 0 AND time_us < 9e99),
    threshold REAL CHECK (threshold > 0),
    identical INTEGER NOT NULL CHECK (identical IN (0, 1)),
    reference INTEGER REFERENCES night (id) ON DELETE SET NULL,
    change REAL, change_low REAL, change_high REAL,
    probability REAL CHECK (probability BETWEEN 0 AND 1),
    kernel TEXT, kernel_change_us REAL,
    counter TEXT, counter_before REAL, counter_after REAL,
    PRIMARY KEY (night, benchmark),
    CONSTRAINT judged_has_time CHECK (state IN ('NODATA', 'WRONG') OR time_us IS NOT NULL),
    CONSTRAINT found_has_evidence
        CHECK (state NOT IN ('FAST', 'SLOW') OR (change IS NOT NULL AND probability IS NOT NULL AND threshold IS NOT NULL)),
    CONSTRAINT slow_is_slower CHECK (state <> 'SLOW' OR change > 0),
    CONSTRAINT fast_is_faster CHECK (state <> 'FAST' OR change < 0),
    CONSTRAINT interval_in_order CHECK (change_low <= change AND change <= change_high),
    CONSTRAINT identical_is_same CHECK (identical = 0 OR state IN ('SAME', 'NODATA', 'WRONG'))
) STRICT, WITHOUT ROWID;
CREATE INDEX verdict_reference ON verdict (reference);


CREATE TABLE pin (
    benchmark TEXT NOT NULL,
    series TEXT NOT NULL CHECK (length(series) = 64),
    night INTEGER NOT NULL REFERENCES night (id) ON DELETE CASCADE,
    pinned TEXT NOT NULL CHECK (pinned GLOB '????-??-??T??:??:??.??????Z'),
    PRIMARY KEY (benchmark, series)
) STRICT, WITHOUT ROWID;
CREATE INDEX pin_night ON pin (night);
