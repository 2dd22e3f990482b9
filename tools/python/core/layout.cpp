/* SPDX-License-Identifier: MIT */
/* Shapes, broadcasting and segments, as layout.h has them. */
#include "layout.h"

#include <algorithm>

layout::layout(const call_options &of_call, softqam_modulation of_symbols)
    : options(of_call), modulation(of_symbols), bits(softqam_bits_per_symbol(of_symbols))
{
}

static bool is_complex(element type)
{
    return type == element::complex64 || type == element::complex32;
}

/* How many axes say which symbol: all, but for that of I and Q. */
static int symbol_axes(const array &symbols)
{
    if (is_complex(symbols.type))
        return symbols.n_axes;
    if (symbols.type != element::float32 && symbols.type != element::float16 && symbols.type != element::int16 &&
        symbols.type != element::int8)
        type_error(symbols, "it takes complex64, or float32, float16, int16 or int8 with a last axis of 2, I and Q");
    if (symbols.n_axes == 0 || symbols.shape[symbols.n_axes - 1] != 2)
        type_error(symbols, "without complex numbers the last axis must be 2, I and Q");
    return symbols.n_axes - 1;
}

static softqam_input_format input_format(element type)
{
    switch (type) {
    case element::complex32:
    case element::float16:
        return SOFTQAM_INPUT_CF16;
    case element::int16:
        return SOFTQAM_INPUT_CS16;
    case element::int8:
        return SOFTQAM_INPUT_CS8;
    default:
        return SOFTQAM_INPUT_CF32;
    }
}

/* Along the axis of symbols: together, or I and Q each for itself. */
bool layout::read_strides(const array &array, int axes)
{
    const int64_t itemsize = static_cast<int64_t>(element_nbytes(array.type));
    const int64_t step = n > 1 ? array.strides[axes - 1] : 0;
    const auto fits = [&](int64_t unit) { return n <= 1 || (step > 0 && step % unit == 0); };
    stride_unit = itemsize;
    if (!is_complex(array.type)) {
        q_offset = array.strides[axes];
        planes = q_offset != itemsize || !fits(2 * itemsize);
        stride_unit = planes ? itemsize : 2 * itemsize;
    }
    symbol_stride = n > 1 ? step / stride_unit : 1;
    return fits(stride_unit);
}

bool layout::read_symbols(const array &array)
{
    const int axes = symbol_axes(array);
    const bool layered = options.n_layers > 0;
    if (axes < 1 + layered)
        value_error(array, layered ? "with layers it takes [..., layers, n]" : "it takes [..., n]");
    if (layered && array.shape[axes - 2] != options.n_layers)
        value_error(array, "axis -2 of the symbols must be the " + std::to_string(options.n_layers) + " layers");
    format = input_format(array.type);
    symbols = array.data;
    n = array.shape[axes - 1];
    n_layers = layered ? options.n_layers : 1;
    layer_step = layered ? array.strides[axes - 2] : 0;
    n_batch = axes - 1 - layered;
    for (int axis = 0; axis < n_batch; axis++) {
        batch[axis] = out_shape[axis] = array.shape[axis];
        symbol_step[axis] = array.strides[axis];
        noise_step[axis] = 0;
    }
    n_out_axes = n_batch + 1;
    if (__builtin_mul_overflow(n, n_layers * bits, &out_shape[n_batch]))
        value_error(array, "its LLRs are more than memory can hold");
    if (options.block_symbols % n_layers != 0)
        value_error(array, "planes is " + std::to_string(options.block_symbols) + ", no multiple of the layers");
    return read_strides(array, axes);
}

bool layout::read_noise(const array &array)
{
    if (array.type != element::float32)
        type_error(array, "it takes float32");
    const int axes = n_batch + 1 + (options.n_layers > 0);
    int64_t shape[MAX_AXES];
    std::copy(batch, batch + n_batch, shape);
    shape[axes - 1] = n;
    if (options.n_layers > 0)
        shape[axes - 2] = n_layers;
    bool usable = reinterpret_cast<uintptr_t>(array.data) % sizeof(float) == 0;
    int64_t steps[MAX_AXES] = {};
    const int missing = axes - array.n_axes;
    for (int axis = 0; axis < array.n_axes; axis++) {
        const int64_t length = array.shape[axis];
        if (missing < 0 || (length != 1 && length != shape[axis + missing]))
            value_error(array, "it does not broadcast to the symbols, " + describe_shape(shape, axes));
        steps[axis + missing] = length == 1 ? 0 : array.strides[axis];
        usable &= steps[axis + missing] % static_cast<int64_t>(sizeof(float)) == 0;
    }
    noise = array.data;
    noise_stride = steps[axes - 1] / static_cast<int64_t>(sizeof(float));
    noise_layer_step = options.n_layers > 0 ? steps[axes - 2] : 0;
    std::copy(steps, steps + n_batch, noise_step);
    return usable && noise_stride >= 0;
}

