/* SPDX-License-Identifier: MIT */
/* The extension module softqam._core, on which the package's Python modules are built. A call checks its arguments,
 * makes segments, and calls the library without the GIL. */
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <unistd.h>
#include <vector>

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <softqam/softqam.h>

#include "arguments.h"
#include "array.h"
#include "layout.h"

/* Raises an exception for a status other than SOFTQAM_OK, with the library's message, in which fields have the names of
 * Python's arguments. */
static void check(softqam_status status)
{
    if (status == SOFTQAM_OK)
        return;
    const struct {
        const char *field, *argument;
    } names[] = {
        {"config.output_format", "output"}, {"config.n_threads", "threads"}, {"config.", ""}, {"segment.", ""},
        {"codeword.", "codeword's "},       {"grant.n_layers", "layers"},    {"grant.", ""},  {"first_bit", "first"}};
    std::string message = softqam_error_message();
    for (const auto &name : names)
        for (size_t position; (position = message.find(name.field)) != std::string::npos;)
            message.replace(position, std::char_traits<char>::length(name.field), name.argument);
    if (status == SOFTQAM_ERROR_INVALID_ARGUMENT)
        value_error(message);
    PyErr_SetString(status == SOFTQAM_ERROR_OUT_OF_MEMORY ? PyExc_MemoryError : PyExc_RuntimeError, message.c_str());
    throw nb::python_error();
}

struct context {
    std::shared_ptr<softqam_context> handle;

    context(int backend, unsigned n_threads, int device)
    {
        softqam_context *made = nullptr;
        softqam_context_config settings;
        softqam_context_config_init(&settings);
        settings.backend = static_cast<softqam_backend>(backend);
        settings.n_threads = n_threads;
        settings.device = device;
        check(softqam_context_create(&made, &settings));
        handle.reset(made, softqam_context_destroy);
    }
};

/* The library's calls on device memory. */
#ifdef SOFTQAM_PYTHON_CUDA
#include <softqam/softqam_cuda.h>

constexpr bool built_with_cuda = true;

/* Returns a GPU's context, which is kept to the end of the process. The caller holds the GIL. */
static softqam_context *cuda_context(int device)
{
    static auto &contexts = *new std::map<int, context *>;
    context *&kept = contexts[device];
    if (!kept)
        kept = new context(SOFTQAM_BACKEND_CUDA, 0, device);
    return kept->handle.get();
}

static softqam_status cuda_demodulate(const softqam_demodulator *demodulator, const softqam_segment *segments,
                                      size_t n_segments, uintptr_t stream)
{
    return softqam_cuda_demodulate_segments(demodulator, segments, n_segments, reinterpret_cast<cudaStream_t>(stream));
}
#else
constexpr bool built_with_cuda = false;

static softqam_context *cuda_context(int)
{
    PyErr_SetString(PyExc_RuntimeError, "symbols is on a GPU, and this softqam was built without CUDA");
    throw nb::python_error();
}

static softqam_status cuda_demodulate(const softqam_demodulator *, const softqam_segment *, size_t, uintptr_t)
{
    return SOFTQAM_ERROR_BACKEND_UNAVAILABLE;
}
#endif

/* softqam.Codeword's core: checked fields, with n_cb > 0. */
struct codeword {
    unsigned bits_per_symbol, n_layers;
    bool has_filler_value;
    softqam_codeword fields{}; /* without buffers */

    /* Raises if the library refuses the fields. Without filler_value fillers are a certain 0 in the output's format.
     * `numbers` are n_bits, n_code_blocks, n_cb, k0, first_filler, n_fillers, n_cbg, cbgti, n_fill. */
    codeword(unsigned of_symbol, unsigned of_codeword, std::optional<float> filler_value,
             const std::array<uint32_t, 9> &numbers)
        : bits_per_symbol(of_symbol), n_layers(of_codeword), has_filler_value(filler_value.has_value())
    {
        const auto &[n_bits, n_code_blocks, n_cb, k0, first_filler, n_fillers, n_cbg, cbgti, n_fill] = numbers;
        fields.n_bits = n_bits;
        fields.n_code_blocks = n_code_blocks;
        fields.n_cbg = n_cbg;
        fields.cbgti = cbgti;
        fields.deinterleave = 1;
        fields.n_cb = n_cb;
        fields.k0 = k0;
        fields.first_filler = first_filler;
        fields.n_fillers = n_fillers;
        fields.filler_value = filler_value.value_or(0);
        fields.n_fill = n_fill;
        block(0);
    }

