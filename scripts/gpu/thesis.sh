#!/bin/bash
# The result tables of the SPH thesis (Sandvik 2021, Tables 6.1 to 6.6) beside this machine's results: memory, and steps a second
# of its pool and its avalanche by its own method, Newtonian and Bingham, with smoothing lengths kept while particles are added;
# and its largest sizes by scheme modern. From a bundle or a built source tree; builds nothing.
# usage: scripts/gpu/thesis.sh FOLDER [DEVICE]; at most LIMIT seconds (200): rows that come too late are left out, with a message.
# PARTS names some of rates and memory. FOLDER gets thesis.md, thesis.csv, memory.csv, and what `tune --json` said of each row. With DEVICE cpu 1/64 of the particles, to see that it works.
# ROWS=avalanche: only the rates whose names (SCENE-MODEL-SCHEME-THOUSANDSk) this regular expression finds.
set -u
folder=${1:?usage: scripts/gpu/thesis.sh FOLDER [DEVICE]}
device=${2:-cuda:0}
. "$(dirname "$0")/program.sh"
limit=${LIMIT:-200}
case $device in cuda*) fewer=1 ;; *) fewer=64 ;; esac
failed=0
parts=" ${PARTS:-rates memory} "
echo 'scene,model,particles,published_mb,plan_mb' >"$folder/memory.csv"
echo 'scene,model,scheme,particles,published_rtx3090,paper_steps_per_second,best_steps_per_second' >"$folder/thesis.csv"

# The scene of a row: the pool grows at one spacing, the avalanche has more particles in one smoothing length and one volume.
scene() { # SCENE MODEL SCHEME THOUSANDS
    local text size
    text=$(cat "scene/library/$1_thesis.json")
    case $1 in
    pool)
        size=$(awk -v n="$4" -v fewer=$fewer 'BEGIN { printf "%.4f", 19.2 * (n / 256 / fewer) ^ (1 / 3) }')
        text=$(sed "s/\"low\": [^]]*\], \"high\": [^]]*\]/\"low\": [65.4, 65.4, 2], \"high\": [$(awk -v s="$size" 'BEGIN { print 65.4 + s ", " 65.4 + s ", " 2 + s }')]/" <<<"$text")
        [ "$2" = bingham ] && text=${text/'"material": {'/'"material": {"law": "bingham", "branch": "biviscous", "yield_stress": 150, '}
        ;;
    avalanche)
        # h = 0.2 m = support times spacing, whatever the number
        size=$(awk -v n="$4" -v fewer=$fewer 'BEGIN { printf "%.5f", 0.1 * (256 / n) ^ (1 / 3) }')
        text=$(sed "s/\"spacing\": 0.1, \"support\": 2/\"spacing\": $size, \"support\": $(awk -v s="$size" 'BEGIN { h = 0.2 / s; printf "%.5f", (h > 4 ? 4 : h) }')/" <<<"$text")
        [ $fewer = 1 ] || text=${text/'[[20, 67], [28, 67], [28, 83], [20, 83]]'/'[[20, 74], [22, 74], [22, 75], [20, 75]]'}
        [ "$2" = newtonian ] && text=$(sed 's/"law": "bingham", "branch": "biviscous", //; s/, "yield_stress": 150//' <<<"$text")
        ;;
    esac
    [ "$3" = modern ] && text=$(sed 's/"model": {[^}]*}/"model": {"scheme": "modern"}/' <<<"$text")
    echo "$text"
}

