#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the section "choice" of softqam-bench: throughput against the symbols of a call, from host memory to host memory.

    curve.py BENCH.json PICTURE.png
"""
import json
import subprocess
import sys

SETTINGS = """
set terminal pngcairo size 1000,480 font ",11"
set multiplot layout 1,2
set border 3
set tics nomirror
set grid
set logscale x 2
set logscale y
set format x "2^{%L}"
set format y "10^{%T}"
set xlabel "symbols of a call"
set ylabel "Msym/s"
set yrange [0.05:20000]
set key bottom right
set key samplen 2
"""
STYLES = {
    "CPU": 'lc rgb "#1f5fa8" pt 7 ps 0.8 lw 1.5 title "CPU, all threads"',
    "CUDA": 'lc rgb "#1f8a5b" pt 5 ps 0.8 lw 1.5 title "CUDA"',
}


def plot(rows, kind):
    """gnuplot's commands for one kind of memory."""
    data, curves = "", []
    for name, style in STYLES.items():
        points = "".join(f"{row['what'].split()[0]} {row[f'{kind}: {name}']}\n" for row in rows)
        data += f"${name} << END\n{points}END\n"
        curves.append(f"${name} with linespoints {style}")
    return f'{data}set title "{kind} memory"\nplot {", ".join(curves)}\n'


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = next(t["rows"] for t in json.load(file)["tables"] if "pinned: CPU" in t["rows"][0])
    with subprocess.Popen(["gnuplot"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as gnuplot:
        commands = SETTINGS + "".join(plot(rows, kind) for kind in ("pinned", "pageable"))
        gnuplot.stdin.write(commands)
        gnuplot.stdin.close()
        picture = gnuplot.stdout.buffer.read()
    if gnuplot.returncode != 0 or not picture:
        sys.exit("gnuplot failed")
    with open(sys.argv[2], "wb") as file:
        file.write(picture)


main()