    /* Returns (first_bit, n_bits) of code block r. */
    nb::tuple block(size_t r) const
    {
        uint64_t first_bit, n_bits;
        check(softqam_codeword_block(&fields, bits_per_symbol, n_layers, r, &first_bit, &n_bits));
        return nb::make_tuple(first_bit, n_bits);
    }
};

/* Calls softqam_codeword_init_ldpc(), and returns softqam_codeword and softqam_ldpc as two tuples in the order of
 * softqam._codeword. */
static nb::tuple ldpc_codeword(uint64_t n_bits, uint32_t tb_size, uint32_t base_graph, float code_rate, uint32_t rv,
                               uint32_t bits_per_symbol, uint32_t n_layers, uint32_t tbs_lbrm, uint32_t n_ref)
{
    const softqam_ldpc_grant grant{n_bits,          tb_size,  base_graph, code_rate, rv,
                                   bits_per_symbol, n_layers, tbs_lbrm,   n_ref,     {}};
    softqam_codeword made{};
    softqam_ldpc ldpc{};
    check(softqam_codeword_init_ldpc(&made, &ldpc, &grant));
    return nb::make_tuple(nb::make_tuple(made.n_code_blocks, made.n_cb, made.k0, made.first_filler, made.n_fillers),
                          nb::make_tuple(ldpc.base_graph, ldpc.tb_crc_bits, ldpc.n_code_blocks, ldpc.cb_crc_bits,
                                         ldpc.lifting_size, ldpc.lifting_set, ldpc.k_prime, ldpc.k, ldpc.n_fillers,
                                         ldpc.n));
}

/* Returns whether this is the main thread, in which Python runs signal handlers. Needs no GIL. */
static bool handles_signals() { return getpid() == gettid(); }

/* Calls the library without the GIL. The main thread takes it back between large parts, to handle signals. */
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
    if (argument.device == device)
        return;
    const auto place = [](int number) {
        return number == array::HOST ? "in host memory" : "on GPU " + std::to_string(number);
    };
    argument.value_error("it is " + place(argument.device) + ", the symbols are " + place(device));
}

/* softqam.Demodulator's core: a configuration, and the library's demodulators of it, one for each input format. */
class demodulator
{
  public:
    /* Raises if the library refuses the settings. `where` is a context, or None for the one that is shared; dtype
     * is NumPy's, of the output, and certain_zero the LLR of a bit that is known to be 0. */
    demodulator(nb::object of_context, int modulation, int output, int sign, double llr_scale, int llr_limit,
                double input_scale, int noise_form, double noise_floor, nb::object dtype, float zero)
        : where(std::move(of_context)), out_dtype(std::move(dtype)),
          out_element(element_named(nb::str(out_dtype).c_str())), certain_zero(zero)
    {
        softqam_demodulator_config_init(&config);
        config.context = where.is_none() ? nullptr : nb::cast<context &>(where).handle.get();
        config.modulation = static_cast<softqam_modulation>(modulation);
        config.output_format = static_cast<softqam_output_format>(output);
        config.sign = static_cast<softqam_sign>(sign);
        config.llr_scale = static_cast<float>(llr_scale);
        config.llr_limit = llr_limit;
        config.input_scale = static_cast<float>(input_scale);
        config.noise_form = static_cast<softqam_noise_form>(noise_form);
        config.noise_floor = nearest_float(noise_floor);
        handle_for(SOFTQAM_INPUT_CF32, array::HOST);
    }

