/* SPDX-License-Identifier: MIT */
#include "container.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "sample_format.h"

/* Files of fewer bytes than a WAV file's header are not looked at. */
enum { HEAD_NBYTES = 512, MIN_HEAD_NBYTES = 44 };

/* Reads a little-endian number of n bytes. */
static uint32_t number(const unsigned char *bytes, int n)
{
    uint32_t value = 0;
    while (n-- > 0)
        value = value << 8 | bytes[n];
    return value;
}

/* The place and the format of samples. */
struct samples {
    uint64_t begin, nbytes; /* nbytes 0: all that is left */
    const char *format;     /* NULL: none of ours */
    unsigned channels;
};

/* Prints what a file is and which options read its samples. Returns false. */
static bool refuse(const struct input_file *file, const char *what, struct samples samples)
{
    char channel[48] = "", count[48] = "";
    const uint64_t rest = file->n_left - samples.begin, channels = samples.channels;
    if (!samples.format || channels == 0)
        return message_print(file->name, "%s whose values are no I and Q of a format that --input-format has", what);
    const int kind = sample_format_choose(FILE_SYMBOLS_IN, "--input-format", samples.format, "");
    if (channels > 1)
        snprintf(channel, sizeof channel, " --channel K/%" PRIu64, channels);
    if (samples.nbytes > 0 && samples.nbytes < rest)
        snprintf(count, sizeof count, " --count %" PRIu64,
                 samples.nbytes / channels / file_formats[kind].symbol_nbytes);
    return message_print(file->name,
                         "%s, whose samples begin after its header: give -i %s --header-bytes %" PRIu64 "%s%s", what,
                         samples.format, samples.begin, channel, count);
}

static bool refuse_wav(const struct input_file *file)
{
    enum { MOST_CHUNKS = 64 };
    static const struct {
        unsigned kind, bits;
        const char *name;
    } formats[] = {{1, 8, "cu8"}, {1, 16, "cs16"}, {1, 32, "cs32"}, {3, 32, "cf32"}, {3, 64, "cf64"}};
    unsigned char chunk[40] = {0};
    unsigned kind = 0, bits = 0, channels = 0;
    const char *format = NULL;
    uint64_t place = 12;
    int n_chunks = 0;
    while (pread(file->fd, chunk, sizeof chunk, file->start + (off_t)place) >= 8 && memcmp(chunk, "data", 4) != 0 &&
           n_chunks++ < MOST_CHUNKS) {
        if (!memcmp(chunk, "fmt ", 4)) {
            kind = number(chunk + 8, 2);
            kind = kind == 0xfffe ? number(chunk + 32, 2) : kind;
            channels = number(chunk + 10, 2);
            bits = number(chunk + 22, 2);
        }
        place += 8 + ((uint64_t)number(chunk + 4, 4) + 1) / 2 * 2;
    }
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (formats[i].kind == kind && formats[i].bits == bits && channels % 2 == 0 && !memcmp(chunk, "data", 4))
            format = formats[i].name;
    const uint32_t nbytes = number(chunk + 4, 4);
    return refuse(file, "a WAV file",
                  (struct samples){place + 8, nbytes == UINT32_MAX ? 0 : nbytes, format, channels / 2});
}

static bool refuse_npy(const struct input_file *file, const unsigned char *head)
{
    static const char *const types[][2] = {{"'<c8'", "cf32"},   {"'<c16'", "cf64"}, {"'<f4'", "cf32"},
                                           {"'<f8'", "cf64"},   {"'<f2'", "cf16"},  {"'<i2'", "cs16"},
                                           {"'|i1'", "cs8"},    {"'|u1'", "cu8"},   {"'<i4'", "cs32"},
                                           {"'>c8'", "cf32be"}, {"'>i2'", "cs16be"}};
    const unsigned size = head[6] == 1 ? 2 : 4;
    const char *format = NULL, *text = (const char *)head + 8 + size, *shape = strstr(text, "'shape': "),
               *end = shape ? strchr(shape, ')') : NULL;
    bool is_complex = false, is_apart = strstr(text, "'fortran_order': True") != NULL;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (memmem(head, 128, types[i][0], strlen(types[i][0]))) {
            format = types[i][1];
            is_complex = types[i][0][2] == 'c';
        }
    is_apart = is_apart || (end && end[-1] != ',' && !is_complex && strncmp(end - 3, ", 2", 3) != 0);
    if (is_apart)
        return message_print(file->name, "a NumPy array in which I and Q do not alternate; save it as complex64");
    return refuse(file, "a NumPy array", (struct samples){8 + size + number(head + 8, (int)size), 0, format, 1});
}

