#!/bin/bash
# Makes a Debian package of what `make` built, for this release of Debian, and asks lintian. usage: VERSION=… scripts/deb.sh BUILD
set -euo pipefail
build=${1:?usage: scripts/deb.sh BUILD}
root=$build/deb/root
architecture=$(dpkg --print-architecture)
package=$build/kftune_${VERSION}_$architecture.deb
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(bash scripts/release-date.sh)}
export SOURCE_DATE_EPOCH
# A maintainer may give a name and address in the variables of Debian's tools.
maintainer="${DEBFULLNAME:-the kftune maintainers} <${DEBEMAIL:-kftune@example.org}>"
rm -rf "$build/deb" "$build"/kftune_*.deb
mkdir -p "$root/DEBIAN" "$build/deb/debian"

libraries=/usr/lib/$(gcc -print-multiarch)
make -s install BUILD="$build" DESTDIR="$(realpath "$root")" PREFIX=/usr LIBDIR="$libraries" ZSH_FUNCTIONS=/usr/share/zsh/vendor-completions >&2
strip --remove-section=.comment --remove-section=.note "$root/usr/bin/kftune"
strip --strip-unneeded --remove-section=.comment --remove-section=.note "$root$libraries/libkftune.so.$VERSION"
# Debian keeps the licence's text in one place, and requires its own format for changes.
doc=$root/usr/share/doc/kftune
rm "$doc/LICENSE"
cat >"$doc/copyright" <<TEXT
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: kftune

Files: *
Copyright: 2026 the kftune maintainers
License: Apache-2.0
 On Debian systems the text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
TEXT
date=$(date -R -u -d "@$SOURCE_DATE_EPOCH")
printf 'kftune (%s) unstable; urgency=medium\n\n  * What changed is in CHANGELOG.md.\n\n -- %s  %s\n' "$VERSION" "$maintainer" "$date" |
    gzip -9n >"$doc/changelog.gz"
gzip -9n "$root"/usr/share/man/man1/*.1
find "$root/usr" -type d -exec chmod 755 {} +

# The names of the libraries' packages, from dpkg.
printf 'Source: kftune\n\nPackage: kftune\nArchitecture: any\n' >"$build/deb/debian/control"
depends=$(cd "$build/deb" && dpkg-shlibdeps -O root/usr/bin/kftune "root$libraries/libkftune.so.$VERSION" 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
# Programs that are built with the library need this package.
soname=$(objdump -p "$root$libraries/libkftune.so.$VERSION" | sed -n 's/^ *SONAME *libkftune\.so\.//p')
printf 'libkftune %s kftune (>= %s)\n' "$soname" "$VERSION" >"$root/DEBIAN/shlibs"
printf 'activate-noawait ldconfig\n' >"$root/DEBIAN/triggers"
cat >"$root/DEBIAN/control" <<TEXT
Package: kftune
Version: $VERSION
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -ks "$root/usr" | cut -f 1)
Depends: $depends, gcc, libc6-dev
Recommends: gnuplot-nox | gnuplot, fonts-dejavu-core
Suggests: valgrind, libpapi7.0
Section: science
Priority: optional
Description: autotuner and benchmark of GPU fluid simulations
 kftune takes a mesh, puts it into a wind tunnel, and finds the fastest correct
 way to simulate the flow on this machine: it builds, checks and times many
 variants of the whole time step, remembers every measurement, and hands the
 best one to the run.
 .
 It runs on NVIDIA GPUs and on machines without one, where it compiles its
 kernels with gcc. It also tells regressions of any program from noise, night
 by night.
TEXT
(cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum >DEBIAN/md5sums)
find "$root" -newermt "@$SOURCE_DATE_EPOCH" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group --build "$root" "$package" >&2
if command -v lintian >/dev/null; then lintian --fail-on error --suppress-tags initial-upload-closes-no-bugs "$package" >&2; fi
echo "$package: apt install ./$(basename "$package")"
