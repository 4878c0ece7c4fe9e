# From what `kftune tune --json --counters` prints of the incompressible system, without a JSON tool: bytes of device memory of a step
# outside of its pressure solves, by kernel and in all, over the least (docs/incompressible.md). -v cells=COUNT
BEGIN {
    FS = "[ \t\":,{]+"
    count = split("predict correct divergence project predict_second correct_second project_second", names, " ")
    least = 160 + 6 * 4
}
$2 == "counters" { inside = 1 }
/{$/ { kernel = $2 }
inside && $2 == "dram_bytes" { bytes[kernel] = $3 }
inside && $2 == "traffic_over_least" { over[kernel] = $3 }
END {
    for (i = 1; i <= count; i++) {
        name = names[i]
        if (!(name in bytes)) { print name ": not counted"; exit 1 }
        launches = name == "divergence" ? 2 : 1
        sum += launches * bytes[name]
        printf "%-16s %6.1f bytes a cell, %4.2f of what its fields are%s\n", name, bytes[name] / cells, over[name], (launches > 1 ? ", twice" : "")
    }
    printf "%-16s %6.1f bytes a cell, %4.2f times the least, %d\n", "a step", sum / cells, sum / cells / least, least
}