row() { # SCENE MODEL SCHEME THOUSANDS PUBLISHED
    local name=$1-$2-$3-$4k left=$((limit - SECONDS)) particles
    [[ $parts = *' rates '* ]] || return
    [[ $name =~ ${ROWS:-.} ]] || return
    [ $left -gt 5 ] || { echo "$name: left out, the time is up"; failed=1; return; }
    scene "$1" "$2" "$3" "$4" >"$folder/$name.json"
    timeout -s INT "$left" "$kftune" tune --scene "$folder/$name.json" --device "$device" --budget 3evals --rounds 1 \
        --store "$folder/thesis.db" --out "$folder/$name.kftune.json" --json >"$folder/$name.tune.json" 2>"$folder/$name.log" ||
        { echo "$name: $(tail -n 1 "$folder/$name.log")"; failed=1; return; }
    particles=$(sed -n 's/.* \([0-9]*\) particles.*/\1/p' "$folder/$name.log" | head -n 1)
    awk -v row="$1,$2,$3" -v n="${particles:-$(($4 * 1000 / fewer))}" -v published="$5" '
        { gsub(/[",]/, ""); sub(/:/, "") }
        $1 == "time_us" && !time { time = $2 }
        $1 == "gain" { inside = 1 }
        inside && $1 == "paper" && $2 > 0 { paper = $2; inside = 0 }
        END {
            of_paper = ""
            if (paper > 0) of_paper = sprintf("%.2f", 1e6 / (time * paper))
            printf "%s,%d,%s,%s,%.2f\n", row, n, published, of_paper, 1e6 / time
        }' \
        "$folder/$name.tune.json" | tee -a "$folder/thesis.csv"
}

# memory SCENE MODEL THOUSANDS PUBLISHED-MB: what the buffers of the plan `paper` take.
memory() {
    local name=$1-$2-$3k
    [[ $parts = *' memory '* && $((limit - SECONDS)) -gt 5 ]] || return
    scene "$1" "$2" thesis "$3" >"$folder/$name.json"
    cat >"$folder/$name.suite.json" <<SUITE
{"suite": "memory", "description": "memory of the plan paper", "promise": "every config passes the gate", "about": "scene", "seconds": 60,
 "scenes": [{"name": "scene", "scene": "$(realpath "$folder/$name.json")", "system": "sph"}],
 "timings": [{"name": "paper", "scene": "scene", "preset": "paper", "seconds": 0.05, "effort": 0.1}],
 "figures": [{"name": "memory", "kind": "plan_memory", "of": "paper"}]}
SUITE
    timeout -s INT $((limit - SECONDS)) "$kftune" bench --suite "$folder/$name.suite.json" --device "$device" --json >"$folder/$name.bench.json" 2>"$folder/$name.log" ||
        { echo "memory of $name: $(tail -n 1 "$folder/$name.log")"; failed=1; return; }
    awk -v row="$1,$2,$(($3 * 1000 / fewer)),$4" '/"value":/ { sub(/^.*:[ \t]*/, ""); sub(/,.*/, ""); printf "%s,%.0f\n", row, $0 * 1.048576; exit }' \
        "$folder/$name.bench.json" | tee -a "$folder/memory.csv"
}

# Published: RTX 3090.
row pool newtonian thesis 256 646.37
row pool newtonian thesis 4096 12.64
row pool bingham thesis 256 351.17
row pool bingham thesis 4096 7.61
row avalanche newtonian thesis 256 213.52
row avalanche newtonian thesis 2048 4.73
row avalanche bingham thesis 256 108.55
row avalanche bingham thesis 2048 2.33
row pool newtonian modern 4096 12.64
row avalanche bingham modern 2048 2.33
row pool newtonian thesis 512 238.77
row pool newtonian thesis 1024 93.36
row pool newtonian thesis 2048 33.40
row avalanche bingham thesis 512 31.22
row avalanche bingham thesis 1024 8.46
row pool bingham thesis 512 132.45
row pool bingham thesis 1024 51.42
row pool bingham thesis 2048 19.36
row avalanche newtonian thesis 512 64.53
row avalanche newtonian thesis 1024 17.34

# Published: Tables 6.1 and 6.3, with its terrain's 2 and 19 MB.
memory pool newtonian 256 25
memory pool bingham 256 36
memory pool newtonian 4096 392
memory pool bingham 4096 579
memory avalanche newtonian 256 67
memory avalanche bingham 256 78
memory avalanche newtonian 2048 238
memory avalanche bingham 2048 331

{
    echo '| scene | model | particles | memory in the thesis, MB | plan `paper` here, MB |'
    echo '| --- | --- | ---: | ---: | ---: |'
    tail -n +2 "$folder/memory.csv" | sed 's/,/ | /g; s/^/| /; s/$/ |/'
    echo
    echo '| scene | model | scheme | particles | thesis (RTX 3090) | its plan here (`paper`) | best of three here | of ideal scaling |'
    echo '| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |'
    tail -n +2 "$folder/thesis.csv" | sort -t, -k1,1 -k2,2 -k3,3r -k4,4n | awk -F, '
        { key = $1 $2 $3 }
        key != last { first = $4 * $7; last = key }
        { printf "| %s | %s | %s | %d | %s | %s | %s | %.2f |\n", $1, $2, $3, $4, $5, ($6 == "" ? "-" : $6), $7, $4 * $7 / first }'
} | tee "$folder/thesis.md"
exit $failed
