# One line a figure of what `kftune bench --json` prints, without a JSON tool: the keys of a figure follow each other, one a
# line; those of nested objects are indented deeper.
function is(key) { return index($0, "\t\t\t\"" key "\":\t") == 1 }
function short(number) { return number == "null" || number == "" ? "-" : sprintf("%.4g", number) }
{ value = $0; sub(/^[^:]*:\t/, "", value); gsub(/^"|"?,?$/, "", value) }
is("name") { name = value; unit = note = published = ""; must = aim = met = share = "null" }
is("value") { figure = value }
is("unit") { unit = value }
is("share") { share = value }
is("published") { published = "published " short(value) }
is("must") { must = value }
is("aim") { aim = value }
is("met") { met = value == "true" ? "met" : value == "false" ? "missed" : "" }
is("note") { note = value }
/^\t\t}/ {
    printf "%-32s %9s %-10s share %-7s must %-5s aim %-5s %-6s %s %s\n", name, short(figure), unit, short(share), short(must),
        short(aim), met == "null" ? "" : met, published, note
}
