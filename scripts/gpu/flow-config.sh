# Sourced by scripts that run a flow instead of a search: finds the program, and tunes $scene on $grid to $work/config.json.
# Takes folder, device, scene, grid and budget (seconds); leaves folder (absolute), kftune, work (removed at the end), the file
# log.txt in folder, and the functions failed and left.
. "$(dirname "$0")/program.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$folder/log.txt"
failed() { echo "$1 failed:" >&2; tail -n 3 "$folder/log.txt" >&2; exit 1; }
left() { echo $((budget > SECONDS + 8 ? budget - SECONDS - 5 : 3)); }

# Only the presets are measured, because the pictures show the flow and not the search.
timeout -s INT -k 5 "$(left)" "$kftune" tune --scene "$scene" --device "$device" --grid "$grid" --budget 1evals --seed 1 \
    --effort 0.2 --rounds 0 --fix plan=fused --fix storage=f32 --store "$work/kftune.db" --out "$work/config.json" \
    >"$work/tune.txt" 2>>"$folder/log.txt"
[ -s "$work/config.json" ] || failed tune
