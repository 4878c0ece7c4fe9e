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

# The library, its header and its pkg-config file.
install -D -m 644 "${SHARED:-$BUILD/libkftune.so.$VERSION}" "$DESTDIR$LIBDIR/libkftune.so.$VERSION"
ln -sf "libkftune.so.$VERSION" "$DESTDIR$LIBDIR/$SONAME"
ln -sf "$SONAME" "$DESTDIR$LIBDIR/libkftune.so"
install -D -m 644 harness/library/kftune.h "$root/include/kftune.h"
mkdir -p "$DESTDIR$LIBDIR/pkgconfig"
# From where the file lies, so that a folder can be moved: lib/pkgconfig, or lib/MACHINE/pkgconfig.
case ${LIBDIR#"$PREFIX/lib"} in '') up=../.. ;; *) up=../../.. ;; esac
cat >"$DESTDIR$LIBDIR/pkgconfig/kftune.pc" <<TEXT
prefix=\${pcfiledir}/$up
libdir=\${pcfiledir}/..
includedir=\${prefix}/include

Name: kftune
Description: tunes fluid simulations, kernels and a program's own functions
Version: $VERSION
Libs: -L\${libdir} -lkftune
Cflags: -I\${includedir}
TEXT
chmod 644 "$DESTDIR$LIBDIR/pkgconfig/kftune.pc"

# The library for Python, with Kernel Tuner's names.
install -D -m 644 harness/library/kftune.py "$root/lib/python3/dist-packages/kftune.py"

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

cp --parents -t "$root/share/doc/kftune" README.md LICENSE NOTICE CHANGELOG.md CITATION.cff SECURITY.md docs/*.md docs/images/* docs/schemas/* ci/*
mkdir -p "$root/share/doc/kftune/examples"
cp harness/library/examples/* "$root/share/doc/kftune/examples"
find "$root/share/kftune" "$root/share/doc/kftune" -type f ! -name '*.sh' -exec chmod 644 {} +
find "$root/share" -type d -exec chmod 755 {} +
echo "installed below $root"
