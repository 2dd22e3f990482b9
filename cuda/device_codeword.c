/* SPDX-License-Identifier: MIT */
/* Makes the descriptions that device functions read. */
#include "device_codeword.h"

#include <string.h>

#include <softqam/softqam_cuda.h>

#include "context.h"
#include "cuda_calls.h"
#include "gpu_object.h"
#include "launch.h"

/* Refuses what device functions do not do. */
static softqam_status check(const softqam_params *params, const softqam_segment *segment,
                            const softqam_placement *placement)
{
    REFUSE_IF(params->output_format == SOFTQAM_OUTPUT_U8, "device functions make no soft bits, only LLRs");
    REFUSE_IF(placement->modulation == SOFTQAM_MODULATION_PI2_BPSK, "device functions do not take pi/2-BPSK");
    REFUSE_IF(!placement->has_soft_buffers, "codeword.n_cb is 0: device functions write soft buffers");
    REFUSE_IF(placement->is_repeated, "a code block has more LLRs than positions: device functions add in no order");
    REFUSE_IF(segment->statistics, "segment.statistics is not NULL: device functions count in softqam::statistics");
    REFUSE_IF(!placement->out && !placement->block_buffers, "codeword.buffers is NULL");
    REFUSE_IF((uintptr_t)placement->out % placement->value_nbytes != 0,
              "device memory of the output must be aligned to %u bytes", placement->value_nbytes);
    return SOFTQAM_OK;
}

softqam_status softqam_device_codeword_init(softqam_device_codeword *description,
                                            const softqam_demodulator *demodulator, const softqam_segment *segment)
{
    REFUSE_IF(!description || !demodulator || !segment, "%s is NULL",
              !description   ? "description"
              : !demodulator ? "demodulator"
                             : "segment");
    const softqam_params *params = &demodulator->params;
    softqam_segment whole = *segment;
    softqam_resolved_segment resolved;
    softqam_gpu *gpu;
    whole.n_symbols = 0; /* device functions take symbols from registers */
    whole.first_symbol = 0;
    softqam_segment_list list = softqam_segment_list_of(params, &whole, 1);
    TRY(softqam_context_gpu(demodulator->context, &gpu));
    TRY(softqam_segment_list_check(&list));
    softqam_segment_resolve(&resolved, &whole, &params->defaults);
    TRY(check(params, segment, &resolved.placement));
    ENDED_BY(softqam_device_leave) softqam_device_scope scope;
    TRY(softqam_device_enter(&scope, gpu->device));
    device_codeword made = {.placement = resolved.placement, .limit = softqam_llr_limit_of(params)};
    TRY(softqam_cuda_status(softqam_device_gold_tables(&made.gold_tables), "finding the tables of device functions"));
    made.n_symbols =
        (uint32_t)(whole.codeword.n_bits / softqam_symbol_bits((softqam_modulation)made.placement.modulation));
    made.neighbours = made.placement.block_buffers ? 1 : softqam_neighbours(&made.placement);
    made.noise_is_inverse = resolved.source.noise_is_inverse;
    made.output_format = (uint32_t)params->output_format;
    *description = (softqam_device_codeword){{0}};
    memcpy(description, &made, sizeof made);
    return SOFTQAM_OK;
}
