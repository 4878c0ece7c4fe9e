#!/bin/bash
# SPHERIC test 2: heights of the water at the four gauges of a run of `dam_break_3d` beside the experiment's.
# usage: scripts/spheric2.sh GAUGES.csv PICTURE.png [TITLE]; GAUGES.csv: as kftune run writes it. Needs gnuplot.
# The data's H1 is dry until 0.2 s and its H3 until 0.9 s: by these arrivals they are the gauges at x = 1.488 m and 0.496 m,
# and are drawn there.
# The experiment: Kleefsman et al., J. Comput. Phys. 206 (2005) 363; means over 20 ms.
set -eu
gauges=${1:?usage: scripts/spheric2.sh GAUGES.csv PICTURE.png [TITLE]}
picture=${2:?usage: scripts/spheric2.sh GAUGES.csv PICTURE.png [TITLE]}
title=${3:-SPHERIC test 2: heights of the water}
[ -s "$gauges" ] || { echo "$gauges: not there, or empty; kftune run --scene dam_break_3d writes it as gauges.csv" >&2; exit 2; }
head -n 1 "$gauges" | grep -q "^step,time_s,H1_m,H2_m,H3_m,H4_m" || { echo "$gauges: its columns are not those of dam_break_3d" >&2; exit 2; }
table=$(mktemp)
trap 'rm -f "$table"' EXIT
tail -n +2 "$gauges" | tr , ' ' >"$table"
GAUGES=$table PICTURE=$picture TITLE=$title gnuplot <<'END'
$experiment << EOD
.25  .050 .001 .001 .500
.5   .096 .099 .001 .427
.75  .130 .140 .001 .347
1.0  .155 .179 .146 .279
1.25 .157 .201 .269 .223
1.5  .144 .237 .344 .182
2.0  .142 .286 .289 .130
2.5  .270 .281 .324 .104
3.0  .238 .203 .229 .202
3.5  .186 .202 .209 .197
4.0  .174 .136 .162 .331
4.5  .270 .145 .153 .260
5.0  .205 .251 .170 .233
5.5  .219 .219 .188 .218
6.0  .185 .214 .308 .186
EOD
set terminal pngcairo noenhanced size 1350,1100 font "sans,14" background "#ffffff"
set output system("printenv PICTURE")
set datafile separator whitespace
file = system("printenv GAUGES")
set grid ytics linecolor "#dddddd"
set xrange [0:6]
set yrange [0:0.6]
set ylabel "m"
set multiplot layout 4,1 title system("printenv TITLE")
array place[4] = [0.496, 0.992, 1.488, 2.638]
array column_of[4] = [4, 3, 2, 5]
do for [g=1:4] {
    if (g == 4) { set xlabel "s" }
    set title sprintf("at x = %.3f m", place[g]) offset 0,-0.8
    plot file using 2:(column(2+g)) with lines linewidth 2 linecolor rgb 0x0072B2 title "kftune", \
         $experiment using 1:(column(column_of[g])) with points pointtype 7 linecolor rgb "black" title "experiment"
}
unset multiplot
END
