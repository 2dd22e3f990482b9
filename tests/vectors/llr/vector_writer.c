/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* chdir() */
#include "vector_writer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <Random123/philox.h>

void writer_fail(const char *what, const char *cause)
{
    fprintf(stderr, "%s: %s\n", what, cause);
    exit(1);
}

void writer_open(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s FOLDER\n  writes the vectors\n", argv[0]);
        exit(2);
    }
    if (chdir(argv[1]))
        writer_fail(argv[1], strerror(errno));
}

FILE *writer_create(const char *name)
{
    FILE *file = fopen(name, "wb");
    if (!file)
        writer_fail(name, strerror(errno));
    return file;
}

void writer_put(const char *name, const void *bytes, size_t nbytes)
{
    FILE *file = writer_create(name);
    if (fwrite(bytes, 1, nbytes, file) != nbytes || fclose(file))
        writer_fail(name, strerror(errno));
}

void writer_random(uint32_t seed, uint32_t stream, uint32_t n, uint32_t k, uint32_t words[4])
{
    const philox4x32_key_t key = {{seed, stream}};
    const philox4x32_ctr_t counter = {{n, k, 0, 0}};
    const philox4x32_ctr_t random = philox4x32(counter, key);
    memcpy(words, random.v, sizeof random.v);
}

double writer_noise(const uint32_t words[12], unsigned int axis)
{
    /* Twelve 16-bit uniforms, their mean taken off (Irwin and Hall). */
    int32_t sum = -6 * 65535;
    for (unsigned int k = 0; k < 12; k++)
        sum += (int32_t)(axis ? words[k] >> 16 : words[k] & 0xffff);
    return (double)sum / 65536.0;
}

float writer_float_below(double x)
{
    const float near = (float)x;
    return (double)near > x ? nextafterf(near, -INFINITY) : near;
}

float writer_float_above(double x) { return -writer_float_below(-x); }

double writer_tolerance(const float symbol[2], double noise_var, double llr)
{
    const double reach = sqrt((double)symbol[0] * (double)symbol[0] + (double)symbol[1] * (double)symbol[1]) + 1.75;
    return 0x1p-20 * reach * reach / noise_var + 0x1p-22 * fabs(llr);
}
