// SPDX-License-Identifier: MIT
// Computes what softqam needs to demap two layers jointly, without an equaliser. Compilers make vectors of the loops.
#include <cmath>
#include <cstring>

#include "adapters.h"

using namespace softqam_ocudu;

namespace
{

/// Resource elements that are filtered together. Their sums stay in the L1 cache.
constexpr size_t chunk = 256;

/// Sums over the ports.
struct port_sums {
    float z[2][2][chunk]; ///< by layer and component
    float gain[2][chunk];
    float cross[2][chunk]; ///< by component
};

/// Splits a complex number of two bfloat16, which are the upper halves of floats.
__attribute__((always_inline)) inline void split(const ocudu::cbf16_t *complex, float &real, float &imaginary)
{
    uint32_t bits, real_bits, imaginary_bits;
    static_assert(sizeof(*complex) == sizeof(bits) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
                  "the real part is low");
    std::memcpy(&bits, static_cast<const void *>(complex), sizeof(bits));
    real_bits = bits << 16;
    imaginary_bits = bits & 0xffff0000;
    std::memcpy(&real, &real_bits, sizeof(real));
    std::memcpy(&imaginary, &imaginary_bits, sizeof(imaginary));
}

/// Adds a port with the channels h0 and h1 of the layers and a noise variance of 1 / weight.
SOFTQAM_OCUDU_VECTORS void add_port(port_sums &__restrict sums, const ocudu::cbf16_t *received,
                                    const ocudu::cbf16_t *const (&channels)[2], float weight, size_t n)
{
    const ocudu::cbf16_t *const h0 = channels[0], *const h1 = channels[1];
    for (size_t i = 0; i < n; ++i) {
        float y[2], a[2], b[2];
        split(received + i, y[0], y[1]);
        split(h0 + i, a[0], a[1]);
        split(h1 + i, b[0], b[1]);
        const float wa[2] = {weight * a[0], weight * a[1]}, wb[2] = {weight * b[0], weight * b[1]};
        sums.z[0][0][i] += wa[0] * y[0] + wa[1] * y[1];
        sums.z[0][1][i] += wa[0] * y[1] - wa[1] * y[0];
        sums.z[1][0][i] += wb[0] * y[0] + wb[1] * y[1];
        sums.z[1][1][i] += wb[0] * y[1] - wb[1] * y[0];
        sums.gain[0][i] += wa[0] * a[0] + wa[1] * a[1];
        sums.gain[1][i] += wb[0] * b[0] + wb[1] * b[1];
        sums.cross[0][i] += wa[0] * b[0] + wa[1] * b[1];
        sums.cross[1][i] += wa[0] * b[1] - wa[1] * b[0];
    }
}

/// Writes the sums of n elements with the layers interleaved. If nothing was received the gains are 0.
SOFTQAM_OCUDU_VECTORS void write(const port_sums &__restrict sums, size_t n, float *__restrict z,
                                 float *__restrict gains, float *__restrict cross, float *__restrict noise_vars)
{
    for (size_t i = 0; i < n; ++i) {
        const float z0[2] = {sums.z[0][0][i], sums.z[0][1][i]}, z1[2] = {sums.z[1][0][i], sums.z[1][1][i]};
        const float c[2] = {sums.cross[0][i], sums.cross[1][i]};
        const bool is_silent = (z0[0] == 0) & (z0[1] == 0) & (z1[0] == 0) & (z1[1] == 0);
        const float g0 = is_silent ? 0 : sums.gain[0][i], g1 = is_silent ? 0 : sums.gain[1][i];
        z[4 * i] = z0[0];
        z[4 * i + 1] = z0[1];
        z[4 * i + 2] = z1[0];
        z[4 * i + 3] = z1[1];
        gains[2 * i] = g0;
        gains[2 * i + 1] = g1;
        cross[2 * i] = c[0];
        cross[2 * i + 1] = c[1];
        // e / (1 - e), e the error of MMSE: e = ((G + 1)^-1) of the layer.
        const float determinant = g0 * g1 - (c[0] * c[0] + c[1] * c[1]), rest = determinant > 0 ? determinant : 0;
        noise_vars[2 * i] = (g1 + 1) / (g0 + rest);
        noise_vars[2 * i + 1] = (g0 + 1) / (g1 + rest);
    }
}

} // namespace

void softqam_ocudu::filter_two_layers(const demapper_inputs &filtered, float *noise_vars,
                                      const ocudu::re_buffer_reader<ocudu::cbf16_t> &received,
                                      const ocudu::channel_equalizer::ch_est_list &channel,
                                      ocudu::span<const float> port_noise_vars)
{
    const size_t n_elements = received.get_nof_re();
    for (size_t first = 0; first < n_elements; first += chunk) {
        const size_t n = std::min(chunk, n_elements - first);
        port_sums sums = {};
        for (unsigned port = 0; port < port_noise_vars.size(); ++port)
            if (std::isnormal(port_noise_vars[port]) && port_noise_vars[port] > 0) {
                const ocudu::cbf16_t *const channels[] = {channel.get_channel(port, 0).data() + first,
                                                          channel.get_channel(port, 1).data() + first};
                add_port(sums, received.get_slice(port).data() + first, channels, 1 / port_noise_vars[port], n);
            }
        write(sums, n, reinterpret_cast<float *>(filtered.symbols + 2 * first), filtered.noise_vars + 2 * first,
              filtered.cross_gains + 2 * first, noise_vars + 2 * first);
    }
}

void softqam_ocudu::set_inputs(softqam_segment &segment, const demapper_inputs &inputs)
{
    static const float whitened = 1;
    const bool is_joint = inputs.cross_gains != nullptr;
    segment.symbol_stride = segment.n_layers;
    segment.noise_stride = is_joint ? 0 : segment.n_layers;
    segment.gain_stride = is_joint ? segment.n_layers : 0;
    segment.cross_gain[0] = inputs.cross_gains;
    for (unsigned layer = 0; layer < segment.n_layers; ++layer) {
        segment.layers[layer].symbols = inputs.symbols + layer;
        segment.layers[layer].noise_var = is_joint ? &whitened : inputs.noise_vars + layer;
        segment.layers[layer].gain = is_joint ? inputs.noise_vars + layer : nullptr;
    }
}
