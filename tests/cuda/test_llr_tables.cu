/* SPDX-License-Identifier: MIT */
/* The tables of LLRs that kernels have from the compiler, against those that the library builds: the same bits, but for
 * the sign of one zero. No GPU is needed. */
#include <cstdio>
#include <cstring>

extern "C" {
#include "tables.h"
}

#include "llr_tables.cuh"

static bool is_same(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; }

/* The library's -0 keeps the sign of a component that is zero. Kernels take |v| and give the sign afterwards: they have
 * 0 there. */
static float intercept_of(const softqam_llr_table &table, int k, int row)
{
    return k == 0 && row == 0 ? -table.intercepts[k][row] : table.intercepts[k][row];
}

static bool check_lines(int m, const softqam_llr_table &table)
{
    bool good = is_same(llr_rows_per_unit(m), table.rows_per_unit) && llr_last_row(m) == table.last_row;
    for (int k = 0; k < m; k++)
        for (int row = 0; row <= llr_last_row(m); row++) {
            const llr_line line = llr_line_of(m, k, row);
            good = good && is_same(line.slope, table.slopes[k][row]) &&
                   is_same(line.intercept, intercept_of(table, k, row));
        }
    return good;
}

/* Each line is in the rows once, where the kernels look for it. */
template <int M> static bool check_rows(const softqam_llr_table &table)
{
    static const llr_rows<M> rows;
    bool good = true;
    for (int k = 0; k < M; k++)
        for (int row = 0; row < rows.ROWS; row++) {
            const int slope = k == 4 ? rows.FIFTH + 2 * row : M == 3 && k == 2 ? 16 + 4 * row : 4 * row + k;
            const int intercept = M == 3 ? slope + (k == 2 ? 1 : 2) : k == 4 ? slope + 1 : slope + 4 * rows.ROWS;
            good = good && is_same(rows.values[slope], table.slopes[k][row]) &&
                   is_same(rows.values[intercept], intercept_of(table, k, row));
        }
    return good;
}

int main()
{
    softqam_llr_table tables[MAX_AXIS_BITS + 1];
    bool good = true;
    for (int m = 1; m <= MAX_AXIS_BITS; m++) {
        softqam_llr_table_build(&tables[m], m);
        good = check_lines(m, tables[m]) && good;
    }
    static_assert(MAX_AXIS_BITS == 5, "rows of each from three bits on");
    good = check_rows<3>(tables[3]) && check_rows<4>(tables[4]) && check_rows<5>(tables[5]) && good;
    std::printf("%s\n", good ? "good" : "wrong");
    return good ? 0 : 1;
}
