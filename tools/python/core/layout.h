/* SPDX-License-Identifier: MIT */
/* Makes segments of arrays: handles shapes, broadcasting, layers and code blocks, and copies arrays that the library
 * does not take, or takes slowly. */
#ifndef SOFTQAM_PYTHON_LAYOUT_H
#define SOFTQAM_PYTHON_LAYOUT_H

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include <softqam/softqam.h>

#include "array.h"
#include "elements.h"

/* The options of a call. */
struct call_options {
    int64_t n_layers = 0; /* length of axis -2 of the symbols; 0: they have no axis of layers */
    uint64_t first_symbol = 0, scrambling_offset = 0;
    float input_scale = 0;          /* 0: the demodulator's */
    int64_t code_block_symbols = 0; /* symbols of a code block, whose values lie in bit planes; 0: none */
    bool descramble = false;
    uint32_t c_init = 0;
    const uint32_t *c_inits = nullptr; /* NULL, or one for each codeword */
    bool has_soft_buffers = false;
    softqam_codeword codeword = {}; /* without buffers, or with block_buffers */
    int64_t n_values = 0;           /* values of a soft buffer */
    softqam_statistics *statistics = nullptr;
    /* Two layers are demapped jointly: the symbols are z [..., n, 2], the gains the Gram matrix [..., n, 2, 2]. */
    bool is_joint = false;
    int wanted = -1; /* the layer whose LLRs are wanted; -1: both, as layers of one codeword */
    softqam_modulation partner_modulation =
        SOFTQAM_MODULATION_DEFAULT; /* the other layer's; default: the wanted one's */
};

/* The input arrays of a call. */
struct call_inputs {
    array symbols, noise_var, gain;
    array cross;                                  /* with is_joint */
    int64_t to_partner = 0, to_partners_gain = 0; /* bytes from the wanted layer's symbols and gains to its partner's */

    /* Separates, if is_joint, z and the Gram matrix into symbols and gains [..., 2, n], or [..., n] of the wanted
     * layer, and cross gains [..., n]. Raises if their shapes do not fit. */
    void separate_layers(int wanted)
    {
        const bool is_complex = symbols.type == element::complex64 || symbols.type == element::complex32;
        const int axes = symbols.n_axes - !is_complex, matrix = gain.n_axes - 2;
        if (axes < 2 || symbols.shape[axes - 1] != 2)
            symbols.value_error("it takes [..., n, 2]: an element's two layers side by side");
        if (symbols.type == element::int16 || symbols.type == element::int8)
            symbols.type_error("it takes complex numbers, in the unit of the Gram matrix");
        if (gain.type != element::complex64)
            gain.type_error("it takes complex64");
        if (matrix != axes - 1 || gain.shape[matrix] != 2 || gain.shape[matrix + 1] != 2 ||
            !std::equal(gain.shape, gain.shape + matrix, symbols.shape))
            gain.value_error("it takes [..., n, 2, 2], the shape of z and a matrix");
        noise_var.check_broadcast(symbols.shape, axes - 1);
        const int64_t row = gain.strides[matrix], column = gain.strides[matrix + 1];
        cross.view(gain, matrix, element::complex64, wanted == 1 ? row : column);
        gain.view(gain, matrix, element::float32, wanted == 1 ? row + column : 0);
        if (wanted < 0) {
            gain.insert_axis(matrix - 1, 2, row + column);
            std::swap(symbols.shape[axes - 1], symbols.shape[axes - 2]);
            std::swap(symbols.strides[axes - 1], symbols.strides[axes - 2]);
            if (noise_var.n_axes > 0)
                noise_var.insert_axis(noise_var.n_axes - 1, 1, 0);
            return;
        }
        to_partner = (1 - 2 * wanted) * symbols.strides[axes - 1];
        to_partners_gain = (1 - 2 * wanted) * (row + column);
        symbols.data += wanted * symbols.strides[axes - 1];
        symbols.remove_axis(axes - 1);
    }
};

