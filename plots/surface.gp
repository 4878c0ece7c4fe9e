# gnuplot -c surface.gp DATA PICTURE FORMAT TITLE SUBTITLE UNIT. The table: plots/table_surface.c.
data = ARG1; picture = ARG2; format = ARG3; title = ARG4; subtitle = ARG5; unit = ARG6
folder = ARG0[1:strlen(ARG0)-strlen("surface.gp")]
load folder."style.gp"
unset grid
unset key
set xlabel "sample block length (cells); in the fields: best time of a step, ".unit
set ylabel "layout: AoS, CSoA with this alpha, SoA"
set cblabel "time over the best time" offset 1.5,0
# Viridis, its bright end for the fastest.
set palette defined (0 "#fde725", 1 "#5ec962", 2 "#21918c", 3 "#3b528b", 4 "#440154")
stats data index 0 using 1 name "COLUMNS" nooutput
stats data index 1 using 1 name "ROWS" nooutput
stats data index 2 using 3 name "TIMES" nooutput
set xrange [-0.5:COLUMNS_max+0.5]
set yrange [-0.5:ROWS_max+0.5]
# Ratios to the best; what is more than three times slower looks alike, so that it does not hide the rest.
slowest = TIMES_max/TIMES_min
top = slowest > 3 ? 3 : slowest > 1.02 ? slowest : 1.02
set cbrange [1:top]
set tics scale 0
set style fill solid 1.0 noborder
set object 1 rectangle from graph 0,0 to graph 1,1 behind fillcolor rgb "#eeeeee" fillstyle solid noborder
roomy = COLUMNS_max < 14
ink(ratio) = ratio > 1 + 0.4*(top - 1) ? 0xffffff : 0x000000
plot data index 2 using 1:2:($1-0.5):($1+0.5):($2-0.5):($2+0.5):($3/TIMES_min) with boxxyerror linecolor palette, \
     data index 2 using 1:2:(roomy ? sprintf("%.4g", $3) : ""):(ink($3/TIMES_min)) with labels textcolor rgb variable, \
     data index 0 using 1:(-0.5):xtic(2) with points pointsize 0, \
     data index 1 using (-0.5):1:ytic(2) with points pointsize 0
