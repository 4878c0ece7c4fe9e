#!/bin/sh
# Prints the man page: docs/man/kftune.1.in with each command's own --help filled in, so that the page says what the
# program says. usage: scripts/manpage.sh KFTUNE
set -eu
kftune=${1:?usage: scripts/manpage.sh KFTUNE}
page=$(dirname "$0")/../docs/man/kftune.1.in

sed '/^@COMMANDS@$/,$d' "$page"
"$kftune" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p' | while read -r command; do
    echo ".Ss $command"
    echo ".Bd -literal"
    # mdoc reads a backslash, and a leading dot or apostrophe, as its own.
    "$kftune" "$command" --help | sed -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/^\([.']\)/\\\\\&\1/"
    echo ".Ed"
done
sed '1,/^@COMMANDS@$/d' "$page"
