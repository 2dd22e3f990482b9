/* SPDX-License-Identifier: MIT */
/* Any metadata beside any data: softqam-demod as a whole takes a recording just where a second reading of its metadata
 * does, and gives the library's bytes for the samples that lie between what are none; where it refuses, one line says
 * why and no file is left. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <cjson/cJSON.h>
#include <softqam/softqam.h>

#include "common/file_format.h"
#include "common/utf8.h"
#include "demod_call.h"
#include "fuzz.h"

#define DATA_NAME "x.sigmf-data"
#define META_NAME "x.sigmf-meta"

enum { MAX_TEXT = 4096 };

/* How softqam-demod is called. */
typedef struct command {
    softqam_output_format format;
    bool verify;
    const char *input_name;
} command;

/* A recording, and what a reading of its metadata says of it. */
typedef struct recording {
    const char *text;
    size_t text_nbytes;
    const uint8_t *data;
    size_t data_nbytes;
    cJSON *document;
    enum file_format format;
    bool swap;
    float scale;
    size_t header, n_symbols;
} recording;

/* Metadata from a few bytes, most of them in order: where fields lie is then nothing that a fuzzer must find. */
static void compose(const uint8_t *fields, size_t n_fields, char text[MAX_TEXT])
{
    static const char *const datatypes[] = {"cf32_le", "cf32_be", "ci16_le", "ci16_be", "ci8", "cf64_le",
                                            "ru8",     "ci16",    "cf64_be", "ci32_le", "cu8", "ci32_be"};
    static const char *const extensions[] = {"",
                                             ",\"core:version\":\"1.0.0\"",
                                             ",\"core:version\":\"2.0.0\"",
                                             ",\"core:extensions\":[{\"name\":\"a\",\"optional\":true}]",
                                             ",\"core:extensions\":[{\"name\":\"a\",\"optional\":false}]",
                                             ",\"n\":12345678901234567890.00"};
    static const char *const channels[] = {"", ",\"core:num_channels\":1", ",\"core:num_channels\":2",
                                           ",\"core:num_channels\":1.5"};
    static const char *const scales[] = {"", ",\"softqam:input_scale\":0.25", ",\"softqam:input_scale\":0",
                                         ",\"softqam:input_scale\":1e-46", ",\"softqam:input_scale\":\"1\""};
    static const char *const sets[] = {"", ",\"core:dataset\":\"" DATA_NAME "\"", ",\"core:dataset\":\"none\"",
                                       ",\"core:dataset\":\"../x\"", ",\"core:metadata_only\":true"};
    uint8_t f[16] = {0};
    memcpy(f, fields, n_fields < sizeof f ? n_fields : sizeof f);
    int n = snprintf(text, MAX_TEXT, "{\"global\":{\"core:datatype\":\"%s\"%s%s%s%s,\"core:trailing_bytes\":%d}",
                     datatypes[f[0] % 12], channels[f[1] % 4], scales[f[2] % 5], sets[f[3] % 5], extensions[f[15] % 6],
                     f[4] % 32);
    for (int k = 0; k < f[7] % 4; k++) {
        n += snprintf(text + n, (size_t)(MAX_TEXT - n),
                      "%s{\"core:sample_start\":%d,\"core:header_bytes\":%d,\"core:frequency\":1e%d}",
                      k ? "," : ",\"captures\":[", f[8 + k], k && f[11] % 8 ? 0 : f[12] % 32, f[13 + k % 3] * 2);
    }
    snprintf(text + n, (size_t)(MAX_TEXT - n), f[7] % 4 ? "]}" : "}");
}

static const cJSON *member(const recording *self, const char *object, const char *name)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(self->document, object);
    return name ? cJSON_GetObjectItemCaseSensitive(found, name) : found;
}

/* A whole number up to 2^53; -1 for what is none. */
static double count_of(const cJSON *item, double absent)
{
    const double value = !item ? absent : cJSON_IsNumber(item) ? item->valuedouble : -1;
    return value >= 0 && value <= 0x1p53 && value == floor(value) ? value : -1;
}

static bool read_datatype(recording *self)
{
    static const struct {
        const char *name;
        enum file_format format;
    } known[] = {{"cf32", FILE_CF32}, {"cf64", FILE_CF64}, {"ci32", FILE_CS32},
                 {"ci16", FILE_CS16}, {"ci8", FILE_CS8},   {"cu8", FILE_CU8}};
    const char *text = cJSON_GetStringValue(member(self, "global", "core:datatype"));
    for (size_t i = 0; text && i < sizeof known / sizeof known[0]; i++) {
        const size_t n = strlen(known[i].name);
        if (strncmp(text, known[i].name, n) != 0)
            continue;
        self->format = known[i].format;
        self->swap = strcmp(text + n, "_be") == 0;
        return n == 3 ? text[n] == '\0' : self->swap || strcmp(text + n, "_le") == 0;
    }
    return false;
}

