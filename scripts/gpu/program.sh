# Sourced by the scripts here and in ../cpu: makes the folder $folder and its path absolute, goes to the root of the bundle or the source
# tree, and finds the program, $kftune (KFTUNE where it is set), and its data. Status 3 where there is none.
kftune=${KFTUNE:+$(realpath "$KFTUNE")}
mkdir -p "$folder" || exit 3
folder=$(realpath "$folder")
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 3
for kftune in ${kftune:+"$kftune"} "$PWD/kftune" "$PWD/build/kftune"; do [ -x "$kftune" ] && break; done
[ -x "$kftune" ] || { echo "kftune is neither here nor in build/: build it first, or name it with KFTUNE" >&2; exit 3; }
export KFTUNE_DATA=${KFTUNE_DATA:-$PWD}
