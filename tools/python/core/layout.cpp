/* SPDX-License-Identifier: MIT */
/* Shapes, broadcasting and segments, as layout.h has them. */
#include "layout.h"

#include <algorithm>
#include <cstddef>

#include "interpreter.h"

/* Segments, and symbols of a layer, that the library gets at once. Signals are looked for in between. */
constexpr size_t MAX_SEGMENTS = 4096;
constexpr int64_t PART = int64_t{1} << 24;
/* A row of fewer symbols costs more as a segment of its own than its copy does. */
constexpr int64_t SHORT_ROW = 128;

/* What is read as symbols. */
static const struct {
    element type;
    bool is_complex; /* else I and Q are the last axis */
    softqam_input_format format;
} symbol_types[] = {
    {element::complex64, true, SOFTQAM_INPUT_CF32}, {element::float32, false, SOFTQAM_INPUT_CF32},
    {element::float16, false, SOFTQAM_INPUT_CF16},  {element::int16, false, SOFTQAM_INPUT_CS16},
    {element::int8, false, SOFTQAM_INPUT_CS8},
};

static const auto *find_symbol_type(element type)
{
    return std::find_if(
        std::begin(symbol_types), std::end(symbol_types), [=](const auto &row) { return row.type == type; });
}

bool are_symbols(element type) { return find_symbol_type(type) != std::end(symbol_types); }

bool are_floats(element type) { return type == element::float32; }

void layout::read_symbols(const array &array)
{
    const auto *known = find_symbol_type(array.type);
    if (known == std::end(symbol_types))
        array.type_error("it takes complex64 or complex128, or float32, float16, int16 or int8 with a last axis of 2, "
                         "I and Q");
    if (!known->is_complex && (array.n_axes == 0 || array.shape[array.n_axes - 1] != 2))
        array.type_error("without complex numbers the last axis must be 2, I and Q");
    const int axes = array.n_axes - !known->is_complex; /* that say which symbol */
    const bool layered = options.n_layers > 0;
    if (axes < 1 + layered)
        array.value_error(layered ? "with layers it takes [..., layers, n]" : "it takes [..., n]");
    if (layered && array.shape[axes - 2] != options.n_layers)
        array.value_error("axis -2 of the symbols must be the " + std::to_string(options.n_layers) + " layers");
    format = known->format;
    symbols.data = array.data;
    symbols.nbytes = static_cast<int64_t>(softqam_input_symbol_nbytes(format));
    apart = !known->is_complex && array.strides[axes] != symbols.nbytes / 2;
    n = array.shape[axes - 1];
    n_layers = layered ? options.n_layers : 1;
    symbols.step = array.strides[axes - 1];
    symbols.layer_step = layered ? array.strides[axes - 2] : 0;
    n_batch = axes - 1 - layered;
    std::copy(array.shape, array.shape + n_batch, batch);
    std::copy(array.shape, array.shape + n_batch, out_shape);
    std::copy(array.strides, array.strides + n_batch, symbols.batch_step);
    n_out_axes = n_batch + 1;
    if (__builtin_mul_overflow(n, n_layers * bits, &out_shape[n_batch]))
        array.value_error("its LLRs are more than memory can hold");
    if (options.has_soft_buffers) {
        check_within(array);
        out_shape[n_out_axes - 1] = options.codeword.n_code_blocks;
        out_shape[n_out_axes++] = options.codeword.n_cb;
    }
}

/* Before anything is written: the library sees the symbols part by part. */
void layout::check_within(const array &array) const
{
    const uint64_t n_symbols = options.codeword.n_bits / static_cast<uint64_t>(bits);
    const uint64_t given = static_cast<uint64_t>(n) * static_cast<uint64_t>(n_layers);
    if (n_out_axes == MAX_AXES)
        array.value_error("it has too many axes for soft buffers");
    if (options.first_symbol > n_symbols || given > n_symbols - options.first_symbol)
        array.value_error("from first_symbol " + std::to_string(options.first_symbol) +
                          " on it is not all within the codeword's " + std::to_string(n_symbols) + " symbols");
}

/* Without I and Q. */
nb::object layout::symbols_shape() const
{
    int64_t shape[MAX_AXES];
    int axes = n_batch;
    std::copy(batch, batch + n_batch, shape);
    if (options.n_layers > 0)
        shape[axes++] = n_layers;
    shape[axes++] = n;
    return shape_tuple(shape, axes);
}

void layout::read_floats(const call_inputs &given)
{
    read_floats(given.noise_var, &noise);
    read_floats(given.gain, &gain);
}

