// SPDX-License-Identifier: MIT
// The demodulators with OCUDU's scales; softqam as OCUDU's demodulation mapper.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>

#include <ocudu/phy/upper/channel_modulation/demodulation_mapper.h>
#include <ocudu/support/ocudu_assert.h>

#include "adapters.h"

using namespace softqam_ocudu;

static_assert(sizeof(ocudu::log_likelihood_ratio) == sizeof(int8_t), "LLRs are written as int8");

namespace
{

/// A context without threads, and a demodulator for each of OCUDU's quantisers.
class demodulators
{
  public:
    /// Null if memory is short.
    static std::shared_ptr<const demodulators> create();

    /// Takes cf32 symbols with a noise variance each, and gives int8 LLRs with OCUDU's scale and limit.
    const softqam_demodulator *of(ocudu::modulation_scheme mod) const
    {
        return by_bits_[static_cast<unsigned>(mod)].get();
    }

  private:
    /// Indexed by OCUDU's numbers, which are the bits of a symbol, but for pi/2-BPSK's 0.
    std::shared_ptr<softqam_demodulator> by_bits_[ocudu::MODULATION_MAX_BITS_PER_SYMBOL + 1];
};

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

/// The segment that the mapper called next in this thread demaps instead of its arguments; null: none.
thread_local const softqam_segment *pending_segment;
thread_local softqam_status segment_status;

class demodulation_mapper final : public ocudu::demodulation_mapper
{
  public:
    explicit demodulation_mapper(std::shared_ptr<const demodulators> shared) : shared_(std::move(shared)) {}

    void demodulate_soft(ocudu::span<ocudu::log_likelihood_ratio> llrs, ocudu::span<const ocudu::cf_t> symbols,
                         ocudu::span<const float> noise_vars, ocudu::modulation_scheme mod) override
    {
        if (const softqam_segment *segment = std::exchange(pending_segment, nullptr)) {
            segment_status = softqam_demodulate_segments(shared_->of(mod), segment, 1);
            return;
        }
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

/// Returns whether a mapper is ours, decorated or not: another one leaves the segment.
bool is_ours(ocudu::demodulation_mapper &mapper)
{
    const softqam_segment nothing = {};
    pending_segment = &nothing;
    mapper.demodulate_soft({}, {}, {}, ocudu::modulation_scheme::QPSK);
    return std::exchange(pending_segment, nullptr) == nullptr;
}

} // namespace

void softqam_ocudu::announce(std::once_flag &once, const char *what)
{
    std::call_once(
        once, [=] { std::fprintf(stderr, "softqam %s in place of OCUDU's %s\n", softqam_version(), what); });
}

std::shared_ptr<ocudu::demodulation_mapper> softqam_ocudu::create_mapper(ocudu::demodulation_mapper_factory *factory)
{
    std::shared_ptr<ocudu::demodulation_mapper> mapper = factory ? factory->create() : nullptr;
    if (mapper && is_ours(*mapper))
        return mapper;
    const std::shared_ptr<ocudu::demodulation_mapper_factory> ours = create_demodulation_mapper_factory();
    return ours ? ours->create() : nullptr;
}

bool softqam_ocudu::demap(ocudu::demodulation_mapper &mapper, ocudu::modulation_scheme mod,
                          const softqam_segment &segment)
{
    pending_segment = &segment;
    mapper.demodulate_soft({}, {static_cast<const ocudu::cf_t *>(segment.layers[0].symbols), segment.n_symbols}, {},
                           mod);
    return segment_status == SOFTQAM_OK;
}

SOFTQAM_OCUDU_VECTORS bool softqam_ocudu::has_zero_component(const ocudu::cf_t *symbols, size_t n)
{
    const float *components = reinterpret_cast<const float *>(symbols);
    int_lanes hits = {};
    for (size_t i = 0; i < 2 * n; i += n_lanes) {
        float_lanes values = float_lanes() + 1;
        if (i + n_lanes <= 2 * n)
            std::memcpy(&values, components + i, sizeof(values));
        else
            std::memcpy(&values, components + i, (2 * n - i) * sizeof(float));
        hits |= values == 0;
    }
    int32_t any = 0;
    for (size_t lane = 0; lane < n_lanes; ++lane)
        any |= hits[lane];
    return any != 0;
}

std::shared_ptr<ocudu::demodulation_mapper_factory> softqam_ocudu::create_demodulation_mapper_factory()
{
    std::shared_ptr<const demodulators> shared = demodulators::create();
    if (!shared)
        return nullptr;
    static std::once_flag once;
    announce(once, "demodulation mapper");
    return make_factory<ocudu::demodulation_mapper_factory>([shared]() -> std::unique_ptr<ocudu::demodulation_mapper> {
        return std::make_unique<::demodulation_mapper>(shared);
    });
}
