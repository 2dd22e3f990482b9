/* SPDX-License-Identifier: MIT */
/* softqam-demod-mpi: softqam-demod by all ranks of an MPI job. Each reads its part of INPUT, as --shard does, and
 * writes it at its offset of one file by collective calls of MPI-IO. Reading is not collective: the parts are
 * contiguous, so there is nothing to gather, and it stays in a thread of its own.
 *
 * A failure of a rank waits for the next point where all ranks agree; there the lowest rank that failed
 * says why, and all end. Rank 0 owns the names: it makes the temporary file that all write, and renames it. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef DEMOD_CUDA
#include <cuda_runtime_api.h>
#endif

#include "common/file_name.h"
#include "common/message.h"
#include "demod/run.h"

/* Bounds the memory that collective writing takes, and the counts of its calls: a symbol becomes up to 40 bytes. */
static const size_t max_block_symbols = 4 << 20;

struct job {
    int rank, n_ranks;
    const struct demod_options *options;
    struct demod_run *run; /* whose outputs rank 0 has */
    char temporary[PATH_MAX];
    MPI_File file; /* the temporary file behind OUTPUT, which all write */
};

/* Whether all ranks are sound. If not, all get the exit code of the lowest one that failed, whose message is printed,
 * and from there on no other. */
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

static bool check_mpi(const char *subject, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    if (code == MPI_SUCCESS)
        return true;
    MPI_Error_string(code, text, &length);
    return message_print(subject, "%s", text);
}

/* Hosts that do not see the same file must not make one output of it. */
static bool check_input_is_one(const struct job *job)
{
    int64_t mine[2] = {job->run->symbols.n_symbols, -job->run->symbols.n_symbols}, least[2];
    MPI_Allreduce(mine, least, 2, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
    return least[0] == -least[1] ||
           message_print(job->run->symbols.file.name,
                         "is not the same file for all ranks: one has %" PRId64 " symbols, one %" PRId64, least[0],
                         -least[1]);
}

static bool open_input(struct job *job)
{
    return agree(job, demod_run_open(job->run)) && agree(job, check_input_is_one(job)) &&
           agree(job, demod_run_choose_part(job->run, (unsigned)job->rank, (unsigned)job->n_ranks));
}

/* Whether a path is, or may become, a file in which each rank has its offset. Checked before it is opened: a FIFO would
 * wait for its reader. A folder has a message of its own. */
static bool check_is_regular(const char *path)
{
    struct stat status;
    return (file_name_descriptor(path, STDOUT_FILENO) < 0 &&
            (stat(path, &status) || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))) ||
           message_print(file_name_shown(path, STDOUT_FILENO),
                         "not a regular file, so ranks cannot write at their offsets in it");
}

/* Rank 0 makes the temporary file, whose path is for all ranks, wherever they were started. */
static bool make_temporary(struct job *job)
{
    return check_is_regular(job->options->output) && demod_outputs_open(job->run) &&
           (realpath(output_file_temporary(&job->run->output), job->temporary) ||
            message_print_errno(job->run->output.name));
}

/* All open the temporary file, and remove it when a signal ends them. A rank that does not see it would leave the
 * others waiting in MPI_File_open(). */
static bool open_output(struct job *job)
{
    const char *output = job->options->output;
    if (!agree(job, job->rank > 0 || make_temporary(job)))
        return false;
    MPI_Bcast(job->temporary, sizeof job->temporary, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (job->rank > 0)
        output_file_remove_on_signal(job->temporary);
    if (!agree(job, !access(job->temporary, W_OK) ||
                        message_print(output, "rank %d cannot write it: %s", job->rank, strerror(errno))))
        return false;
    const int code = MPI_File_open(MPI_COMM_WORLD, job->temporary, MPI_MODE_WRONLY, MPI_INFO_NULL, &job->file);
    if (agree(job, check_mpi(output, code)))
        return true;
    job->file = MPI_FILE_NULL; /* which some ranks may have; closing it would take all */
    return false;
}

/* CUDA devices of a host are assigned to its ranks round-robin. */
static void choose_device(struct job *job)
{
#ifdef DEMOD_CUDA
    softqam_context_config *config = &job->run->context_config;
    MPI_Comm host;
    int local_rank, n_devices = 0;
    if (config->device >= 0 || config->n_devices > 0 || config->backend == SOFTQAM_BACKEND_CPU)
        return;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &local_rank);
    MPI_Comm_free(&host);
    /* Asking starts the driver. */
    const bool asks = config->backend != SOFTQAM_BACKEND_AUTO || !demod_run_is_small(job->run);
    if (asks && cudaGetDeviceCount(&n_devices) == cudaSuccess && n_devices > 0)
        config->device = local_rank % n_devices;
#else
    (void)job;
#endif
}

