# Sourced by scripts whose parts share a time limit: finds the program as program.sh does, makes the folder $work, which is removed at
# the end, and runs everything without a store. left prints the seconds of $budget that remain for the next part, minus eight for its end.
. "$(dirname "${BASH_SOURCE[0]}")/program.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_DATA_HOME=$work # no store: the default config
left() { echo $((budget > SECONDS + 10 ? budget - SECONDS - 8 : 2)); }
