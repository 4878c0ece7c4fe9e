#!/bin/bash
# Plants the faults of tests/mutants/list.txt one by one in a copy of the tree and says which of them no test notices.
# usage: scripts/mutants.sh BUILD [ID...]; BUILD holds the built program and tests, the copy is made in BUILD/mutants.
# KFTUNE_TEST_LIMIT: seconds a test program may take (default 300). A fault whose tests exceed it is counted separately: it may hang them, or the machine is busy.
# KFTUNE_MUTANT_PROGRAMS: a folder of test programs; then nothing is built, and only faults in data (kernels) are planted.
# Status 0 when at least 95 % are caught, those that took too long not among them.
set -u
root=$(realpath "$(dirname "$0")/..")
build=$(realpath "${1:?usage: scripts/mutants.sh BUILD [ID...]}")
shift
copy=$build/mutants
limit=${KFTUNE_TEST_LIMIT:-300}
programs=${KFTUNE_MUTANT_PROGRAMS:+$(realpath "$KFTUNE_MUTANT_PROGRAMS")}
ids=" $* "

rm -rf "$copy"
mkdir -p "$copy/scratch" "$copy/tmp" "$copy/home"
cd "$root" || exit 3
tar c --exclude=./build --exclude=./.git --exclude=./.gpu --exclude=./bundle . | tar x -C "$copy"
if [ -z "$programs" ]; then
    mkdir "$copy/build"
    tar c -C "$build" --exclude=./mutants --exclude=./sanitize --exclude=./threads --exclude=./fuzzing --exclude=./bundle --exclude=./test-home . |
        tar x -C "$copy/build" # with their times: nothing is built again
fi
cd "$copy" || exit 3
export KFTUNE_DATA=$copy KFTUNE=$copy/build/kftune XDG_CACHE_HOME=$copy/home XDG_DATA_HOME=$copy/home TMPDIR=$copy/tmp
export KFTUNE_SHARED=${KFTUNE_SHARED:-$root/../shared}

passes() { # PROGRAM: a test program's name or a script
    local program=${programs:-build/tests}/$1
    [[ $1 != *.sh ]] || program=$1
    rm -rf scratch && mkdir scratch
    KFTUNE_SCRATCH=$copy/scratch timeout -k 10 "$limit" "$program" </dev/null >log 2>&1
}
builds() { # PROGRAM...
    local program goals=(build/kftune)
    [ -z "$programs" ] || return 0
    for program in "$@"; do [[ $program == *.sh ]] || goals+=("build/tests/$program"); done
    make -s MAKEFLAGS= BUILD=build "${goals[@]}" >build.log 2>&1
}

caught=0 planted=0
survivors=() slow=() broken=()
declare -A sound=() # programs that pass without a fault
plant() { # ID FILE FROM TO PROGRAM...
    local id=$1 file=$2 from=$3 to=$4 program text rest
    shift 4
    [[ $ids == "  " || $ids == *" $id "* ]] || return 0
    [[ -z $programs || $file == kernels/* ]] || return 0
    text=$(<"$file")
    rest=${text#*"$from"}
    if [ "$rest" = "$text" ] || [[ $rest == *"$from"* ]]; then
        broken+=("$id: $file does not hold its text once")
        return 0
    fi
    for program in "$@"; do
        [ -z "${sound[$program]:-}" ] || continue
        if ! builds "$program" || ! passes "$program"; then
            broken+=("$id: $program fails without a fault")
            return 0
        fi
        sound[$program]=1
    done
    printf '%s\n' "${text%%"$from"*}$to$rest" >"$file"
    if ! builds "$@"; then
        broken+=("$id: does not compile")
    else
        planted=$((planted + 1))
        by="" late=""
        for program in "$@"; do
            passes "$program"
            case $? in
            0) ;;
            124 | 137) late=$program ;; # timeout's
            *) by=$program && break ;;
            esac
        done
        if [ -n "$by" ]; then
            caught=$((caught + 1))
            echo "$id: caught by $by"
        elif [ -n "$late" ]; then
            slow+=("$id: $late took longer than $limit s")
            echo "$id: TIMED OUT $late"
        else
            survivors+=("$id $file: $to")
            echo "$id: SURVIVED $*"
        fi
    fi
    printf '%s\n' "$text" >"$file" # now: what was built of the fault is older
}

while read -r id file rest <&3; do
    [[ -n $id && $id != \#* ]] || continue
    IFS= read -r from <&3
    IFS= read -r to <&3
    # shellcheck disable=SC2086 # the names of programs
    plant "$id" "$file" "${from#- }" "${to#+ }" $rest
done 3<"$root/tests/mutants/list.txt"

for line in ${broken[@]+"${broken[@]}"}; do echo "BROKEN $line"; done
for line in ${survivors[@]+"${survivors[@]}"}; do echo "SURVIVED $line"; done
for line in ${slow[@]+"${slow[@]}"}; do echo "TIMED OUT $line"; done
echo "$caught of $planted faults caught, ${#slow[@]} timed out, ${#survivors[@]} survived"
[ ${#broken[@]} -eq 0 ] && [ "$planted" -gt 0 ] && [ $((100 * caught)) -ge $((95 * planted)) ]
