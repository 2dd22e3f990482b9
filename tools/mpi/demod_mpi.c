/* SPDX-License-Identifier: MIT */
/* softqam-demod-mpi: softqam-demod on all ranks of an MPI job. Each rank reads its part of INPUT, as with --shard, and
 * writes its output at its offset in one file. Rank 0 makes this temporary file, and renames it at the end. A rank that
 * fails continues to the next call of agree(), where the lowest rank that failed prints why, and all end. */
#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef DEMOD_CUDA
#include <cuda_runtime_api.h>
#endif

#include "common/message.h"
#include "demod/demod.h"

struct job {
    int rank, n_ranks;
    const struct demod_options *options;
    struct demod_run *run;
};

/* Returns whether no rank has failed. If some have, all get the exit code of the lowest one of these, and only its
 * message is printed. */
static bool agree(const struct job *job, bool sound)
{
    int lowest, mine = sound ? job->n_ranks : job->rank;
    MPI_Allreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (lowest == job->n_ranks)
        return true;
    message_release(lowest == job->rank);
    message_hold();
    MPI_Bcast(&message_failure, 1, MPI_INT, lowest, MPI_COMM_WORLD);
    return false;
}

/* Checks that all hosts see the same input, by its size. */
static bool check_input_is_one(const struct job *job)
{
    const int64_t n = (int64_t)job->run->symbols.n_left;
    int64_t mine[2] = {n, -n}, least[2];
    MPI_Allreduce(mine, least, 2, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
    return least[0] == -least[1] || message_print(job->run->symbols.name, "is not the same file for all ranks");
}

/* Makes the temporary file, on rank 0, and returns its path. OUTPUT must be a regular file, so that ranks can write at
 * their offsets. */
static bool make_temporary(struct job *job, char temporary[PATH_MAX])
{
    const char *path = NULL;
    struct stat status;
    /* Opening a FIFO would wait for its reader. */
    const bool is_fifo = stat(job->options->output, &status) == 0 && S_ISFIFO(status.st_mode);
    if (!is_fifo) {
        if (!demod_run_open_output(job->run))
            return false;
        path = output_file_temporary(&job->run->output);
    }
    if (!path)
        return message_print(job->options->output, "not a regular file, so ranks cannot write at their offsets in it");
    return realpath(path, temporary) || message_print_errno(job->run->output.name);
}

/* Opens the temporary file on all ranks, whatever their working directories. Each removes it if a signal ends the rank.
 */
static bool open_output(struct job *job)
{
    static char temporary[PATH_MAX];
    if (!agree(job, job->rank > 0 || make_temporary(job, temporary)))
        return false;
    MPI_Bcast(temporary, sizeof temporary, MPI_CHAR, 0, MPI_COMM_WORLD);
    return agree(job, job->rank == 0 || output_file_join(&job->run->output, job->options->output, temporary));
}

/* Chooses this rank's part of INPUT and its offset in OUTPUT. */
static bool choose_part(struct job *job)
{
    struct demod_run *run = job->run;
    if (!demod_run_select(run, (unsigned)job->rank, (unsigned)job->n_ranks))
        return false;
    const off_t offset = (off_t)(run->first_symbol * (demod_run_output_bits(run) / 8));
    return lseek(run->output.fd, offset, SEEK_SET) >= 0 || message_print_errno(run->output.name);
}

/* Chooses this rank's CUDA device: the ranks of a host take its devices in turn. */
static void choose_device(struct job *job)
{
#ifdef DEMOD_CUDA
    softqam_context_config *config = &job->run->options->context_config;
    MPI_Comm host;
    int local_rank, n_devices = 0;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &local_rank);
    MPI_Comm_free(&host);
    /* Not asked on the CPU: it would start the driver. */
    if (config->device < 0 && demod_run_wants_cuda(job->run) && cudaGetDeviceCount(&n_devices) == cudaSuccess &&
        n_devices > 0)
        config->device = local_rank % n_devices;
#else
    (void)job;
#endif
}

static void reduce(const struct job *job, void *value, MPI_Datatype type, MPI_Op op)
{
    MPI_Reduce(job->rank == 0 ? MPI_IN_PLACE : value, value, 1, type, op, 0, MPI_COMM_WORLD);
}

/* Adds up on rank 0 what all ranks have counted. */
static void gather_report(struct job *job)
{
    struct demod_run *run = job->run;
    softqam_statistics *statistics = &run->statistics;
    uint64_t *const counts[] = {&run->n_demodulated,        &run->verifier.n_checked,
                                &statistics->n_erased,      &statistics->n_limited,
                                &statistics->n_sampled,     &statistics->error_energy,
                                &statistics->symbol_energy, &run->seen.n_symbols,
                                &run->n_compared,           &run->n_wrong,
                                &run->n_wrong_conjugated,   &run->n_wrong_swapped};
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++)
        reduce(job, counts[k], MPI_UINT64_T, MPI_SUM);
    reduce(job, &run->seen.energy, MPI_DOUBLE, MPI_SUM);
    reduce(job, &run->seen.error_energy, MPI_DOUBLE, MPI_SUM);
    reduce(job, &run->seconds_in_library, MPI_DOUBLE, MPI_MAX);
}

/* Lets rank 0 warn of the first symbols. */
static bool warn(struct job *job)
{
    gather_report(job);
    if (job->rank > 0)
        return true;
    message_release(false);
    const bool passes = demod_warn(job->run);
    message_hold();
    return passes;
}

/* Demodulates. OUTPUT gets its name once all ranks have written and closed it. */
static bool demodulate(struct job *job)
{
    struct demod_run *run = job->run;
    if (!agree(job, demod_run_open(run)) || !agree(job, check_input_is_one(job)) || !open_output(job) ||
        !agree(job, choose_part(job)))
        return false;
    choose_device(job);
    return agree(job, demod_run_start(run)) && agree(job, demod_run_write(run)) &&
           agree(job, output_file_finish(&run->output)) && agree(job, warn(job)) &&
           agree(job, job->rank > 0 || output_file_publish(&run->output));
}

/* Runs a job. A wrong command is reported by agree() too: if a rank ended by itself, mpirun could end the others before
 * the message is printed. */
static bool run_job(struct demod_options *options, bool command_is_right)
{
    static struct demod_run run; /* too large for the smallest stacks */
    struct job job = {.options = options, .run = &run};
    run.options = options;
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.n_ranks);
    options->show_progress = options->show_progress && job.rank == 0;
    const bool published = agree(&job, message_check_command(command_is_right)) && demodulate(&job);
    message_clear_transient();
    message_release(false);
    if (published && job.rank == 0)
        demod_report(&run);
    demod_run_close(&run, published);
    return published;
}

int main(int argc, char *argv[])
{
    struct demod_options options;
    int provided;
    message_start("softqam-demod-mpi");
    message_hold();
    const enum option_result action = demod_options_parse(argc, argv, true, &options);
    if (action == OPTIONS_HELP || action == OPTIONS_VERSION) {
        message_release(false);
        return option_table_answer(action, demod_option_rows);
    }
    /* Only this thread calls MPI; others read and demodulate. */
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    const bool done = run_job(&options, action == OPTIONS_RUN);
    MPI_Finalize();
    return message_end(done);
}