/* The most segments of a call of the library. */
constexpr size_t MAX_SEGMENTS = 4096;
/* The most elements of such a call that are copied: the caches hold them, and they are enough for several threads. */
constexpr int64_t COPIED_PART = 65536;
/* The most symbols of such a call without copies. Signals are handled between calls. */
constexpr int64_t DIRECT_PART = int64_t{1} << 24;
/* Fewer consecutive elements are copied, which costs less than a segment for them. */
constexpr int64_t FEW_CONSECUTIVE = 128;

/* The types of symbols, and the library's formats for them. */
static constexpr struct {
    element type;
    bool is_complex; /* else I and Q are the last axis */
    softqam_input_format format;
} symbol_types[] = {
    {element::complex64, true, SOFTQAM_INPUT_CF32}, {element::complex128, true, SOFTQAM_INPUT_CF32},
    {element::complex32, true, SOFTQAM_INPUT_CF16}, {element::float32, false, SOFTQAM_INPUT_CF32},
    {element::float16, false, SOFTQAM_INPUT_CF16},  {element::int16, false, SOFTQAM_INPUT_CS16},
    {element::int8, false, SOFTQAM_INPUT_CS8},
};

/* Finds the symbols, noise values and gains of all codewords, in the order of the output. */
class layout
{
  public:
    softqam_input_format format = SOFTQAM_INPUT_CF32;
    int n_batch = 0, n_out_axes = 0;
    int64_t out_shape[MAX_AXES]; /* begins with the batch's shape */

    layout(const call_options &of_call, softqam_modulation of_symbols)
        : options(of_call), modulation(of_symbols), bits(softqam_bits_per_symbol(of_symbols))
    {
    }

    /* Raise if shape or dtype is wrong. */
    void read_symbols(const array &array)
    {
        const auto *known = std::find_if(std::begin(symbol_types), std::end(symbol_types),
                                         [&](const auto &row) { return row.type == array.type; });
        if (known == std::end(symbol_types))
            array.type_error("it takes complex64 or complex128, or float32, float16, int16 or int8 with a last axis of "
                             "2, I and Q");
        if (!known->is_complex && (array.n_axes == 0 || array.shape[array.n_axes - 1] != 2))
            array.type_error("without complex numbers the last axis must be 2, I and Q");
        const int axes = array.n_axes - !known->is_complex; /* without that of I and Q */
        const bool layered = options.n_layers > 0;
        if (axes < 1 + layered)
            array.value_error(layered ? "with layers it takes [..., layers, n]" : "it takes [..., n]");
        if (layered && array.shape[axes - 2] != options.n_layers)
            array.value_error("axis -2 of the symbols must be the " + std::to_string(options.n_layers) + " layers");
        format = known->format;
        const int64_t itemsize = static_cast<int64_t>(element_nbytes(array.type));
        symbols.data = array.data;
        symbols.nbytes = static_cast<int64_t>(softqam_input_symbol_nbytes(format));
        if (array.type == element::complex128)
            symbols.how = elements::TO_COMPLEX64;
        q_offset = known->is_complex ? 0 : array.strides[axes];
        apart = !known->is_complex && q_offset != itemsize;
        n = array.shape[axes - 1];
        n_layers = layered ? options.n_layers : 1;
        symbols.stride = array.strides[axes - 1];
        symbols.layer_stride = layered ? array.strides[axes - 2] : 0;
        n_batch = axes - 1 - layered;
        for (int axis = 0; axis < n_batch; axis++) {
            out_shape[axis] = array.shape[axis];
            symbols.batch_stride[axis] = array.strides[axis];
        }
        n_out_axes = n_batch + 1;
        if (__builtin_mul_overflow(n, n_layers * bits, &out_shape[n_batch]))
            array.value_error("its LLRs are more than memory can hold");
        if (options.has_soft_buffers) {
            check_within(array);
            out_shape[n_out_axes - 1] = options.codeword.n_code_blocks;
            out_shape[n_out_axes++] = options.n_values;
        }
    }

    void read_floats(const call_inputs &given)
    {
        read_floats(given.noise_var, &noise);
        read_floats(given.gain, &gain);
        if (!options.is_joint)
            return;
        to_partner = given.to_partner;
        to_partners_gain = given.to_partners_gain;
        cross.data = given.cross.data;
        cross.nbytes = 2 * sizeof(float);
        cross.stride = given.cross.strides[n_batch];
        std::copy(given.cross.strides, given.cross.strides + n_batch, cross.batch_stride);
    }

