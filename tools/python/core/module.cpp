/* SPDX-License-Identifier: MIT */
/* The extension module softqam._core: what the Python modules of the package are built on. */
#include "call.h"

NB_MODULE(_core, module)
{
    nb::set_leak_warnings(false); /* what a daemon thread uses at the end is never given back */
    find_numpy();
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

    module.def("noise_value", &nearest_float);

    nb::class_<context>(module, "Context").def(nb::init<int, unsigned, int>());

    const auto plain = nb::arg();
    const auto any = nb::arg().none();
    nb::class_<codeword>(module, "Codeword")
        .def(nb::init<unsigned, unsigned, std::optional<float>, const std::array<uint32_t, 8> &>(), plain, plain, any,
             plain)
        .def("block", &codeword::block);
    module.def("ldpc_codeword", &ldpc_codeword);

    nb::class_<array_library>(module, "ArrayLibrary").def(nb::init<nb::object, nb::object, nb::object, nb::object>());

    nb::class_<demodulator>(module, "Demodulator")
        .def(nb::init<nb::object, int, int, int, double, int, double, int, nb::object, float>(), any, plain, plain,
             plain, plain, plain, plain, plain, plain, plain)
        .def("host", &demodulator::host, any, any, any, plain, any)
        .def("device", &demodulator::device, any, any, any, plain, plain, plain)
        .def("device_of_library", &demodulator::device_of_library, plain, any, any, any, plain, any)
        .def_prop_ro("backend", &demodulator::backend_name)
        .def_prop_ro("backend_detail", &demodulator::backend_detail);
}
