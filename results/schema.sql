-- The store of kftune, version 10 (docs/store.md explains it and has example queries).
--
-- Conventions: times of kernels and steps are in microseconds (_us), times of the tuner in seconds (_s); moments are
-- UTC text, 2026-01-31T12:00:00.123456Z; hashes are SHA-256 in lower-case hexadecimal; NULL means "not known" or
-- "not reached". A row is never changed once written, except run.state and what goes with it.

CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Where something ran: device, host and program. One row for each distinct content.
CREATE TABLE environment (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64 AND hash NOT GLOB '*[^0-9a-f]*'),
    backend TEXT NOT NULL CHECK (backend IN ('cpu', 'cuda', 'import')),
    device TEXT NOT NULL,           -- "NVIDIA H200", or the processor's model name
    identity TEXT NOT NULL,         -- GPU UUID, or a hash of processor, cores and caches
    architecture TEXT NOT NULL,     -- "sm_90", or the host compiler's target
    driver TEXT NOT NULL,
    compiler TEXT NOT NULL,
    multiprocessors INTEGER NOT NULL CHECK (multiprocessors >= 0), -- on the cpu: threads used
    warp_size INTEGER NOT NULL CHECK (warp_size >= 0),
    max_threads_per_block INTEGER NOT NULL CHECK (max_threads_per_block >= 0),
    memory_bytes INTEGER NOT NULL CHECK (memory_bytes >= 0),
    l2_bytes INTEGER NOT NULL CHECK (l2_bytes >= 0),
    peak_bandwidth REAL NOT NULL CHECK (peak_bandwidth >= 0), -- bytes/s; 0: unknown
    processor TEXT NOT NULL,        -- of the host
    processor_count INTEGER NOT NULL CHECK (processor_count >= 0),
    operating_system TEXT NOT NULL, -- "Linux 6.1.0 x86_64"
    container INTEGER NOT NULL CHECK (container IN (0, 1)),
    kftune TEXT NOT NULL            -- version of the program that measured
) STRICT;

-- What is run; one row for each distinct content under a name. facts: what its system says of it, named numbers and
-- words: {"size_x": 200, "node_count": 16000000, "reynolds": 100, "collision": "acm_mrt"}; units of those that have one.
CREATE TABLE problem (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL CHECK (length(hash) = 64 AND hash NOT GLOB '*[^0-9a-f]*'), -- of all that changes the result
    name TEXT NOT NULL,
    source TEXT NOT NULL,           -- scene file, mesh file or name of a shipped scene
    seed INTEGER NOT NULL,          -- unsigned 64 bit, stored with the same bits
    facts TEXT NOT NULL CHECK (json_valid(facts) AND json_type(facts) = 'object'),
    units TEXT NOT NULL CHECK (json_valid(units) AND json_type(units) = 'object'),
    UNIQUE (hash, name, source)
) STRICT;

CREATE TABLE space (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64 AND hash NOT GLOB '*[^0-9a-f]*'),
    system TEXT NOT NULL,
    json TEXT NOT NULL CHECK (json_valid(json))
) STRICT;

-- json is the canonical text that hash names: {"parameters":{...},"system":"kinetic"}.
CREATE TABLE config (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64 AND hash NOT GLOB '*[^0-9a-f]*'),
    system TEXT NOT NULL,
    json TEXT NOT NULL CHECK (json_valid(json) AND json_extract(json, '$.system') = system)
) STRICT;

-- Machine code: equal hash means equal code (sources, defines, compiler and architecture).
CREATE TABLE build (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64 AND hash NOT GLOB '*[^0-9a-f]*')
) STRICT;

