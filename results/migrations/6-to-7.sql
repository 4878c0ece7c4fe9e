-- Version 6 to 7: what is run is a problem; updates have their word; a result keeps every deviation; what stands for a
-- run whose steps cost different amounts are windows. Frozen: never changed again.

ALTER TABLE scene RENAME TO problem;
DROP INDEX run_scene;
ALTER TABLE run RENAME COLUMN scene TO problem;
CREATE INDEX run_problem ON run (problem, environment);
ALTER TABLE run ADD COLUMN updates TEXT NOT NULL DEFAULT 'node' CHECK (updates <> '');
UPDATE run SET updates = CASE system WHEN 'stable_fluids' THEN 'cell' WHEN 'sph' THEN 'particle' WHEN 't1' THEN 'item' ELSE 'node' END;

ALTER TABLE result RENAME COLUMN mlups TO updates_per_us;
ALTER TABLE result RENAME COLUMN turn_steps TO window_steps;
ALTER TABLE result RENAME COLUMN turn_windows TO windows;
ALTER TABLE result ADD COLUMN deviations TEXT CHECK (deviations IS NULL OR (json_valid(deviations) AND json_type(deviations) = 'array'));
UPDATE result SET deviations = (
    SELECT json_group_array(json(d.one)) FROM (
        SELECT json_object('name', 'error', 'value', verification_error, 'bound', verification_bound) AS one
        UNION ALL SELECT json_object('name', 'mass', 'value', mass_drift, 'bound', verification_bound) WHERE mass_drift IS NOT NULL
        UNION ALL SELECT json_object('name', 'force', 'value', load_error, 'bound', NULL) WHERE load_error IS NOT NULL) d)
WHERE verification_error IS NOT NULL;
ALTER TABLE result DROP COLUMN mass_drift;
ALTER TABLE result DROP COLUMN load_error;