/* Returns the checksum of an .sdriq header. */
static uint32_t crc32(const unsigned char *bytes, size_t n)
{
    uint32_t crc = ~UINT32_C(0);
    for (size_t i = 0; i < 8 * n; i++)
        crc = crc >> 1 ^ ((crc ^ bytes[i / 8] >> i % 8) & 1 ? UINT32_C(0xedb88320) : 0);
    return ~crc;
}

/* Reads a regular file's first bytes, or none. */
static ssize_t read_head(const struct input_file *file, unsigned char head[HEAD_NBYTES + 1])
{
    memset(head, 0, HEAD_NBYTES + 1);
    return file->is_regular ? pread(file->fd, head, HEAD_NBYTES, file->start) : 0;
}

static bool is_npy(const unsigned char *head) { return !memcmp(head, "\x93NUMPY", 6); }

bool container_check_values(const struct input_file *file)
{
    unsigned char head[HEAD_NBYTES + 1];
    const ssize_t n = read_head(file, head);
    if (n < MIN_HEAD_NBYTES)
        return true;
    if (is_npy(head))
        return message_print(file->name, "a NumPy array, which has a header; write its values by tofile()");
    /* Lines of numbers: floats of one value may look like other text. */
    const bool is_text =
        strspn((const char *)head, "0123456789+-.eE,; \t\r\n") >= (size_t)n && memchr(head, '\n', (size_t)n);
    return !is_text || message_print(file->name, "text, not 32-bit floats");
}

bool container_check(const struct input_file *file)
{
    static const struct {
        const char *magic, *what;
        size_t place;
    } others[] = {{"\x1f\x8b\x08", "compressed; gunzip it", 0},
                  {"\x28\xb5\x2f\xfd", "compressed; unzstd it", 0},
                  {"\xfd\x37zXZ", "compressed; unxz it", 0},
                  {"1AY&SY", "compressed; bunzip2 it", 4},
                  {"fLaC", "compressed; decode it with flac", 0},
                  {"AIFF", "an AIFF file; write its samples to a file of their own", 8},
                  {"riff\x2e\x91\xcf\x11", "a Wave64 file; write its samples to a file of their own", 0},
                  {"BLUE", "a BLUE file, whose samples begin after its header: give -i and --header-bytes 512", 0},
                  {"PK\3\4", "a ZIP archive; unpack it", 0},
                  {"ustar", "a tar archive; unpack it", 257},
                  {"\x89HDF", "an HDF5 file; write its samples to a file of their own", 0},
                  {"MATLAB 5.0", "a MAT file; write its samples by fwrite", 0}};
    unsigned char head[HEAD_NBYTES + 1];
    const ssize_t n = read_head(file, head);
    ssize_t n_text = 0;
    if (n < MIN_HEAD_NBYTES)
        return true;
    if ((!memcmp(head, "RIFF", 4) || !memcmp(head, "RF64", 4)) && !memcmp(head + 8, "WAVE", 4))
        return refuse_wav(file);
    if (is_npy(head))
        return refuse_npy(file, head);
    if (number(head + 28, 4) == crc32(head, 28))
        return refuse(file, "an SDRangel recording",
                      (struct samples){32, 0, number(head + 20, 4) == 16 ? "cs16" : "cs32", 1});
    if (memmem(head, (size_t)n, "rx_rate", 7))
        return message_print(
            file->name,
            "GNU Radio's metadata lie among its samples; record with a detached header, or by a plain file sink");
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (!memcmp(head + others[i].place, others[i].magic, strlen(others[i].magic)))
            return message_print(file->name, "%s", others[i].what);
    /* ASCII, or two bytes of UTF-8, in lines: int8 samples of one point of QPSK are printable, too. */
    for (int step = 1; n_text < n && step > 0; n_text += step)
        step = isprint(head[n_text]) || isspace(head[n_text])         ? 1
               : head[n_text] >> 5 == 6 && head[n_text + 1] >> 6 == 2 ? 2
                                                                      : 0;
    const bool is_text = n_text >= n && strpbrk((const char *)head, "\r\n");
    return !is_text || message_print(file->name, "text, not samples");
}
