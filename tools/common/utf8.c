/* SPDX-License-Identifier: MIT */
#include "utf8.h"

#include <stdbool.h>
#include <stddef.h>

static bool is_between(unsigned char byte, unsigned char low, unsigned char high)
{
    return byte >= low && byte <= high;
}

/* Bytes of the character at the start of a text; 0 where there is none. The second byte's range excludes longer forms
 * than are needed, surrogates, and what is beyond U+10FFFF. */
static size_t character_nbytes(const unsigned char *text)
{
    const unsigned char lead = text[0];
    if (lead < 0x80)
        return 1;
    const size_t n = is_between(lead, 0xc2, 0xdf) ? 2 : is_between(lead, 0xe0, 0xef) ? 3 : 4;
    const unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (!is_between(lead, 0xc2, 0xf4) || !is_between(text[1], low, high))
        return 0;
    for (size_t k = 2; k < n; k++)
        if (!is_between(text[k], 0x80, 0xbf))
            return 0;
    return n;
}

char *utf8_find_error(char *text)
{
    size_t n;
    while (*text && (n = character_nbytes((const unsigned char *)text)) > 0)
        text += n;
    return text;
}

void utf8_repair(char *text)
{
    while (*(text = utf8_find_error(text)))
        *text = '?';
}