    /* Raises for a column of symbols, [n, 1], if it matters that each symbol is a codeword of its own. */
    void check_column(const array &array) const
    {
        const bool is_column = n_batch == 1 && n == 1 && out_shape[0] > 1 && options.n_layers == 0 && !options.is_joint;
        const bool is_whole = options.has_soft_buffers && options.codeword.n_bits == static_cast<uint64_t>(bits);
        if (is_column && counts_symbols() && !options.c_inits && !is_whole)
            array.value_error("these are " + std::to_string(out_shape[0]) +
                              " codewords of one symbol each: reshape(-1) makes one codeword of a column");
    }

    /* Raises unless `out` has the values' type, shape and layout. */
    void check_out(const array &out, element type)
    {
        out.check_output(type, out_shape, n_out_axes);
        if (options.has_soft_buffers)
            check_soft_buffers(out);
        else if (!out.is_contiguous())
            out.value_error("it is not C-contiguous");
    }

    nb::object shape() const { return shape_tuple(out_shape, n_out_axes); }
    /* Returns the name of the argument that receives the values. */
    const char *out_name() const { return options.has_soft_buffers ? "soft_buffers" : "out"; }

    /* Plans a call on arrays in host memory, once all are read and there are symbols. Arrays that the library does not
     * take as they lie, or slowly, are copied part by part. */
    void plan_host()
    {
        const auto of_elements = [this](int64_t most) { return (most - most % n_layers) / width; };
        arrange_for_library();
        part = of_elements(DIRECT_PART);
        if (!is_copied(symbols) && !is_copied(noise) && !is_copied(gain))
            return;
        if (!options.is_joint)
            arrange(false);
        part = of_elements(COPIED_PART);
        for (argument *input : {&symbols, &noise, &gain})
            if (is_copied(*input))
                input->copied.reset(new char[static_cast<size_t>(std::min(part, total) * input->nbytes)]);
    }

    /* Plans a call on a device, where nothing is copied: raises if the library does not take the strides. */
    void plan_device(const call_inputs &given)
    {
        const char *wanted = "its strides must be positive multiples of a symbol; make it contiguous";
        arrange_for_library();
        part = INT64_MAX;
        const int64_t stride = symbols.order.stride();
        if (symbols.order.n_consecutive() > 1 && (stride <= 0 || stride % stride_unit() != 0))
            given.symbols.value_error(wanted);
        if (!noise.aligned || noise.order.stride() < 0)
            given.noise_var.value_error(wanted);
        if (!gain.aligned || gain.order.stride() < 0 || !has_gain_stride())
            given.gain.value_error("on a GPU it must be contiguous, or one value beside one noise variance");
        if (cross.data && cross.order.n_consecutive() > 1 && cross.order.stride() <= 0)
            given.gain.value_error("on a GPU it must be contiguous");
    }

    /* Makes the next segments, whose values go to `out`; none at the end. They are valid until the next call. */
    void next(std::vector<softqam_segment> *segments, char *out, size_t value_nbytes)
    {
        part_begin = done;
        const int64_t end = done + std::min(part, total - done);
        segments->clear();
        for (int64_t count; done < end && segments->size() < MAX_SEGMENTS; done += count) {
            count = end - done;
            fill(&segments->emplace_back(), done, &count, out, value_nbytes);
        }
        copy(done - part_begin);
    }

    /* Returns how many symbols next() has put into segments. */
    int64_t n_done() const { return done * width; }

  private:
    /* An argument's strides in bytes along the symbols' axes. */
    struct argument {
        const char *data = nullptr;
        int64_t batch_stride[MAX_AXES], stride = 0, layer_stride = 0;
        int64_t nbytes = 0;                        /* bytes of an element for the library */
        elements::conversion how = elements::SAME; /* how elements are copied */
        bool aligned = true;
        elements order;
        std::unique_ptr<char[]> copied; /* NULL, or copies of the elements of next()'s segments */
    };

