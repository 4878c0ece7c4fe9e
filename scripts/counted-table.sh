#!/bin/sh
# The five metrics of the kinetic paper's Figures 11 to 15, kernel by kernel, of baseline, paper, default and best of one run of a
# store, as a Markdown table. usage: scripts/counted-table.sh STORE.db[.gz] [RUN]. Needs sqlite3.
set -eu
store=${1:?usage: scripts/counted-table.sh STORE.db[.gz] [RUN]}
run=${2:-1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case $store in
*.gz) gzip -dc "$store" >"$work/counted.db" ;;
*) cp "$store" "$work/counted.db" ;;
esac
echo '| config | kernel | us a step | share | achieved occupancy | load efficiency | store efficiency | branch efficiency | warp efficiency |'
echo '| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |'
sqlite3 -separator ' | ' "$work/counted.db" "
WITH counted AS ( -- the fastest result with counters of each config that has a name
    SELECT r.id, r.step_us, r.config, row_number() OVER (PARTITION BY r.config ORDER BY r.step_us) AS place FROM result r
    WHERE r.run = $run AND r.state = 'ok' AND EXISTS (SELECT 1 FROM counter c WHERE c.result = r.id)),
named AS (
    SELECT DISTINCT c.id, c.step_us, substr(p.role, 8) AS name,
           CASE p.role WHEN 'preset:baseline' THEN 1 WHEN 'preset:paper' THEN 2 ELSE 3 END AS place
    FROM counted c JOIN result p ON p.run = $run AND p.config = c.config AND p.role GLOB 'preset:[bpd]*' WHERE c.place = 1
    UNION SELECT c.id, c.step_us, 'best', 4 FROM counted c JOIN run ON run.id = $run JOIN result w ON w.run = run.id AND
        w.sequence = run.winner AND w.config = c.config WHERE c.place = 1),
rows AS (
    SELECT n.place, n.name, n.id, k.ordinal, k.name AS kernel, k.median_us * k.launches_per_step AS us FROM named n JOIN kernel k ON k.result = n.id),
total AS (SELECT id, sum(us) AS us FROM rows GROUP BY id)
SELECT '| ' || r.name, r.kernel, printf('%.1f', r.us), printf('%.1f %%', 100 * r.us / t.us),
    ifnull((SELECT printf('%.0f', value) FROM counter WHERE result = r.id AND ordinal = r.ordinal AND metric = 'achieved_occupancy'), '-'),
    ifnull((SELECT printf('%.0f', value) FROM counter WHERE result = r.id AND ordinal = r.ordinal AND metric = 'load_efficiency' AND value > 0), '-'),
    ifnull((SELECT printf('%.0f', value) FROM counter WHERE result = r.id AND ordinal = r.ordinal AND metric = 'store_efficiency' AND value > 0), '-'),
    ifnull((SELECT printf('%.0f', value) FROM counter WHERE result = r.id AND ordinal = r.ordinal AND metric = 'branch_uniformity' AND value > 0), '-'),
    ifnull((SELECT printf('%.0f', value) FROM counter WHERE result = r.id AND ordinal = r.ordinal AND metric = 'warp_efficiency'), '-') || ' |'
FROM rows r JOIN total t ON t.id = r.id WHERE r.us >= 0.01 * t.us ORDER BY r.place, r.name, r.us DESC"