-- One tuning run, one imported landscape, or one benchmark of a night.
CREATE TABLE run (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- the number of a pruned run is not given out again
    uuid TEXT NOT NULL UNIQUE CHECK (length(uuid) = 36),
    environment INTEGER NOT NULL REFERENCES environment (id),
    problem INTEGER NOT NULL REFERENCES problem (id),
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
    winner INTEGER CHECK (winner >= 0), -- sequence of the result that was chosen: not the fastest, where several tie
    noise_floor REAL CHECK (noise_floor >= 0 AND noise_floor < 9e99), -- of a config's time from process to process, relative
    updates TEXT NOT NULL DEFAULT 'node' CHECK (updates <> ''), -- what a step updates: 'node', 'cell', 'particle', ...
    objective TEXT NOT NULL DEFAULT 'time' CHECK (objective <> ''), -- what was sought: 'time', 'max:gflops', 'time,energy'
    -- The user's metrics in their order: [{"name": "gflops", "expression": "2*n/time/1e9"}, ...].
    metrics TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(metrics) AND json_type(metrics) = 'array'),
    CONSTRAINT ended_or_running CHECK ((state = 'running') = (ended IS NULL)),
    CONSTRAINT process_while_running CHECK ((state = 'running') = (process IS NOT NULL))
) STRICT;
CREATE INDEX run_problem ON run (problem, environment);
CREATE INDEX run_environment ON run (environment);
CREATE INDEX run_space ON run (space);