    demodulator(const demodulator &) = delete;
    demodulator &operator=(const demodulator &) = delete;

    /* In the three functions of_call is softqam._gpu.Options, and with a codeword `out` are its soft buffers. This one
     * takes NumPy arrays, and returns `out`, or a new array for None; soft buffers may be a list of arrays. */
    nb::object host(nb::handle symbols, nb::handle noise_var, nb::handle gain, const nb::tuple &of_call, nb::handle out)
    {
        check_noise_wanted(noise_var, gain);
        call_inputs given;
        nb::object result = nb::borrow(out);
        const bool is_joint = is_joint_call(of_call);
        const auto takes = [](element type) { return type != element::other; };
        const auto read = [](nb::handle argument, const char *name, array *floats) {
            read_argument(argument, name, "usual_floats", floats,
                          [](element type) { return type == element::float32 || type == element::float64; });
            return true;
        };
        read_argument(symbols, is_joint ? "z" : "symbols", "usual_symbols", &given.symbols, takes);
        read_floats(noise_var, "noise_var", &given.noise_var, read);
        if (is_joint)
            read_argument(gain, "gram", "usual_symbols", &given.gain, takes);
        else
            read_floats(gain, "gain", &given.gain, read);
        execute(given, of_call, 0, [&](const layout &codewords, call_options *options, call_output *output) {
            if (options->has_soft_buffers && (PyList_Check(out.ptr()) || PyTuple_Check(out.ptr()))) {
                if (codewords.n_batch > 0)
                    value_error("soft_buffers is a list, which takes one codeword: symbols has several");
                read_soft_buffers(out, *options, out_element, output);
                options->codeword.block_buffers = output->pointers.data();
                return;
            }
            /* Soft buffers that no code block's LLRs reach are 0. */
            if (out.is_none())
                result =
                    call_python(options->has_soft_buffers ? numpy.zeros : numpy.empty, codewords.shape(), out_dtype);
            read_output(result, codewords.out_name(), &output->whole);
        });
        return result;
    }

    /* Takes DLPack capsules of arrays on one GPU. make_out(shape) returns that of the output. */
    void device(nb::handle symbols, nb::handle noise_var, nb::handle gain, const nb::tuple &of_call,
                nb::handle make_out, uintptr_t stream)
    {
        check_noise_wanted(noise_var, gain);
        call_inputs given;
        const bool is_joint = is_joint_call(of_call);
        given.symbols.read_capsule(symbols, is_joint ? "z" : "symbols");
        given.noise_var.read_capsule(noise_var, "noise_var");
        given.gain.read_capsule(gain, is_joint ? "gram" : "gain");
        execute(given, of_call, stream, [&](const layout &codewords, call_options *, call_output *output) {
            output->whole.read_capsule(call_python(make_out, codewords.shape()), codewords.out_name());
        });
    }

