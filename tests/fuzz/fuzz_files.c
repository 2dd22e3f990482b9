/* SPDX-License-Identifier: MIT */
/* Any file of symbols, with any file of noise variances, descrambled or not, in bit planes or not: softqam-demod as a
 * whole, in this process, from files in memory to /dev/null. It succeeds just if both are whole and fit together, and
 * the symbols do not begin like a file of another kind. */
#include <sys/mman.h>
#include <unistd.h>

#include "common/container.h"
#include "common/file.h"
#include "fuzz.h"

/* Returns whether these bytes begin like a file of another kind, such as a WAV file or text. */
static bool is_of_another_kind(const uint8_t *bytes, size_t nbytes)
{
    const struct input_file file = {.fd = memfd_create("x", 0), .is_regular = true, .name = "x"};
    require(file.fd >= 0 && write(file.fd, bytes, nbytes) == (ssize_t)nbytes);
    const bool is_other = !container_check(&file);
    close(file.fd);
    return is_other;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    static const char *const inputs[] = {"cf32", "cs16", "cs8", "cf16", "cu8", "cs32", "cf64", "cs16"},
                             *const outputs[] = {"u8", "s8", "f16", "f32"},
                             *const noises[] = {"--snr-db 20", "--snr-db 20", "--noise-var auto", "--noise-file @n0"},
                             *const planes[] = {"", "--planes 1", "--planes 7", "--planes 1000"};
    static const size_t sizes[] = {8, 4, 2, 4, 2, 8, 16, 4};
    if (nbytes < 2)
        return 0;
    const unsigned input = (data[0] & 3) | (data[1] >> 3 & 4), output = data[0] >> 2 & 3, noise = data[0] >> 4 & 3;
    const bool verify = (data[0] & 0xc0) == 0xc0, stats = data[0] >> 6 & 1, has_file = output && noise == 3;
    const bool takes_options = output && !has_file;
    size_t n_noise = has_file ? data[1] * sizeof(float) + (data[1] & 1 ? 0 : data[1] >> 6) : 0;
    n_noise = n_noise < nbytes - 2 ? n_noise : nbytes - 2;
    const size_t symbols_nbytes = nbytes - 2 - n_noise;
    folder_put("x", data + 2 + n_noise, symbols_nbytes);
    folder_put("n0", data + 2, n_noise);
    const int code =
        demod_call("-q --backend cpu --threads 1 -i %s -o %s %s %s %s %s %s @x /dev/null", inputs[input],
                   outputs[output], output ? noises[noise] : "", takes_options && data[1] & 1 ? "--c-init 0x2345" : "",
                   takes_options ? planes[data[1] >> 1 & 3] : "", verify ? "--verify" : "", stats ? "--stats" : "");
    const bool whole = symbols_nbytes % sizes[input] == 0;
    const bool fits = !has_file || n_noise == symbols_nbytes / sizes[input] * sizeof(float);
    /* Without a finite symbol nothing can be estimated. */
    require(code == 0 || code == 1);
    require((code == 0) == (whole && fits) || (code == 1 && output && noise == 2) ||
            (code == 1 && is_of_another_kind(data + 2 + n_noise, symbols_nbytes)));
    require(folder_clear() == 2);
    return 0;
}
