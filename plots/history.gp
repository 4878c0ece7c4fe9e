# gnuplot -c history.gp DATA PICTURE FORMAT TITLE SUBTITLE UNIT POINTS NIGHTS MORE. MORE: which verdicts occur, whether it is a
# program of the user's, whether a night is pinned, and on how many instructions are known. The table: plots/history.c.
data = ARG1; picture = ARG2; format = ARG3; title = ARG4; subtitle = ARG5; unit = ARG6; points = int(ARG7); nights = int(ARG8); verdicts = word(ARG9, 1)
# A block of nothing does not count: without change points the instructions are the block before.
instructions = points > 0 ? 4 : 3
command = int(word(ARG9, 2)); pinned = int(word(ARG9, 3)); counted = int(word(ARG9, 4))
scale = 1
folder = ARG0[1:strlen(ARG0)-strlen("history.gp")]
load folder."style.gp"
set ylabel (command ? "time, " : "time of a step, ").shown(unit)
set key below center horizontal Left reverse samplen 2
if (counted > 0) { stats data index instructions using 2 name "COUNTS" nooutput }
set xrange [0.5:nights+0.5]
stats data index 0 using 2 name "ALL" nooutput
# From zero, so that 2 % look like 2 %.
top = 1.25*ALL_max
set yrange [0:top]
# The second measure has the other axis, from zero too; an axis of nothing must not be scaled.
set y2range [0:1]
if (counted > 0) {
    scale = COUNTS_max >= 1e9 ? 1e9 : 1e6
    set border 11
    set ytics nomirror
    set y2tics nomirror
    set y2label "instructions, ".(scale == 1e9 ? "thousand millions" : "millions")
    set y2range [0:1.25*COUNTS_max/scale]
}
# Not every night gets its day.
every_night = (nights + 11) / 12
set xtics ("" 0) rotate by -35 font ",10"
set bmargin 9
# Verdicts in the order of kf_verdict_names; the text verdicts has a 1 for each that occurs.
array name[7] = ["SAME", "FAST", "SLOW", "AMBIGUOUS", "NODATA", "DRIFT", "WRONG"]
array paint[7] = [0x0072B2, 0x009E73, 0xD55E00, 0xE69F00, 0x999999, 0xCC79A7, 0x000000]
array shape[7] = [7, 11, 9, 13, 6, 5, 2]
plot data index 0 using 1:2 with points pointtype 7 pointsize 0.6*dot linecolor rgb 0xbbbbbb title "process", \
     data index 2 using 1:2 with lines linewidth 3 linecolor rgb 0x56B4E9 title "level", \
     data index 1 using 1:2:((int(column(0))%every_night==0) ? strcol(4) : "") with points pointsize 0 notitle, \
     data index 1 using 1:(NaN):xticlabels((int(column(0))%every_night==0) ? strcol(4) : "") notitle, \
     for [v=1:7] data index 1 using 1:((column(3)==v-1) ? column(2) : NaN) with points pointtype shape[v] pointsize 1.1*dot linecolor rgb paint[v] title (verdicts[v:v] eq "1" ? name[v] : ""), \
     (points > 0 ? data : data) index (points > 0 ? 3 : 1) using ((points > 0) ? column(1) : NaN):(0):(0):(top) with vectors nohead dashtype 2 linewidth 2 linecolor rgb 0x666666 title (points > 0 ? "change point" : ""), \
     (points > 0 ? data : data) index (points > 0 ? 3 : 1) using ((points > 0) ? column(1) : NaN):(1.17*ALL_max):((points > 0) ? strcol(2) : "") with labels left offset 0.6,0 font ",11" notitle, \
     data index 1 using 1:((column(5)==1) ? column(2) : NaN) with points pointtype 4 pointsize 2.2*dot linewidth 2 linecolor rgb 0x000000 title (pinned ? "pinned" : ""), \
     for [i=1:(counted > 0)] data index instructions using 1:(column(2)/scale) axes x1y2 with linespoints dashtype 3 pointtype 12 pointsize 1.2*dot linecolor rgb 0x333333 title "instructions"
