# gnuplot -c kernels.gp DATA PICTURE FORMAT TITLE SUBTITLE UNIT CONFIGS. The table: plots/table_kernels.c.
data = ARG1; picture = ARG2; format = ARG3; title = ARG4; subtitle = ARG5; unit = ARG6; configs = int(ARG7)
folder = ARG0[1:strlen(ARG0)-strlen("kernels.gp")]
longest = 0
shortest = 1e30
lowest = 0
counted = -1
array name[3]
do for [c=1:configs] {
    stats data index c every ::::0 using (name[c] = strcol(1), 0) name "HEAD" nooutput
    stats data index c skip 1 using 1:2 name "BARS" nooutput
    if (BARS_max_y > longest) { longest = BARS_max_y }
    if (BARS_min_y > 0 && BARS_min_y < shortest) { shortest = BARS_min_y }
    if (BARS_max_x > lowest) { lowest = BARS_max_x }
    do for [e=4:8] {
        stats data index c skip 1 using e name "VALUES" nooutput
        if (VALUES_max > counted) { counted = VALUES_max }
    }
}
height = 200 + int(15*lowest)
load folder."style.gp"
unset title
unset grid
set grid xtics linetype 1 linecolor "#dddddd" linewidth 1 back
set ytics scale 0
set yrange [lowest+1:-0.5]
set style fill solid 1.0 noborder
# Below the bars of all kernels together, of which every config has one.
set arrow 1 from graph 0, first configs+0.4 to graph 1, first configs+0.4 nohead linecolor "#444444"
short(t) = t >= 100 ? sprintf("%.0f", t) : sprintf("%.3g", t)
hue(c) = colour[name[c][1:8] eq "baseline" ? 9 : name[c][1:5] eq "paper" ? 2 : 1] # as in the plot of occupancy
set tmargin at screen 1-(counted >= 0 ? 104.0 : 66.0)/height
set bmargin at screen 112.0/height
set multiplot title title."\n".subtitle noenhanced
# Times left; where there are counters, five narrow panels to the right of them.
set lmargin at screen 0.155
set rmargin at screen (counted >= 0 ? 0.47 : 0.98)
set xlabel "time in one step, ".shown(unit).(counted >= 0 ? " (share)" : " (share of the step)")
# Logarithmic where bars of a fast config would be slivers beside those of a slow one.
wide = longest > 20*shortest
left = wide ? shortest/3.0 : 0
if (wide) {
    set logscale x
    set xrange [left:longest*(longest/left)**(counted >= 0 ? 0.45 : 0.3)]
    set xtics 10**ceil(log10(left)),10,longest # none where only numbers are
} else { set xrange [0:longest*(counted >= 0 ? 1.5 : 1.22)] }
set key at screen 0.98,(10.0/height) right bottom vertical maxrows 3 Left reverse samplen 1.5 font ",12"
plot for [c=1:configs] data index c skip 1 using (($2 > left) ? $2 : NaN):1:(left):2:($1-0.45):($1+0.45) with boxxyerror linecolor rgb hue(c) notitle, \
     for [c=1:configs] data index c using (NaN):(NaN) with boxes linecolor rgb hue(c) title columnheader(1), \
     for [c=1:configs] data index c skip 1 using 2:1:(short($2).sprintf(" (%.0f %%)", $3)) with labels left offset 0.5,0 font ",10" notitle, \
     data index 0 using (left):1:ytic(2) with points pointsize 0 notitle
if (counted >= 0) {
    array panel[5] = ["achieved\noccupancy, %", "efficiency\nof loads, %", "efficiency\nof stores, %", "uniform\nbranches, %", "working\nthreads, %"]
    unset key
    unset xlabel
    unset logscale x
    set xrange [0:140]
    set xtics 0,50,100 font ",11"
    do for [e=1:5] {
        set lmargin at screen 0.485+0.101*(e-1)
        set rmargin at screen 0.485+0.101*(e-1)+0.094
        set label 2 panel[e] at graph 0, screen 1-70.0/height left font ",11" noenhanced
        plot for [c=1:configs] data index c skip 1 using ((column(3+e) >= 0) ? column(3+e) : NaN):1:(0):3+e:($1-0.45):($1+0.45) with boxxyerror linecolor rgb hue(c) notitle, \
             for [c=1:configs] data index c skip 1 using ((column(3+e) >= 0) ? column(3+e) : NaN):1:(sprintf("%.0f", column(3+e))) with labels left offset 0.4,0 font ",9" notitle, \
             data index 0 using (0):1:ytic("") with points pointsize 0 notitle
    }
}
unset multiplot
