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

    module.def("gold_sequence", [](uint32_t c_init, uint64_t first, size_t n) {
        std::vector<unsigned char> bits(n / 8 + (n % 8 != 0));
        softqam_status status;
        {
            const gil_released released;
            status = softqam_gold_sequence(c_init, first, n, bits.data());
        }
        if (status != SOFTQAM_OK)
            raise_status(status);
        return nb::bytes(bits.data(), bits.size());
    });

    module.def("noise_value", &nearest_noise);

    nb::class_<context>(module, "Context").def(nb::init<int, unsigned, int>());

    nb::class_<codeword>(module, "Codeword")
        .def(nb::init<uint64_t, unsigned, unsigned, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, nb::handle,
                      uint32_t, uint32_t>(),
             nb::arg("n_bits"), nb::arg("bits_per_symbol"), nb::arg("layers"), nb::arg("n_code_blocks"),
             nb::arg("n_cb"), nb::arg("k0"), nb::arg("first_filler"), nb::arg("n_fillers"),
             nb::arg("filler_value").none(), nb::arg("n_cbg"), nb::arg("cbgti"))
        .def("block", &codeword::block);
    module.def("ldpc_codeword", &ldpc_codeword);

    nb::class_<array_library>(module, "ArrayLibrary")
        .def(nb::init<nb::handle, nb::object, nb::object, nb::object>(), nb::arg("array_type"), nb::arg("is_plain"),
             nb::arg("empty"), nb::arg("number"));

    nb::class_<demodulator>(module, "Demodulator")
        .def(nb::init<nb::object, int, int, int, double, int, double, int>(), nb::arg("where").none(),
             nb::arg("modulation"), nb::arg("output"), nb::arg("sign"), nb::arg("llr_scale"), nb::arg("llr_limit"),
             nb::arg("input_scale"), nb::arg("noise_form"))
        .def(
            "host",
            [](demodulator &self, nb::handle symbols, nb::handle noise_var, nb::handle c_init, nb::handle first_symbol,
               nb::handle layers, nb::handle planes, nb::handle codeword, bool combine, nb::handle out) {
                return self.host(symbols, {noise_var, c_init, first_symbol, layers, planes, codeword, combine}, out);
            },
            nb::arg("symbols").none(), nb::arg("noise_var").none(), nb::arg("c_init").none(),
            nb::arg("first_symbol").none(), nb::arg("layers").none(), nb::arg("planes").none(),
            nb::arg("codeword").none(), nb::arg("combine"), nb::arg("out").none())
        .def(
            "device",
            [](demodulator &self, nb::handle symbols, nb::handle noise_var, nb::handle c_init, nb::handle first_symbol,
               nb::handle layers, nb::handle planes, nb::handle codeword, bool combine, nb::handle make_out,
               uintptr_t stream) {
                self.device(symbols, {noise_var, c_init, first_symbol, layers, planes, codeword, combine}, make_out,
                            stream);
            },
            nb::arg("symbols").none(), nb::arg("noise_var").none(), nb::arg("c_init").none(),
            nb::arg("first_symbol").none(), nb::arg("layers").none(), nb::arg("planes").none(),
            nb::arg("codeword").none(), nb::arg("combine"), nb::arg("make_out"), nb::arg("stream"))
        .def(
            "device_of_library",
            [](demodulator &self, const array_library &library, nb::handle symbols, nb::handle noise_var,
               nb::handle c_init, nb::handle first_symbol, nb::handle layers, nb::handle planes, nb::handle out) {
                return self.device_of_library(library, symbols, {noise_var, c_init, first_symbol, layers, planes}, out);
            },
            nb::arg("library"), nb::arg("symbols").none(), nb::arg("noise_var").none(), nb::arg("c_init").none(),
            nb::arg("first_symbol").none(), nb::arg("layers").none(), nb::arg("planes").none(), nb::arg("out").none())
        .def_prop_ro("backend", &demodulator::backend_name)
        .def_prop_ro("backend_detail", &demodulator::backend_detail);
}
