# gnuplot -c convergence.gp DATA PICTURE FORMAT TITLE SUBTITLE UNIT PRESETS. The table: plots/table_convergence.c.
data = ARG1; picture = ARG2; format = ARG3; title = ARG4; subtitle = ARG5; unit = ARG6; presets = int(ARG7)
folder = ARG0[1:strlen(ARG0)-strlen("convergence.gp")]
load folder."style.gp"
set xlabel "evaluations"
set ylabel "time of a step, ".shown(unit)
set key outside right top reverse Left samplen 2
stats data index 0 using 1:2 name "ALL" nooutput
set xrange [0:ALL_max_x+1]
if (ALL_max_x < 12) { set xtics 1 }
# Logarithmic only where a linear scale would flatten the best ones.
wide = ALL_max_y > 15*ALL_min_y
if (wide) { set logscale y; set yrange [ALL_min_y*0.8:ALL_max_y*1.2] } else { set yrange [0:ALL_max_y*1.08] }
plot data index 0 using 1:2 with points pointtype 7 pointsize 0.8*dot linecolor rgb 0x999999 title "each result", \
     data index 1 using 1:2 with steps linewidth 3 linecolor rgb colour[1] title "best so far", \
     for [p=1:presets] data index p+1 skip 1 using 1:2 with lines dashtype p+1 linewidth 2 linecolor rgb colour[(p==1) ? 6 : (p==2) ? 2 : 3] notitle, \
     for [p=1:presets] data index p+1 using (NaN):(NaN) with lines dashtype p+1 linewidth 2 linecolor rgb colour[(p==1) ? 6 : (p==2) ? 2 : 3] title columnheader(1)
