#!/bin/sh
# Prints the measurements of a store's tuning runs, for results/measured/: the presets and the best config of every
# finished run, with the kernels of each.
# usage: scripts/measured-tables.sh [option ...] STORE
#   --json               one JSON object instead of Markdown tables
#   --commit HASH        the program's commit, written into the output
#   --memory-rate GB/S   the device's copy rate, measured elsewhere: adds each time's share of it
#   --update FILE        put the tables between FILE's lines '<!-- measured: begin -->' and '<!-- measured: end -->'
set -eu

usage() {
    sed -n 's/^# \(usage:.*\|  --.*\)$/\1/p' "$0" >&2
    exit 2
}
json='' commit='' rate='' update='' store=''
while [ $# -gt 0 ]; do
    case $1 in
    --json) json=1 ;;
    --commit) commit=${2:?$(usage)}; shift ;;
    --memory-rate) rate=${2:?$(usage)}; shift ;;
    --update) update=${2:?$(usage)}; shift ;;
    -*) usage ;;
    *) store=$1 ;;
    esac
    shift
done
[ -n "$store" ] || usage
case $commit$rate in *[!0-9a-f.]*) echo "measured-tables: --commit and --memory-rate take hexadecimal digits and a number" >&2; exit 2 ;; esac
[ -r "$store" ] || { echo "measured-tables: $store: cannot be read" >&2; exit 2; }
command -v sqlite3 >/dev/null || { echo "measured-tables: needs sqlite3 (Debian: apt-get install sqlite3)" >&2; exit 3; }
[ "$(sqlite3 "$store" "SELECT count(*) FROM pragma_table_info('problem') WHERE name = 'facts'" 2>&1)" = 1 ] ||
    { echo "measured-tables: $store: is no store of this version; kftune brings an older one up to date when it writes to it" >&2; exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The row of a named config: its result in the final where it has one, else its first.
cat >"$work/rows.sql" <<'SQL'
CREATE TEMP VIEW chosen AS
WITH preset AS (
    SELECT run, substr(role, 8) AS name, config FROM result WHERE role GLOB 'preset:*'
), best AS ( -- what the run chose; in a store that does not know it, the fastest of the final
    SELECT r.run, 'best' AS name, r.config FROM result r JOIN run ON run.id = r.run WHERE r.sequence = run.winner
    UNION ALL
    SELECT run, name, config FROM (SELECT r.run, 'best' AS name, r.config, min(r.step_us) FROM result r JOIN run ON run.id = r.run
        WHERE run.winner IS NULL AND r.role = 'final' AND r.state = 'ok' GROUP BY r.run)
), named AS (SELECT run, name, config FROM preset UNION ALL SELECT run, name, config FROM best)
SELECT n.run, n.name, r.id AS result,
       CASE n.name WHEN 'baseline' THEN 1 WHEN 'paper' THEN 2 WHEN 'default' THEN 3 ELSE 4 END AS place
FROM named n JOIN result r ON r.id = (
    SELECT id FROM result WHERE run = n.run AND config = n.config AND state = 'ok'
    ORDER BY role = 'final' DESC, sequence LIMIT 1)
JOIN run ON run.id = n.run AND run.state = 'finished' AND run.origin = 'measured';
CREATE TEMP VIEW best AS SELECT c.run, r.step_us FROM chosen c JOIN result r ON r.id = c.result WHERE c.name = 'best';
CREATE TEMP VIEW known AS -- the facts of scenes as columns
SELECT id, name, source, facts ->> 'size_x' AS x, facts ->> 'size_y' AS y, facts ->> 'size_z' AS z,
       facts ->> 'sample_count' AS samples, facts ->> 'samples_per_cell' AS samples_per_cell,
       facts ->> 'reynolds' AS reynolds, facts ->> 'collision' AS collision FROM problem;
CREATE TEMP VIEW command AS
SELECT run.id AS run, 'kftune --scene ' || replace(s.source, rtrim(s.source, replace(s.source, '/', '')), '') ||
       ifnull(' --grid ' || s.x || 'x' || s.y || 'x' || s.z, '') ||
       iif(s.samples_per_cell IS NULL, '', ' --samples-per-cell ' || printf('%g', s.samples_per_cell)) || ' --budget ' || run.budget ||
       ' --device ' || CASE e.backend WHEN 'cuda' THEN 'cuda:0' ELSE e.backend END AS line
FROM run JOIN known s ON s.id = run.problem JOIN environment e ON e.id = run.environment;
PRAGMA query_only = 1;
SQL

ask() { # ask SQL: the answer, one column a line
    { cat "$work/rows.sql"; printf '%s\nPRAGMA query_only = 0;\n' "$1"; } | sqlite3 -batch -bail -noheader "$store"
}

if [ -n "$json" ]; then
    ask "SELECT json_object('format', 1, 'commit', nullif('$commit', ''),
    'memory_rate_gb_s', CASE '$rate' WHEN '' THEN NULL ELSE CAST('$rate' AS REAL) END,
    'what', 'Median time of one whole time step, everything included: streaming, collision, immersed boundary, domain boundaries. ci_us: 95 % interval of the median. gb_s: least bytes of a step (every population read and written once) / time. Kernels: median of one launch, timed apart from the step.',
    'runs', json_group_array(json(entry))) FROM (
    SELECT json_object('scene', s.name, 'nodes', json_array(s.x, s.y, s.z), 'samples', s.samples,
        'reynolds', s.reynolds, 'collision', s.collision, 'command', command.line, 'started', run.started,
        'strategy', run.strategy, 'seed', run.seed, 'uuid', run.uuid,
        'states', (SELECT json_group_object(state, n) FROM (
            SELECT state, count(*) AS n FROM result WHERE run = run.id GROUP BY state)),
        'machine', json_object('device', e.device, 'architecture', e.architecture, 'driver', e.driver, 'compiler', e.compiler,
            'peak_bandwidth_gb_s', e.peak_bandwidth / 1e9, 'processor', e.processor, 'processors', e.processor_count,
            'operating_system', e.operating_system, 'kftune', e.kftune),
        'configs', (SELECT json_group_array(json(one)) FROM (
            SELECT json_object('name', c.name, 'hash', k.hash, 'parameters', json_extract(k.json, '\$.parameters'),
                'time_us', round(r.step_us, 3), 'ci_us', json_array(round(r.low_us, 3), round(r.high_us, 3)),
                'quartiles_us', json_array(round(r.q1_us, 3), round(r.q3_us, 3)), 'samples', r.sample_count,
                'steps_a_sample', r.batch, 'mlups', round(r.updates_per_us, 1), 'gb_s', round(r.bandwidth / 1e9, 1),
                'gain_of_best', round(r.step_us / best.step_us, 3), 'verification_error', r.verification_error,
                'verification_bound', r.verification_bound, 'sm_clock_mhz', r.after_sm_clock_mhz,
                'kernels', (SELECT json_group_array(json(kernel)) FROM (
                    SELECT json_object('name', name, 'median_us', round(median_us, 3), 'launches_per_step', launches_per_step,
                        'least_gb_s', CASE WHEN bytes > 0 THEN round(bytes / median_us / 1e3, 1) END, 'registers', registers,
                        'spill_bytes', spill_bytes, 'occupancy', theoretical_occupancy) AS kernel
                    FROM kernel WHERE result = r.id ORDER BY ordinal))) AS one
            FROM chosen c JOIN result r ON r.id = c.result JOIN config k ON k.id = r.config JOIN best ON best.run = c.run
            WHERE c.run = run.id ORDER BY c.place))) AS entry
    FROM run JOIN known s ON s.id = run.problem JOIN environment e ON e.id = run.environment JOIN command ON command.run = run.id
    WHERE run.id IN (SELECT run FROM best) ORDER BY run.id);"
    exit
