/* SPDX-License-Identifier: MIT */
/* A call: its arguments checked, its segments made, the library called without the GIL. */
#include "call.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <initializer_list>
#include <unistd.h>

/* Segments that the library gets at once. */
enum { MAX_SEGMENTS = 4096 };

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

context::context(int backend, unsigned n_threads, int device)
{
    softqam_context_config settings;
    softqam_context_config_init(&settings);
    settings.backend = static_cast<softqam_backend>(backend);
    settings.n_threads = n_threads;
    settings.device = device;
    check(softqam_context_create(&handle, &settings));
}

demodulator::demodulator(nb::object of_context, int modulation, int output, int sign, double llr_scale, int llr_limit,
                         double input_scale, int noise_form)
    : where(std::move(of_context))
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

const char *demodulator::backend_name() const
{
    return softqam_backend_name(handles.at({array::HOST, SOFTQAM_INPUT_CF32}).get());
}

const char *demodulator::backend_detail() const
{
    return softqam_backend_detail(handles.at({array::HOST, SOFTQAM_INPUT_CF32}).get());
}

element demodulator::output_element() const
{
    switch (config.output_format) {
    case SOFTQAM_OUTPUT_S8:
        return element::int8;
    case SOFTQAM_OUTPUT_S16:
        return element::int16;
    case SOFTQAM_OUTPUT_F16:
        return element::float16;
    case SOFTQAM_OUTPUT_F32:
        return element::float32;
    case SOFTQAM_OUTPUT_U8:
        break;
    }
    return element::uint8; /* the library has checked the format */
}

call_arguments::call_arguments(nb::handle noise, nb::handle gains, const nb::tuple &options)
    : noise_var(noise), gain(gains), c_init(options[0]), first_symbol(options[1]), layers(options[2]),
      planes(options[3]), codeword(options[4]), combine(nb::cast<bool>(options[5]))
{
}

void demodulator::check_noise_wanted(const call_arguments &arguments) const
{
    const bool wanted = config.output_format != SOFTQAM_OUTPUT_U8;
    if (wanted && arguments.noise_var.is_none())
        type_error("noise_var is missing: LLRs need the noise variance");
    const char *given = !arguments.noise_var.is_none() ? "noise_var" : !arguments.gain.is_none() ? "gain" : nullptr;
    if (!wanted && given)
        value_error(std::string(given) + " is given, which output \"u8\" does not take");
}

/* What is called of NumPy. Never freed: the interpreter may be gone before this module is. */
static struct {
    nb::handle masked_array, empty, zeros, dtypes[static_cast<int>(element::other)];
} numpy;

