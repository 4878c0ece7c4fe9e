# gnuplot -c scaling.gp DATA PICTURE FORMAT TITLE SUBTITLE PANEL PANEL PANEL. The table: harness/cli/plot_scaling.c: for each panel three
# predicted lines and the measured points.
data = ARG1; picture = ARG2; format = ARG3; title = ARG4; subtitle = ARG5
array name[3] = [ARG6, ARG7, ARG8]
folder = ARG0[1:strlen(ARG0)-strlen("scaling.gp")]
height = 900
load folder."style.gp"
unset title
set logscale x 2
set xrange [0.9:20000]
set xtics ("1" 1, "2" 2, "4" 4, "8" 8, "64" 64, "512" 512, "4096" 4096, "16384" 16384)
set yrange [0:110]
set ytics 20
set ylabel "efficiency, %"
set key bottom left reverse Left samplen 2
set label 1 title."\n".subtitle at screen 0.5, screen 0.985 center noenhanced
set multiplot layout 3,1 margins 0.09,0.97,0.06,0.91 spacing 0.09
do for [panel=1:3] {
    if (panel == 3) { set xlabel "devices" } else { unset xlabel }
    if (panel > 1) { unset key }
    set label 2 name[panel] at graph 0.5, graph 1.06 center noenhanced
    first = 4*(panel-1)
    plot for [e=0:2] data index first+e skip 1 using 1:2 with lines linewidth 2 linecolor rgb colour[e+1] notitle, \
         for [e=0:2] data index first+e using (NaN):(NaN) with lines linewidth 2 linecolor rgb colour[e+1] title columnheader(1), \
         data index first+3 skip 1 using 1:2 with points pointtype 7 pointsize dot linecolor rgb "black" title "measured"
    unset label 1
}
unset multiplot
