#!/bin/bash
# The whole time step against the memory's limit, on a GPU: `kftune bench --suite step`. From a bundle or a built source
# tree; builds nothing.
# usage: scripts/gpu/step.sh FOLDER [DEVICE] [OPTION...]; writes h200-step.json (named after the device), step.txt and
# step.log into FOLDER and prints the table. About two minutes on an H200; with DEVICE cpu a small grid, to see that it
# works. OPTIONs go to the suite: --figure NAME measures only that figure and what it needs.
set -u
folder=${1:?usage: scripts/gpu/step.sh FOLDER [DEVICE] [OPTION...]}
device=${2:-cuda:0}
shift $(($# < 2 ? $# : 2))
mkdir -p "$folder" || exit 3
folder=$(realpath "$folder")
cd "$(dirname "$0")/../.." || exit 3
for kftune in ${KFTUNE:-} ./kftune build/kftune; do [ -x "$kftune" ] && break; done
[ -x "$kftune" ] || { echo "kftune is neither here nor in build/: build it first" >&2; exit 3; }
export KFTUNE_DATA=${KFTUNE_DATA:-$PWD}
case "$device $*" in
cuda* | *--grid*) grid=() ;;
*) grid=(--grid 64x48x48) ;;
esac

begin=$SECONDS
timeout ${STEP_LIMIT:-280} "$kftune" bench --suite step --device "$device" "${grid[@]}" "$@" --json >"$folder/step.json" 2>"$folder/step.log"
status=$?
echo "suite step: status $status, $((SECONDS - begin)) s" >>"$folder/step.log"
cat "$folder/step.log"
# One line a figure, without a JSON tool: the keys of a figure follow each other, one a line; those of nested objects
# are indented deeper.
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
    }' "$folder/step.json" | tee "$folder/step.txt"
exit $status