    /* Takes arrays of a library in host memory or on one GPU, there on its current stream. Returns `out`, or a new
     * array for None. If an array is of another library or must be converted, does nothing and returns None. On a GPU
     * noise_var may be a number if there is no gain. */
    nb::object of_library(const array_library &library, nb::handle symbols, nb::handle noise_var, nb::handle gain,
                          const nb::tuple &of_call, nb::handle out)
    {
        call_inputs given;
        nb::object noise = nb::borrow(noise_var), result = nb::borrow(out);
        float value;
        const bool is_joint = is_joint_call(of_call);
        if (!library.has(out) || !library.read(symbols, is_joint ? "z" : "symbols", &given.symbols))
            return nb::none();
        check_noise_wanted(noise_var, gain);
        const int device = given.symbols.device;
        const bool on_host = device == array::HOST;
        const uintptr_t stream = on_host ? 0 : library.current_stream(device);
        const auto read = [&](nb::handle argument, const char *name, array *view) {
            return argument.is_none() ||
                   (library.read(argument, name, view) && (view->device == array::HOST) == on_host &&
                    (!on_host || view->type == element::float32));
        };
        const auto read_all = [&] {
            if (on_host)
                return given.symbols.type != element::other &&
                       read_floats(noise, "noise_var", &given.noise_var, read) &&
                       read_floats(gain, "gain", &given.gain, read);
            if ((is_joint || gain.is_none()) && read_number(noise, "noise_var", &value))
                noise = call_python(library.number, nb::float_(value), nb::int_(device), nb::int_(stream));
            return read(noise, "noise_var", &given.noise_var) && read(gain, is_joint ? "gram" : "gain", &given.gain);
        };
        if (!read_all())
            return nb::none();
        execute(given, of_call, stream, [&](const layout &codewords, call_options *, call_output *output) {
            if (out.is_none() && on_host) {
                result = call_python(numpy.empty, codewords.shape(), out_dtype);
                output->whole.read_buffer(result, "out");
                result = call_python(library.of_host, result);
                return;
            }
            if (out.is_none())
                result =
                    call_python(library.empty, codewords.shape(), nb::str(element_name(out_element)), nb::int_(device));
            if (!library.read(result, "out", &output->whole))
                type_error("out is no array with memory of its own");
        });
        return result;
    }

    /* Returns one noise variance, or one gain, for all symbols as binary32. One that would erase all of them: raises.
     */
    float noise_value(double number, const char *name) const
    {
        const bool is_inverse = config.noise_form == SOFTQAM_NOISE_FORM_INVERSE;
        const bool has_floor = config.noise_floor > 0 && strcmp(name, "noise_var") == 0;
        const bool is_valid =
            (number > 0 && std::isfinite(number)) || (has_floor && (is_inverse ? number > 0 : number < HUGE_VAL));
        if (!is_valid)
            value_error(std::string(name) + " is " + nb::repr(nb::float_(number)).c_str() +
                        ": one value for all symbols must be positive and finite");
        return nearest_float(number);
    }

    const char *backend_name() const { return softqam_backend_name(host_handle()); }
    const char *backend_detail() const { return softqam_backend_detail(host_handle()); }

  private:
    softqam_demodulator_config config;
    nb::object where, out_dtype;
    element out_element;
    float certain_zero;
    /* The library's demodulators by device and input format, made when first needed. */
    std::map<std::pair<int, softqam_input_format>, std::shared_ptr<softqam_demodulator>> handles;

    /* A Python number as a noise value or a gain. */
    bool read_number(nb::handle argument, const char *name, float *value) const
    {
        if (PyBool_Check(argument.ptr()) || !(PyFloat_Check(argument.ptr()) || PyLong_Check(argument.ptr())))
            return false;
        const double number = PyFloat_AsDouble(argument.ptr());
        if (PyErr_Occurred()) {
            PyErr_Clear();
            value_error(std::string(name) + " is an integer larger than any float");
        }
        *value = noise_value(number, name);
        return true;
    }

    /* Reads noise values or gains in host memory, arrays by read_array(), and returns whether that returns true. */
    template <typename ReadArray>
    bool read_floats(nb::handle argument, const char *name, array *floats, ReadArray read_array) const
    {
        float number;
        if (argument.is_none())
            return true;
        if (read_number(argument, name, &number))
            floats->set_number(number, name);
        else if (!read_array(argument, name, floats))
            return false;
        if (floats->n_axes == 0)
            floats->set_number(noise_value(floats->number(), name), name);
        return true;
    }

    softqam_demodulator *host_handle() const { return handles.at({array::HOST, SOFTQAM_INPUT_CF32}).get(); }

    softqam_demodulator *handle_for(softqam_input_format format, int device)
    {
        auto &handle = handles[{device, format}];
        if (!handle) {
            softqam_demodulator *made = nullptr;
            softqam_demodulator_config own = config;
            own.input_format = format;
            if (device != array::HOST)
                own.context = cuda_context(device);
            check(softqam_demodulator_create(&made, &own));
            handle.reset(made, softqam_demodulator_destroy);
        }
        return handle.get();
    }

