#!/bin/bash
# Copies the shared libraries of programs into a folder, except the C library, which must be that of the machine,
# because its driver is built for it. usage: scripts/libraries.sh FOLDER PROGRAM...
set -euo pipefail
folder=${1:?usage: scripts/libraries.sh FOLDER PROGRAM...}
shift
c_library='^(ld-linux.*|libc|libm|libpthread|libdl|librt|libresolv|libutil|libnsl|libanl|libnss_.*)\.so'
ldd "$@" 2>/dev/null | awk '$2 == "=>" { print $1, $3 }' | sort -u |
    while read -r name path; do
        if [ "$path" = not ]; then
            echo "libraries.sh: the library $name was not found" >&2
            exit 1
        fi
        [[ $name =~ $c_library ]] && continue
        cp -L "$path" "$folder/$name"
        chmod 644 "$folder/$name"
    done
