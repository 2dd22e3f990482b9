/* SPDX-License-Identifier: MIT */
/* How the layers of a segment lie relative to each other, for hosts and kernels. */
#ifndef SOFTQAM_LAYERS_H
#define SOFTQAM_LAYERS_H

#include <stdbool.h>
#include <stddef.h>

#include <softqam/softqam.h>

#include "host_device.h"

/* Whether all layers are interleaved, [resource element][layer], as equalisers write them: the segment's symbols then
 * lie side by side in the order of the codeword, and so does its noise, as if it had one layer. */
HOST_AND_DEVICE static inline bool softqam_layers_are_interleaved(const softqam_segment *segment, size_t symbol_nbytes)
{
    const softqam_layer *layers = segment->layers;
    const unsigned n_layers = segment->n_layers;
    if (n_layers < 2 || n_layers > SOFTQAM_MAX_LAYERS || segment->symbol_stride != n_layers ||
        segment->noise_stride != n_layers || layers[0].symbols_q)
        return false;
    for (unsigned k = 1; k < n_layers; k++)
        if (layers[k].symbols_q ||
            layers[k].symbols != (const void *)((const unsigned char *)layers[0].symbols + k * symbol_nbytes) ||
            layers[k].noise_var != layers[0].noise_var + k || (layers[0].gain && layers[k].gain != layers[0].gain + k))
            return false;
    return true;
}

#endif
