#!/bin/bash
# One simulation on several GPUs of one host, weak and strong, the Ahmed body across the cut, held against one GPU bit for bit:
# `kftune bench --suite scaling`. From a bundle or a built source tree; builds nothing.
# usage: scripts/gpu/scaling.sh FOLDER [DEVICES] [OPTION...]; writes scaling.json, scaling.txt and scaling.log into FOLDER and
# prints the table. DEVICES is a team, cuda:0-1 if not given; about three minutes on two H200s. With cpu,cpu on small grids, to see
# that it works. OPTIONs go to the suite: --figure NAME measures only that figure. Status 1 when a team's result is not one device's.
set -u
folder=${1:?usage: scripts/gpu/scaling.sh FOLDER [DEVICES] [OPTION...]}
devices=${2:-cuda:0-1}
shift $(($# < 2 ? $# : 2))
mkdir -p "$folder" || exit 3
folder=$(realpath "$folder")
cd "$(dirname "$0")/../.." || exit 3
for kftune in ${KFTUNE:-} ./kftune build/kftune; do [ -x "$kftune" ] && break; done
[ -x "$kftune" ] || { echo "kftune is neither here nor in build/: build it first" >&2; exit 3; }
export KFTUNE_DATA=${KFTUNE_DATA:-$PWD}

begin=$SECONDS
timeout "${SCALING_LIMIT:-280}" "$kftune" bench --suite scaling --devices "$devices" "$@" --json >"$folder/scaling.json" 2>"$folder/scaling.log"
status=$?
echo "suite scaling: status $status, $((SECONDS - begin)) s" >>"$folder/scaling.log"
# One line a figure, without a JSON tool: the keys of a figure follow each other, one a line.
awk '
    function is(key) { return index($0, "\t\t\t\"" key "\":\t") == 1 }
    { value = $0; sub(/^[^:]*:\t/, "", value); gsub(/^"|"?,?$/, "", value) }
    function short(number) { return number == "null" || number == "" ? "-" : sprintf("%.4g", number) }
    is("name") { name = value; unit = note = ""; must = aim = met = share = "null" }
    is("value") { figure = value }
    is("unit") { unit = value }
    is("share") { share = value }
    is("must") { must = value }
    is("aim") { aim = value }
    is("met") { met = value == "true" ? "met" : value == "false" ? "missed" : "" }
    is("note") { note = value }
    /^\t\t}/ {
        printf "%-26s %9s %-10s share %-7s must %-5s aim %-5s %-6s %s\n", name, short(figure), unit, short(share), short(must),
            short(aim), met == "null" ? "" : met, note
    }' "$folder/scaling.json" | tee "$folder/scaling.txt"
tail -n 3 "$folder/scaling.log"
exit $status
