/* SPDX-License-Identifier: MIT */
#include "streaming.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

size_t softqam_streaming_nbytes(void)
{
    long cache = 0;
#if defined(_SC_LEVEL3_CACHE_SIZE)
    cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
    enum { USUAL_CACHE = 32 << 20 };
    return (size_t)(cache > 0 ? cache : USUAL_CACHE) / 8;
}

#if defined(__x86_64__)
void softqam_streaming_fence(void) { _mm_sfence(); }

void softqam_copy_streaming(void *to, const void *from, size_t nbytes)
{
    enum { LINE_NBYTES = 64 };
    unsigned char *out = to;
    const unsigned char *in = from;
    const size_t to_line = -(uintptr_t)out % LINE_NBYTES;
    const size_t head = to_line < nbytes ? to_line : nbytes;
    memcpy(out, in, head);
    out += head;
    in += head;
    for (nbytes -= head; nbytes >= LINE_NBYTES; nbytes -= LINE_NBYTES) {
        for (size_t k = 0; k < LINE_NBYTES; k += sizeof(__m128i))
            _mm_stream_si128((__m128i *)(void *)(out + k), _mm_loadu_si128((const __m128i *)(const void *)(in + k)));
        out += LINE_NBYTES;
        in += LINE_NBYTES;
    }
    memcpy(out, in, nbytes);
}
#else
void softqam_streaming_fence(void) {}

void softqam_copy_streaming(void *to, const void *from, size_t nbytes) { memcpy(to, from, nbytes); }
#endif
