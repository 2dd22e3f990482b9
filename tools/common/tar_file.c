/* SPDX-License-Identifier: MIT */
#include "tar_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

enum { BLOCK_NBYTES = 512, MAX_EXTENSION_NBYTES = 1 << 16 };

/* POSIX.1-1988 (ustar); GNU's has no prefix, and two blanks for the end of the magic and the version. */
struct header {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100], magic[6], version[2],
        user[32], group[32], major[8], minor[8], prefix[155], rest[12];
};

_Static_assert(sizeof(struct header) == BLOCK_NBYTES, "a tar header is one block");

/* What extended headers say of the member after them. */
struct extension {
    char name[PATH_MAX]; /* "" where it is not given */
    bool has_size;
    uint64_t nbytes;
};

bool tar_file_open(struct tar_file *tar, const char *path)
{
    tar->next = 0;
    if (!input_file_open(&tar->file, path))
        return false;
    if (tar->file.nbytes >= 0)
        return true;
    message_print(path, "not a regular file, as an archive must be");
    return false;
}

void tar_file_rewind(struct tar_file *tar)
{
    tar->next = 0;
}

void tar_file_close(struct tar_file *tar)
{
    input_file_close(&tar->file);
}

static bool complain(const struct tar_file *tar, const char *cause)
{
    message_print(tar->file.name, "not an archive that can be read: %s at byte %llu", cause,
                  (unsigned long long)tar->next);
    return false;
}

/* Octal digits; or, GNU's, a binary number with the highest bit set. */
static bool parse_number(const char *field, size_t nbytes, uint64_t *value)
{
    const unsigned char *bytes = (const unsigned char *)field;
    size_t i = 0;
    *value = 0;
    if (bytes[0] == 0x80) {
        for (i = 1; i < nbytes; i++) {
            if (*value >> 55)
                return false;
            *value = *value << 8 | bytes[i];
        }
        return true;
    }
    while (i < nbytes && field[i] == ' ')
        i++;
    for (; i < nbytes && field[i] >= '0' && field[i] <= '7'; i++)
        *value = *value << 3 | (uint64_t)(field[i] - '0');
    return i == nbytes || field[i] == ' ' || field[i] == '\0';
}

/* The sum of all bytes, those of the field itself being blanks. */
static bool check_sum(const struct header *header)
{
    const unsigned char *bytes = (const unsigned char *)header;
    uint64_t sum = 0, expected;
    for (size_t i = 0; i < BLOCK_NBYTES; i++)
        sum += i >= offsetof(struct header, checksum) && i < offsetof(struct header, type) ? ' ' : bytes[i];
    return parse_number(header->checksum, sizeof header->checksum, &expected) && sum == expected;
}

static void take_name(const struct header *header, char name[PATH_MAX])
{
    const bool has_prefix = !memcmp(header->magic, "ustar", sizeof header->magic) && header->prefix[0];
    snprintf(name, PATH_MAX, "%.*s%s%.*s", has_prefix ? (int)sizeof header->prefix : 0, header->prefix,
             has_prefix ? "/" : "", (int)sizeof header->name, header->name);
}

/* The records of POSIX's extended header: "LENGTH KEYWORD=VALUE\n". The text ends with a NUL. */
static bool parse_records(char *text, size_t nbytes, struct extension *extension)
{
    for (char *record = text; record < text + nbytes;) {
        char *field;
        const size_t left = (size_t)(text + nbytes - record), length = strtoul(record, &field, 10);
        if (*field != ' ' || length > left || length < (size_t)(field - record) + 3 || record[length - 1] != '\n')
            return false;
        record[length - 1] = '\0';
        if (!strncmp(field, " path=", 6))
            snprintf(extension->name, sizeof extension->name, "%.*s", PATH_MAX - 1, field + 6);
        if (!strncmp(field, " size=", 6)) {
            extension->has_size = true;
            extension->nbytes = strtoull(field + 6, NULL, 10);
        }
        record += length;
    }
    return true;
}

static bool read_extension(struct tar_file *tar, char type, uint64_t nbytes, struct extension *extension)
{
    char text[MAX_EXTENSION_NBYTES + 1];
    size_t n_read;
    if (nbytes > MAX_EXTENSION_NBYTES)
        return complain(tar, "an extended header that is too long");
    if (!input_file_read_at(&tar->file, tar->next + BLOCK_NBYTES, text, (size_t)nbytes, &n_read))
        return false;
    text[n_read] = '\0';
    if (type == 'L')
        snprintf(extension->name, sizeof extension->name, "%.*s", PATH_MAX - 1, text);
    else if (!parse_records(text, n_read, extension))
        return complain(tar, "an extended header that is none");
    return true;
}

/* The next header; *found is false at the end. */
static bool read_header(struct tar_file *tar, struct header *header, uint64_t *nbytes, bool *found)
{
    static const struct header end;
    size_t n_read;
    if (!input_file_read_at(&tar->file, tar->next, header, sizeof *header, &n_read))
        return false;
    *found = n_read > 0 && memcmp(header, &end, n_read) != 0;
    if (!*found && tar->next > 0)
        return true;
    if (n_read < sizeof *header || !check_sum(header) || !parse_number(header->size, sizeof header->size, nbytes))
        return complain(tar, "no tar header");
    return true;
}

static bool is_regular(char type)
{
    return type == '0' || type == '\0' || type == '7';
}

bool tar_file_next(struct tar_file *tar, struct tar_member *member, bool *found)
{
    struct header header;
    struct extension extension = {.name = ""};
    const uint64_t end = (uint64_t)tar->file.nbytes;
    while (read_header(tar, &header, &member->nbytes, found)) {
        if (!*found)
            return true;
        const bool is_extension = header.type == 'x' || header.type == 'L';
        if (!is_extension && extension.has_size)
            member->nbytes = extension.nbytes;
        member->offset = tar->next + BLOCK_NBYTES;
        if (member->offset > end || member->nbytes > end - member->offset)
            return complain(tar, "it ends within the file");
        if (is_extension && !read_extension(tar, header.type, member->nbytes, &extension))
            return false;
        tar->next = member->offset + (member->nbytes + BLOCK_NBYTES - 1) / BLOCK_NBYTES * BLOCK_NBYTES;
        if (is_extension)
            continue;
        take_name(&header, member->name);
        if (extension.name[0])
            memcpy(member->name, extension.name, sizeof member->name);
        if (is_regular(header.type))
            return true;
        extension = (struct extension){.name = ""};
    }
    return false;
}
