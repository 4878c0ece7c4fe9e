#!/bin/sh
# Prints a man page that is made from --help, so that both agree.
# usage: scripts/manpage.sh KFTUNE            kftune(1): docs/man/kftune.1.in with every command's help filled in
#        scripts/manpage.sh KFTUNE COMMAND    kftune-COMMAND(1)
#        scripts/manpage.sh KFTUNE --list     the names of the commands
set -eu
kftune=${1:?usage: scripts/manpage.sh KFTUNE [COMMAND|--list]}
page=$(dirname "$0")/../docs/man/kftune.1.in

commands() { "$kftune" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p'; }
# A backslash, and a dot or apostrophe at the beginning of a line, have a meaning in mdoc.
escape() { sed -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/^\([.']\)/\\\\\&\1/"; }
help_of() {
    echo ".Bd -literal"
    "$kftune" "$1" --help | escape
    echo ".Ed"
}

case ${2:-} in
--list) commands ;;
'')
    sed '/^@COMMANDS@$/,$d' "$page"
    commands | while read -r command; do
        echo ".Ss $command"
        help_of "$command"
    done
    sed '1,/^@COMMANDS@$/d' "$page"
    ;;
*)
    summary=$("$kftune" --help | sed -n "/^Commands:/,/^\$/s/^  $2  *//p")
    [ -n "$summary" ] || { echo "manpage.sh: kftune has no command '$2'" >&2; exit 2; }
    sed -n 's/^\.Dd/&/p' "$page"
    echo ".Dt KFTUNE-$(echo "$2" | tr '[:lower:]' '[:upper:]') 1"
    printf '.Os\n.Sh NAME\n.Nm kftune-%s\n.Nd %s\n.Sh SYNOPSIS\n' "$2" "$summary"
    "$kftune" "$2" --help | sed -n 1p | escape | sed 's/^/.Ic /'
    printf '.Sh DESCRIPTION\n'
    help_of "$2"
    printf '.Sh EXIT STATUS\n0 done, 1 a failed gate or a regression, 2 wrong input, 3 the machine could not do it, 130 interrupted.\n'
    printf '.Sh SEE ALSO\n.Xr kftune 1\n'
    ;;
esac
