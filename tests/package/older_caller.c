/* SPDX-License-Identifier: MIT */
/* A program of a version before 0.3, by the name of a function that the library has again, but with structures of other
 * shapes: the loader must tell, before it runs. */
int softqam_create(void **demodulator, const void *config);

int main(void)
{
    void *demodulator;
    return softqam_create(&demodulator, 0);
}
