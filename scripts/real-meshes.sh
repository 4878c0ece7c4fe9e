#!/bin/sh
# Reads the meshes of three Debian packages and compares size and frontal area with another reader and another raster
# (scripts/real-meshes.py). The packages are fetched into a temporary folder and not installed; nothing of them is kept.
# usage: scripts/real-meshes.sh [KFTUNE [NAME...]] >results/measured/real-meshes.md; PACKAGES: a folder that holds them
# unpacked. NAME: of rows of the table that are to be made again; these alone are printed (a quarter of an hour for all).
set -eu
kftune=$(realpath "${1:-build/kftune}")
[ $# -eq 0 ] || shift
script=$(realpath "$(dirname "$0")/real-meshes.py")
KFTUNE_DATA=${KFTUNE_DATA:-$(realpath "$(dirname "$0")/..")}
export KFTUNE_DATA
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
cd "$work"
if [ -z "${PACKAGES:-}" ]; then
    apt-get download assimp-testmodels openfoam-examples gmsh-doc >&2
    for package in *.deb; do dpkg -x "$package" unpacked; done
    PACKAGES=$work/unpacked
fi
python3 "$script" "$kftune" "$PACKAGES" "$@"