void find_numpy()
{
    const nb::object module = nb::module_::import_("numpy");
    numpy.masked_array = nb::object(module.attr("ma").attr("MaskedArray")).release();
    numpy.empty = nb::object(module.attr("empty")).release();
    numpy.zeros = nb::object(module.attr("zeros")).release();
    for (const element type : {element::int8, element::int16, element::float16, element::float32, element::uint8})
        numpy.dtypes[static_cast<int>(type)] = module.attr("dtype")(element_name(type)).release();
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
void demodulator::read_codeword(const call_arguments &arguments, call_options *options) const
{
    const auto &of_call = nb::cast<const codeword &>(arguments.codeword);
    const auto n_layers = static_cast<int64_t>(of_call.n_layers);
    if (arguments.layers.is_none() && n_layers > 1)
        options->n_layers = n_layers;
    if (options->n_layers > 0 && options->n_layers != n_layers)
        value_error("layers is " + std::to_string(options->n_layers) + ", the codeword's are " +
                    std::to_string(n_layers));
    options->has_soft_buffers = true;
    options->codeword = of_call.fields_for(config, arguments.combine);
}

call_options demodulator::read_options(const call_arguments &arguments) const
{
    call_options options;
    if (!arguments.layers.is_none())
        options.n_layers = static_cast<int64_t>(integer(arguments.layers, "layers", 1, SOFTQAM_MAX_LAYERS));
    if (!arguments.planes.is_none())
        options.block_symbols = static_cast<int64_t>(integer(arguments.planes, "planes", 1, INT64_MAX));
    options.first_symbol = integer(arguments.first_symbol, "first_symbol", 0, UINT64_MAX >> 5);
    options.descramble = !arguments.c_init.is_none();
    if (PyLong_Check(arguments.c_init.ptr()))
        options.c_init = static_cast<uint32_t>(integer(arguments.c_init, "c_init", 0, INT32_MAX));
    if (!arguments.codeword.is_none())
        read_codeword(arguments, &options);
    if (config.output_format == SOFTQAM_OUTPUT_U8 &&
        (options.n_layers > 1 || options.block_symbols > 0 || options.descramble || options.has_soft_buffers))
        value_error("output is \"u8\", liquid-dsp's soft bits, which take no layers, planes, c_init or codeword");
    const std::string layers = "layers is " + std::to_string(options.n_layers);
    if (options.n_layers > 1 && config.modulation == SOFTQAM_MODULATION_PI2_BPSK)
        value_error(layers + ": pi/2-BPSK has one layer");
    if (options.n_layers > 1 && options.first_symbol % static_cast<uint64_t>(options.n_layers) != 0)
        value_error(layers + ", and first_symbol is no multiple of it");
    if (options.n_layers > 1 && options.block_symbols % options.n_layers != 0)
        value_error(layers + ", and planes is no multiple of it");
    return options;
}

/* A function of softqam._arrays, which makes a plain array of what the library cannot take as it is, or raises. */
static nb::object conversion(const char *function) { return nb::module_::import_("softqam._arrays").attr(function); }

/* One for each codeword, where c_init is an array. */
static nb::object read_c_init(nb::handle c_init, const layout &codewords, call_options *options, host_array *view)
{
    if (c_init.is_none() || PyLong_Check(c_init.ptr()))
        return nb::none();
    const nb::object batch = shape_tuple(codewords.out_shape, codewords.n_batch_axes());
    nb::object values = call_python(conversion("usual_c_init"), c_init, batch);
    if (!view->acquire(values, "c_init") || view->type != element::uint32 || !view->is_contiguous())
        type_error("c_init is no array of integers");
    options->c_inits = reinterpret_cast<const uint32_t *>(view->data);
    return values;
}

float nearest_noise(double number)
{
    const double limited = number > 0 ? std::max(number, static_cast<double>(FLT_MIN)) : number;
    return static_cast<float>(std::isfinite(number) ? std::clamp(limited, -double(FLT_MAX), double(FLT_MAX)) : number);
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
    *value = nearest_noise(number);
    return true;
}

/* Takes an argument as it is where takes(view) says so, else as NumPy converts it. */
template <typename Takes>
static void acquire_argument(nb::handle argument, const char *name, const char *function, host_array *view, Takes takes)
{
    if (is_buffer(argument) && view->acquire(argument, name) && takes(view->type))
        return;
    nb::object converted = call_python(conversion(function), argument, nb::str(name));
    const bool acquired = view->acquire(converted, name);
    if (acquired && nb::hasattr(argument, "dtype"))
        view->dtype = dtype_text(argument); /* what messages say that it is */
    if (!acquired || !takes(view->type))
        type_error(std::string(name) + " is nothing that NumPy can make an array of");
}

/* Noise values or gains in host memory: an array, one number, or none. */
struct host_floats {
    host_array view;
    float number = 0;
    bool is_array;
    const float *one; /* NULL, or &number */

    host_floats(nb::handle argument, const char *name)
        : is_array(!argument.is_none() && !read_number(argument, name, &number)),
          one(argument.is_none() || is_array ? nullptr : &number)
    {
        if (is_array)
            acquire_argument(
                argument, name, "usual_floats", &view,
                [](element type) { return type == element::float32 || type == element::float64; });
    }
};

static void check_overlap(const array &input, const array &out)
{
    const char *first[2], *end[2];
    if (input.is_empty() || out.is_empty())
        return;
    input.extent(&first[0], &end[0]);
    out.extent(&first[1], &end[1]);
    if (first[0] < end[1] && first[1] < end[0])
        value_error(std::string(out.name) + " overlaps " + input.name);
}

/* Soft buffers that no code block's LLRs reach are 0. */
nb::object demodulator::output_array(layout &codewords, nb::handle out, host_array *view) const
{
    nb::object result = nb::borrow(out);
    const char *name = codewords.out_name();
    if (out.is_none())
        result = call_python(codewords.has_soft_buffers() ? numpy.zeros : numpy.empty,
                             shape_tuple(codewords.out_shape, codewords.n_out_axes),
                             numpy.dtypes[static_cast<int>(output_element())]);
    if (!is_buffer(result) || !view->acquire(result, name))
        type_error(std::string(name) + " is no plain NumPy array");
    codewords.check_out(*view, output_element());
    return result;
}

/* Python's signal handlers run in this thread, as far as can be told without the GIL. */
static bool handles_signals() { return getpid() == gettid(); }

/* Without the GIL. In the thread that handles signals it is taken back between large parts, to look for them. */
template <typename Call> static void call_library(layout *codewords, char *out, size_t value_nbytes, Call call)
{
    constexpr int64_t UNTIL_SIGNALS = int64_t{1} << 24;
    std::vector<softqam_segment> segments(codewords->n_segments(MAX_SEGMENTS));
    for (size_t n = 1; n > 0;) {
        softqam_status status = SOFTQAM_OK;
        {
            const gil_released released;
            const int64_t before = codewords->n_done();
            while (status == SOFTQAM_OK && n > 0 &&
                   (codewords->n_done() - before < UNTIL_SIGNALS || !handles_signals())) {
                n = codewords->next(segments.data(), segments.size(), out, value_nbytes);
                if (n > 0)
                    status = call(segments.data(), n);
            }
        }
        check(status);
        if (n > 0 && PyErr_CheckSignals() != 0)
            throw nb::python_error();
    }
}

std::unique_ptr<soft_buffer_list> demodulator::read_list(nb::handle out, const layout &codewords,
                                                         call_options *options) const
{
    if (codewords.n_batch_axes() > 0)
        value_error("soft_buffers is a list, which takes one codeword: symbols has several");
    auto list = std::make_unique<soft_buffer_list>(out, options->codeword, output_element());
    options->codeword.block_buffers = list->pointers.data();
    return list;
}

nb::object demodulator::host(nb::handle symbols, const call_arguments &arguments, nb::handle out)
{
    check_noise_wanted(arguments);
    call_options options = read_options(arguments);
    layout codewords(options, config.modulation);
    host_array symbols_view, c_init_view, out_view;
    acquire_argument(symbols, "symbols", "usual_symbols", &symbols_view,
                     [](element type) { return type != element::other; });
    codewords.read_symbols(symbols_view);
    const nb::object c_inits = read_c_init(arguments.c_init, codewords, &options, &c_init_view);
    const host_floats noise(arguments.noise_var, "noise_var");
    noise.is_array ? codewords.read_noise(noise.view) : codewords.one_noise(noise.one);
    const host_floats gain(arguments.gain, "gain");
    gain.is_array ? codewords.read_gain(gain.view) : codewords.one_gain(gain.one);
    const bool is_list = options.has_soft_buffers && (PyList_Check(out.ptr()) || PyTuple_Check(out.ptr()));
    std::unique_ptr<soft_buffer_list> list;
    nb::object result = nb::borrow(out);
    if (is_list)
        list = read_list(out, codewords, &options);
    else
        result = output_array(codewords, out, &out_view);
    for (const array *input : std::initializer_list<const array *>{&symbols_view, &noise.view, &gain.view}) {
        if (!input->data)
            continue;
        if (!is_list)
            check_overlap(*input, out_view);
        for (size_t r = 0; is_list && r < list->views.size(); r++)
            if (list->views[r])
                check_overlap(*input, *list->views[r]);
    }
    if (symbols_view.is_empty())
        return result;
    codewords.plan_host();
    softqam_demodulator *handle = handle_for(codewords.format, array::HOST);
    call_library(
        &codewords, out_view.data, element_nbytes(out_view.type),
        [&](const softqam_segment *segments, size_t n) { return softqam_demodulate_segments(handle, segments, n); });
    return result;
}

static void check_device(const array &argument, int device)
{
    if (argument.device != device)
        value_error(argument, argument.device == array::HOST ? "it is not in the memory of a GPU"
                                                             : "it is on GPU " + std::to_string(argument.device) +
                                                                   ", the symbols on GPU " + std::to_string(device));
}

/* read_out(shape, n_axes, view) describes the output, once its shape is known. */
template <typename ReadOut>
void demodulator::on_device(const device_array &symbols, const device_array *noise, const device_array *gain,
                            const call_arguments &arguments, ReadOut read_out, uintptr_t stream)
{
    const char *strides = "its strides must be positive multiples of a symbol; make it contiguous";
    const int device = symbols.device;
    call_options options = read_options(arguments);
    layout codewords(options, config.modulation);
    host_array c_init_view;
    device_array out;
    if (device == array::HOST)
        value_error(symbols, "it is not in the memory of a GPU");
    codewords.read_symbols(symbols);
    const nb::object c_inits = read_c_init(arguments.c_init, codewords, &options, &c_init_view);
    for (const device_array *floats : {noise, gain})
        if (floats)
            check_device(*floats, device);
    noise ? codewords.read_noise(*noise) : codewords.one_noise(nullptr);
    gain ? codewords.read_gain(*gain) : codewords.one_gain(nullptr);
    read_out(codewords.out_shape, codewords.n_out_axes, &out);
    check_device(out, device);
    codewords.check_out(out, output_element());
    for (const device_array *input : {&symbols, noise, gain})
        if (input)
            check_overlap(*input, out);
    if (symbols.is_empty())
        return;
    codewords.plan_device();
    if (!codewords.takes_symbols())
        value_error(symbols, strides);
    if (!codewords.takes_noise())
        value_error(*noise, strides);
    if (!codewords.takes_gain())
        value_error(*gain, "on a GPU it must have the strides of noise_var: make both contiguous, of one shape");
    softqam_demodulator *handle = handle_for(codewords.format, device);
    call_library(&codewords, out.data, element_nbytes(out.type), [&](const softqam_segment *segments, size_t n) {
        return cuda_demodulate(handle, segments, n, stream);
    });
}

void demodulator::device(nb::handle symbols, const call_arguments &arguments, nb::handle make_out, uintptr_t stream)
{
    check_noise_wanted(arguments);
    const bool noisy = !arguments.noise_var.is_none(), gains = !arguments.gain.is_none();
    device_array symbols_view, noise_view, gain_view;
    symbols_view.acquire(symbols, "symbols");
    if (noisy)
        noise_view.acquire(arguments.noise_var, "noise_var");
    if (gains)
        gain_view.acquire(arguments.gain, "gain");
    const auto read_out = [&](const int64_t *shape, int n_axes, device_array *view) {
        view->acquire(call_python(make_out, shape_tuple(shape, n_axes)),
                      arguments.codeword.is_none() ? "out" : "soft_buffers");
    };
    on_device(symbols_view, noisy ? &noise_view : nullptr, gains ? &gain_view : nullptr, arguments, read_out, stream);
}

nb::object demodulator::device_of_library(const array_library &library, nb::handle symbols,
                                          const call_arguments &arguments, nb::handle out)
{
    device_array symbols_view, noise_view, gain_view;
    nb::object noise = nb::borrow(arguments.noise_var), result = nb::borrow(out);
    float value;
    if (!library.has(symbols) || !(out.is_none() || library.has(out)))
        return nb::none();
    library.read(symbols, "symbols", &symbols_view);
    check_noise_wanted(arguments);
    const uintptr_t stream = library.current_stream(symbols_view);
    const bool noisy = !noise.is_none(), gains = !arguments.gain.is_none();
    if (noisy && !gains && read_number(noise, "noise_var", &value))
        noise = library.new_number(value, symbols_view.device, stream);
    if ((noisy && !library.has(noise)) || (gains && !library.has(arguments.gain)))
        return nb::none();
    if (noisy)
        library.read(noise, "noise_var", &noise_view);
    if (gains)
        library.read(arguments.gain, "gain", &gain_view);
    const auto read_out = [&](const int64_t *shape, int n_axes, device_array *view) {
        if (out.is_none())
            result = library.new_array(shape, n_axes, output_element(), symbols_view.device);
        library.read(result, "out", view);
    };
    on_device(symbols_view, noisy ? &noise_view : nullptr, gains ? &gain_view : nullptr, arguments, read_out, stream);
    return result;
}
