// SPDX-License-Identifier: MIT
// OCUDU's whole PUSCH, from the resource grid to the transport block, with OCUDU's demodulator and decoder and with
// ours, in turns in one binary: channel estimation, MMSE equaliser, post-equalisation SINR, LDPC decoder, everything as
// OCUDU's upper PHY sets it up. OCUDU's PDSCH transmits. Results are compared first. Usage:
// bench_ocudu_pusch [runs] [decoder threads] [zf]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include <ocudu/phy/metrics/phy_metrics_factories.h>

#include "ocudu_receiver.h"

/// Aligns all memory alike: else OCUDU's LDPC decoder is up to a tenth faster or slower by where its memory lies.
void *operator new(size_t n)
{
    if (void *memory = std::aligned_alloc(64, (n + 63) / 64 * 64))
        return memory;
    throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }

namespace
{

using namespace ocudu_receiver;

/// Adds up what OCUDU's metrics measure: the time of a step.
template <typename metrics> class stopwatch final : public detail::phy_metric_notifier<metrics>
{
  public:
    void on_new_metric(const metrics &step) override { us += 1e-3 * double(step.measurements.duration.count()); }

    double us = 0;
};

/// Time of the mapper, of making the scrambling sequence, and of the rate dematcher.
struct step_times {
    stopwatch<modulation_mapper_metrics> mapper;
    stopwatch<pseudo_random_sequence_generator_metrics> scrambling;
    stopwatch<ldpc_rate_dematcher_metrics> dematcher;
};

/// The parts of OCUDU's receiver, whose mapper is its own, or those of ours.
parts parts_of(bool is_ours, channel_equalizer_algorithm_type equalizer)
{
    parts all{is_ours, is_ours};
    all.equalizer = equalizer;
    if (!is_ours)
        all.mapper = create_demodulation_mapper_factory();
    return all;
}

/// Receives slots from where most blocks are lost to where none is. Returns whether both lose the same blocks, and find
/// the same data and SINR.
bool compare(receiver &theirs, receiver &ours, pdsch_processor &transmitter, slot &each, double snr_db)
{
    constexpr unsigned n_slots = 16;
    unsigned n_lost[2] = {}, n_other = 0;
    float sinr_difference = 0;
    for (unsigned i = 0; i < n_slots; ++i) {
        const auto grid = transmit(transmitter, each, snr_db + 6.0 * i / n_slots - 5, 1000 + i);
        for (receiver *receives : {&theirs, &ours})
            receives->receive(each, *grid);
        const bool is_lost[2] = {!theirs.result.data.tb_crc_ok, !ours.result.data.tb_crc_ok};
        n_lost[0] += is_lost[0];
        n_lost[1] += is_lost[1];
        n_other +=
            is_lost[0] != is_lost[1] || (!is_lost[0] && (theirs.block != each.block || ours.block != each.block));
        sinr_difference = std::max(sinr_difference, std::fabs(theirs.result.csi.get_sinr_dB().value() -
                                                              ours.result.csi.get_sinr_dB().value()));
    }
    std::printf("  lost of %u: %u, %u; otherwise: %u; SINR differs by %.1e dB at most\n", n_slots, n_lost[0], n_lost[1],
                n_other, double(sinr_difference));
    return n_other == 0 && sinr_difference < 1e-3F;
}

double quantile(const std::vector<double> &values, double q)
{
    return values[size_t(q * double(values.size() - 1) + 0.5)];
}

/// OCUDU's, ours, and OCUDU's again in turns, the first one changing; ratios are of neighbours.
void measure(receiver (&receivers)[3], const slot &each, const resource_grid &grid, unsigned n_runs)
{
    std::vector<double> us[3][3], ratios[3], control;
    for (unsigned run = 0; run < n_runs; ++run) {
        for (unsigned i = 0; i < 3; ++i)
            receivers[(run + i) % 3].receive(each, grid);
        for (unsigned k = 0; k < 3; ++k) {
            for (unsigned i = 0; i < 3; ++i)
                us[i][k].push_back(receivers[i].us[k]);
            ratios[k].push_back(2 * us[1][k].back() / (us[0][k].back() + us[2][k].back()));
        }
        control.push_back(us[2][0].back() / us[0][0].back());
    }
    const char *const names[] = {"calling thread", "all threads", "until the result"};
    for (unsigned k = 0; k < 3; ++k) {
        for (std::vector<double> *values : {&us[0][k], &us[1][k], &ratios[k], &control})
            std::sort(values->begin(), values->end());
        std::printf("  %-16s  median %7.0f -> %7.0f us, ratio %.3f (%.3f to %.3f)  lowest %7.0f -> %7.0f us, %.3f\n",
                    names[k], quantile(us[0][k], 0.5), quantile(us[1][k], 0.5), quantile(ratios[k], 0.5),
                    quantile(ratios[k], 0.25), quantile(ratios[k], 0.75), us[0][k][0], us[1][k][0],
                    us[1][k][0] / us[0][k][0]);
    }
    std::printf("  OCUDU against itself, calling thread: ratio %.3f (%.3f to %.3f)\n", quantile(control, 0.5),
                quantile(control, 0.25), quantile(control, 0.75));
}

/// The time of the steps that softqam replaces, in a receiver that OCUDU's metrics slow down a little.
void measure_steps(bool is_ours, channel_equalizer_algorithm_type equalizer, const slot &each,
                   const resource_grid &grid, unsigned n_runs)
{
    step_times times;
    parts all = parts_of(is_ours, equalizer);
    all.mapper = create_demodulation_mapper_metric_decorator_factory(all.mapper, times.mapper);
    all.scrambling = create_pseudo_random_generator_metric_decorator_factory(all.scrambling, times.scrambling);
    all.dematcher = create_ldpc_rate_dematcher_metric_decorator_factory(all.dematcher, times.dematcher);
    receiver receives(all);
    receives.receive(each, grid);
    times = {};
    double whole = 0;
    for (unsigned run = 0; run < n_runs; ++run) {
        receives.receive(each, grid);
        whole += receives.us[0];
    }
    std::printf("  %s steps: mapper %.0f, scrambling %.0f, rate dematcher %.0f of %.0f us\n", is_ours ? "our" : "their",
                times.mapper.us / n_runs, times.scrambling.us / n_runs, times.dematcher.us / n_runs, whole / n_runs);
}

} // namespace