/* Three numbers, the first of them 0 or 1. */
static bool is_version(const char *text)
{
    unsigned long numbers[3] = {0};
    for (int k = 0; k < 3; k++) {
        const size_t n = strspn(text, "0123456789");
        if (n == 0 || n > 3 || text[n] != (k < 2 ? '.' : '\0'))
            return false;
        numbers[k] = strtoul(text, NULL, 10);
        text += n + 1;
    }
    return numbers[0] < 2;
}

/* Whether every object has each name once. */
static bool names_are_single(const cJSON *item)
{
    for (const cJSON *child = item->child; child; child = child->next) {
        for (const cJSON *other = child->next; other && cJSON_IsObject(item); other = other->next)
            if (strcmp(child->string, other->string) == 0)
                return false;
        if (!names_are_single(child))
            return false;
    }
    return true;
}

/* Whether the text holds what C's strings can, in UTF-8. */
static bool is_clean(const recording *self)
{
    char text[MAX_TEXT];
    memcpy(text, self->text, self->text_nbytes + 1);
    for (size_t i = 0; i + 1 < self->text_nbytes; i += text[i] == '\\' ? 2 : 1)
        if (strncmp(text + i, "\\u0000", 6) == 0)
            return false;
    return utf8_find_error(text) == text + self->text_nbytes;
}

static bool check_modulation(const recording *self)
{
    static const char *const known[] = {"bpsk", "pi2-bpsk", "qpsk", "16qam", "64qam", "256qam", "1024qam"};
    const cJSON *item = member(self, "global", "softqam:modulation");
    const double c_init = count_of(member(self, "global", "softqam:c_init"), 0);
    bool found = !item;
    for (size_t i = 0; cJSON_IsString(item) && i < sizeof known / sizeof known[0]; i++)
        found = found || strcasecmp(item->valuestring, known[i]) == 0;
    return found && c_init >= 0 && c_init <= INT32_MAX;
}

/* Whether nothing is wanted that only later versions or other extensions have. */
static bool check_requirements(const recording *self)
{
    const char *version = cJSON_GetStringValue(member(self, "global", "core:version"));
    const cJSON *extensions = member(self, "global", "core:extensions");
    for (const cJSON *item = extensions ? extensions->child : NULL; item; item = item->next) {
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "name"));
        if (cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(item, "optional")) &&
            (!name || strcmp(name, "softqam") != 0))
            return false;
    }
    return !member(self, "global", "core:version") || (version && is_version(version));
}

static bool read_scale(recording *self)
{
    const cJSON *item = member(self, "global", "softqam:input_scale");
    self->scale = file_format_default_scale(self->format);
    if (!item)
        return true;
    if (!cJSON_IsNumber(item) || !(item->valuedouble >= (double)FLT_MIN && item->valuedouble <= (double)FLT_MAX))
        return false;
    self->scale = (float)item->valuedouble;
    return true;
}

/* Where the samples are. */
static bool read_place(recording *self)
{
    const cJSON *captures = member(self, "captures", NULL), *dataset = member(self, "global", "core:dataset");
    const double trailer = count_of(member(self, "global", "core:trailing_bytes"), 0);
    double header = 0;
    for (const cJSON *capture = captures ? captures->child : NULL; capture; capture = capture->next) {
        const double n = count_of(cJSON_GetObjectItemCaseSensitive(capture, "core:header_bytes"), 0);
        if (n < 0 || (n > 0 && capture != captures->child))
            return false;
        header += n;
    }
    const double rest = (double)self->data_nbytes - header - trailer;
    const double symbol_nbytes = (double)file_format_symbol_nbytes(self->format);
    if (trailer < 0 || rest < 0 || fmod(rest, symbol_nbytes) != 0)
        return false;
    self->header = (size_t)header;
    self->n_symbols = (size_t)(rest / symbol_nbytes);
    /* In this folder there are two files, and in /dev/shm or /tmp none that a name without a slash could reach. */
    return !cJSON_IsTrue(member(self, "global", "core:metadata_only")) &&
           (!dataset || (cJSON_IsString(dataset) && strcmp(dataset->valuestring, DATA_NAME) == 0));
}

/* Whether the recording should be taken. The document stays open. */
static bool read_again(recording *self)
{
    const char *end = NULL;
    self->document = cJSON_ParseWithLengthOpts(self->text, self->text_nbytes + 1, &end, 1);
    return self->document && is_clean(self) && names_are_single(self->document) &&
           cJSON_IsObject(member(self, "global", NULL)) && check_modulation(self) && check_requirements(self) &&
           read_datatype(self) && count_of(member(self, "global", "core:num_channels"), 1) == 1 && read_scale(self) &&
           read_place(self);
}