void layout::read_floats(const call_input &given, argument *of)
{
    const array &values = given.values;
    of->step = of->layer_step = 0;
    std::fill(of->batch_step, of->batch_step + n_batch, 0);
    if (given.is_number)
        of->data = reinterpret_cast<const char *>(&given.number);
    if (!given.is_array)
        return;
    if (!are_floats(values.type))
        values.type_error("it takes float32");
    const int axes = n_batch + 1 + (options.n_layers > 0);
    const int missing = axes - values.n_axes;
    of->data = values.data;
    uintptr_t addresses = reinterpret_cast<uintptr_t>(values.data);
    for (int axis = 0; axis < values.n_axes; axis++) {
        const int64_t length = values.shape[axis];
        const int at = axis + missing;
        const bool is_layer = options.n_layers > 0 && at == axes - 2;
        int64_t *step = at == axes - 1 ? &of->step : is_layer ? &of->layer_step : &of->batch_step[std::max(at, 0)];
        const int64_t wanted = at == axes - 1 ? n : is_layer ? n_layers : batch[std::max(at, 0)];
        if (missing < 0 || (length != 1 && length != wanted))
            values.value_error("it does not broadcast to the symbols, " +
                               std::string(nb::str(symbols_shape()).c_str()));
        *step = length == 1 ? 0 : values.strides[axis];
        addresses |= static_cast<uintptr_t>(*step);
    }
    of->aligned = addresses % sizeof(float) == 0;
}

void layout::check_out(const array &out, element type)
{
    out.check_output(type, out_shape, n_out_axes);
    if (options.has_soft_buffers)
        check_soft_buffers(out);
    else if (!out.is_contiguous())
        out.value_error("it is not C-contiguous");
}

/* A code block's values side by side, and the others behind them: at any distance that keeps them apart. */
void layout::check_soft_buffers(const array &out)
{
    int64_t span = static_cast<int64_t>(element_nbytes(out.type));
    for (int axis = n_out_axes - 1; axis >= 0 && !out.is_empty(); axis--) {
        const int64_t step = out.shape[axis] == 1 ? span : out.strides[axis];
        if (axis == n_out_axes - 1 ? step != span
                                   : step < span || step % static_cast<int64_t>(element_nbytes(out.type)))
            out.value_error("a code block's values must lie side by side, and the code blocks in C order");
        if (axis < n_batch)
            buffers_step[axis] = step;
        if (axis == n_batch)
            block_stride = static_cast<uint64_t>(step) / element_nbytes(out.type);
        span += (out.shape[axis] - 1) * step;
    }
}

/* Whether all rows follow each other at the distance of symbols. */
bool layout::is_one_run(const argument &of) const
{
    int64_t expected = of.step * n;
    for (int axis = n_batch - 1; axis >= 0; axis--) {
        if (batch[axis] != 1 && of.batch_step[axis] != expected)
            return false;
        expected *= batch[axis];
    }
    return true;
}

/* Whether symbols know where in their row they are. */
bool layout::is_by_rows() const
{
    const bool parity = modulation == SOFTQAM_MODULATION_PI2_BPSK && n % 2 != 0;
    return options.descramble || options.block_symbols > 0 || options.has_soft_buffers || parity;
}

void layout::make_rows()
{
    n_rows = 1;
    for (int axis = 0; axis < n_batch; axis++)
        n_rows *= batch[axis];
    row_length = n;
    for (argument *of : {&symbols, &noise, &gain})
        for (int axis = n_batch - 1; n == 1 && axis >= 0; axis--)
            if (batch[axis] != 1) { /* the step of a row of one symbol is any */
                of->step = of->batch_step[axis];
                break;
            }
    if (!is_by_rows() && is_one_run(symbols) && is_one_run(noise) && is_one_run(gain)) {
        row_length *= n_rows;
        n_rows = 1;
    }
}

/* Side by side, or the layers in turns; noise and gain may be the same for a row. */
bool layout::is_direct(const argument &of) const
{
    const bool in_turns = of.step == n_layers * of.nbytes && of.layer_step == of.nbytes;
    const bool is_apart = n_rows == 1 || is_by_rows(); /* no copy would make longer rows */
    const bool is_run = of.step == of.nbytes || in_turns || (&of != &symbols && of.step == 0);
    const bool is_long = is_apart || n * n_layers >= SHORT_ROW || is_one_run(of);
    return !of.data ||
           ((is_run || (is_apart && row_length == 1)) && is_long && of.aligned && !(&of == &symbols && apart));
}

