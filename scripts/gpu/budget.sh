# Sourced by scripts whose parts share a time: finds the program as program.sh does, makes the folder $work, which goes with the script,
# and lets runs have no store. left prints the seconds that are left of $budget for the next part, eight of them kept for its end.
. "$(dirname "${BASH_SOURCE[0]}")/program.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_DATA_HOME=$work # no store: the default config
left() { echo $((budget > SECONDS + 10 ? budget - SECONDS - 8 : 2)); }