fi

share() { # share COLUMN: its share of the memory rate as a further table cell
    if [ -n "$rate" ]; then echo "|| ' | about ' || printf('%.0f', 0.1 * $1 / $rate) || ' %'"; fi
}

tables() {
    ask "SELECT DISTINCT e.device || ', driver ' || e.driver || ', ' || e.compiler || ', ' || substr(run.started, 1, 10) ||
        ', kftune ' || e.kftune || CASE '$commit' WHEN '' THEN '' ELSE ' at commit ' || substr('$commit', 1, 7) END || '.'
        FROM run JOIN environment e ON e.id = run.environment WHERE run.id IN (SELECT run FROM best);"
    for run in $(ask "SELECT run FROM best ORDER BY run;"); do
        ask "SELECT char(10) || '**' || s.name || '**, ' || ifnull(s.x || ' x ' || s.y || ' x ' || s.z || ' nodes, ', '') ||
            iif(s.samples IS NULL, '', printf('%,d', s.samples) || ' samples, ') || (SELECT count(*) FROM result WHERE run = $run AND role <> 'final') ||
            ' configs measured:' || char(10) || '\`' || line || '\`' || char(10)
            FROM run JOIN known s ON s.id = run.problem JOIN command ON command.run = run.id WHERE run.id = $run;"
        echo "| config | whole step | 95 % interval | MLUPS | GB/s |${rate:+ of the copy rate |} best is faster by |"
        echo "| --- | ---: | ---: | ---: | ---: |${rate:+ ---: |} ---: |"
        ask "SELECT '| ' || c.name || ' | ' || printf('%,d', round(r.step_us)) || ' us | ' || printf('%,d', round(r.low_us)) ||
            ' .. ' || printf('%,d', round(r.high_us)) || ' us | ' || printf('%,d', round(r.updates_per_us)) || ' | ' ||
            printf('%,d', round(r.bandwidth / 1e9)) $(share 'r.bandwidth / 1e6') || ' | ' ||
            printf('%.2f', r.step_us / best.step_us) || 'x |'
            FROM chosen c JOIN result r ON r.id = c.result JOIN best ON best.run = c.run WHERE c.run = $run ORDER BY c.place;"
        printf '\n<details><summary>kernel by kernel</summary>\n\n'
        ask "SELECT '| kernel |' || group_concat(' ' || name || ' |', '') FROM (
            SELECT name FROM chosen WHERE run = $run ORDER BY place);
            SELECT '| --- |' || group_concat(' ---: |', '') FROM chosen WHERE run = $run;
            WITH launch AS (
                SELECT c.place, k.name, k.median_us, k.bytes, k.launches_per_step,
                    1000 * c.place + k.ordinal AS position
                FROM chosen c JOIN kernel k ON k.result = c.result WHERE c.run = $run
            ), kernels AS (
                SELECT name, min(position) AS position, min(launches_per_step) AS often FROM launch GROUP BY name
            )
            SELECT '| ' || n.name || CASE WHEN n.often < 1 THEN ' (every ' || printf('%d', round(1 / n.often)) || ' steps)' ELSE '' END ||
                ' |' || (SELECT group_concat(cell, '') FROM (
                    SELECT ' ' || CASE WHEN l.name IS NULL THEN '' ELSE printf('%,d', round(l.median_us)) || ' us' ||
                        CASE WHEN l.bytes >= 1e8 THEN ', ' || printf('%,d', round(l.bytes / l.median_us / 1e3)) || ' GB/s' ELSE '' END
                        END || ' |' AS cell
                    FROM chosen c LEFT JOIN launch l ON l.place = c.place AND l.name = n.name
                    WHERE c.run = $run ORDER BY c.place))
            FROM kernels n ORDER BY n.position;"
        printf '\n</details>\n'
    done
}

if [ -z "$update" ]; then
    tables
    exit
fi
grep -q '^<!-- measured: begin -->$' "$update" && grep -q '^<!-- measured: end -->$' "$update" ||
    { echo "measured-tables: $update: has no lines '<!-- measured: begin -->' and '<!-- measured: end -->'" >&2; exit 2; }
tables >"$work/tables"
awk -v tables="$work/tables" '
    /^<!-- measured: end -->$/ { skipping = 0 }
    !skipping { print }
    /^<!-- measured: begin -->$/ { skipping = 1; while ((getline line < tables) > 0) print line }' "$update" >"$work/updated"
cat "$work/updated" >"$update"
