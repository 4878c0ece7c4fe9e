# gnuplot -c surface.gp DATA PICTURE FORMAT TITLE SUBTITLE UNIT. The table: plots/table_surface.c.
data = ARG1; picture = ARG2; format = ARG3; title = ARG4; subtitle = ARG5; unit = ARG6
folder = ARG0[1:strlen(ARG0)-strlen("surface.gp")]
load folder."style.gp"
unset grid
unset key
set title title.", ".shown(unit)."\n".subtitle noenhanced
set ylabel "layout: CSoA with groups of α nodes, AoS, SoA" offset 0.5,0
# Viridis, its bright end for the fastest.
set palette defined (0 "#fde725", 1 "#5ec962", 2 "#21918c", 3 "#3b528b", 4 "#440154")
stats data index 0 using 1 name "COLUMNS" nooutput
stats data index 1 using 1 name "ROWS" nooutput
stats data index 2 using 3 name "TIMES" nooutput
gaps = TIMES_records < (COLUMNS_max+1)*(ROWS_max+1)
set xlabel "sample block length ℓ (cells)".(gaps ? "; grey: not measured" : "")
set xrange [-0.5:COLUMNS_max+0.5]
set yrange [-0.5:ROWS_max+0.5]
# Ratios to the best. The few that are far slower look alike, so that they do not hide what differs among the rest.
slowest = TIMES_max/TIMES_min
usual = 1 + 3*(TIMES_median/TIMES_min - 1)
top = usual < 1.05 ? 1.05 : usual
if (top > slowest) { top = slowest > 1.02 ? slowest : 1.02 }
set cbrange [1:top]
set cblabel "time over the best".(slowest > 1.001*top ? sprintf("; darkest: %.2f and more", top) : "") offset 1.5,0
set tics scale 0
set style fill solid 1.0 noborder
set object 1 rectangle from graph 0,0 to graph 1,1 behind fillcolor rgb "#eeeeee" fillstyle solid noborder
stats data index 2 every ::TIMES_index_min::TIMES_index_min using 1:2 name "BEST" nooutput
set object 2 rectangle from BEST_min_x-0.5,BEST_min_y-0.5 to BEST_min_x+0.5,BEST_min_y+0.5 front fillstyle empty border rgb "#D55E00" linewidth 4
short(t) = t >= 100 ? sprintf("%.0f", t) : sprintf("%.3g", t)
roomy = COLUMNS_max < 14
ink(ratio) = ratio > 1 + 0.4*(top - 1) ? 0xffffff : 0x000000
plot data index 2 using 1:2:($1-0.5):($1+0.5):($2-0.5):($2+0.5):($3/TIMES_min) with boxxyerror linecolor palette, \
     data index 2 using 1:2:(roomy ? short($3) : ""):(ink($3/TIMES_min)) with labels textcolor rgb variable, \
     data index 0 using 1:(-0.5):xtic(2) with points pointsize 0, \
     data index 1 using (-0.5):1:ytic(2) with points pointsize 0
