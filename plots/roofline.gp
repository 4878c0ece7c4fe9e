# gnuplot -c roofline.gp DATA PICTURE FORMAT TITLE SUBTITLE UNIT KERNELS. The table: plots/table_roofline.c.
data = ARG1; picture = ARG2; format = ARG3; title = ARG4; subtitle = ARG5; kernels = int(ARG7)
folder = ARG0[1:strlen(ARG0)-strlen("roofline.gp")]
stats data index 0 using 1:2 name "X" nooutput
stats data index 0 using 3:4 name "Y" nooutput
rows = kernels > 6 ? 6 : kernels
stats data index 0 using 5:6 name "PRESETS" nooutput
presets = int(PRESETS_max_x + PRESETS_max_y)
rows = rows + int(PRESETS_max_x) + int(PRESETS_max_y) + (presets > 0) # in the legend
rows = rows > 6 ? 6 : rows
bottom = 72 + 16*rows # the axis and the legend below it
height = 560 + 16*rows
load folder."style.gp"
unset grid
set grid xtics ytics linetype 1 linecolor "#e6e6e6" linewidth 1 back
set logscale xy
set xrange [X_min_x:X_max_y]
set yrange [Y_min_x:Y_max_y]
set lmargin at screen 0.105
set rmargin at screen 0.975
set bmargin at screen real(bottom)/height
set tmargin at screen 1-64.0/height
set format y "%g"
set format x "%g"
set xlabel "floating-point operations for each byte moved (FLOP/B)"
set ylabel "performance (GFLOP/s)" offset 1,0
# A roof of memory rises at 45 degrees in decades; on the screen:
slope = atan2((height-bottom-64)/(log10(Y_max_y)-log10(Y_min_x)), 0.87*900/(log10(X_max_y)-log10(X_min_x)))*180/pi
set key at screen 0.105,(10.0/height) left bottom vertical maxrows 6 Left reverse samplen 1 font ",11"
# What the symbols and lines mean, drawn as they are.
set label 10 at graph 0.80,0.275 point pointtype 9 pointsize 1.3*dot linecolor rgb "#444444" "  L1" font ",11" offset 0.8,0
set label 11 at graph 0.80,0.235 point pointtype 5 pointsize 1.3*dot linecolor rgb "#444444" "  L2" font ",11" offset 0.8,0
set label 12 at graph 0.80,0.195 point pointtype 7 pointsize 1.3*dot linecolor rgb "#444444" "  device memory" font ",11" offset 0.8,0
set arrow 10 from graph 0.785,0.155 to graph 0.815,0.155 nohead linewidth 2.5 linecolor "#333333"
set label 13 "measured" at graph 0.825,0.155 font ",11" textcolor "#444444"
set arrow 11 from graph 0.785,0.115 to graph 0.815,0.115 nohead linewidth 1.5 linecolor "#777777" dashtype 2
set label 14 "theoretical" at graph 0.825,0.115 font ",11" textcolor "#444444"
set label 15 "A kernel's symbols: its operations over the bytes of each level; their area: its share of the step.\nL2 left of L1: L2 counts the fills from device memory, too.\nDevice memory left of L1: whole sectors for scattered bytes." at graph 0.985,0.075 right font ",9" noenhanced textcolor "#666666"
array shape[3] = [9, 5, 7]
plot data index 1 using 1:2:3:(($5 > 0) ? $4 : NaN) with vectors nohead linewidth 2.5 linecolor "#333333" notitle, \
     data index 1 using 1:2:3:(($5 > 0) ? NaN : $4) with vectors nohead linewidth 1.5 linecolor "#777777" dashtype 2 notitle, \
     data index 2 using (($3 > 0) ? $1 : NaN):2:4 with labels left rotate by slope font ",10" textcolor "#333333" noenhanced notitle, \
     data index 2 using (($3 > 0) ? NaN : $1):2:4 with labels right offset -0.5,0.6 font ",10" textcolor "#333333" noenhanced notitle, \
     for [p=1:2] data index 3 using (($4 == p) ? $1 : NaN):2:($3*dot) with points pointtype (p == 1 ? 6 : 4) pointsize variable linewidth 1.5 linecolor rgb (p == 1 ? 0x777777 : 0xB06A00) notitle, \
     data index 3 using 1:2:($8-$1):($9-$2) with vectors nohead linewidth 0.7 linecolor rgb 0xaaaaaa notitle, \
     data index 3 using 6:7:5:(($4 == 1) ? 0x666666 : 0x8A5200) with labels left font ",9" textcolor rgb variable noenhanced notitle, \
     data index 5 using 1:2:3:4 with vectors filled head size screen 0.012,20 linewidth 1.6 linecolor rgb 0x333333 notitle, \
     data index 4 using 1:2:($6-$1):($7-$2) with vectors nohead linewidth 0.7 linecolor rgb 0x777777 notitle, \
     data index 4 using 4:5:3 with labels left font ",11" textcolor "#000000" noenhanced notitle, \
     for [k=1:kernels] data index 5+k using 1:2 with lines linewidth 1 linecolor rgb colour[k] notitle, \
     for [k=1:kernels] for [level=0:2] data index 5+k using (($3 == level) ? $1 : NaN):2:($4*dot) with points pointtype shape[level+1] pointsize variable linecolor rgb colour[k] notitle, \
     data index 4 using 1:2 with points pointtype 12 pointsize 2.2*dot linewidth 2 linecolor rgb 0x000000 notitle, \
     for [k=1:kernels] data index 5+k using (($3 == 2) ? $1 : NaN):2:(sprintf("%d", k)) with labels left offset 1.3,0.6 font ",11" textcolor rgb colour[k] notitle, \
     for [k=1:kernels] data index 5+k using (NaN):(NaN) with points pointtype 7 pointsize 1.3*dot linecolor rgb colour[k] title columnheader(1), \
     for [p=1:2] 1/0 with points pointtype (p == 1 ? 6 : 4) pointsize 1.3*dot linewidth 1.5 linecolor rgb (p == 1 ? 0x777777 : 0xB06A00) title ((p == 1 ? PRESETS_max_x : PRESETS_max_y) > 0 ? (p == 1 ? "kernels of baseline, at device memory" : "kernels of paper, at device memory") : ""), \
     1/0 with points pointtype 12 pointsize 1.5*dot linewidth 2 linecolor rgb 0x000000 title (presets > 0 ? "whole steps: baseline, paper, best" : "")
