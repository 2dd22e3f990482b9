/* SPDX-License-Identifier: MIT */
/* Stands for the library of 0.3: a program is linked with it, and run with this version's. */
int softqam_create(void **demodulator, const void *config);
int softqam_demodulate(void *demodulator, const void *symbols, const float *noise_var, unsigned long n_symbols,
                       void *out);

int softqam_create(void **demodulator, const void *config)
{
    (void)demodulator;
    (void)config;
    return 0;
}

int softqam_demodulate(void *demodulator, const void *symbols, const float *noise_var, unsigned long n_symbols,
                       void *out)
{
    (void)demodulator;
    (void)symbols;
    (void)noise_var;
    (void)n_symbols;
    (void)out;
    return 0;
}
