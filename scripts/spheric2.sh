#!/bin/bash
# SPHERIC test 2: heights of the water at the four gauges, and pressures at P1 and P2, of a run of `dam_break_3d` beside the experiment's.
# usage: scripts/spheric2.sh GAUGES.csv PICTURE.png [TITLE]; GAUGES.csv: as kftune run writes it. Needs gnuplot.
# The data's H1 is dry until 0.2 s and its H3 until 0.9 s: by these arrivals they are the gauges at x = 1.488 m and 0.496 m,
# and are drawn there.
# The experiment: Kleefsman et al., J. Comput. Phys. 206 (2005) 363; heights are means over 20 ms, pressures over 10.
set -eu
gauges=${1:?usage: scripts/spheric2.sh GAUGES.csv PICTURE.png [TITLE]}
picture=${2:?usage: scripts/spheric2.sh GAUGES.csv PICTURE.png [TITLE]}
title=${3:-SPHERIC test 2: heights of the water, pressures on the box}
[ -s "$gauges" ] || { echo "$gauges: not there, or empty; kftune run --scene dam_break_3d writes it as gauges.csv" >&2; exit 2; }
head -n 1 "$gauges" | grep -q "^step,time_s,H1_m,H2_m,H3_m,H4_m,P1_Pa,P2_Pa" || { echo "$gauges: its columns are not those of dam_break_3d" >&2; exit 2; }
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
# kPa, means over 10 ms
$pressures << EOD
0.30  -0.03  -0.01
0.36  -0.02  -0.00
0.38  -0.02  -0.01
0.39   0.22  -0.02
0.40   6.11  -0.02
0.41   9.76   1.19
0.42   9.97   5.32
0.43   9.09   7.66
0.44   8.58   7.59
0.45   8.16   7.40
0.46   7.78   7.26
0.47   7.44   6.89
0.48   7.06   6.70
0.49   6.54   6.17
0.50   6.57   5.97
0.55   5.78   5.44
0.60   4.83   4.53
0.65   4.03   3.85
0.70   4.00   3.75
0.75   3.73   3.61
0.80   3.64   3.47
0.85   3.41   3.25
0.90   3.47   3.21
0.95   3.07   2.74
1.00   2.88   2.67
1.05   2.81   2.29
1.10   3.17   2.56
1.15   2.83   2.41
1.20   2.99   2.43
1.25   3.04   2.47
1.30   2.53   1.91
1.35   2.45   1.59
1.40   2.68   1.90
1.45   2.56   1.86
1.50   2.80   2.13
1.75   2.96   2.41
2.00   3.09   2.57
2.25   2.81   2.43
2.50   2.53   2.15
2.75   2.16   1.77
3.00   1.83   1.45
3.25   1.66   1.28
3.50   1.64   1.28
3.75   1.41   1.07
4.00   1.26   0.90
4.25   1.19   0.84
4.50   1.04   0.69
4.75   2.38   2.00
5.00   2.35   1.97
5.25   2.10   1.76
5.50   1.87   1.58
5.75   1.98   1.63
6.00   1.98   1.64
EOD
set terminal pngcairo noenhanced size 1350,1500 font "sans,14" background "#ffffff"
set output system("printenv PICTURE")
set datafile separator whitespace
file = system("printenv GAUGES")
set grid ytics linecolor "#dddddd"
set xrange [0:6]
set yrange [0:0.6]
set ylabel "m"
set multiplot layout 6,1 title system("printenv TITLE")
array place[4] = [0.496, 0.992, 1.488, 2.638]
array column_of[4] = [4, 3, 2, 5]
do for [g=1:4] {
    set title sprintf("at x = %.3f m", place[g]) offset 0,-0.8
    plot file using 2:(column(2+g)) with lines linewidth 2 linecolor rgb 0x0072B2 title "kftune", \
         $experiment using 1:(column(column_of[g])) with points pointtype 7 linecolor rgb "black" title "experiment"
}
set yrange [-1:12]
set ylabel "kPa"
do for [g=1:2] {
    if (g == 2) { set xlabel "s" }
    set title sprintf("P%d", g) offset 0,-0.8
    plot file using 2:(column(6+g)/1000) with lines linewidth 1 linecolor rgb 0x0072B2 title "kftune", \
         $pressures using 1:(column(1+g)) with points pointtype 7 linecolor rgb "black" title "experiment"
}
unset multiplot
END
