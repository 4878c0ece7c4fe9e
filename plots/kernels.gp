# gnuplot -c kernels.gp DATA PICTURE FORMAT TITLE SUBTITLE UNIT CONFIGS. The table: plots/table_kernels.c.
data = ARG1; picture = ARG2; format = ARG3; title = ARG4; subtitle = ARG5; unit = ARG6; configs = int(ARG7)
folder = ARG0[1:strlen(ARG0)-strlen("kernels.gp")]
longest = 0
lowest = 0
do for [c=1:configs] {
    stats data index c skip 1 using 1:2 name "BARS" nooutput
    if (BARS_max_y > longest) { longest = BARS_max_y }
    if (BARS_max_x > lowest) { lowest = BARS_max_x }
}
height = 150 + int(15*lowest)
load folder."style.gp"
unset grid
set grid xtics linetype 1 linecolor "#dddddd" linewidth 1 back
set xlabel "time in one step, ".unit." (share of the step)"
set key outside top center horizontal Left reverse samplen 1.5
set ytics scale 0
set xrange [0:longest*1.22]
set yrange [lowest+1:-0.5]
set style fill solid 1.0 noborder
# Below the bars of all kernels together, of which every config has one.
set arrow 1 from graph 0, first configs+0.4 to graph 1, first configs+0.4 nohead linecolor "#444444"
hue(c) = configs < 3 ? colour[4 - c] : colour[(c == 1) ? 9 : (c == 2) ? 2 : 1]
plot for [c=1:configs] data index c skip 1 using 2:1:(0):2:($1-0.45):($1+0.45) with boxxyerror linecolor rgb hue(c) notitle, \
     for [c=1:configs] data index c using (NaN):(NaN) with boxes linecolor rgb hue(c) title columnheader(1), \
     for [c=1:configs] data index c skip 1 using 2:1:(sprintf(" %.3g (%.0f %%)", $2, $3)) with labels left font ",11" notitle, \
     data index 0 using (0):1:ytic(2) with points pointsize 0 notitle
