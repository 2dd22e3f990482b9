/* SPDX-License-Identifier: MIT */
#include "sha512.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>

struct sha512 {
    EVP_MD_CTX *context;
    bool sound;
};

struct sha512 *sha512_create(void)
{
    struct sha512 *hash = calloc(1, sizeof *hash);
    if (!hash)
        return NULL;
    hash->context = EVP_MD_CTX_new();
    hash->sound = hash->context && EVP_DigestInit_ex(hash->context, EVP_sha512(), NULL) == 1;
    if (hash->sound)
        return hash;
    sha512_destroy(hash);
    return NULL;
}

void sha512_add(struct sha512 *hash, const void *data, size_t nbytes)
{
    if (hash)
        hash->sound = hash->sound && EVP_DigestUpdate(hash->context, data, nbytes) == 1;
}

bool sha512_finish(struct sha512 *hash, char hex[SHA512_HEX_NBYTES])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned nbytes = 0;
    if (!hash || !hash->sound || EVP_DigestFinal_ex(hash->context, digest, &nbytes) != 1)
        return false;
    for (unsigned i = 0; i < nbytes; i++)
        snprintf(hex + 2 * (size_t)i, 3, "%02x", digest[i]);
    return true;
}

void sha512_destroy(struct sha512 *hash)
{
    if (hash)
        EVP_MD_CTX_free(hash->context);
    free(hash);
}
