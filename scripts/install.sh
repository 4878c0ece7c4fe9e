#!/bin/sh
# Copies what was built to where it belongs; `make install` and the packages call it.
# usage: BUILD=build DESTDIR= PREFIX=/usr/local LIBDIR=/usr/local/lib ZSH_FUNCTIONS=… VERSION=… scripts/install.sh DATA...
set -eu
root=$DESTDIR$PREFIX
kftune=$BUILD/kftune

install -D -m 755 "${PROGRAM:-$kftune}" "$root/bin/kftune"
mkdir -p "$root/share/kftune" "$root/share/doc/kftune"
cp --parents -t "$root/share/kftune" "$@"
install -D -m 755 scripts/selftest.sh "$root/share/kftune/scripts/selftest.sh"

mkdir -p "$root/share/man/man1"
sh scripts/manpage.sh "$kftune" >"$root/share/man/man1/kftune.1"
for command in $(sh scripts/manpage.sh "$kftune" --list); do
    sh scripts/manpage.sh "$kftune" "$command" >"$root/share/man/man1/kftune-$command.1"
done
chmod 644 "$root"/share/man/man1/kftune*.1

mkdir -p "$root/share/bash-completion/completions" "$DESTDIR$ZSH_FUNCTIONS" "$root/share/fish/vendor_completions.d"
"$kftune" completion bash >"$root/share/bash-completion/completions/kftune"
"$kftune" completion zsh >"$DESTDIR$ZSH_FUNCTIONS/_kftune"
"$kftune" completion fish >"$root/share/fish/vendor_completions.d/kftune.fish"

cp --parents -t "$root/share/doc/kftune" README.md LICENSE NOTICE CHANGELOG.md CITATION.cff SECURITY.md docs/*.md docs/images/*
find "$root/share/kftune" "$root/share/doc/kftune" -type f ! -name '*.sh' -exec chmod 644 {} +
find "$root/share" -type d -exec chmod 755 {} +
echo "installed below $root"
