/* SPDX-License-Identifier: MIT */
/* A call: its arguments checked, its segments made, the library called without the GIL. */
#include "call.h"

#include <unistd.h>
#include <vector>

/* The library's message, with the names that arguments have in Python. */
static std::string error_message()
{
    const struct {
        const char *field, *argument;
    } names[] = {{"config.output_format", "output"}, {"config.n_threads", "threads"}, {"config.", ""}, {"segment.", ""},
                 {"codeword.", "codeword's "},       {"grant.n_layers", "layers"},    {"grant.", ""}};
    std::string message = softqam_error_message();
    for (const auto &name : names)
        for (size_t at; (at = message.find(name.field)) != std::string::npos;)
            message.replace(at, std::char_traits<char>::length(name.field), name.argument);
    return message;
}

void check(softqam_status status)
{
    if (status == SOFTQAM_OK)
        return;
    const std::string message = error_message();
    if (status == SOFTQAM_ERROR_INVALID_ARGUMENT)
        value_error(message);
    PyErr_SetString(status == SOFTQAM_ERROR_OUT_OF_MEMORY ? PyExc_MemoryError : PyExc_RuntimeError, message.c_str());
    throw nb::python_error();
}

softqam_context *new_context(softqam_backend backend, unsigned n_threads, int device)
{
    softqam_context *made = nullptr;
    softqam_context_config settings;
    softqam_context_config_init(&settings);
    settings.backend = backend;
    settings.n_threads = n_threads;
    settings.device = device;
    check(softqam_context_create(&made, &settings));
    return made;
}

demodulator::demodulator(nb::object of_context, int modulation, int output, int sign, double llr_scale, int llr_limit,
                         double input_scale, int noise_form, nb::object dtype, float zero)
    : where(std::move(of_context)), out_dtype(std::move(dtype)), out_element(element_named(nb::str(out_dtype).c_str())),
      certain_zero(zero)
{
    softqam_demodulator_config_init(&config);
    config.context = where.is_none() ? nullptr : nb::cast<context &>(where).handle;
    config.modulation = static_cast<softqam_modulation>(modulation);
    config.output_format = static_cast<softqam_output_format>(output);
    config.sign = static_cast<softqam_sign>(sign);
    config.llr_scale = static_cast<float>(llr_scale);
    config.llr_limit = llr_limit;
    config.input_scale = static_cast<float>(input_scale);
    config.noise_form = static_cast<softqam_noise_form>(noise_form);
    handle_for(SOFTQAM_INPUT_CF32, array::HOST);
}

softqam_demodulator *demodulator::handle_for(softqam_input_format format, int device)
{
    auto &handle = handles[{device, format}];
    if (!handle) {
        softqam_demodulator *made = nullptr;
        softqam_demodulator_config own = config;
        own.input_format = format;
        if (device != array::HOST)
            own.context = cuda_context(device);
        check(softqam_demodulator_create(&made, &own));
        handle.reset(made);
    }
    return handle.get();
}

void demodulator::check_noise_wanted(nb::handle noise_var, nb::handle gain) const
{
    const bool wanted = config.output_format != SOFTQAM_OUTPUT_U8;
    if (wanted && noise_var.is_none())
        type_error("noise_var is missing: LLRs need the noise variance");
    const char *given = !noise_var.is_none() ? "noise_var" : !gain.is_none() ? "gain" : nullptr;
    if (!wanted && given)
        value_error(std::string(given) + " is given, which output \"u8\" does not take");
}

/* What is called of NumPy. Never freed: the interpreter may be gone before this module is. */
static struct {
    nb::handle masked_array, empty, zeros;
} numpy;

void find_numpy()
{
    const nb::object module = nb::module_::import_("numpy");
    numpy.masked_array = nb::object(module.attr("ma").attr("MaskedArray")).release();
    numpy.empty = nb::object(module.attr("empty")).release();
    numpy.zeros = nb::object(module.attr("zeros")).release();
}

bool is_buffer(nb::handle argument)
{
    return PyObject_CheckBuffer(argument.ptr()) &&
           !PyType_IsSubtype(Py_TYPE(argument.ptr()), reinterpret_cast<PyTypeObject *>(numpy.masked_array.ptr()));
}