int main(int argc, char **argv)
{
    const unsigned n_runs = argc > 1 ? unsigned(std::atoi(argv[1])) : 100;
    const unsigned n_threads = argc > 2 ? unsigned(std::atoi(argv[2])) : 4;
    const auto equalizer = argc > 3 && std::strcmp(argv[3], "zf") == 0 ? channel_equalizer_algorithm_type::zf
                                                                       : channel_equalizer_algorithm_type::mmse;
    constexpr concurrent_queue_policy policy = concurrent_queue_policy::locking_mpmc;
    task_worker_pool<policy> workers("decoder", n_threads, 1024);
    task_worker_pool_executor<policy> executor(workers);
    const std::unique_ptr<pdsch_processor> transmitter = make_transmitter();
    struct {
        const char *name;
        unsigned mcs;
        double snr_db; ///< of the first lost blocks, about
    } const modulations[] = {{"QPSK", 4, 3}, {"16QAM", 8, 9}, {"64QAM", 15, 16}, {"256QAM", 23, 24}};
    // Kept until the workers have stopped: a task ends after it has given the result.
    const auto make = [&](bool is_ours, task_executor *decodes) {
        parts all = parts_of(is_ours, equalizer);
        all.executor = decodes;
        all.n_threads = decodes ? n_threads : 0;
        return all;
    };
    receiver synchronous[3] = {receiver(make(false, nullptr)), receiver(make(true, nullptr)),
                               receiver(make(false, nullptr))};
    receiver asynchronous[3] = {receiver(make(false, &executor)), receiver(make(true, &executor)),
                                receiver(make(false, &executor))};
    bool is_equal = true;
    for (const auto &modulation : modulations)
        for (unsigned n_layers : {1u, 2u, 4u}) {
            slot each(modulation.mcs, n_layers, max_n_prb);
            const double snr_db = modulation.snr_db + 2 * n_layers;
            const auto grid = transmit(*transmitter, each, snr_db + 3, 1);
            for (auto *receivers : {&synchronous, &asynchronous}) {
                std::printf("%s, %u layers, %u code blocks, %s\n", modulation.name, n_layers, each.n_code_blocks(),
                            receivers == &synchronous ? "synchronous" : "executor");
                is_equal = compare((*receivers)[0], (*receivers)[1], *transmitter, each, snr_db) && is_equal;
                measure(*receivers, each, *grid, n_runs);
                std::fflush(stdout);
            }
            for (bool is_ours : {false, true})
                measure_steps(is_ours, equalizer, each, *grid, n_runs / 4 + 1);
        }
    workers.stop();
    std::printf(is_equal ? "the same blocks lost\n" : "other blocks lost\n");
    return is_equal ? 0 : 1;
}