    const call_options &options;
    softqam_modulation modulation;
    int64_t bits;
    int64_t n_layers = 1;
    int64_t n = 0; /* symbols of a layer */
    argument symbols, noise, gain, cross;
    int64_t to_partner = 0, to_partners_gain = 0; /* as call_inputs has them */
    bool apart = false;                           /* Q lies q_offset from I, in a plane of its own */
    int64_t q_offset = 0;

    /* The next numbers count symbols in the output's order or, if a segment has all layers, resource elements, which
     * have `width` symbols. */
    int64_t width = 1;
    int64_t total = 0, codeword = 0, done = 0;
    int64_t part = 0, part_begin = 0; /* the most that next() takes; where its last segments began */
    /* Soft buffers: bytes from one codeword's to the next one's along the batch's axes; values between code blocks. */
    int64_t buffers_stride[MAX_AXES];
    uint64_t block_stride = 0;

    void read_floats(const array &values, argument *to_read)
    {
        to_read->nbytes = sizeof(float);
        const bool is_float64 = values.type == element::float64 && values.device == array::HOST;
        if (values.is_given() && values.type != element::float32 && !is_float64)
            values.type_error("it takes float32");
        if (is_float64)
            to_read->how = elements::TO_FLOAT32;
        const int axes = n_batch + 1 + (options.n_layers > 0);
        int64_t shape[MAX_AXES], strides[MAX_AXES];
        std::fill(strides, strides + axes, 0);
        std::copy(out_shape, out_shape + n_batch, shape);
        shape[axes - 1] = n;
        if (options.n_layers > 0)
            shape[axes - 2] = n_layers;
        values.check_broadcast(shape, axes);
        const int missing = axes - values.n_axes;
        uintptr_t addresses = reinterpret_cast<uintptr_t>(values.data);
        for (int axis = 0; axis < values.n_axes; axis++) {
            strides[axis + missing] = values.shape[axis] == 1 ? 0 : values.strides[axis];
            addresses |= static_cast<uintptr_t>(strides[axis + missing]);
        }
        to_read->data = values.data;
        to_read->aligned = addresses % sizeof(float) == 0;
        to_read->stride = strides[axes - 1];
        to_read->layer_stride = options.n_layers > 0 ? strides[axes - 2] : 0;
        std::copy(strides, strides + n_batch, to_read->batch_stride);
    }

    /* Raises if symbols lie beyond the codeword. The library, which gets them part by part, would find that too late.
     */
    void check_within(const array &array) const
    {
        const uint64_t n_symbols = options.codeword.n_bits / static_cast<uint64_t>(bits);
        const uint64_t given = static_cast<uint64_t>(n) * static_cast<uint64_t>(n_layers);
        if (n_out_axes == MAX_AXES)
            array.value_error("it has too many axes for soft buffers");
        if (options.first_symbol > n_symbols || given > n_symbols - options.first_symbol)
            array.value_error("from first_symbol " + std::to_string(options.first_symbol) +
                              " on it is not all within the codeword's " + std::to_string(n_symbols) + " symbols");
    }

    /* Raises unless a code block's values lie side by side, and code blocks at any distance that keeps them apart. */
    void check_soft_buffers(const array &out)
    {
        int64_t span = static_cast<int64_t>(element_nbytes(out.type));
        for (int axis = n_out_axes - 1; axis >= 0 && !out.is_empty(); axis--) {
            const int64_t stride = out.shape[axis] == 1 ? span : out.strides[axis];
            if (axis == n_out_axes - 1 ? stride != span
                                       : stride < span || stride % static_cast<int64_t>(element_nbytes(out.type)))
                out.value_error("a code block's values must lie side by side, and the code blocks in C order");
            if (axis < n_batch)
                buffers_stride[axis] = stride;
            if (axis == n_batch)
                block_stride = static_cast<uint64_t>(stride) / element_nbytes(out.type);
            span += (out.shape[axis] - 1) * stride;
        }
    }

    /* Returns whether LLRs depend on where in its codeword a symbol is. */
    bool counts_symbols() const
    {
        const bool parity = modulation == SOFTQAM_MODULATION_PI2_BPSK && n % 2 != 0;
        return options.descramble || options.code_block_symbols > 0 || options.has_soft_buffers || parity;
    }

