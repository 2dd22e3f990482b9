/* SPDX-License-Identifier: MIT */
/* Any metadata beside any data: softqam-demod as a whole takes a recording, and its output is what --verify expects of
 * the samples; or one line says why not, and no file is left. What is taken is a matter of tests/tools/test_sigmf.py
 * and test_bad_input.py. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <softqam/softqam.h>

#include "common/sample_format.h"
#include "fuzz.h"

#define DATA_NAME "x.sigmf-data"
#define META_NAME "x.sigmf-meta"

enum { MAX_TEXT = 4096 };

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

static int call(softqam_output_format format, bool verify, const char *input_name)
{
    char input[PATH_MAX], output[PATH_MAX];
    const char *argv[20] = {"demod", "-q",     "--backend", "cpu",  "--threads", "1",
                            "-m",    "256qam", "--c-init",  "none", "-o",        sample_format_output_name(format)};
    int argc = 12;
    if (format != SOFTQAM_OUTPUT_U8) {
        argv[argc++] = "--noise-var";
        argv[argc++] = "0.25";
    }
    if (verify)
        argv[argc++] = "--verify";
    snprintf(input, sizeof input, "%s/%s", folder_path(), input_name);
    snprintf(output, sizeof output, "%s/y", folder_path());
    argv[argc++] = input;
    argv[argc++] = output;
    return demod_call(argc, argv);
}

/* How it is called; how much of the end is data, in two bytes; the metadata, or fields of them; the data. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    static const char *const names[] = {META_NAME, DATA_NAME, "x", META_NAME};
    if (nbytes < 3)
        return 0;
    const uint8_t what = data[0];
    const softqam_output_format format = (softqam_output_format)(data[1] % N_LIBRARY_FORMATS);
    size_t n_data = (size_t)data[1] | (size_t)data[2] << 8;
    nbytes -= 3;
    data += 3;
    n_data = n_data < nbytes ? n_data : nbytes;
    const size_t n_meta = nbytes - n_data;
    char text[MAX_TEXT];
    compose(data, n_meta, text);
    if (what & 0x40)
        folder_put(META_NAME, data, n_meta);
    else
        folder_put(META_NAME, text, strlen(text));
    folder_put(DATA_NAME, data + n_meta, n_data);
    const int code = call(format, what & 0x80, names[what >> 4 & 3]);
    require(code >= 0 && code <= 2);
    if (code == 0) {
        size_t n_out = 0;
        uint8_t *out = folder_get("y", &n_out);
        require(out && n_out % softqam_output_nbytes(format, SOFTQAM_MODULATION_256QAM, 1) == 0);
        free(out);
    }
    require(folder_clear() == (size_t)(code == 0 ? 3 : 2));
    return 0;
}