void layout::plan_host(call_inputs *given)
{
    make_rows();
    const bool floats_fit = !gain.data || (has_noise_strides() && is_direct(noise) && is_direct(gain));
    const auto make_direct = [this](call_input *input, const argument &of, bool fits) {
        if (fits && is_direct(of))
            return false;
        const char *name = input->values.name;
        const nb::object value = input->is_number ? nb::object(nb::float_(input->number)) : input->object;
        input->object = call_python(nb::module_::import_("softqam._arrays").attr("in_codeword_order"), value,
                                    symbols_shape(), nb::bool_(options.n_layers > 0), nb::bool_(&of == &symbols));
        input->values.read_buffer(input->object, name);
        input->is_array = true;
        input->is_number = false;
        return true;
    };
    const bool copied[] = {make_direct(&given->symbols, symbols, true),
                           make_direct(&given->noise_var, noise, floats_fit),
                           make_direct(&given->gain, gain, floats_fit)};
    if (!copied[0] && !copied[1] && !copied[2])
        return;
    read_symbols(given->symbols.values);
    read_floats(*given);
    make_rows();
}

void layout::plan_device(const call_inputs &given)
{
    make_rows();
    if (apart || (row_length > 1 && (symbols.step <= 0 || symbols.step % symbols.nbytes != 0)))
        given.symbols.values.value_error("its strides must be positive multiples of a symbol; make it contiguous");
    if (!noise.aligned || noise.step < 0)
        given.noise_var.values.value_error("its strides must be positive multiples of a symbol; make it contiguous");
    if (!gain.aligned || gain.step < 0 || !has_noise_strides())
        given.gain.values.value_error(
            "on a GPU it must have the strides of noise_var: make both contiguous, of one shape");
}

int64_t layout::offset_of_row(const int64_t *steps) const
{
    int64_t offset = 0, index = row;
    for (int axis = n_batch - 1; axis >= 0 && index > 0; index /= batch[axis], axis--)
        offset += index % batch[axis] * steps[axis];
    return offset;
}

static_assert(offsetof(softqam_segment, reserved_word) == 276 && offsetof(softqam_segment, reserved) == 384 &&
                  offsetof(softqam_layer, reserved) == 32 && offsetof(softqam_codeword, reserved) == 72,
              "fill() sets the new field");
/* A segment that is all zeros: of symbols of the row from `first` on, *count of each layer at most. */
void layout::fill(softqam_segment *segment, int64_t *count, char *out, size_t value_nbytes) const
{
    const int64_t block = options.block_symbols > 0 ? options.block_symbols / n_layers : row_length;
    const int64_t in_block = first % block;
    const int64_t block_length = std::min(block, row_length - (first - in_block));
    *count = std::min(*count, block_length - in_block);
    const auto place = [this](const argument &of, int64_t layer) {
        return of.data ? of.data + offset_of_row(of.batch_step) + first * of.step + layer * of.layer_step : nullptr;
    };
    segment->n_symbols = static_cast<size_t>(*count * n_layers);
    segment->first_symbol = options.first_symbol + static_cast<uint64_t>(first * n_layers);
    segment->symbol_stride = row_length == 1 ? 1 : static_cast<size_t>(symbols.step / symbols.nbytes);
    segment->noise_stride = row_length == 1 ? 1 : static_cast<size_t>(noise.step) / sizeof(float);
    segment->n_layers = static_cast<unsigned>(n_layers);
    segment->descramble = options.descramble;
    if (options.descramble)
        segment->c_init = options.c_inits ? options.c_inits[row] : options.c_init;
    for (int64_t k = 0; k < n_layers; k++) {
        softqam_layer &layer = segment->layers[k];
        layer.symbols = place(symbols, k);
        layer.noise_var = reinterpret_cast<const float *>(place(noise, k));
        layer.gain = reinterpret_cast<const float *>(place(gain, k));
    }
    if (options.has_soft_buffers) {
        segment->codeword = options.codeword;
        if (!options.codeword.block_buffers) {
            segment->codeword.buffers = out + offset_of_row(buffers_step);
            segment->codeword.block_stride = block_stride;
        }
        return;
    }
    segment->plane_stride = options.block_symbols > 0 ? static_cast<size_t>(block_length * n_layers) : 0;
    const int64_t at = row * row_length + first;
    const int64_t value = options.block_symbols > 0 ? (at - in_block) * bits + in_block : at * bits;
    segment->out = out + static_cast<size_t>(value * n_layers) * value_nbytes;
}

bool layout::next(std::vector<softqam_segment> *segments, char *out, size_t value_nbytes)
{
    int64_t left = PART;
    segments->clear();
    while (left > 0 && row < n_rows && segments->size() < MAX_SEGMENTS) {
        int64_t count = std::min(left, row_length - first);
        fill(&segments->emplace_back(), &count, out, value_nbytes);
        left -= count;
        first += count;
        if (first == row_length) {
            first = 0;
            row++;
        }
    }
    return !segments->empty();
}
