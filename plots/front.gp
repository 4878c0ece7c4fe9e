# gnuplot -c front.gp DATA PICTURE FORMAT TITLE SUBTITLE UNIT BLOCKS X Y. The table: plots/table_front.c.
data = ARG1; picture = ARG2; format = ARG3; title = ARG4; subtitle = ARG5; x = ARG8; y = ARG9
folder = ARG0[1:strlen(ARG0)-strlen("front.gp")]
load folder."style.gp"
set xlabel x noenhanced
set ylabel y noenhanced
set key outside right top reverse Left samplen 2
stats data index 0 using 1:2 name "ALL" nooutput
# Logarithmic only where a linear scale would flatten the front.
if (ALL_min_x > 0 && ALL_max_x > 15*ALL_min_x) { set logscale x; set xrange [ALL_min_x*0.8:ALL_max_x*1.2] } else { set xrange [ALL_min_x-0.05*(ALL_max_x-ALL_min_x)-1e-3*abs(ALL_min_x):ALL_max_x+0.05*(ALL_max_x-ALL_min_x)+1e-3*abs(ALL_max_x)] }
if (ALL_min_y > 0 && ALL_max_y > 15*ALL_min_y) { set logscale y; set yrange [ALL_min_y*0.8:ALL_max_y*1.2] } else { set yrange [ALL_min_y-0.05*(ALL_max_y-ALL_min_y)-1e-3*abs(ALL_min_y):ALL_max_y+0.05*(ALL_max_y-ALL_min_y)+1e-3*abs(ALL_max_y)] }
plot data index 0 using 1:2 with points pointtype 7 pointsize 0.8*dot linecolor rgb 0x999999 title "each config", \
     data index 1 using 1:2 with linespoints pointtype 7 pointsize 1.1*dot linewidth 2 linecolor rgb colour[1] title "the front", \
     data index 2 using 1:2 with points pointtype 6 pointsize 2.2*dot linewidth 2 linecolor rgb colour[6] title "chosen"
