// SPDX-License-Identifier: MIT
// OCUDU's whole PUSCH, from the resource grid to the transport block, with OCUDU's demodulator and decoder and with
// ours, in turns in one binary; test_ocudu_pusch compares their results. Usage:
// bench_ocudu_pusch [runs] [decoder threads] [zf|joint]; with joint ours demaps two layers jointly.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

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

} // namespace

int main(int argc, char **argv)
{
    const unsigned n_runs = argc > 1 ? unsigned(std::atoi(argv[1])) : 100;
    const unsigned n_threads = argc > 2 ? unsigned(std::atoi(argv[2])) : 4;
    const bool is_joint = argc > 3 && std::strcmp(argv[3], "joint") == 0;
    const auto equalizer = argc > 3 && std::strcmp(argv[3], "zf") == 0 ? channel_equalizer_algorithm_type::zf
                                                                       : channel_equalizer_algorithm_type::mmse;
    constexpr concurrent_queue_policy policy = concurrent_queue_policy::locking_mpmc;
    task_worker_pool<policy> workers("decoder", n_threads, 1024);
    task_worker_pool_executor<policy> executor(workers);
    const std::unique_ptr<pdsch_processor> transmitter = make_transmitter();
    struct {
        const char *name;
        unsigned mcs;
        double snr_db; ///< for one layer, some 3 dB more than blocks need
    } const modulations[] = {{"QPSK", 4, 6}, {"16QAM", 8, 12}, {"64QAM", 15, 19}, {"256QAM", 23, 27}};
    // Kept until the workers have stopped: a task ends after it has given the result.
    const auto make = [&](bool is_ours, task_executor *decodes) {
        parts all{is_ours, is_ours};
        all.mapper = is_ours ? all.mapper : create_demodulation_mapper_factory();
        all.equalizer = equalizer;
        all.max_joint_bits = is_joint ? 8 : 0;
        all.executor = decodes;
        all.n_threads = decodes ? n_threads : 0;
        return all;
    };
    receiver synchronous[3] = {receiver(make(false, nullptr)), receiver(make(true, nullptr)),
                               receiver(make(false, nullptr))};
    receiver asynchronous[3] = {receiver(make(false, &executor)), receiver(make(true, &executor)),
                                receiver(make(false, &executor))};
    bool is_good = true;
    for (const auto &modulation : modulations)
        for (unsigned n_layers : {1u, 2u, 4u}) {
            if (is_joint && n_layers != 2)
                continue;
            slot each(modulation.mcs, n_layers, max_n_prb);
            const auto grid = transmit(*transmitter, each, modulation.snr_db + 2 * n_layers, 1);
            for (auto *receivers : {&synchronous, &asynchronous}) {
                std::printf("%s, %u layers, %u code blocks, %s\n", modulation.name, n_layers, each.n_code_blocks(),
                            receivers == &synchronous ? "synchronous" : "executor");
                measure(*receivers, each, *grid, n_runs);
                for (const receiver &receives : *receivers)
                    is_good = is_good && receives.block == each.block;
                std::fflush(stdout);
            }
        }
    workers.stop();
    std::printf("%s\n", is_good ? "no block is lost" : "a block is lost");
    return is_good ? 0 : 1;
}
