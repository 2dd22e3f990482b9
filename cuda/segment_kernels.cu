/* SPDX-License-Identifier: MIT */
/* The kernels of segments without soft buffers: up to MAX_SEGMENTS, in their arguments, each with its modulation,
 * layers, strides, noise, scrambling and layout of the output. */
#include "kernel_list.h"
#include "segment_warp.cuh"

template <softqam_output_format FORMAT>
static __global__ void __launch_bounds__(BLOCK_THREADS, 8)
    segment_kernel(const __grid_constant__ softqam_common_argument common,
                   const __grid_constant__ segment_arguments segments,
                   const __grid_constant__ array_of<unsigned> first_blocks,
                   const __grid_constant__ u8_table_argument<FORMAT> u8_table)
{
    __shared__ segment_memory shared;
    let_next_kernel_begin();
    if (threadIdx.x == 0)
        shared.input_format = common.input_format;
    const block_index index = find_segment(first_blocks, common);
    const softqam_resolved_segment &segment = segments.item[index.segment];
    const block_span span = block_span_of<FORMAT>(segment, common, index.number);
    open_segment<FORMAT>(shared, segment, span, u8_table);
    demodulate_block<FORMAT, NO_JOINT>(shared, common, span, u8_table);
}

softqam_kernel softqam_segment_kernels(softqam_kernel_key key)
{
    if (key.kind != SEGMENT_KERNEL || key.axis_bits != ANY_AXIS_BITS)
        return {};
    return with_constant<N_OUTPUT_FORMATS>(key.output_format, [](auto output) -> softqam_kernel {
        constexpr auto FORMAT = static_cast<softqam_output_format>(decltype(output)::value);
        return {reinterpret_cast<const void *>(segment_kernel<FORMAT>), BLOCK_THREADS};
    });
}
