/* SPDX-License-Identifier: MIT */
/* In place of sigmf_input.c, sigmf_output.c and sha512.c in a build without cJSON or libcrypto. */
#include <stddef.h>

#include "message.h"
#include "sigmf.h"

bool sigmf_is_available(void)
{
    return false;
}

bool sigmf_input_read(struct sigmf_input *input, const char *path)
{
    (void)input;
    (void)path;
    return false;
}

void sigmf_input_free(struct sigmf_input *input)
{
    (void)input;
}

int sigmf_output_check(const struct sigmf_output *output)
{
    (void)output;
    return EXIT_FAILED;
}

char *sigmf_output_text(const struct sigmf_output *output)
{
    (void)output;
    return NULL;
}

bool sigmf_samples_check(softqam_input_format format)
{
    (void)format;
    return false;
}

char *sigmf_samples_text(const struct sigmf_samples *samples)
{
    (void)samples;
    return NULL;
}

struct sha512 *sha512_create(void)
{
    return NULL;
}

void sha512_add(struct sha512 *hash, const void *data, size_t nbytes)
{
    (void)hash;
    (void)data;
    (void)nbytes;
}

bool sha512_finish(struct sha512 *hash, char hex[SHA512_HEX_NBYTES])
{
    (void)hash;
    (void)hex;
    return false;
}

void sha512_destroy(struct sha512 *hash)
{
    (void)hash;
}
