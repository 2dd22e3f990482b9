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
#include "common/output_file.h"
#include "demod/options.h"
#include "demod/outputs.h"
#include "demod/report.h"
#include "demod/run.h"

/* Bounds the memory that collective writing takes, and the counts of its calls. */
static const size_t max_block_symbols = 4 << 20;

struct job {
    int rank, n_ranks;
    const struct demod_options *options;
    struct demod_run run;
    struct demod_outputs outputs; /* of rank 0 */
    char temporary[PATH_MAX];
    MPI_File file;            /* the temporary file behind data, which all write */
    MPI_Datatype symbol;      /* what a symbol becomes */
    MPI_Offset symbol_nbytes; /* of that */
};

/* Whether all ranks are sound: each gives its exit status, and all get that of the lowest one that failed. That one's
 * message is printed, and from there on no other. */
static int agree(const struct job *job, int result)
{
    int lowest, mine = result == EXIT_DONE ? job->n_ranks : job->rank;
    MPI_Allreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (lowest == job->n_ranks)
        return EXIT_DONE;
    message_release(lowest == job->rank);
    message_hold();
    MPI_Bcast(&result, 1, MPI_INT, lowest, MPI_COMM_WORLD);
    return result;
}

static int agree_all(const struct job *job, bool sound) { return agree(job, sound ? EXIT_DONE : EXIT_FAILED); }

static bool check_mpi(const char *subject, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    if (code == MPI_SUCCESS)
        return true;
    MPI_Error_string(code, text, &length);
    message_print(subject, "%s", text);
    return false;
}

/* Hosts that do not see the same file must not make one output of it. */
static bool check_input_is_one(const struct job *job)
{
    int64_t mine[2] = {job->run.symbols.n_symbols, -job->run.symbols.n_symbols}, least[2];
    MPI_Allreduce(mine, least, 2, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
    if (least[0] == -least[1])
        return true;
    message_print(job->run.symbols.file.name,
                  "is not the same file for all ranks: one has %" PRId64 " symbols, one %" PRId64, least[0], -least[1]);
    return false;
}

static int open_input(struct job *job)
{
    struct demod_run *run = &job->run;
    int result = agree(job, demod_open(run));
    if (result != EXIT_DONE)
        return result;
    job->symbol_nbytes = (MPI_Offset)demod_run_output_bits(run) / 8;
    MPI_Type_contiguous((int)job->symbol_nbytes, MPI_BYTE, &job->symbol);
    MPI_Type_commit(&job->symbol);
    result = agree_all(job, check_input_is_one(job));
    if (result == EXIT_DONE)
        result = agree_all(job, demod_run_choose_part(run, (unsigned)job->rank, (unsigned)job->n_ranks));
    return result;
}

/* Whether a path is, or may become, a file in which each rank has its offset. Checked before it is opened: a FIFO would
 * wait for its reader. A folder has a message of its own. */
static bool check_is_regular(const char *path)
{
    struct stat status;
    if (file_name_descriptor(path, STDOUT_FILENO) < 0 &&
        (stat(path, &status) || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)))
        return true;
    message_print(file_name_shown(path, STDOUT_FILENO),
                  "not a regular file, so ranks cannot write at their offsets in it");
    return false;
}

static int open_names(struct job *job)
{
    return check_is_regular(job->options->output) ? demod_outputs_open(&job->outputs, job->options) : EXIT_FAILED;
}

/* The temporary file's path, for all ranks, wherever they were started. */
static bool find_temporary(const struct job *job, char temporary[PATH_MAX])
{
    if (realpath(output_file_temporary(&job->outputs.data), temporary))
        return true;
    message_print_errno(job->outputs.data.name);
    return false;
}

/* Whether a rank sees the temporary file: one that does not would leave the others waiting in MPI_File_open(). */
static bool check_temporary(const struct job *job, const char *temporary)
{
    if (!access(temporary, W_OK))
        return true;
    message_print(job->options->output, "rank %d cannot write it: %s", job->rank, strerror(errno));
    return false;
}

