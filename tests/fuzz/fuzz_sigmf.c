/* SPDX-License-Identifier: MIT */
/* Any metadata with any data: softqam-demod as a whole accepts a recording and writes what --verify expects of the
 * samples; or one line says why not, and no file is left. tests/tools/test_sigmf.py and test_bad_input.py prove what it
 * accepts. */
#include <softqam/softqam.h>

#include "common/sample_format.h"
#include "fuzz.h"

#define DATA_NAME "x.sigmf-data"
#define META_NAME "x.sigmf-meta"

/* Input: one byte for the options, two for the length of the data, then the metadata and the data. */
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
    folder_put(META_NAME, data, nbytes - n_data);
    folder_put(DATA_NAME, data + nbytes - n_data, n_data);
    const int code =
        demod_call("-q --backend cpu --threads 1 -m 256qam --c-init none -o %s %s %s @%s @y",
                   sample_format_name((enum output_kind)format), format != SOFTQAM_OUTPUT_U8 ? "--noise-var 0.25" : "",
                   what & 0x80 ? "--verify" : "", names[what >> 4 & 3]);
    require(code >= 0 && code <= 2);
    if (code == 0)
        require(folder_size("y") % softqam_output_nbytes(format, SOFTQAM_MODULATION_256QAM, 1) == 0);
    require(folder_clear() == (size_t)(code == 0 ? 3 : 2));
    return 0;
}
