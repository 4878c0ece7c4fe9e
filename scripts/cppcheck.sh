#!/bin/sh
# cppcheck over kftune's C files; silent when clean. usage: scripts/cppcheck.sh BUILD [FOLDER...]
# Without a FOLDER it checks the program. make lint also names tests/unit, whose files take two fifths of the time.
# Among the tests, where KFTUNE names the program, BUILD is the folder of that.
set -eu
cd "$(dirname "$0")/.."
build=${1:-$(dirname "${KFTUNE:?usage: scripts/cppcheck.sh BUILD [FOLDER...]}")}
[ $# -eq 0 ] || shift
folders=
for folder in base harness solver scene results cost_model plots "$@"; do
    [ -z "$(find "$folder" -name '*.c' 2>/dev/null | head -n 1)" ] || folders="$folders $folder"
done
# Results of unchanged files are kept. They name functions by their lines in headers, which every edit moves. With other
# headers the kept results would refer to wrong functions.
# shellcheck disable=SC2086
headers=$(find $folders tests/unit -name '*.h' -exec sha256sum {} + | sort | sha256sum)
if [ "$headers" != "$(cat "$build/cppcheck/headers" 2>/dev/null)" ]; then
    rm -rf "$build/cppcheck"
    mkdir -p "$build/cppcheck"
    echo "$headers" >"$build/cppcheck/headers"
fi
echo "cppcheck$folders"
# System headers are not checked. cmocka's macros are unknown without its header. glibc's readdir is safe if threads do not
# share a stream, and readdir_r is deprecated.
cppcheck --quiet --std=c11 --language=c --enable=warning,performance,portability --inline-suppr \
    --error-exitcode=1 --cppcheck-build-dir="$build/cppcheck" -j "$(nproc)" -I . -D_GNU_SOURCE -DKF_HAVE_CUDA=1 \
    --library=posix --suppress=missingIncludeSystem --suppress=unknownMacro --suppress=readdirCalled \
    --template='{file}:{line}: {severity}: {message} [{id}]' $folders
