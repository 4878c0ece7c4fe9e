# gnuplot -c replayed.gp DATA PICTURE FORMAT TITLE SUBTITLE STRATEGIES PANELS. The table: harness/replay/replay_plot.c.
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
# Quartiles hold until the next evaluation: a box from one row to the next, px, pl and ph are those of the row before; a curve begins where x goes back.
px = NaN; pl = NaN; ph = NaN
do for [panel=1:panels] {
    if (panel == 1) { set xlabel "evaluations" } else { unset title; set xlabel "seconds of compiling and measuring" }
    first = (panel-1)*strategies
    plot for [s=1:strategies] data index first+s-1 skip 1 using (x0 = px < $1 ? px : NaN, l0 = pl, h0 = ph, px = $1, pl = $3, ph = $4, x0):(l0):(x0):1:(l0):(h0) with boxxyerror linecolor rgb colour[s] notitle, \
         for [s=1:strategies] data index first+s-1 skip 1 using 1:2 with steps linewidth 2 linecolor rgb colour[s] notitle, \
         for [s=1:strategies] data index first+s-1 using (NaN):(NaN) with lines linewidth 2 linecolor rgb colour[s] title columnheader(1)
}
if (panels > 1) { unset multiplot }
