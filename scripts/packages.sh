#!/bin/sh
# Installs the Debian packages that are missing, and only those. usage: scripts/packages.sh GROUP...
# Groups: build (compiler and libraries), check (tests and static checks), demo (nothing more than build and
# plots), lint (second compiler, formatter), package (what makes and judges a Debian package).
set -eu

packages_of() {
    case $1 in
    build) echo "gcc libc6-dev make pkg-config libassimp-dev libcjson-dev libsqlite3-dev libhdf5-dev libpng-dev libfreetype-dev fonts-dejavu-core" ;;
    check) echo "libcmocka-dev cppcheck gnuplot-nox jq python3-jsonschema valgrind openmpi-bin libopenmpi-dev parallel libfftw3-single3 libfftw3-double3" ;;
    package) echo "dpkg-dev lintian" ;;
    demo) echo "gnuplot-nox" ;;
    lint) echo "clang clang-format clang-tidy cppcheck" ;;
    *)
        echo "scripts/packages.sh: unknown group '$1'; there are build, check, demo, lint and package" >&2
        exit 2
        ;;
    esac
}

if ! command -v dpkg-query >/dev/null 2>&1; then
    # Not Debian: scripts/configure.sh says what it cannot find.
    exit 0
fi

missing=
for group in "$@"; do
    for package in $(packages_of "$group"); do
        # Another gnuplot (gnuplot-qt, gnuplot-x11, self-built) is enough.
        if [ "$package" = gnuplot-nox ] && command -v gnuplot >/dev/null 2>&1; then continue; fi
        case " $missing " in *" $package "*) continue ;; esac
        state=$(dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | head -n 1 || true)
        [ "$state" = installed ] || missing="$missing $package"
    done
done
missing=${missing# }
[ -n "$missing" ] || exit 0

# A machine that has just started updates its package lists, so this waits for its lock.
wait_for_lock="-o DPkg::Lock::Timeout=600"
install="apt-get $wait_for_lock install --yes --no-install-recommends $missing"
if [ "$(id -u)" -eq 0 ]; then
    as_root=
elif command -v sudo >/dev/null 2>&1 && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
    as_root=sudo
else
    echo "These Debian packages are missing: $missing" >&2
    echo "You are not root and sudo cannot be used here. As root, run:" >&2
    echo "    apt-get update && $install" >&2
    exit 3
fi

echo "Installing missing packages: $missing" >&2
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get $wait_for_lock update -q >&2 ||
    echo "apt-get update had errors; going on with what it has" >&2
if ! $as_root env DEBIAN_FRONTEND=noninteractive $install -q >&2; then
    echo "The packages could not be installed. Check the network and apt's sources, then run: $install" >&2
    exit 3
fi