    void arrange(bool in_layers)
    {
        const int64_t row = in_layers ? n : n * n_layers;
        width = in_layers ? n_layers : 1;
        total = row;
        for (int axis = 0; axis < n_batch; axis++)
            total *= out_shape[axis];
        codeword = counts_symbols() || options.statistics ? row : total;
        for (argument *input : {&symbols, &noise, &gain, &cross}) {
            if (input == &cross && !options.is_joint)
                continue;
            input->order.begin(input->data);
            for (int axis = 0; axis < n_batch; axis++)
                input->order.add_axis(out_shape[axis], input->batch_stride[axis]);
            input->order.add_axis(n, input->stride);
            if (!in_layers)
                input->order.add_axis(n_layers, input->layer_stride);
        }
    }

    /* Lets segments have all layers unless the layers are interleaved. */
    void arrange_for_library()
    {
        const auto is_interleaved = [this](const argument &input) {
            return input.stride == n_layers * input.layer_stride;
        };
        arrange(n_layers > 1 &&
                (options.is_joint || !(is_interleaved(symbols) && is_interleaved(noise) && is_interleaved(gain))));
    }

    int64_t stride_unit() const { return apart ? symbols.nbytes / 2 : symbols.nbytes; }

    /* Returns whether the library gets copies. The Gram matrix and z of a joint call are contiguous. */
    bool is_copied(const argument &input) const
    {
        if (input.how != elements::SAME)
            return true;
        if (options.is_joint)
            return &input == &noise && (!noise.aligned || noise.order.stride() < 0);
        const int64_t n_consecutive = input.order.n_consecutive();
        const bool usual = n_consecutive == 1 || input.order.stride() == input.nbytes ||
                           (&input != &symbols && input.order.stride() == 0);
        const bool is_long = n_consecutive >= std::min(codeword, FEW_CONSECUTIVE);
        return !usual || !input.aligned || !is_long || (&input == &symbols && apart) ||
               (&input == &gain && !has_gain_stride());
    }

    static int64_t stride_of(const argument &input) { return input.copied ? input.nbytes : input.order.stride(); }

    /* Returns false if gains need a stride of 0, which to the library is that of the noise. */
    bool has_gain_stride() const { return !gain.data || gain.order.stride() != 0 || stride_of(noise) == 0; }

    const char *place(const argument &input, int64_t first, int64_t *count) const
    {
        if (input.copied)
            return input.copied.get() + (first - part_begin) * input.nbytes;
        int64_t left;
        const char *first_value = input.order.at(first, &left);
        *count = std::min(*count, left);
        return first_value;
    }