void layout::check_out(const array &out, element type) const
{
    if (out.type != type)
        type_error(out, std::string("this output is ") + element_name(type));
    if (out.n_axes != n_out_axes || !std::equal(out_shape, out_shape + n_out_axes, out.shape))
        value_error(out, "it must have shape " + describe_shape(out_shape, n_out_axes));
    if (!out.writable)
        value_error(out, "it is read-only");
    if (!out.is_contiguous())
        value_error(out, "it is not C-contiguous");
}

/* Symbols one after the other are one run, unless their place in the codeword matters. */
void layout::merge()
{
    if (n_layers > 1 || options.descramble || options.block_symbols > 0 || modulation == SOFTQAM_MODULATION_PI2_BPSK)
        return;
    const int64_t step = symbol_stride * stride_unit;
    const int64_t noise_bytes = noise_stride * static_cast<int64_t>(sizeof(float));
    while (n_batch > 0) {
        const int last = n_batch - 1;
        const bool follows = symbol_step[last] == n * step && noise_step[last] == n * noise_bytes;
        if (batch[last] != 1 && !follows)
            return;
        n *= batch[last];
        n_batch--;
    }
}

int64_t layout::block_size() const
{
    const int64_t all = n * n_layers;
    return options.block_symbols > 0 ? std::min(options.block_symbols, all) : all;
}

size_t layout::n_segments() const
{
    size_t count = n > 0 ? static_cast<size_t>((n * n_layers + block_size() - 1) / block_size()) : 0;
    for (int axis = 0; axis < n_batch; axis++)
        count *= static_cast<size_t>(batch[axis]);
    return count;
}

softqam_segment layout::segment_at(int64_t first, int64_t count) const
{
    softqam_segment segment{};
    const int64_t element = first / n_layers;
    segment.n_symbols = static_cast<size_t>(count);
    segment.first_symbol = options.first_symbol + static_cast<uint64_t>(first);
    segment.symbol_stride = static_cast<size_t>(symbol_stride);
    segment.noise_stride = static_cast<size_t>(noise_stride);
    segment.n_layers = static_cast<unsigned>(n_layers);
    segment.plane_stride = options.block_symbols > 0 ? segment.n_symbols : 0;
    segment.descramble = options.descramble;
    if (options.descramble)
        segment.c_init = options.c_inits ? options.c_inits[codeword] : options.c_init;
    for (int64_t k = 0; k < n_layers; k++) {
        softqam_layer &layer = segment.layers[k];
        const char *at = symbols + symbol_offset + k * layer_step + element * symbol_stride * stride_unit;
        layer.symbols = at;
        layer.symbols_q = planes ? at + q_offset : nullptr;
        if (noise) {
            const void *value = noise + noise_offset + k * noise_layer_step;
            layer.noise_var = static_cast<const float *>(value) + element * noise_stride;
        }
    }
    return segment;
}

bool layout::next_codeword()
{
    codeword++;
    symbols_done = 0;
    for (int axis = n_batch - 1; axis >= 0; axis--) {
        symbol_offset += symbol_step[axis];
        noise_offset += noise_step[axis];
        if (++index[axis] < batch[axis])
            return true;
        symbol_offset -= batch[axis] * symbol_step[axis];
        noise_offset -= batch[axis] * noise_step[axis];
        index[axis] = 0;
    }
    return false;
}

size_t layout::next(softqam_segment *segments, size_t capacity, char *out, size_t value_nbytes)
{
    size_t count = 0;
    while (count < capacity && values_done != SIZE_MAX) {
        const int64_t here = std::min(block_size(), n * n_layers - symbols_done);
        softqam_segment &segment = segments[count++] = segment_at(symbols_done, here);
        segment.out = out + values_done * value_nbytes;
        values_done += static_cast<size_t>(here * bits);
        symbols_done += here;
        if (symbols_done == n * n_layers && !next_codeword())
            values_done = SIZE_MAX;
    }
    return count;
}