/* Rank 0 makes the temporary file; all open it, and remove it when a signal ends them. */
static int open_output(struct job *job)
{
    char *temporary = job->temporary;
    int result = agree(job, job->rank > 0 ? EXIT_DONE : open_names(job));
    if (result == EXIT_DONE)
        result = agree_all(job, job->rank > 0 || find_temporary(job, temporary));
    if (result != EXIT_DONE)
        return result;
    MPI_Bcast(temporary, sizeof job->temporary, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (job->rank > 0)
        output_file_remove_on_signal(temporary);
    result = agree_all(job, check_temporary(job, temporary));
    if (result != EXIT_DONE)
        return result;
    const int code = MPI_File_open(MPI_COMM_WORLD, temporary, MPI_MODE_WRONLY, MPI_INFO_NULL, &job->file);
    result = agree_all(job, check_mpi(job->options->output, code));
    if (result != EXIT_DONE)
        job->file = MPI_FILE_NULL; /* which some ranks may have; closing it would take all */
    return result;
}

/* CUDA devices of this host; 0 without a driver too. */
static int count_devices(void)
{
    int n_devices = 0;
#ifdef DEMOD_CUDA
    if (cudaGetDeviceCount(&n_devices) != cudaSuccess)
        n_devices = 0;
#endif
    return n_devices;
}

/* They are assigned to its ranks round-robin. */
static void choose_device(struct job *job)
{
    softqam_context_config *config = &job->run.context_config;
    MPI_Comm host;
    int local_rank;
    if (config->device >= 0 || config->n_devices > 0 || config->backend == SOFTQAM_BACKEND_CPU)
        return;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &local_rank);
    MPI_Comm_free(&host);
    /* Asking starts the driver. */
    if (config->backend == SOFTQAM_BACKEND_AUTO && demod_run_is_small(&job->run))
        return;
    const int n_devices = count_devices();
    if (n_devices > 0)
        config->device = local_rank % n_devices;
}

static int open_job(struct job *job)
{
    int result = open_input(job);
    if (result == EXIT_DONE)
        result = open_output(job);
    if (result != EXIT_DONE)
        return result;
    choose_device(job);
    result = agree(job, demod_run_prepare(&job->run, max_block_symbols));
    if (result == EXIT_DONE)
        result = agree_all(job, demod_run_start(&job->run));
    return result;
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
    const MPI_Offset offset = (MPI_Offset)(job->run.symbols.first_symbol + n_written) * job->symbol_nbytes;
    const int count = block ? (int)block->n_symbols : 0;
    MPI_Status status;
    int n_done = 0;
    const int code = MPI_File_write_at_all(job->file, offset, block ? block->out : NULL, count, job->symbol, &status);
    if (code == MPI_SUCCESS)
        MPI_Get_count(&status, job->symbol, &n_done);
    if (code == MPI_SUCCESS && n_done == count)
        return true;
    if (!tell_cause(job, block, offset) && check_mpi(job->options->output, code))
        message_print(job->options->output, "wrote %d of %d symbols", n_done, count);
    return false;
}

/* Round by round, until no rank has anything left, or one has failed. All ranks leave in the same round, with whether
 * all are sound; *is_sound says it of this one. */
