# SPDX-License-Identifier: MIT
# Draws what softqam-quality prints:  gnuplot -c reference/quality.gnuplot TABLE PICTURE.png
set terminal pngcairo size 840,640
set output ARG2
table = ARG1
threshold = 0.01

set multiplot layout 2,2
set grid
set key bottom right
set xlabel "E_s/N_0, dB"

set title "Information, bits a symbol"
plot table index 0 using 1:2 with linespoints title "exact log-MAP", \
     table index 0 using 1:3 with linespoints title "f32 (max-log)", \
     table index 0 using 1:($3-$6) with linespoints title "s8, scale 6", \
     table index 0 using 1:($3-$7) with linespoints title "u8"

set title "Lost, bits a symbol"
set logscale y
set format y "10^{%T}"
set yrange [1e-6:1]
set key top right opaque
plot table index 0 using 1:($2-$3) with linespoints title "max-log, to log-MAP", \
     table index 0 using 1:6 with linespoints title "s8, to f32", \
     table index 0 using 1:7 with linespoints title "u8, to f32", \
     threshold with lines dashtype 2 title "allowed for s8"

set title "Most that s8 loses between 20 and 32 dB"
set xlabel "scale, steps a nat"
set logscale x
set yrange [1e-4:1]
set key top center
plot table index 1 using 1:2 with linespoints title "limit 127", \
     threshold with lines dashtype 2 title "allowed"

set title "Share of s8 LLRs at the limit, scale 6"
unset logscale
set format y
set yrange [0:1]
set xlabel "E_s/N_0, dB"
set key bottom right
plot table index 0 using 1:9 with linespoints title "at +-127"
unset multiplot