    void check_noise_wanted(nb::handle noise_var, nb::handle gain) const
    {
        const bool wanted = config.output_format != SOFTQAM_OUTPUT_U8;
        if (wanted && noise_var.is_none())
            type_error("noise_var is missing: LLRs need the noise variance");
        const char *given = !noise_var.is_none() ? "noise_var" : !gain.is_none() ? "gain" : nullptr;
        if (!wanted && given)
            value_error(std::string(given) + " is given, which output \"u8\" does not take");
    }

    /* Symbols have an axis of layers if the codeword has layers. */
    void read_codeword(nb::handle of_call, nb::handle layers, bool combine, call_options *options) const
    {
        const auto &given = nb::cast<const codeword &>(of_call);
        const auto n_layers = static_cast<int64_t>(given.n_layers);
        const int64_t of_symbols = options->is_joint  ? std::max<int64_t>(options->n_layers, 1)
                                   : layers.is_none() ? n_layers
                                                      : options->n_layers;
        if (of_symbols != n_layers)
            value_error("layers is " + std::to_string(of_symbols) + ", the codeword's are " + std::to_string(n_layers));
        if (n_layers > 1)
            options->n_layers = n_layers;
        options->has_soft_buffers = true;
        options->codeword = given.fields;
        if (!given.has_filler_value)
            options->codeword.filler_value = certain_zero;
        options->n_values = std::max(given.fields.n_cb, given.fields.n_fill);
        options->codeword.combine = combine;
        if (combine)
            options->codeword.n_fill = 0;
    }

    static bool is_joint_call(const nb::tuple &of_call)
    {
        return !of_call[6].is_none() && !nb::cast<nb::tuple>(of_call[6])[2].is_none();
    }

    static void read_more(const nb::tuple &more, call_options *options)
    {
        options->scrambling_offset = integer(more[0], "scrambling_offset", 0, UINT64_MAX >> 5);
        options->input_scale = nb::cast<float>(more[1]);
        options->statistics = reinterpret_cast<softqam_statistics *>(nb::cast<uintptr_t>(more[3]));
        if (more[2].is_none())
            return;
        const auto [wanted, partner] = nb::cast<std::pair<int, int>>(more[2]);
        options->is_joint = true;
        options->wanted = wanted;
        options->n_layers = wanted < 0 ? 2 : 0;
        options->partner_modulation = static_cast<softqam_modulation>(partner);
    }

    call_options read_options(const nb::tuple &of_call) const
    {
        const nb::handle c_init = of_call[0], first_symbol = of_call[1], layers = of_call[2], planes = of_call[3],
                         of_codeword = of_call[4];
        call_options options;
        if (!of_call[6].is_none())
            read_more(nb::cast<nb::tuple>(of_call[6]), &options);
        if (!layers.is_none())
            options.n_layers = static_cast<int64_t>(integer(layers, "layers", 1, SOFTQAM_MAX_LAYERS));
        if (!planes.is_none())
            options.code_block_symbols = static_cast<int64_t>(integer(planes, "planes", 1, INT64_MAX));
        options.first_symbol = integer(first_symbol, "first_symbol", 0, UINT64_MAX >> 5);
        options.descramble = !c_init.is_none();
        if (PyLong_Check(c_init.ptr()))
            options.c_init = static_cast<uint32_t>(integer(c_init, "c_init", 0, INT32_MAX));
        if (!of_codeword.is_none())
            read_codeword(of_codeword, layers, nb::cast<bool>(of_call[5]), &options);
        if (config.output_format == SOFTQAM_OUTPUT_U8 &&
            (options.n_layers > 1 || options.code_block_symbols > 0 || options.descramble || options.has_soft_buffers))
            value_error("output is \"u8\", liquid-dsp's soft bits, which take no layers, planes, c_init or codeword");
        if (options.n_layers > 1) {
            const std::string given = "layers is " + std::to_string(options.n_layers);
            if (config.modulation == SOFTQAM_MODULATION_PI2_BPSK)
                value_error(given + ": pi/2-BPSK has one layer");
            if (options.first_symbol % static_cast<uint64_t>(options.n_layers) != 0)
                value_error(given + ", and first_symbol is no multiple of it");
            if (options.scrambling_offset % static_cast<uint64_t>(options.n_layers) != 0)
                value_error(given + ", and scrambling_offset is no multiple of it");
            if (options.code_block_symbols % options.n_layers != 0)
                value_error(given + ", and planes is no multiple of it");
        }
        return options;
    }