/* What MPI does not say: the system's cause, which it has when it is asked to write the same again. */
static bool tell_cause(const struct job *job, const struct block *block, MPI_Offset offset)
{
    const int fd = block ? open(job->temporary, O_WRONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return false;
    ssize_t n = 1;
    for (size_t done = 0; n > 0 && done<block->out_nbytes; done += n> 0 ? (size_t)n : 0)
        n = pwrite(fd, (const char *)block->out + done, block->out_nbytes - done, (off_t)offset + (off_t)done);
    if (n < 0)
        message_print_errno(job->options->output);
    close(fd);
    return n < 0;
}

/* Writes a block, or takes part with none, after the n symbols that this rank has written. */
static bool write_block(struct job *job, const struct block *block, uint64_t n_written)
{
    const int symbol_nbytes = (int)demod_run_output_bits(job->run) / 8;
    const MPI_Offset offset = (MPI_Offset)(job->run->symbols.first_symbol + n_written) * symbol_nbytes;
    const int nbytes = block ? (int)block->out_nbytes : 0;
    MPI_Status status;
    int n_done = 0;
    const int code = MPI_File_write_at_all(job->file, offset, block ? block->out : NULL, nbytes, MPI_BYTE, &status);
    if (code == MPI_SUCCESS)
        MPI_Get_count(&status, MPI_BYTE, &n_done);
    return (code == MPI_SUCCESS && n_done == nbytes) ||
           (!tell_cause(job, block, offset) && check_mpi(job->options->output, code) &&
            message_print(job->options->output, "wrote %d of %d symbols", n_done / symbol_nbytes,
                          nbytes / symbol_nbytes));
}

/* Round by round, until no rank has anything left, or one has failed, which its ring then says. All ranks leave in the
 * same round, with whether all are sound. */
static bool write_blocks(struct job *job)
{
    struct block_ring *ring = &job->run->ring;
    uint64_t n_mine = 0, n_all = 0;
    int64_t n_total = job->run->symbols.n_symbols;
    MPI_Allreduce(MPI_IN_PLACE, &n_total, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    double due = 0;
    for (;;) {
        const struct block *block = block_ring_wait(ring, STAGE_WRITE);
        uint64_t state[3] = {!block && ring->failed, block != NULL, block ? block->n_symbols : 0};
        MPI_Allreduce(MPI_IN_PLACE, state, 3, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        if (state[0] > 0 || state[1] == 0)
            return state[0] == 0;
        if (!write_block(job, block, n_mine)) {
            block_ring_end(ring, STAGE_WRITE, true);
        } else if (block) {
            n_mine += block->n_symbols;
            block_ring_done(ring, STAGE_WRITE);
        }
        n_all += state[2];
        if (job->rank == 0)
            demod_progress(job->run, n_total, n_all, &due);
    }
}

static void reduce(const struct job *job, void *value, MPI_Datatype type, MPI_Op op)
{
    MPI_Reduce(job->rank == 0 ? MPI_IN_PLACE : value, value, 1, type, op, 0, MPI_COMM_WORLD);
}

/* Of all ranks, on rank 0. */
static void gather_report(struct job *job)
{
    struct demod_run *run = job->run;
    struct statistics *statistics = &run->statistics;
    uint64_t *const counts[] = {&run->n_demodulated,          &run->verifier.n_checked, &statistics->n_symbols,
                                &statistics->n_erased,        &statistics->n_saturated, &statistics->noise.n_symbols,
                                &run->comparison.sent.n_read, &run->comparison.n_wrong};
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++)
        reduce(job, counts[k], MPI_UINT64_T, MPI_SUM);
    reduce(job, &statistics->noise.energy, MPI_DOUBLE, MPI_SUM);
    reduce(job, &statistics->noise.error_energy, MPI_DOUBLE, MPI_SUM);
    reduce(job, &run->seconds_in_library, MPI_DOUBLE, MPI_MAX);
}

/* By rank 0, of the first symbols and of all ranks' counts. */
static bool warn(struct job *job)
{
    gather_report(job);
    if (job->rank > 0)
        return true;
    message_clear_transient();
    message_release(false);
    const bool passes = demod_warn(job->run);
    message_hold();
    return passes;
}

/* The file takes its name when all ranks have written and closed it. */
static bool publish(struct job *job)
{
    const char *name = job->options->output;
    struct output_file *output = &job->run->output;
    return agree(job, job->options->no_sync || check_mpi(name, MPI_File_sync(job->file))) &&
           agree(job, check_mpi(name, MPI_File_close(&job->file))) && agree(job, warn(job)) &&
           agree(job, job->rank > 0 || (output_file_finish(output) && output_file_publish(output)));
}

static bool demodulate(struct job *job)
{
    const bool all_sound = write_blocks(job), sound = !job->run->ring.failed;
    const bool finished = demod_run_finish(job->run, !all_sound);
    return agree(job, all_sound ? finished : sound) && publish(job);
}

static bool report(struct job *job)
{
    message_release(false);
    if (job->rank > 0)
        return true;
    const bool reported = demod_report(job->run);
    if (job->options->stats && !job->options->stats_json)
        fprintf(stderr, "  %-10s %d\n", "ranks", job->n_ranks);
    return reported;
}

/* What is wrong with a command waits for all ranks too: mpirun ends the others at the first failure, so that one could
 * end before it has said why. */
static bool run_job(const struct demod_options *options, bool command_is_right)
{
    static struct demod_run run; /* too large for the smallest stacks */
    struct job job = {.options = options, .run = &run, .file = MPI_FILE_NULL};
    run.options = options;
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.n_ranks);
    if (!agree(&job, message_of_command(command_is_right)))
        return false;
    bool published = open_input(&job) && open_output(&job);
    if (published)
        choose_device(&job);
    published = published && agree(&job, demod_run_start(&run, max_block_symbols)) && demodulate(&job);
    if (job.rank == 0)
        message_clear_transient();
    if (job.file != MPI_FILE_NULL)
        MPI_File_close(&job.file);
    const bool reported = published && report(&job);
    demod_run_close(&run, published);
    return reported;
}

/* Without MPI: whether this process answers --help and --version for all. */
static bool is_first_process(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *rank = getenv(names[i]);
        if (rank)
            return !strcmp(rank, "0");
    }
    return true;
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
        return is_first_process() ? option_table_answer(action, demod_help(true)) : EXIT_DONE;
    }
    /* Only this thread calls MPI; others read and demodulate. */
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    if (provided < MPI_THREAD_FUNNELED)
        message_release(false);
    const bool done = provided < MPI_THREAD_FUNNELED ? message_print(NULL, "this MPI does not work beside threads")
                                                     : run_job(&options, action == OPTIONS_RUN);
    MPI_Finalize();
    return message_end(done);
}