/* An integer argument between `least` and `most`. */
static uint64_t integer(nb::handle argument, const char *name, uint64_t least, uint64_t most)
{
    nb::object number = nb::steal(PyBool_Check(argument.ptr()) ? nullptr : PyNumber_Index(argument.ptr()));
    if (!number.is_valid()) {
        PyErr_Clear();
        type_error(std::string(name) + " is no integer");
    }
    const unsigned long long value = PyLong_AsUnsignedLongLong(number.ptr());
    const bool failed = PyErr_Occurred() != nullptr;
    PyErr_Clear();
    if (failed || value < least || value > most)
        value_error(std::string(name) + " is not between " + std::to_string(least) + " and " + std::to_string(most));
    return value;
}

/* Symbols have an axis of layers where the codeword has layers. */
void demodulator::read_codeword(nb::handle of_call, nb::handle layers, bool combine, call_options *options) const
{
    const auto &given = nb::cast<const codeword &>(of_call);
    const auto n_layers = static_cast<int64_t>(given.n_layers);
    if (layers.is_none() && n_layers > 1)
        options->n_layers = n_layers;
    if (options->n_layers > 0 && options->n_layers != n_layers)
        value_error("layers is " + std::to_string(options->n_layers) + ", the codeword's are " +
                    std::to_string(n_layers));
    options->has_soft_buffers = true;
    options->codeword = given.fields;
    if (!given.has_filler_value)
        options->codeword.filler_value = certain_zero;
    options->codeword.combine = combine;
}

call_options demodulator::read_options(const nb::tuple &of_call) const
{
    const nb::handle c_init = of_call[0], first_symbol = of_call[1], layers = of_call[2], planes = of_call[3],
                     of_codeword = of_call[4];
    call_options options;
    if (!layers.is_none())
        options.n_layers = static_cast<int64_t>(integer(layers, "layers", 1, SOFTQAM_MAX_LAYERS));
    if (!planes.is_none())
        options.block_symbols = static_cast<int64_t>(integer(planes, "planes", 1, INT64_MAX));
    options.first_symbol = integer(first_symbol, "first_symbol", 0, UINT64_MAX >> 5);
    options.descramble = !c_init.is_none();
    if (PyLong_Check(c_init.ptr()))
        options.c_init = static_cast<uint32_t>(integer(c_init, "c_init", 0, INT32_MAX));
    if (!of_codeword.is_none())
        read_codeword(of_codeword, layers, nb::cast<bool>(of_call[5]), &options);
    if (config.output_format == SOFTQAM_OUTPUT_U8 &&
        (options.n_layers > 1 || options.block_symbols > 0 || options.descramble || options.has_soft_buffers))
        value_error("output is \"u8\", liquid-dsp's soft bits, which take no layers, planes, c_init or codeword");
    if (options.n_layers > 1) {
        const std::string given = "layers is " + std::to_string(options.n_layers);
        if (config.modulation == SOFTQAM_MODULATION_PI2_BPSK)
            value_error(given + ": pi/2-BPSK has one layer");
        if (options.first_symbol % static_cast<uint64_t>(options.n_layers) != 0)
            value_error(given + ", and first_symbol is no multiple of it");
        if (options.block_symbols % options.n_layers != 0)
            value_error(given + ", and planes is no multiple of it");
    }
    return options;
}

/* A function of softqam._arrays, which makes a plain array of what the library cannot take as it is, or raises. */
static nb::object conversion(const char *function) { return nb::module_::import_("softqam._arrays").attr(function); }

/* One for each codeword, where c_init is an array. */
static nb::object read_c_init(nb::handle c_init, const layout &codewords, call_options *options, array *view)
{
    if (c_init.is_none() || PyLong_Check(c_init.ptr()))
        return nb::none();
    const nb::object batch = shape_tuple(codewords.out_shape, codewords.n_batch_axes());
    nb::object values = call_python(conversion("usual_c_init"), c_init, batch);
    if (!view->read_buffer(values, "c_init") || view->type != element::uint32 || !view->is_contiguous())
        type_error("c_init is no array of integers");
    options->c_inits = reinterpret_cast<const uint32_t *>(view->data);
    return values;
}

