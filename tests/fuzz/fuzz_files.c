/* SPDX-License-Identifier: MIT */
/* Any file of symbols, with any file of noise variances, descrambled or not, in bit planes or not: softqam-demod as a
 * whole, in this process, from files in memory to /dev/null. It succeeds just where both are whole and fit together. */
#include <limits.h>
#include <stdio.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    static const char *const inputs[] = {"cf32", "cs16", "cs8", "cf16", "cu8", "cs32", "cf64", "cs16"},
                             *const outputs[] = {"u8", "s8", "f16", "f32"},
                             *const code_blocks[] = {NULL, "1", "7", "1000"};
    static const size_t sizes[] = {8, 4, 2, 4, 2, 8, 16, 4};
    if (nbytes < 2)
        return 0;
    const unsigned input = (data[0] & 3) | (data[1] >> 3 & 4), output = data[0] >> 2 & 3, noise = data[0] >> 4 & 3;
    const bool verify = (data[0] & 0xc0) == 0xc0, stats = data[0] >> 6 & 1;
    size_t n_noise = output && noise == 3 ? data[1] * sizeof(float) + (data[1] & 1 ? 0 : data[1] >> 6) : 0;
    n_noise = n_noise < nbytes - 2 ? n_noise : nbytes - 2;
    const size_t symbols_nbytes = nbytes - 2 - n_noise;
    char symbols_path[PATH_MAX], noise_path[PATH_MAX];
    snprintf(symbols_path, sizeof symbols_path, "%s/x", folder_path());
    snprintf(noise_path, sizeof noise_path, "%s/n0", folder_path());
    folder_put("x", data + 2 + n_noise, symbols_nbytes);
    folder_put("n0", data + 2, n_noise);
    const char *argv[24] = {"demod", "-q", "--backend",   "cpu", "--threads",
                            "1",     "-i", inputs[input], "-o",  outputs[output]};
    int argc = 10;
    if (output) {
        argv[argc++] = noise == 3 ? "--noise-file" : noise == 2 ? "--noise-var" : "--snr-db";
        argv[argc++] = noise == 3 ? noise_path : noise == 2 ? "auto" : "20";
    }
    if (output && noise != 3 && data[1] & 1) {
        argv[argc++] = "--c-init";
        argv[argc++] = "0x2345";
    }
    if (output && noise != 3 && code_blocks[data[1] >> 1 & 3]) {
        argv[argc++] = "--planes";
        argv[argc++] = code_blocks[data[1] >> 1 & 3];
    }
    if (verify)
        argv[argc++] = "--verify";
    if (stats)
        argv[argc++] = "--stats";
    argv[argc++] = symbols_path;
    argv[argc++] = "/dev/null";
    const int code = demod_call(argc, argv);
    const bool whole = symbols_nbytes % sizes[input] == 0;
    const bool fits = !output || noise != 3 || n_noise == symbols_nbytes / sizes[input] * sizeof(float);
    /* Without a finite symbol nothing can be estimated. */
    require(code == 0 || code == 1);
    require((code == 0) == (whole && fits) || (code == 1 && output && noise == 2));
    require(folder_clear() == 2);
    return 0;
}