static bool write_blocks(struct job *job, bool *is_sound)
{
    struct progress progress;
    uint64_t n_mine = 0, n_all = 0;
    bool sound = true;
    int64_t n_total = job->run.symbols.n_symbols;
    MPI_Allreduce(MPI_IN_PLACE, &n_total, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    progress_start(&progress, job->rank == 0 && job->options->show_progress, n_total);
    for (;;) {
        const struct block *block = sound ? demod_run_next(&job->run) : NULL;
        sound = sound && (block || !block_ring_failed(&job->run.ring));
        uint64_t state[3] = {!sound, block != NULL, block ? block->n_symbols : 0};
        MPI_Allreduce(MPI_IN_PLACE, state, 3, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        *is_sound = sound;
        if (state[0] > 0 || state[1] == 0)
            return state[0] == 0;
        sound = write_block(job, block, n_mine);
        n_all += state[2];
        if (block && sound) {
            n_mine += block->n_symbols;
            demod_run_written(&job->run);
        }
        progress_update(&progress, n_all);
    }
}

static void reduce(const struct job *job, void *value, MPI_Datatype type, MPI_Op op)
{
    MPI_Reduce(job->rank == 0 ? MPI_IN_PLACE : value, value, 1, type, op, 0, MPI_COMM_WORLD);
}

/* Of all ranks, on rank 0. */
static void gather_report(struct job *job)
{
    struct demod_run *run = &job->run;
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

/* The file takes its name when all ranks have written and closed it. */
static int publish(struct job *job)
{
    const bool published = job->rank > 0 || demod_outputs_publish(&job->outputs);
    return agree_all(job, published);
}

static int close_file(struct job *job)
{
    const char *output = job->options->output;
    const int result = agree_all(job, !job->options->sync || check_mpi(output, MPI_File_sync(job->file)));
    return result == EXIT_DONE ? agree_all(job, check_mpi(output, MPI_File_close(&job->file))) : result;
}

/* By rank 0, of the first symbols and of all ranks' counts. */
static bool warn(struct job *job)
{
    gather_report(job);
    if (job->rank > 0)
        return true;
    message_clear_transient();
    message_release(false);
    const bool passes = demod_warn(&job->run, job->options->output);
    message_hold();
    return passes;
}

static int demodulate(struct job *job)
{
    bool is_sound;
    const bool all_sound = write_blocks(job, &is_sound);
    const bool finished = demod_run_finish(&job->run, !all_sound);
    int result = agree_all(job, all_sound ? finished : is_sound);
    if (result == EXIT_DONE)
        result = close_file(job);
    if (result == EXIT_DONE)
        result = agree_all(job, warn(job));
    return result == EXIT_DONE ? publish(job) : result;
}

static int end_job(struct job *job, int result)
{
    if (job->file != MPI_FILE_NULL)
        MPI_File_close(&job->file);
    const bool published = result == EXIT_DONE;
    if (published) {
        message_release(false);
        if (job->rank == 0 && !demod_report(&job->run, &job->outputs.report))
            result = EXIT_FAILED;
        if (job->rank == 0 && job->options->stats && !job->options->stats_json)
            fprintf(stderr, "  %-10s %d\n", "ranks", job->n_ranks);
    }
    demod_outputs_end(&job->outputs, published);
    demod_run_close(&job->run);
    if (job->symbol != MPI_DATATYPE_NULL)
        MPI_Type_free(&job->symbol);
    return result;
}

/* What is wrong with a command waits for all ranks too: mpirun ends the others at the first failure, so that one could
 * end before it has said why. */
static int run_job(const struct demod_options *options, bool command_is_right)
{
    struct job job = {.options = options,
                      .outputs = {.data = {.fd = -1}, .report = {.fd = -1}},
                      .file = MPI_FILE_NULL,
                      .symbol = MPI_DATATYPE_NULL};
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.n_ranks);
    int result = agree(&job, command_is_right ? EXIT_DONE : EXIT_COMMAND);
    if (result != EXIT_DONE)
        return result;
    demod_run_init(&job.run, options);
    result = open_job(&job);
    if (result == EXIT_DONE)
        result = demodulate(&job);
    if (job.rank == 0)
        message_clear_transient();
    return end_job(&job, result);
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

static int start_mpi(int *argc, char ***argv, const struct demod_options *options, bool command_is_right)
{
    int provided, result = EXIT_FAILED;
    /* Only this thread calls MPI; others read and demodulate. */
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    if (provided >= MPI_THREAD_FUNNELED) {
        result = run_job(options, command_is_right);
    } else {
        message_release(false);
        message_print(NULL, "this MPI does not work beside threads");
    }
    MPI_Finalize();
    return message_end(result);
}

int main(int argc, char *argv[])
{
    struct demod_options options;
    message_start("softqam-demod-mpi");
    message_hold();
    const enum option_result action = demod_options_parse(argc, argv, true, &options);
    if (action == OPTIONS_RUN || action == OPTIONS_WRONG)
        return start_mpi(&argc, &argv, &options, action == OPTIONS_RUN);
    message_release(false);
    if (!is_first_process())
        return EXIT_DONE;
    return option_table_answer(action, demod_help(true));
}
