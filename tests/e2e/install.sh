#!/bin/bash
# Tests that the results of `make install`, `make tarball` and `make deb` are complete, relocatable, of one version, and
# accepted by lintian. KFTUNE: the program; KFTUNE_SCRATCH: a folder to write into. Without Debian's tools their part is
# skipped with a message.
# shellcheck source=tests/e2e/preamble.bash
. "$(dirname "$0")/preamble.bash"
cd "$(dirname "$0")/../.." || exit 3
build=$(dirname "$kftune") # where one test at a time calls make

# --- one version
version=$(sed -n 's/^#define KF_VERSION "\(.*\)"/\1/p' base/util/program.h)
[ "$("$kftune" --version)" = "kftune $version" ] || complain "--version is not $version"
[ "$(sed -n 's/^version: //p' CITATION.cff)" = "$version" ] || complain "CITATION.cff is not of version $version"
grep -q "^## $version" CHANGELOG.md || complain "CHANGELOG.md has no part '## $version'"

# --- the tarball, unpacked elsewhere: an installation with its libraries
if flock "$build" make tarball BUILD="$build" >"$scratch/log" 2>&1; then
    tar -xzf "$build/kftune-$version-$(uname -m)-linux.tar.gz" -C "$scratch" || complain "the tarball cannot be unpacked"
    top=$scratch/elsewhere
    mv "$scratch/kftune-$version-$(uname -m)-linux" "$top"
    (unset KFTUNE_DATA && sh "$top/share/kftune/scripts/selftest.sh" --quick "$top/bin/kftune") || complain "the self-test failed"
    outside=$(env -u LD_LIBRARY_PATH ldd "$top/bin/kftune" | awk '$2 == "=>" { print $3 }' | grep -v -e "^$top" -e '/lib\(c\|m\|dl\|pthread\|rt\)\.so' || true)
    [ -z "$outside" ] || complain "the tarball's program takes $outside from the machine"
    for command in $("$kftune" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p'); do
        page=$top/share/man/man1/kftune-$command.1
        [ -s "$page" ] || complain "kftune $command has no man page"
    done
    if command -v man >/dev/null; then
        LC_ALL=C.UTF-8 man --warnings -l "$top"/share/man/man1/*.1 >"$scratch/pages" 2>"$scratch/warnings"
        [ ! -s "$scratch/warnings" ] || complain "man pages: $(head -n 1 "$scratch/warnings")"
        grep -q 'kftune tune --scene' "$scratch/pages" || complain "the man pages show no usage"
    fi
    for file in bash-completion/completions/kftune zsh/site-functions/_kftune fish/vendor_completions.d/kftune.fish \
        doc/kftune/docs/hour.md doc/kftune/LICENSE doc/kftune/NOTICE; do
        [ -s "$top/share/$file" ] || complain "share/$file is not installed"
    done
else
    complain "make tarball failed: $(tail -n 1 "$scratch/log")"
fi

# --- the Debian package
if command -v dpkg-shlibdeps >/dev/null && command -v lintian >/dev/null; then
    if flock "$build" make deb BUILD="$build" >"$scratch/log" 2>&1; then
        package=$build/kftune_${version}_$(dpkg --print-architecture).deb
        dpkg-deb -f "$package" Depends | grep -q 'libsqlite3-0.*gcc' || complain "the package's dependencies lack a library or gcc"
        dpkg-deb -c "$package" >"$scratch/log"
        grep -q ' ./usr/bin/kftune$' "$scratch/log" || complain "the package has no program"
    else
        complain "make deb failed: $(grep -m 1 '^E:' "$scratch/log" || tail -n 1 "$scratch/log")"
    fi
else
    echo "install.sh: no dpkg-dev or no lintian here: the package is skipped"
fi
finish
