/* SPDX-License-Identifier: MIT */
#include "sigmf_numbers.h"

#include <string.h>

#include "sigmf_walk.h"

static const char *skip_string(const char *text)
{
    for (text++; *text && *text != '"'; text++)
        if (*text == '\\' && text[1])
            text++;
    return *text ? text + 1 : text;
}

/* The next number of a document that was parsed. */
static const char *find_number(const char *text)
{
    while (*text && !strchr("-0123456789", *text))
        text = *text == '"' ? skip_string(text) : text + 1;
    return text;
}

static const char *skip_digits(const char *text)
{
    return text + strspn(text, "0123456789");
}

/* Bytes of a number as JSON has it; 0 for other forms, of which cJSON takes some: 01, 1. and -.5. */
static size_t number_nbytes(const char *text)
{
    const char *c = text + (*text == '-'), *integer = c;
    c = skip_digits(c);
    if (c == integer || (*integer == '0' && c > integer + 1))
        return 0;
    if (*c == '.') {
        const char *fraction = ++c;
        c = skip_digits(c);
        if (c == fraction)
            return 0;
    }
    if (*c == 'e' || *c == 'E') {
        c += c[1] == '+' || c[1] == '-' ? 2 : 1;
        const char *exponent = c;
        c = skip_digits(c);
        if (c == exponent)
            return 0;
    }
    return (size_t)(c - text);
}

static bool keep_number(cJSON *item, const char **text)
{
    const char *number = find_number(*text);
    const size_t all = strspn(number, "+-.0123456789eE"), n = number_nbytes(number);
    *text = number + all;
    if (n == 0 || n != all)
        return true;
    item->valuestring = cJSON_malloc(n + 1);
    if (!item->valuestring)
        return false;
    memcpy(item->valuestring, number, n);
    item->valuestring[n] = '\0';
    return true;
}

bool sigmf_numbers_keep(cJSON *document, const char *text)
{
    struct sigmf_walk walk = {.depth = 0};
    for (cJSON *item = document; item; item = sigmf_walk_next(&walk, item))
        if (cJSON_IsNumber(item) && !keep_number(item, &text))
            return false;
    return true;
}

void sigmf_numbers_restore(cJSON *document)
{
    struct sigmf_walk walk = {.depth = 0};
    for (cJSON *item = document; item; item = sigmf_walk_next(&walk, item))
        if (cJSON_IsNumber(item) && item->valuestring)
            item->type = (item->type & ~0xff) | cJSON_Raw;
}
