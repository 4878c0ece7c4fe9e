#!/bin/bash
# What a stranger brings who reads no manual: files that are something else than their names say, scenes whose keys
# contradict each other. Each is refused with one line that says what, where and what to do, and nothing is written.
# KFTUNE: the program; KFTUNE_SCRATCH: a folder to write into.
root=$(realpath "$(dirname "$0")/../..")
# shellcheck source=tests/e2e/preamble.bash
. "$root/tests/e2e/preamble.bash"
mkdir -p "$scratch/work" && cd "$scratch/work" || exit 3

# refused TEXT ARGUMENT...: with status 2, and one line that holds TEXT.
refused() {
    local text=$1
    shift
    expect 2 "$@"
    says "$text"
    [ "$(wc -l <"$err")" -eq 1 ] || complain "kftune $*: says more than a line"
    [ ! -s "$out" ] || complain "kftune $*: prints a result"
}

# What `scene` shows, `run` runs: a scene that its system cannot compute is refused by both, with the same words.
flow='"domain": {"cells": [32, 16, 16], "size": [0.8, 0.4, 0.4]}, "flow": {"speed": 1, "reynolds": 100}, "incompressible": {}'
ball='"shape": "ball", "radius": 0.03, "position": [0.2, 0.2, 0.2]'
other='"shape": "ball", "radius": 0.03, "position": [0.4, 0.2, 0.2]'
echo "{$flow, \"solids\": [{\"name\": \"a\", $ball}, {\"name\": \"b\", $other}]}" >two.json
echo "{$flow, \"refine\": \"body\", \"solid\": {$ball}}" >nested.json
echo "{$flow, \"solid\": {$ball, \"boundary\": \"links\"}}" >links.json
echo "{$flow, \"solid\": {$ball, \"motion\": {\"free\": true, \"density\": 2}}}" >free.json
for scene in two nested links free; do
    refused "$scene.json: incompressible" scene $scene.json
    cp "$err" said
    refused "" run --scene $scene.json --steps 1 --device cpu:1
    cmp -s "$err" said || complain "$scene.json: scene and run refuse it with other words"
done

# Files that are no meshes, whatever their names say.
kind() { # TEXT CONTENT
    for name in car.obj car.stl car.ply; do
        printf "$2" >$name
        refused "$name: $1" scene $name
    done
}
kind 'is a pointer of Git LFS' 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n'
kind 'is a web page (HTML)' '\n<!DOCTYPE html><html><body>404</body></html>'
kind 'is a zip archive; unpack it' 'PK\003\004 and more'
kind 'is compressed (gzip)' '\037\213\010 and more'
kind 'is text in UTF-16' '\377\376v\000 \0001\000'
kind 'is a STEP file' 'ISO-10303-21;\nHEADER;\n'
rm -f car.*

left=$(ls | grep -vE '^(two|nested|links|free).json$|^said$')
[ -z "$left" ] || complain "refusals left files: $left"
finish
