#!/bin/bash
# Makes a tarball that runs in the folder where it is unpacked: the installation together with its shared libraries.
# usage: VERSION=… scripts/tarball.sh BUILD
set -euo pipefail
build=${1:?usage: scripts/tarball.sh BUILD}
name=kftune-$VERSION-$(uname -m)-linux
top=$build/tarball/$name
rm -rf "$build/tarball"
mkdir -p "$top/lib"
strip -o "$build/tarball/kftune" "$build/relocatable/kftune"
cp "$build/relocatable/libkftune.so.$VERSION" "$build/tarball/"
make -s install BUILD="$build" DESTDIR="$(realpath "$top")" PREFIX= PROGRAM="$(realpath "$build/tarball/kftune")" SHARED="$build/tarball/libkftune.so.$VERSION" >&2
bash scripts/libraries.sh "$top/lib" "$top/bin/kftune"
strip --strip-unneeded "$top/lib/libkftune.so.$VERSION"
# The same content gives the same file.
tar -C "$build/tarball" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@${SOURCE_DATE_EPOCH:-$(bash scripts/release-date.sh)}" \
    -czf "$build/$name.tar.gz" "$name"
echo "$build/$name.tar.gz: $(du -h "$build/$name.tar.gz" | cut -f 1)"