/* A Python number as a noise value or a gain. */
static bool read_number(nb::handle argument, const char *name, float *value)
{
    if (PyBool_Check(argument.ptr()) || !(PyFloat_Check(argument.ptr()) || PyLong_Check(argument.ptr())))
        return false;
    const double number = PyFloat_AsDouble(argument.ptr());
    if (PyErr_Occurred()) {
        PyErr_Clear();
        value_error(std::string(name) + " is an integer larger than any float");
    }
    *value = nearest_float(number);
    return true;
}

/* Takes an argument as it is where takes(type) says so, else as NumPy converts it. */
template <typename Takes>
static void read_argument(nb::handle argument, const char *name, const char *function, array *view, Takes takes)
{
    if (is_buffer(argument) && view->read_buffer(argument, name) && takes(view->type))
        return;
    nb::object converted = call_python(conversion(function), argument, nb::str(name));
    const bool is_read = view->read_buffer(converted, name);
    if (is_read && nb::hasattr(argument, "dtype"))
        view->dtype = dtype_text(argument); /* what messages say that it is */
    if (!is_read || !takes(view->type))
        type_error(std::string(name) + " is nothing that NumPy can make an array of");
}

static void read_floats(nb::handle argument, const char *name, float_values *floats)
{
    if (argument.is_none())
        return;
    if (read_number(argument, name, &floats->number))
        floats->one = &floats->number;
    else
        read_argument(argument, name, "usual_floats", floats->of_array(),
                      [](element type) { return type == element::float32 || type == element::float64; });
}

/* Python's signal handlers run in this thread, as far as can be told without the GIL. */
static bool handles_signals() { return getpid() == gettid(); }

/* Without the GIL. In the thread that handles signals it is taken back between large parts, to look for them. */
template <typename Call> static void call_library(layout *codewords, char *out, size_t value_nbytes, Call call)
{
    constexpr int64_t UNTIL_SIGNALS = int64_t{1} << 24;
    std::vector<softqam_segment> segments;
    bool more = true;
    while (more) {
        softqam_status status = SOFTQAM_OK;
        {
            const gil_released released;
            const int64_t before = codewords->n_done();
            while (status == SOFTQAM_OK && more &&
                   (codewords->n_done() - before < UNTIL_SIGNALS || !handles_signals())) {
                codewords->next(&segments, out, value_nbytes);
                more = !segments.empty();
                if (more)
                    status = call(segments.data(), segments.size());
            }
        }
        check(status);
        if (more && PyErr_CheckSignals() != 0)
            throw nb::python_error();
    }
}

static void check_device(const array &argument, int device)
{
    const std::string on = "it is on GPU " + std::to_string(argument.device);
    if (argument.device != device)
        argument.value_error(argument.device == array::HOST ? "it is not in the memory of a GPU"
                                                            : on + ", the symbols on GPU " + std::to_string(device));
}

/* read_out(layout, options, output) describes the output, once its shape is known. */
template <typename ReadOut>
void demodulator::run(const call_inputs &given, const nb::tuple &of_call, uintptr_t stream, ReadOut read_out)
{
    const int device = given.symbols.device;
    call_options options = read_options(of_call);
    layout codewords(options, config.modulation);
    array c_init_view;
    call_output out;
    codewords.read_symbols(given.symbols);
    const nb::object c_inits = read_c_init(of_call[0], codewords, &options, &c_init_view);
    for (const float_values *floats : {&given.noise_var, &given.gain})
        if (floats->is_array)
            check_device(floats->values, device);
    codewords.read_floats(given.noise_var, given.gain);
    read_out(codewords, &options, &out);
    if (out.blocks.empty()) {
        check_device(out.whole, device);
        codewords.check_out(out.whole, out_element);
    }
    for (const array *input : {&given.symbols, &given.noise_var.values, &given.gain.values}) {
        out.whole.check_apart_from(*input);
        for (const auto &block : out.blocks)
            if (block)
                block->check_apart_from(*input);
    }
    if (given.symbols.is_empty())
        return;
    if (device == array::HOST)
        codewords.plan_host();
    else
        codewords.plan_device(given);
    softqam_demodulator *handle = handle_for(codewords.format, device);
    call_library(&codewords, out.whole.data, element_nbytes(out_element),
                 [&](const softqam_segment *segments, size_t n) {
                     return device == array::HOST ? softqam_demodulate_segments(handle, segments, n)
                                                  : cuda_demodulate(handle, segments, n, stream);
                 });
}

