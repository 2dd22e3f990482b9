# SPDX-License-Identifier: MIT
# Draws what softqam-quality prints:  gnuplot -c reference/quality.gnuplot TABLE PICTURE.png
set terminal pngcairo size 900,760 font ",11"
set linetype 1 lc rgb "#1f5fa8" pt 7 ps 0.7 lw 1.5
set linetype 2 lc rgb "#c4581c" pt 5 ps 0.7 lw 1.5
set linetype 3 lc rgb "#1f8a5b" pt 9 ps 0.8 lw 1.5
set linetype 4 lc rgb "#7a4fa3" pt 13 ps 0.9 lw 1.5
set border 3
set tics nomirror
set output ARG2
table = ARG1
threshold = 0.01

set multiplot layout 2,2
set grid
set key below maxrows 2
set xlabel "E_s/N_0, dB"
set xrange [15:37]

set title "Information, bits a symbol"
plot table index 0 using 1:2 with linespoints title "exact log-MAP", \
     table index 0 using 1:3 with linespoints title "f32 (max-log)", \
     table index 0 using 1:($3-$6) with linespoints title "s8, scale 6", \
     table index 0 using 1:($3-$7) with linespoints title "u8"

set title "Lost, bits a symbol"
set logscale y
set format y "10^{%T}"
set yrange [1e-6:1]
plot table index 0 using 1:($2-$3) with linespoints title "max-log, to log-MAP", \
     table index 0 using 1:6 with linespoints title "s8, to f32", \
     table index 0 using 1:7 with linespoints title "u8, to f32", \
     threshold with lines dashtype 2 title "allowed for s8"

set title "Most that s8 loses between 20 and 32 dB"
set xlabel "scale, steps a nat"
set logscale x
set yrange [1e-4:1]
set autoscale x
plot table index 1 using 1:2 with linespoints title "limit 127", \
     threshold with lines dashtype 2 title "allowed"

set title "Share of s8 LLRs at the limit, scale 6"
unset logscale
set format y
set yrange [0:1]
set xlabel "E_s/N_0, dB"
set xrange [15:37]
plot table index 0 using 1:9 with linespoints title "at +-127"
unset multiplot
