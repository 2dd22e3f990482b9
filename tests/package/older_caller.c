/* SPDX-License-Identifier: MIT */
/* A program of 0.3, by a function that 0.4 has no more, and by one of the same name whose structures had other shapes:
 * the loader must tell, before it runs. */
typedef struct softqam_demodulator softqam_demodulator;
#ifdef FUNCTION_OF_BOTH
int softqam_demodulate(softqam_demodulator *demodulator, const void *symbols, const float *noise_var,
                       unsigned long n_symbols, void *out);

int main(void) { return softqam_demodulate(0, 0, 0, 0, 0); }
#else
int softqam_create(softqam_demodulator **demodulator, const void *config);

int main(void)
{
    softqam_demodulator *demodulator;
    return softqam_create(&demodulator, 0);
}
#endif
