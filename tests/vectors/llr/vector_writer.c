/* SPDX-License-Identifier: MIT */
#include "vector_writer.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <Random123/philox.h>

static const char *folder;
static bool is_check;
static size_t n_different;

void writer_fail(const char *what, const char *cause)
{
    fprintf(stderr, "%s: %s\n", what, cause);
    exit(1);
}

void writer_open(int argc, char **argv)
{
    is_check = argc == 3 && strcmp(argv[1], "--check") == 0;
    if (argc != 2 + is_check) {
        fprintf(stderr, "usage: %s [--check] FOLDER\n  writes the vectors, or says which differ from what it makes\n",
                argv[0]);
        exit(2);
    }
    folder = argv[argc - 1];
}

static void write_file(const char *path, const void *bytes, size_t nbytes)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        writer_fail(path, strerror(errno));
    const bool is_written = fwrite(bytes, 1, nbytes, file) == nbytes;
    if (fclose(file) || !is_written)
        writer_fail(path, strerror(errno));
}

static bool file_equals(const char *path, const void *bytes, size_t nbytes)
{
    FILE *file = fopen(path, "rb");
    /* One byte more, to see a file that goes on. */
    unsigned char *here = malloc(nbytes + 1);
    if (!here)
        writer_fail(path, "out of memory");
    const bool equal = file && fread(here, 1, nbytes + 1, file) == nbytes && memcmp(here, bytes, nbytes) == 0;
    free(here);
    if (file)
        fclose(file);
    return equal;
}

void writer_put(const char *name, const void *bytes, size_t nbytes)
{
    char path[FILENAME_MAX];
    const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= sizeof path)
        writer_fail(name, strerror(ENAMETOOLONG));
    if (!is_check) {
        write_file(path, bytes, nbytes);
    } else if (!file_equals(path, bytes, nbytes)) {
        printf("%s is missing or not what the generator makes\n", path);
        n_different++;
    }
}

int writer_close(void) { return n_different ? EXIT_FAILURE : EXIT_SUCCESS; }

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
