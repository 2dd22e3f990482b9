/* SPDX-License-Identifier: MIT */
#include "rate_recovery.h"

#include <stdlib.h>

void rate_recovery_transmitted(size_t C, size_t N, uint32_t CBGTI, bool transmitted[])
{
    const size_t M = N < C ? N : C;
    for (size_t r = 0; r < C; r++)
        transmitted[r] = N == 0;
    if (M == 0)
        return;
    const size_t M_1 = C % M, K_1 = (C + M - 1) / M, K_2 = C / M;
    for (size_t m = 0; m < M_1; m++)
        for (size_t k = 0; k < K_1; k++)
            transmitted[m * K_1 + k] = CBGTI >> m & 1;
    for (size_t m = M_1; m < M; m++)
        for (size_t k = 0; k < K_2; k++)
            transmitted[M_1 * K_1 + (m - M_1) * K_2 + k] = CBGTI >> m & 1;
}

void rate_recovery_lengths(size_t G, size_t N_L, size_t Q_m, size_t C, const bool transmitted[], size_t E[])
{
    size_t C_prime = 0, j = 0;
    for (size_t r = 0; r < C; r++)
        C_prime += transmitted[r];
    for (size_t r = 0; r < C; r++) {
        if (!transmitted[r]) {
            E[r] = 0;
            continue;
        }
        /* j <= C' - mod(G / (N_L Q_m), C') - 1, without negative numbers. */
        const size_t n = G / (N_L * Q_m);
        if (j + n % C_prime + 1 <= C_prime)
            E[r] = N_L * Q_m * (n / C_prime);
        else
            E[r] = N_L * Q_m * ((n + C_prime - 1) / C_prime);
        j = j + 1;
    }
}

size_t rate_recovery_k0(int base_graph, unsigned rv_id, size_t N_cb, size_t Z_c)
{
    static const size_t factors[2][4] = {{0, 17, 33, 56}, {0, 13, 25, 43}};
    const size_t columns = base_graph == 1 ? 66 : 50;
    return factors[base_graph - 1][rv_id] * N_cb / (columns * Z_c) * Z_c;
}

bool circular_buffer_is_filler(const circular_buffer *self, size_t position)
{
    return position >= self->first_filler && position < self->first_filler + self->n_fillers;
}

bool circular_buffer_repeats(const circular_buffer *self, size_t E) { return E > self->N_cb - self->n_fillers; }

/* Bit selection, clause 5.4.2.1: the position of each e_k. */
static void select_bits(const circular_buffer *self, size_t E, size_t selected[])
{
    size_t k = 0, j = 0;
    while (k < E) {
        if (!circular_buffer_is_filler(self, (self->k0 + j) % self->N_cb)) {
            selected[k] = (self->k0 + j) % self->N_cb;
            k = k + 1;
        }
        j = j + 1;
    }
}

void rate_recovery_positions(const circular_buffer *self, size_t E, size_t Q_m, size_t position[])
{
    size_t *selected = calloc(E + 1, sizeof *selected);
    if (!selected)
        abort();
    select_bits(self, E, selected);
    /* Bit interleaving, clause 5.4.2.2: f_(i + j Q_m) = e_(i E / Q_m + j). */
    for (size_t j = 0; j < E / Q_m; j++)
        for (size_t i = 0; i < Q_m; i++)
            position[i + j * Q_m] = selected[i * E / Q_m + j];
    free(selected);
}
