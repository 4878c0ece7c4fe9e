# gnuplot -c occupancy.gp DATA PICTURE FORMAT TITLE SUBTITLE UNIT CONFIGS. The table: plots/table_occupancy.c.
data = ARG1; picture = ARG2; format = ARG3; title = ARG4; subtitle = ARG5; configs = int(ARG7)
folder = ARG0[1:strlen(ARG0)-strlen("occupancy.gp")]
set datafile separator "\t"
lowest = 0
any = 0
letters = 0 # of the longest line beside the bars
named = 0   # of the longest name
beside(achieved, theoretical, limit, share) = sprintf("%s, limited %s; %.0f %% of the step", (achieved >= 0) ? sprintf("%.0f of %.0f %%", achieved, theoretical) : sprintf("%.0f %%", theoretical), limit, share)
longer(a, b) = a > b ? a : b
array counted[3] # the largest occupancy that was achieved; negative: none is known
array name[3]
do for [c=1:configs] {
    stats data index c-1 every ::::0 using (name[c] = strcol(1), 0) name "HEAD" nooutput
    stats data index c-1 skip 1 using 1:3 name "ROWS" nooutput
    stats data index c-1 skip 1 using (letters = longer(letters, strlen(beside($3, $4, strcol(5), $6))), named = longer(named, strlen(strcol(2))), 0) name "LINES" nooutput
    if (ROWS_max_x > lowest) { lowest = ROWS_max_x }
    counted[c] = ROWS_max_y
    if (counted[c] >= 0) { any = 1 }
    set label c name[c].(counted[c] >= 0 ? "" : " (not counted: theoretical only)") at 0, ROWS_min_x-0.85 left offset 0.4,0 font ",12" noenhanced
}
height = 215 + int(26*lowest)
load folder."style.gp"
unset grid
set grid xtics linetype 1 linecolor "#dddddd" linewidth 1 back
# Bars leave room for the longest line: 5.6 points a letter of it, and 7.5 a letter of a name.
across = 870 - 7.5*named
room = longer(across - 5.6*letters, 0.15*across)
set xrange [0:102*across/room]
set border 2
set arrow 1 from 0, graph 0 to 100, graph 0 nohead linecolor "#444444"
set xtics 0,25,100
set label 9 "occupancy, % of the warps that a multiprocessor can hold" at 0, screen 52.0/height left noenhanced
set yrange [lowest+0.8:-1.5]
set ytics scale 0 font ",12"
set key at screen 0.98,(12.0/height) right bottom horizontal maxrows 1 Left reverse samplen 1.5 width 2
set bmargin at screen 96.0/height
set style fill solid 1.0 noborder
hue(c) = name[c] eq "baseline" ? colour[9] : name[c] eq "paper" ? colour[2] : colour[1]
# What a kernel could reach is shaded only behind what it did, so that it is not taken for that.
plot for [c=1:configs] data index c-1 skip 1 using (($3 >= 0) ? $4 : NaN):1:(0):4:($1-0.38):($1+0.38) with boxxyerror linecolor rgb "#ececec" notitle, \
     for [c=1:configs] data index c-1 skip 1 using (($3 >= 0) ? $3 : NaN):1:(0):3:($1-0.38):($1+0.38) with boxxyerror linecolor rgb hue(c) notitle, \
     for [c=1:configs] data index c-1 skip 1 using 4:($1-0.42):(0):(0.84) with vectors nohead linecolor rgb "#000000" linewidth 2.5 notitle, \
     for [c=1:configs] NaN with boxes linecolor rgb hue(c) title (counted[c] > 0 ? name[c].", achieved" : ""), \
     NaN with lines linecolor rgb "#000000" linewidth 2.5 title "theoretical", \
     for [c=1:configs] data index c-1 skip 1 using (102):1:(beside($3, $4, strcol(5), $6)) with labels left font ",10" notitle, \
     for [c=1:configs] data index c-1 skip 1 using (0):1:ytic(2) with points pointsize 0 notitle