-- One measurement of one config. In state ok, and only then, it has a time, and the time is that of its samples.
CREATE TABLE result (
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
    updates_per_us REAL CHECK (updates_per_us >= 0 AND updates_per_us < 9e99), -- of what run.updates says: million a second
    bandwidth REAL CHECK (bandwidth >= 0 AND bandwidth < 9e99), -- least bytes a step / time, bytes/s

    verification_error REAL CHECK (verification_error >= 0),
    verification_bound REAL CHECK (verification_bound >= 0),
    worst TEXT,

    compile_s REAL CHECK (compile_s >= 0),
    verify_s REAL CHECK (verify_s >= 0),
    measure_s REAL CHECK (measure_s >= 0),

    before_sm_clock_mhz REAL, before_memory_clock_mhz REAL, before_temperature_c REAL, before_power_w REAL,
    before_throttle_reasons INTEGER NOT NULL,                -- NVML bits
    after_sm_clock_mhz REAL, after_memory_clock_mhz REAL, after_temperature_c REAL, after_power_w REAL,
    after_throttle_reasons INTEGER NOT NULL,

    cache TEXT CHECK (cache IN ('steady', 'cold', 'hot')),   -- what the last-level cache held before each sample
    clocks BLOB CHECK (clocks IS NULL OR length(clocks) = 4 * sample_count), -- MHz during each sample, as samples; NAN: unknown
    clock_mhz REAL CHECK (clock_mhz > 0 AND clock_mhz < 9e99), -- their median
    clock_state TEXT CHECK (clock_state IN ('steady', 'unsteady', 'unknown')),
    outliers TEXT,                                           -- how many samples lie far off, and the likely cause
    energy_j REAL CHECK (energy_j > 0 AND energy_j < 9e99),  -- of one time step

    effort REAL NOT NULL DEFAULT 1 CHECK (effort > 0 AND effort <= 1), -- share of the usual measuring
    -- Of a plan whose steps cost different amounts: the steps after which that comes again (a turn of the solid), and
    -- the windows in them that each sample is spread over (docs/measuring.md says at which steps they begin).
    window_steps INTEGER CHECK (window_steps >= 1),
    windows INTEGER CHECK (windows >= 1),
    -- All that was held against the reference: [{"name": "fields", "value": 2e-6, "bound": 1e-4}, ...]; null: lost, or
    -- not known.
    deviations TEXT CHECK (deviations IS NULL OR (json_valid(deviations) AND json_type(deviations) = 'array')),
    -- How far a second launch from equal inputs is off the first, relative; 0: bit for bit the same.
    spread REAL CHECK (spread >= 0 AND spread < 9e99),

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
    CONSTRAINT rates_need_time CHECK (step_us IS NOT NULL OR (updates_per_us IS NULL AND bandwidth IS NULL)),
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
CREATE INDEX result_listing ON result (run, state, role, step_us, updates_per_us); -- covers `store list`
CREATE INDEX result_config ON result (config, run, sequence);
CREATE INDEX result_build ON result (build);

-- The launches of a result's time step, in order; times are of one launch.
CREATE TABLE kernel (
    result INTEGER NOT NULL REFERENCES result (id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL CHECK (ordinal >= 0),
    name TEXT NOT NULL,
    sample_count INTEGER NOT NULL CHECK (sample_count >= 0),
    median_us REAL, q1_us REAL, q3_us REAL, minimum_us REAL, maximum_us REAL, low_us REAL, high_us REAL,
    bytes REAL NOT NULL CHECK (bytes >= 0),  -- least traffic; 0: not defined
    flops REAL NOT NULL CHECK (flops >= 0),  -- 0: not defined
    registers INTEGER NOT NULL CHECK (registers >= 0),
    spill_bytes INTEGER NOT NULL CHECK (spill_bytes >= 0),
    shared_bytes INTEGER NOT NULL CHECK (shared_bytes >= 0), -- of a block, static and dynamic
    theoretical_occupancy REAL CHECK (theoretical_occupancy BETWEEN 0 AND 1),
    launches_per_step REAL CHECK (launches_per_step > 0 AND launches_per_step < 9e99), -- less than 1: not due at every step
    occupancy_limit TEXT,                    -- what keeps more blocks from being resident: 'registers', ...
    fastest_us REAL CHECK (fastest_us >= 0), -- of a team: the part that is fastest; the other times are of the slowest
    block_threads INTEGER NOT NULL DEFAULT 0 CHECK (block_threads >= 0), -- 0: not known
    PRIMARY KEY (result, ordinal),
    CONSTRAINT samples_have_times
        CHECK ((sample_count > 0) = (median_us IS NOT NULL AND q1_us IS NOT NULL AND q3_us IS NOT NULL AND
                                 minimum_us IS NOT NULL AND maximum_us IS NOT NULL AND low_us IS NOT NULL AND
                                 high_us IS NOT NULL)),
    CONSTRAINT times_have_samples
        CHECK (sample_count > 0 OR (median_us IS NULL AND q1_us IS NULL AND q3_us IS NULL AND minimum_us IS NULL AND
                                maximum_us IS NULL AND low_us IS NULL AND high_us IS NULL)),
    CONSTRAINT quartiles_in_order
        CHECK (minimum_us <= q1_us AND q1_us <= median_us AND median_us <= q3_us AND q3_us <= maximum_us),
    CONSTRAINT time_within_interval
        CHECK (minimum_us <= low_us AND low_us <= median_us AND median_us <= high_us AND high_us <= maximum_us)
) STRICT, WITHOUT ROWID;

-- Hardware counters of a result: of one kernel, or of the whole step (ordinal -1).
CREATE TABLE counter (
    result INTEGER NOT NULL REFERENCES result (id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL CHECK (ordinal >= -1),
    metric TEXT NOT NULL,
    value REAL NOT NULL,
    passes INTEGER NOT NULL CHECK (passes >= 1),
    unit TEXT NOT NULL DEFAULT '',  -- 'B', '%', '1' for a pure number
    PRIMARY KEY (result, ordinal, metric)
) STRICT, WITHOUT ROWID;

-- What the expressions in run.metrics gave for a result in state ok; NULL: it could not be computed.
CREATE TABLE metric (
    result INTEGER NOT NULL REFERENCES result (id) ON DELETE CASCADE,
    name TEXT NOT NULL CHECK (name <> ''),
    ordinal INTEGER NOT NULL CHECK (ordinal >= 0), -- in the order given
    value REAL,
    PRIMARY KEY (result, name)
) STRICT, WITHOUT ROWID;

-- What a device reaches at best (`kftune roofs`): the newest measurement.
CREATE TABLE roof (
    identity TEXT NOT NULL,         -- of the device, as in environment
    name TEXT NOT NULL,
    unit TEXT NOT NULL,
    value REAL NOT NULL CHECK (value > 0 AND value < 9e99),
    spread REAL NOT NULL CHECK (spread >= 0),                -- (median round - best round) / best round
    theoretical REAL CHECK (theoretical > 0 AND theoretical < 9e99),
    ordinal INTEGER NOT NULL CHECK (ordinal >= 0),           -- in the order measured
    driver TEXT NOT NULL,
    measured TEXT NOT NULL CHECK (measured GLOB '????-??-??T??:??:??.??????Z'),
    PRIMARY KEY (identity, name)
) STRICT, WITHOUT ROWID;

-- One execution of `kftune nightly`.
CREATE TABLE night (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid TEXT NOT NULL UNIQUE CHECK (length(uuid) = 36),
    suite TEXT NOT NULL,            -- its name
    suite_hash TEXT NOT NULL CHECK (length(suite_hash) = 64), -- of the suite file's content
    program TEXT NOT NULL CHECK (length(program) = 64),       -- hash of the program measured and of its data files, or of
                                                              -- what is kept of commands, when the suite is of them alone
    label TEXT NOT NULL,            -- what the user calls that program (a commit, a release), or ''
    state TEXT NOT NULL CHECK (state IN ('running', 'finished', 'interrupted')),
    started TEXT NOT NULL CHECK (started GLOB '????-??-??T??:??:??.??????Z'),
    ended TEXT CHECK (ended GLOB '????-??-??T??:??:??.??????Z'),
    process TEXT,                   -- that writes it: boot, number, start time
    CONSTRAINT ended_or_running CHECK ((state = 'running') = (ended IS NULL)),
    CONSTRAINT process_while_running CHECK ((state = 'running') = (process IS NOT NULL))
) STRICT;

-- One fresh process of a night, and the result it measured. The process is the unit of evidence.
CREATE TABLE nightly (
    night INTEGER NOT NULL REFERENCES night (id) ON DELETE CASCADE,
    benchmark TEXT NOT NULL,
    arm TEXT NOT NULL CHECK (arm IN ('night', 'reference', 'candidate')), -- the two last: an interleaved comparison
    ordinal INTEGER NOT NULL CHECK (ordinal >= 0),            -- of the process within its arm
    series TEXT NOT NULL CHECK (length(series) = 64),         -- only what has the same may be compared
    program TEXT NOT NULL CHECK (length(program) = 64),       -- that was measured; in arm reference an earlier one; zeros: of a command nothing is kept
    job TEXT NOT NULL CHECK (json_valid(job)),                -- what the process was asked to measure
    result INTEGER NOT NULL UNIQUE REFERENCES result (id) ON DELETE CASCADE,
    PRIMARY KEY (night, benchmark, arm, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX nightly_series ON nightly (benchmark, series, arm, night);

-- What a night says of a benchmark. Changes are relative: 0.02 is 2 % slower.
CREATE TABLE verdict (
    night INTEGER NOT NULL REFERENCES night (id) ON DELETE CASCADE,
    benchmark TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('SAME', 'FAST', 'SLOW', 'AMBIGUOUS', 'NODATA', 'DRIFT', 'WRONG')),
    reason TEXT NOT NULL,
    series TEXT CHECK (length(series) = 64),
    time_us REAL CHECK (time_us > 0 AND time_us < 9e99),      -- median of the night's processes' medians
    threshold REAL CHECK (threshold > 0),                     -- least change that is looked at
    identical INTEGER NOT NULL CHECK (identical IN (0, 1)),   -- same code, config, scene and machine as the night before
    reference INTEGER REFERENCES night (id) ON DELETE SET NULL, -- the night it was held against
    change REAL, change_low REAL, change_high REAL,           -- of the interleaved comparison, with its interval
    probability REAL CHECK (probability BETWEEN 0 AND 1),     -- of such a difference by chance
    kernel TEXT, kernel_change_us REAL,                       -- of the step, that changed most
    counter TEXT, counter_before REAL, counter_after REAL,    -- of that kernel, that moved most
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

-- Releases that later nights are held against, so that no slow drift goes unseen.
CREATE TABLE pin (
    benchmark TEXT NOT NULL,
    series TEXT NOT NULL CHECK (length(series) = 64),
    night INTEGER NOT NULL REFERENCES night (id) ON DELETE CASCADE,
    pinned TEXT NOT NULL CHECK (pinned GLOB '????-??-??T??:??:??.??????Z'),
    PRIMARY KEY (benchmark, series)
) STRICT, WITHOUT ROWID;
CREATE INDEX pin_night ON pin (night);

INSERT INTO meta (key, value) VALUES ('program', 'kftune'), ('format', 'docs/store.md');