nb::object demodulator::host(nb::handle symbols, nb::handle noise_var, nb::handle gain, const nb::tuple &of_call,
                             nb::handle out)
{
    check_noise_wanted(noise_var, gain);
    call_inputs given;
    nb::object result = nb::borrow(out);
    read_argument(symbols, "symbols", "usual_symbols", &given.symbols,
                  [](element type) { return type != element::other; });
    read_floats(noise_var, "noise_var", &given.noise_var);
    read_floats(gain, "gain", &given.gain);
    run(given, of_call, 0, [&](const layout &codewords, call_options *options, call_output *output) {
        if (options->has_soft_buffers && (PyList_Check(out.ptr()) || PyTuple_Check(out.ptr()))) {
            if (codewords.n_batch_axes() > 0)
                value_error("soft_buffers is a list, which takes one codeword: symbols has several");
            read_soft_buffers(out, options->codeword, out_element, output);
            options->codeword.block_buffers = output->pointers.data();
            return;
        }
        /* Soft buffers that no code block's LLRs reach are 0. */
        if (out.is_none())
            result = call_python(options->has_soft_buffers ? numpy.zeros : numpy.empty, codewords.shape(), out_dtype);
        if (!is_buffer(result) || !output->whole.read_buffer(result, codewords.out_name()))
            type_error(std::string(codewords.out_name()) + " is no plain NumPy array");
    });
    return result;
}

void demodulator::device(nb::handle symbols, nb::handle noise_var, nb::handle gain, const nb::tuple &of_call,
                         nb::handle make_out, uintptr_t stream)
{
    check_noise_wanted(noise_var, gain);
    call_inputs given;
    given.symbols.read_capsule(symbols, "symbols");
    if (!noise_var.is_none())
        given.noise_var.of_array()->read_capsule(noise_var, "noise_var");
    if (!gain.is_none())
        given.gain.of_array()->read_capsule(gain, "gain");
    run(given, of_call, stream, [&](const layout &codewords, call_options *, call_output *output) {
        output->whole.read_capsule(call_python(make_out, codewords.shape()), codewords.out_name());
    });
}

nb::object demodulator::device_of_library(const array_library &library, nb::handle symbols, nb::handle noise_var,
                                          nb::handle gain, const nb::tuple &of_call, nb::handle out)
{
    call_inputs given;
    nb::object noise = nb::borrow(noise_var), result = nb::borrow(out);
    float value;
    if (!library.has(symbols) || !(out.is_none() || library.has(out)))
        return nb::none();
    library.read(symbols, "symbols", &given.symbols);
    check_noise_wanted(noise_var, gain);
    const int device = given.symbols.device;
    const uintptr_t stream = library.current_stream(device);
    if (gain.is_none() && read_number(noise, "noise_var", &value))
        noise = call_python(library.number, nb::float_(value), nb::int_(device), nb::int_(stream));
    if (!(noise.is_none() || library.has(noise)) || !(gain.is_none() || library.has(gain)))
        return nb::none();
    if (!noise.is_none())
        library.read(noise, "noise_var", given.noise_var.of_array());
    if (!gain.is_none())
        library.read(gain, "gain", given.gain.of_array());
    run(given, of_call, stream, [&](const layout &codewords, call_options *, call_output *output) {
        if (out.is_none())
            result =
                call_python(library.empty, codewords.shape(), nb::str(element_name(out_element)), nb::int_(device));
        library.read(result, "out", &output->whole);
    });
    return result;
}
