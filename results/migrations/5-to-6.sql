-- Version 5 to 6: what is known of a scene are named facts, whatever its system. Frozen: never changed again.

CREATE TABLE scene_6 (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL CHECK (length(hash) = 64 AND hash NOT GLOB '*[^0-9a-f]*'),
    name TEXT NOT NULL,
    source TEXT NOT NULL,
    seed INTEGER NOT NULL,
    facts TEXT NOT NULL CHECK (json_valid(facts) AND json_type(facts) = 'object'),
    units TEXT NOT NULL CHECK (json_valid(units) AND json_type(units) = 'object'),
    UNIQUE (hash, name, source)
) STRICT;
-- A member that is null is left out by json_patch.
INSERT INTO scene_6 (id, hash, name, source, seed, facts, units)
SELECT id, hash, name, source, seed,
       CASE WHEN viscosity IS NULL
       THEN json_object('size_x', nodes_x, 'size_y', nodes_y, 'size_z', nodes_z)
       ELSE json_patch('{}', json_object(
           'size_x', nodes_x, 'size_y', nodes_y, 'size_z', nodes_z, 'node_count', nodes_x * nodes_y * nodes_z,
           'sample_count', samples, 'samples_per_cell', samples_per_cell, 'reynolds', reynolds,
           'viscosity', viscosity, 'collision', collision)) END,
       CASE WHEN viscosity IS NULL THEN '{}'
       ELSE json_object('size_x', 'nodes', 'size_y', 'nodes', 'size_z', 'nodes', 'node_count', 'nodes',
                        'sample_count', 'samples', 'viscosity', 'cell^2/step') END
FROM scene;
DROP TABLE scene;
ALTER TABLE scene_6 RENAME TO scene;
