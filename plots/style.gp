# What all plots share. Set before: format (svg, png, pdf), picture (file to write), title, subtitle, perhaps height.
# Letters have the same share of the picture in all formats: both scales are for the 96 dots an inch of cairo.
# Names come from stores: nothing is ever enhanced, expanded or executed.
set encoding utf8
if (!exists("height")) { height = 540 } # in points of 900 across
if (format eq "svg") { set terminal svg noenhanced size 900,height dynamic font "sans,12" background "#ffffff" }
if (format eq "png") { set terminal pngcairo noenhanced size 1350,int(1.5*height) font "sans,12" fontscale 1.125 background "#ffffff" }
if (format eq "pdf") { set terminal pdfcairo noenhanced size 24cm,(24*height/900.0)cm font "sans,12" fontscale 0.567 background "#ffffff" }
# Symbols of SVG are larger than those of the others.
dot = (format eq "svg") ? 0.6 : 1.0
set output picture
set datafile separator "\t"
set datafile commentschars ""
set title title."\n".subtitle noenhanced
set border 3 linewidth 1 linecolor "#444444"
set tics nomirror out
set grid ytics linetype 1 linecolor "#dddddd" linewidth 1 back
# Data say us.
shown(u) = (u eq "us") ? "\302\265s" : u
# Okabe and Ito's colours, which colour-blind eyes tell apart; the last is for "other".
array colour[9] = [0x0072B2, 0xE69F00, 0x009E73, 0xCC79A7, 0x56B4E9, 0xD55E00, 0xF0E442, 0x000000, 0x999999]
