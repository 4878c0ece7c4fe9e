#!/bin/bash
# Copies programs, without their lines of source, into a folder, and their libraries into lib/ beside it.
# usage: scripts/bundle-programs.sh FOLDER PROGRAM...; the programs were built with BUNDLE=yes.
set -euo pipefail
folder=${1:?usage: scripts/bundle-programs.sh FOLDER PROGRAM...}
shift
rm -rf "$folder"
mkdir -p "$folder" "$(dirname "$folder")/lib"
for program in "$@"; do strip -g -o "$folder/$(basename "$program")" "$program"; done
bash "$(dirname "$0")/libraries.sh" "$(dirname "$folder")/lib" "$@"
echo "$folder: $(du -sm "$(dirname "$folder")" | cut -f1) MiB with the libraries"