    static_assert(offsetof(softqam_segment, partner_modulation) == 276 && offsetof(softqam_segment, reserved) == 424 &&
                      offsetof(softqam_layer, reserved) == 32 && offsetof(softqam_codeword, reserved_word) == 76,
                  "fill() sets the new field");
    /* Fills in a segment that is all zeros. */
    void fill(softqam_segment *segment, int64_t first, int64_t *count, char *out, size_t value_nbytes) const
    {
        const int64_t in_codeword = first % codeword;
        const int64_t code_block = options.code_block_symbols > 0 ? options.code_block_symbols / width : codeword;
        const int64_t in_code_block = in_codeword % code_block;
        const int64_t code_block_length = std::min(code_block, codeword - (in_codeword - in_code_block));
        *count = std::min(*count, code_block_length - in_code_block);
        const char *first_symbols = place(symbols, first, count);
        const char *noise_at = noise.data ? place(noise, first, count) : nullptr;
        const char *gain_at = gain.data ? place(gain, first, count) : nullptr;
        const char *cross_at = cross.data ? place(cross, first, count) : nullptr;
        /* The lengths of code blocks depend on the layers even if their symbols are consecutive. */
        const bool is_consecutive = options.has_soft_buffers && width == 1;
        const int64_t layers = is_consecutive ? n_layers : width, interleaved = is_consecutive ? n_layers : 1;
        const auto in_layer = [&](const char *first_layer, const argument &input, int64_t k) {
            return first_layer ? first_layer + k * (is_consecutive ? stride_of(input) : input.layer_stride) : nullptr;
        };
        segment->n_symbols = static_cast<size_t>(*count * width);
        segment->first_symbol = options.first_symbol + static_cast<uint64_t>(in_codeword * width);
        const bool adjacent = symbols.copied || symbols.order.n_consecutive() == 1;
        segment->symbol_stride = static_cast<size_t>(interleaved * (adjacent ? 1 : stride_of(symbols) / stride_unit()));
        segment->noise_stride = static_cast<size_t>(interleaved * stride_of(noise)) / sizeof(float);
        segment->gain_stride = static_cast<size_t>(interleaved * stride_of(gain)) / sizeof(float);
        segment->input_scale = options.input_scale;
        segment->scrambling_offset = options.scrambling_offset;
        segment->statistics = options.statistics;
        segment->n_layers = static_cast<unsigned>(layers);
        segment->plane_stride = options.code_block_symbols > 0 ? static_cast<size_t>(code_block_length * width) : 0;
        segment->descramble = options.descramble;
        if (options.descramble)
            segment->c_init = options.c_inits ? options.c_inits[first / codeword] : options.c_init;
        const int64_t value =
            options.code_block_symbols > 0 ? (first - in_code_block) * bits + in_code_block : first * bits;
        if (!options.has_soft_buffers)
            segment->out = out + static_cast<size_t>(value * width) * value_nbytes;
        for (int64_t k = 0; k < layers; k++) {
            softqam_layer &layer = segment->layers[k];
            const char *in_phase = in_layer(first_symbols, symbols, k);
            layer.symbols = in_phase;
            layer.symbols_q = apart && !symbols.copied ? in_phase + q_offset : nullptr;
            layer.noise_var = reinterpret_cast<const float *>(in_layer(noise_at, noise, k));
            layer.gain = reinterpret_cast<const float *>(in_layer(gain_at, gain, k));
        }
        if (cross_at)
            couple(segment, cross_at);
        if (options.has_soft_buffers)
            place_in_codeword(segment, first / codeword, out);
    }

    void couple(softqam_segment *segment, const char *cross_at) const
    {
        const auto partner_of = [](const void *input, int64_t offset) {
            return input ? static_cast<const char *>(input) + offset : nullptr;
        };
        segment->cross_gain[0] = static_cast<const float *>(static_cast<const void *>(cross_at));
        segment->cross_stride = static_cast<size_t>(cross.order.stride() / cross.nbytes);
        if (segment->n_layers > 1)
            return;
        const softqam_layer &layer = segment->layers[0];
        segment->partner_modulation = options.partner_modulation;
        segment->layers[1] = layer;
        segment->layers[1].symbols = partner_of(layer.symbols, to_partner);
        segment->layers[1].symbols_q = partner_of(layer.symbols_q, to_partner);
        segment->layers[1].gain = reinterpret_cast<const float *>(partner_of(layer.gain, to_partners_gain));
    }

    void place_in_codeword(softqam_segment *segment, int64_t row, char *out) const
    {
        segment->codeword = options.codeword;
        if (!options.codeword.block_buffers) {
            for (int axis = n_batch - 1; axis >= 0; axis--) {
                out += row % out_shape[axis] * buffers_stride[axis];
                row /= out_shape[axis];
            }
            segment->codeword.buffers = out;
            segment->codeword.block_stride = block_stride;
        }
    }

    /* Copies the current part of each argument that must be copied. */
    void copy(int64_t count)
    {
        const int64_t component = symbols.nbytes / 2;
        if (symbols.copied && apart)
            for (int q = 0; q < 2; q++)
                symbols.order.copy(part_begin, count, elements::SAME, component, q * q_offset,
                                   symbols.copied.get() + q * component, symbols.nbytes);
        else if (symbols.copied)
            symbols.order.copy(part_begin, count, symbols.how, symbols.nbytes, 0, symbols.copied.get(), symbols.nbytes);
        for (const argument *input : {&noise, &gain})
            if (input->copied)
                input->order.copy(part_begin, count, input->how, input->nbytes, 0, input->copied.get(), input->nbytes);
    }
};

#endif
