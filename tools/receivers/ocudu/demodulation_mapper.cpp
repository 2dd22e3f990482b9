// SPDX-License-Identifier: MIT
// The demodulators with OCUDU's scales; softqam as OCUDU's demodulation mapper.
#include <algorithm>
#include <cstdint>

#include <ocudu/phy/upper/channel_modulation/demodulation_mapper.h>
#include <ocudu/support/ocudu_assert.h>

#include "adapters.h"

using namespace softqam_ocudu;

static_assert(sizeof(ocudu::log_likelihood_ratio) == sizeof(int8_t), "LLRs are written as int8");

std::shared_ptr<const demodulators> demodulators::create()
{
    using scheme = ocudu::modulation_scheme;
    struct quantiser {
        scheme mod;
        softqam_modulation modulation;
        float steps_per_nat; // log_likelihood_ratio::quantize() maps 24 or 20 nats to 120
    };
    static constexpr quantiser quantisers[] = {
        {scheme::PI_2_BPSK, SOFTQAM_MODULATION_PI2_BPSK, 5}, {scheme::BPSK, SOFTQAM_MODULATION_BPSK, 5},
        {scheme::QPSK, SOFTQAM_MODULATION_QPSK, 5},          {scheme::QAM16, SOFTQAM_MODULATION_16QAM, 6},
        {scheme::QAM64, SOFTQAM_MODULATION_64QAM, 6},        {scheme::QAM256, SOFTQAM_MODULATION_256QAM, 6},
        {scheme::QAM1024, SOFTQAM_MODULATION_1024QAM, 6}};

    softqam_context_config context_config;
    softqam_context_config_init(&context_config);
    context_config.n_threads = 1;
    softqam_context *context = nullptr;
    if (softqam_context_create(&context, &context_config) != SOFTQAM_OK)
        return nullptr;
    const std::shared_ptr<softqam_context> held(context, softqam_context_destroy); // the demodulators hold on to it
    auto created = std::make_shared<demodulators>();
    for (const quantiser &each : quantisers) {
        softqam_demodulator_config config;
        softqam_demodulator_config_init(&config);
        config.context = context;
        config.modulation = each.modulation;
        config.llr_scale = each.steps_per_nat;
        config.llr_limit = ocudu::LLR_MAX.to_int();
        softqam_demodulator *demodulator = nullptr;
        if (softqam_demodulator_create(&demodulator, &config) != SOFTQAM_OK)
            return nullptr;
        created->by_bits_[static_cast<unsigned>(each.mod)].reset(demodulator, softqam_demodulator_destroy);
    }
    return created;
}

namespace
{

class demodulation_mapper final : public ocudu::demodulation_mapper
{
  public:
    explicit demodulation_mapper(std::shared_ptr<const demodulators> shared) : shared_(std::move(shared)) {}

    void demodulate_soft(ocudu::span<ocudu::log_likelihood_ratio> llrs, ocudu::span<const ocudu::cf_t> symbols,
                         ocudu::span<const float> noise_vars, ocudu::modulation_scheme mod) override
    {
        const unsigned bits = ocudu::get_bits_per_symbol(mod);
        ocudu_assert(symbols.size() == noise_vars.size(), "Inputs symbols and noise_vars must have the same length.");
        ocudu_assert(symbols.size() * bits == llrs.size(), "Input and output lengths are incompatible.");

        const softqam_status status =
            softqam_demodulate(shared_->of(mod), symbols.data(), noise_vars.data(), symbols.size(), llrs.data());
        if (status != SOFTQAM_OK)
            std::fill(llrs.begin(), llrs.end(), ocudu::log_likelihood_ratio());
        else if (bits > 2) // at the origin the LLRs of BPSK and QPSK are 0 anyway
            for_each_zero_symbol(symbols.data(), symbols.size(), [&](size_t i) {
                std::fill_n(llrs.begin() + i * bits, bits, ocudu::log_likelihood_ratio());
            });
    }

  private:
    std::shared_ptr<const demodulators> shared_;
};

} // namespace

std::shared_ptr<ocudu::demodulation_mapper_factory> softqam_ocudu::create_demodulation_mapper_factory()
{
    std::shared_ptr<const demodulators> shared = demodulators::create();
    if (!shared)
        return nullptr;
    return make_factory<ocudu::demodulation_mapper_factory>([shared]() -> std::unique_ptr<ocudu::demodulation_mapper> {
        return std::make_unique<::demodulation_mapper>(shared);
    });
}
