#!/bin/sh
# Finds the compiler, the libraries and the CUDA headers; prints make variables, and diagnostics on stderr.
# usage: CC=gcc scripts/configure.sh
set -eu

required="libcjson sqlite3 libpng freetype2 assimp hdf5"
cure="'make packages' installs it on Debian and Ubuntu"

if ! command -v "${CC:-gcc}" >/dev/null 2>&1; then
    echo "kftune: the compiler '${CC:-gcc}' is not there; $cure" >&2
    exit 3
fi
if ! command -v pkg-config >/dev/null 2>&1; then
    echo "kftune: pkg-config is not there; $cure" >&2
    exit 3
fi
for library in $required; do
    if ! pkg-config --exists "$library"; then
        echo "kftune: the library '$library' and its headers are not there (pkg-config does not know it); $cure" >&2
        exit 3
    fi
done
# As system headers, so that their warnings are not reported.
echo "LIBRARY_CFLAGS := $(pkg-config --cflags $required | sed 's/-I *\//-isystem \//g')"
echo "LIBRARY_LIBS := $(pkg-config --libs $required)"
# Debian's HDF5 also reads from the network: its shared library brings curl, TLS and Kerberos, whose loading takes half of
# a program's start. Of an archive only what is used comes along. It cannot be part of a shared library.
hdf5="-l:libhdf5.a -lsz -lz"
# shellcheck disable=SC2086
echo 'int main(void) { return 0; }' |
    "${CC:-gcc}" -x c - -o /dev/null $(pkg-config --libs-only-L hdf5) $hdf5 2>/dev/null || hdf5=-lhdf5
echo "STATIC_HDF5 := $hdf5"

# The CUDA toolkit is optional, and only its headers are used: the libraries are loaded at run time.
if [ "${CUDA:-}" = no ]; then
    echo "CUDA_NOTE := CUDA: left out (CUDA=no); this build has the cpu backend only"
    exit 0
fi
for folder in "${CUDA_HOME:-}" /usr/local/cuda /usr; do
    include=$folder/include
    [ -n "$folder" ] && [ -r "$include/cuda.h" ] && [ -r "$include/nvrtc.h" ] || continue
    flags="-DKF_HAVE_CUDA=1"
    [ "$include" = /usr/include ] || flags="$flags -isystem $include"
    for cupti in "$include" "$folder/extras/CUPTI/include"; do
        [ -r "$cupti/cupti.h" ] || continue
        flags="$flags -DKF_HAVE_CUPTI=1"
        [ "$cupti" = "$include" ] || flags="$flags -isystem $cupti"
        break
    done
    echo "CUDA_CFLAGS := $flags"
    echo "CUDA_NOTE := CUDA: headers in $include; this build has the cpu and cuda backends"
    exit 0
done
echo "CUDA_NOTE := CUDA: no cuda.h and nvrtc.h in CUDA_HOME or /usr/local/cuda; this build has the cpu backend only"