    /* read_out(layout, options, output) describes the output, once its shape is known. */
    template <typename ReadOut>
    void execute(call_inputs &given, const nb::tuple &of_call, uintptr_t stream, ReadOut read_out)
    {
        const int device = given.symbols.device;
        call_options options = read_options(of_call);
        if (options.is_joint)
            given.separate_layers(options.wanted);
        layout codewords(options, config.modulation);
        array c_init_view;
        call_output out;
        codewords.read_symbols(given.symbols);
        const nb::object c_inits = read_c_init(of_call[0], codewords, &options, &c_init_view);
        codewords.check_column(given.symbols);
        for (const array *floats : {&given.noise_var, &given.gain})
            if (floats->is_given())
                check_device(*floats, device);
        codewords.read_floats(given);
        read_out(codewords, &options, &out);
        if (out.pointers.empty()) {
            check_device(out.whole, device);
            codewords.check_out(out.whole, out_element);
        }
        for (const array *input : {&given.symbols, &given.noise_var, &given.gain}) {
            out.whole.check_apart_from(*input);
            for (const auto &buffer : out.buffers)
                buffer->check_apart_from(*input);
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
};

NB_MODULE(_core, module)
{
    nb::set_leak_warnings(false); /* what a daemon thread uses at the end is never given back */
    const nb::object of_numpy = nb::module_::import_("numpy");
    numpy.masked_array = nb::object(of_numpy.attr("ma").attr("MaskedArray")).release();
    numpy.empty = nb::object(of_numpy.attr("empty")).release();
    numpy.zeros = nb::object(of_numpy.attr("zeros")).release();
    module.attr("version") = softqam_version();
    module.attr("built_with_cuda") = built_with_cuda;
    module.def("bits_per_symbol",
               [](int modulation) { return softqam_bits_per_symbol(static_cast<softqam_modulation>(modulation)); });

    module.def("gold_sequence", [](uint32_t c_init, uint64_t first, size_t n, nb::ndarray<uint8_t, nb::c_contig> bits) {
        softqam_status status;
        {
            const gil_released released;
            status = softqam_gold_sequence(c_init, first, n, bits.data());
        }
        check(status);
    });

    nb::class_<context>(module, "Context").def(nb::init<int, unsigned, int>());

    const auto plain = nb::arg();
    const auto any = nb::arg().none();
    nb::class_<codeword>(module, "Codeword")
        .def(nb::init<unsigned, unsigned, std::optional<float>, const std::array<uint32_t, 9> &>(), plain, plain, any,
             plain)
        .def("block", &codeword::block);
    module.def("ldpc_codeword", &ldpc_codeword);

    nb::class_<array_library>(module, "ArrayLibrary")
        .def(nb::init<nb::object, nb::object, nb::object, nb::object, nb::object>());

    nb::class_<demodulator>(module, "Demodulator")
        .def(nb::init<nb::object, int, int, int, double, int, double, int, double, nb::object, float>(), any, plain,
             plain, plain, plain, plain, plain, plain, plain, plain, plain)
        .def("host", &demodulator::host, any, any, any, plain, any)
        .def("device", &demodulator::device, any, any, any, plain, plain, plain)
        .def("of_library", &demodulator::of_library, plain, any, any, any, plain, any)
        .def("noise_value", &demodulator::noise_value)
        .def_prop_ro("backend", &demodulator::backend_name)
        .def_prop_ro("backend_detail", &demodulator::backend_detail);
}
