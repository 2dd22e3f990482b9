/* SPDX-License-Identifier: MIT */
/* Stands for the library of a version before 0.3: a program is linked with it, and run with this version's. */
int softqam_create(void **demodulator, const void *config);

int softqam_create(void **demodulator, const void *config)
{
    (void)demodulator;
    (void)config;
    return 0;
}
