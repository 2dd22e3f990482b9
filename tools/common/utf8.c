/* SPDX-License-Identifier: MIT */
#include "utf8.h"

#include <stddef.h>

/* By the first byte of a character: how many follow it, and between which ends the first of these is. */
static const struct {
    unsigned char first, last, n_following, low, high;
} forms[] = {{0x01, 0x7f, 0, 0, 0},       {0xc2, 0xdf, 1, 0x80, 0xbf}, {0xe0, 0xe0, 2, 0xa0, 0xbf},
             {0xe1, 0xec, 2, 0x80, 0xbf}, {0xed, 0xed, 2, 0x80, 0x9f}, {0xee, 0xef, 2, 0x80, 0xbf},
             {0xf0, 0xf0, 3, 0x90, 0xbf}, {0xf1, 0xf3, 3, 0x80, 0xbf}, {0xf4, 0xf4, 3, 0x80, 0x8f}};

/* Bytes of the character at the start of a text; 0 where there is none. */
static size_t character_nbytes(const unsigned char *text)
{
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (text[0] < forms[i].first || text[0] > forms[i].last)
            continue;
        for (size_t k = 1; k <= forms[i].n_following; k++)
            if (text[k] < (k == 1 ? forms[i].low : 0x80) || text[k] > (k == 1 ? forms[i].high : 0xbf))
                return 0;
        return 1 + (size_t)forms[i].n_following;
    }
    return 0;
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
