# SPDX-License-Identifier: MIT
# Draws what softqam-quality prints:  gnuplot -c reference/quality.gnuplot TABLE PICTURE.png
set terminal pngcairo size 1000,920 font ",11"
set linetype 1 lc rgb "#6b6b6b" pt 1 ps 0.8 lw 1.5
set linetype 2 lc rgb "#1f5fa8" pt 7 ps 0.7 lw 1.5
set linetype 3 lc rgb "#c4581c" pt 5 ps 0.7 lw 1.5
set linetype 4 lc rgb "#1f8a5b" pt 9 ps 0.8 lw 1.5
set linetype 5 lc rgb "#7a4fa3" pt 13 ps 0.9 lw 1.5
set linetype 6 lc rgb "#a3324b" pt 11 ps 0.8 lw 1.5
set border 3
set tics nomirror
set output ARG2
table = ARG1
threshold = 0.01
# pi/2-BPSK, block 0, lies on BPSK.
names = "pi/2-BPSK BPSK QPSK 16QAM 64QAM 256QAM 1024QAM"
name(m) = m == 1 ? "BPSK, {/Symbol p}/2-BPSK" : word(names, m + 1)

set multiplot layout 2,2
set grid
set key below maxrows 3 width 2
set xlabel "E_s/N_0, dB"
set xrange [-7:40]

set title "Information: lines log-MAP, points s8 with scale 6"
set ylabel "bits a symbol"
plot for [m=1:6] table index m using 1:2 with lines lt m title name(m), \
     for [m=1:6] table index m using 1:($3-$6) with points lt m notitle

set title "s8 loses to exact max-log, scale 6"
set logscale y
set format y "10^{%T}"
set yrange [1e-6:1e-1]
plot for [m=1:6] table index m using 1:6 with linespoints lt m title name(m), \
     threshold with lines lc rgb "black" dashtype 2 title "allowed"

set title "Max-log loses to log-MAP; u8 of 256QAM to max-log"
set yrange [1e-6:2]
plot for [m=3:6] table index m using 1:($2-$3) with linespoints lt m title name(m), \
     table index 5 using 1:8 with linespoints lc rgb "black" pt 4 ps 0.7 title "u8"

set title "Most that s8 loses, by its scale"
set xlabel "scale, steps a nat"
set logscale x
set xrange [0.5:32]
set yrange [1e-4:1]
plot for [m=1:6] table index 8 using 1:(column(m+2)) with linespoints lt m title name(m), \
     threshold with lines lc rgb "black" dashtype 2 title "allowed"
unset multiplot