static uint8_t *expected_output(const recording *self, const command *how, size_t *nbytes)
{
    const float noise_var = 0.25F;
    const size_t component = file_format_symbol_nbytes(self->format) / 2, n = 2 * self->n_symbols;
    uint8_t *samples = malloc(n * component + 1), *out;
    *nbytes = softqam_output_nbytes(how->format, SOFTQAM_MODULATION_256QAM, self->n_symbols);
    out = malloc(*nbytes + 1);
    require(samples && out);
    memcpy(samples, self->data + self->header, n * component);
    for (size_t i = 0; i < n * component && self->swap; i++) {
        const size_t first = i / component * component;
        samples[i] = self->data[self->header + first + (component - 1 - (i - first))];
    }
    file_format_convert(self->format, samples, self->n_symbols);
    softqam_context_config where;
    softqam_context_config_init(&where);
    where.backend = SOFTQAM_BACKEND_CPU;
    where.cpu_variant = "portable";
    where.n_threads = 1;
    softqam_demodulator_config config;
    softqam_demodulator_config_init(&config);
    require(softqam_context_create(&config.context, &where) == SOFTQAM_OK);
    config.input_format = file_format_library(self->format);
    config.input_scale = self->scale;
    config.output_format = how->format;
    config.noise = SOFTQAM_NOISE_PER_CALL;
    softqam_demodulator *demodulator;
    require(softqam_demodulator_create(&demodulator, &config) == SOFTQAM_OK);
    const float *noise = how->format == SOFTQAM_OUTPUT_U8 ? NULL : &noise_var;
    require(softqam_demodulate(demodulator, samples, noise, self->n_symbols, out) == SOFTQAM_OK);
    softqam_demodulator_destroy(demodulator);
    softqam_context_destroy(config.context);
    free(samples);
    return out;
}

static int call(const command *how)
{
    static const char *const formats[] = {[SOFTQAM_OUTPUT_S8] = "s8",
                                          [SOFTQAM_OUTPUT_S16] = "s16",
                                          [SOFTQAM_OUTPUT_F16] = "f16",
                                          [SOFTQAM_OUTPUT_F32] = "f32",
                                          [SOFTQAM_OUTPUT_U8] = "u8"};
    char input[PATH_MAX], output[PATH_MAX];
    const char *argv[20] = {"demod", "-q",     "--backend", "cpu",  "--threads", "1",
                            "-m",    "256qam", "--c-init",  "none", "-o",        formats[how->format]};
    int argc = 12;
    if (how->format != SOFTQAM_OUTPUT_U8) {
        argv[argc++] = "--noise-var";
        argv[argc++] = "0.25";
    }
    if (how->verify)
        argv[argc++] = "--verify";
    snprintf(input, sizeof input, "%s/%s", folder_path(), how->input_name);
    snprintf(output, sizeof output, "%s/y", folder_path());
    argv[argc++] = input;
    argv[argc++] = output;
    return demod_call(argc, argv);
}

static void check(recording *self, const command *how)
{
    const bool sound = read_again(self);
    folder_put(META_NAME, self->text, self->text_nbytes);
    folder_put(DATA_NAME, self->data, self->data_nbytes);
    const int code = call(how);
    require(code >= 0 && code <= 2 && (code == 0) == sound);
    if (sound) {
        size_t expected_nbytes, nbytes = 0;
        uint8_t *expected = expected_output(self, how, &expected_nbytes);
        uint8_t *out = folder_get("y", &nbytes);
        require(out && nbytes == expected_nbytes && memcmp(out, expected, nbytes) == 0);
        free(out);
        free(expected);
    }
    require(folder_clear() == (size_t)(sound ? 3 : 2));
    cJSON_Delete(self->document);
}

/* How it is called; how much of the end is data, in two bytes; the metadata, or fields of them; the data. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    static const char *const names[] = {META_NAME, DATA_NAME, "x", META_NAME};
    if (nbytes < 3)
        return 0;
    const uint8_t what = data[0];
    const command how = {.format = (softqam_output_format)(data[1] % (SOFTQAM_OUTPUT_U8 + 1)),
                         .verify = what & 0x80,
                         .input_name = names[what >> 4 & 3]};
    size_t n_data = (size_t)data[1] | (size_t)data[2] << 8;
    nbytes -= 3;
    data += 3;
    n_data = n_data < nbytes ? n_data : nbytes;
    char text[MAX_TEXT];
    recording self = {.text = text, .data = data + nbytes - n_data, .data_nbytes = n_data};
    if (what & 0x40) {
        self.text_nbytes = nbytes - n_data < MAX_TEXT ? nbytes - n_data : MAX_TEXT - 1;
        memcpy(text, data, self.text_nbytes);
        text[self.text_nbytes] = '\0';
    } else {
        compose(data, nbytes - n_data, text);
        self.text_nbytes = strlen(text);
    }
    check(&self, &how);
    return 0;
}
