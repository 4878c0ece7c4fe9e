# gnuplot -c replayed.gp DATA PICTURE FORMAT TITLE SUBTITLE STRATEGIES PANELS. The table: plots/replayed.c.
data = ARG1; picture = ARG2; format = ARG3; title = ARG4; subtitle = ARG5; strategies = int(ARG6); panels = int(ARG7)
folder = ARG0[1:strlen(ARG0)-strlen("replayed.gp")]
height = 420*panels
load folder."style.gp"
set ylabel "regret: time found / optimum - 1, %"
set logscale xy
set yrange [0.01:*]
set ytics add ("0 to 0.01" 0.01)
set key outside right top reverse Left samplen 2
set style fill transparent solid 0.15 noborder
if (panels > 1) { set multiplot layout 2,1 }
do for [panel=1:panels] {
    if (panel == 1) { set xlabel "evaluations" } else { unset title; set xlabel "seconds of compiling and measuring" }
    first = (panel-1)*strategies
    plot for [s=1:strategies] data index first+s-1 skip 1 using 1:3:4 with filledcurves linecolor rgb colour[s] notitle, \
         for [s=1:strategies] data index first+s-1 skip 1 using 1:2 with steps linewidth 2 linecolor rgb colour[s] notitle, \
         for [s=1:strategies] data index first+s-1 using (NaN):(NaN) with lines linewidth 2 linecolor rgb colour[s] title columnheader(1)
}
if (panels > 1) { unset multiplot }
