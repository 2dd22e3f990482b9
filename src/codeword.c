/* SPDX-License-Identifier: MIT */
/* The code blocks of a codeword as segments. */
#include <stdint.h>
#include <string.h>

#include "demodulator.h"
#include "error.h"
#include "segment.h"

/* Larger than any version will be; and far more code blocks than the largest transport block has. */
enum { MAX_CODEWORD_NBYTES = 1024, MAX_CODE_BLOCKS = 65535 };

/* Size of the first version's structure. */
#define MIN_CODEWORD_NBYTES (offsetof(softqam_codeword, reserved) + sizeof(uint32_t))

static softqam_status read_codeword(softqam_codeword *to, const softqam_codeword *from, size_t nbytes)
{
    if (!from)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "codeword is NULL");
    if (nbytes < MIN_CODEWORD_NBYTES || nbytes > MAX_CODEWORD_NBYTES)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "codeword_nbytes is %zu: pass sizeof(softqam_codeword)",
                            nbytes);
    *to = *from;
    for (size_t byte = sizeof *to; byte < nbytes; byte++)
        if (((const unsigned char *)from)[byte] != 0)
            return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT,
                                "the codeword sets a field that version " SOFTQAM_VERSION " does not know");
    if (to->n_code_blocks < 1 || to->n_code_blocks > MAX_CODE_BLOCKS)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "codeword.n_code_blocks is %zu, not 1 to %d",
                            to->n_code_blocks, MAX_CODE_BLOCKS);
    if (to->planes > 1)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "codeword.planes is %u, not 0 or 1", to->planes);
    if (to->reserved != 0)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "codeword.reserved is %u, not 0", (unsigned)to->reserved);
    return SOFTQAM_OK;
}

static bool is_transmitted(const softqam_codeword *codeword, size_t r)
{
    return !codeword->transmitted || codeword->transmitted[r];
}

/* 3GPP TS 38.212 clause 5.4.2.1, in resource elements: of the C' code blocks that are transmitted the first ones have
 * floor(G / (N_L Qm C')), the last ones one more. */
typedef struct block_lengths {
    size_t n_blocks; /* C' */
    size_t floor;
    size_t n_floor; /* blocks of that length */
} block_lengths;

static block_lengths lengths_of(const softqam_codeword *codeword, size_t n_elements)
{
    block_lengths self = {0};
    if (!codeword->transmitted)
        self.n_blocks = codeword->n_code_blocks;
    for (size_t r = 0; codeword->transmitted && r < codeword->n_code_blocks; r++)
        self.n_blocks += is_transmitted(codeword, r);
    if (self.n_blocks > 0) {
        self.floor = n_elements / self.n_blocks;
        self.n_floor = self.n_blocks - n_elements % self.n_blocks;
    }
    return self;
}

/* Checks the codeword, for ranges of these layers and these bits a symbol, and finds its blocks' lengths. */
static softqam_status check_codeword(block_lengths *lengths, const softqam_params *params,
                                     const softqam_codeword *codeword, size_t n_layers, size_t n_bits)
{
    size_t nbytes;
    if (params->output_format == SOFTQAM_OUTPUT_U8 && codeword->planes)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT,
                            "codeword.planes is 1: u8 soft bits are liquid-dsp's, which has no bit planes");
    if (codeword->n_bits % (n_layers * n_bits) != 0)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT,
                            "codeword.n_bits is %zu, not a multiple of %zu layers of %zu bits a symbol",
                            codeword->n_bits, n_layers, n_bits);
    *lengths = lengths_of(codeword, codeword->n_bits / n_bits / n_layers);
    if (codeword->n_bits > 0 && lengths->n_blocks == 0)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "codeword.n_bits is %zu, but no code block is transmitted",
                            codeword->n_bits);
    const size_t n_longest = lengths->floor + (lengths->n_floor < lengths->n_blocks);
    if (codeword->block_stride > 0 && codeword->block_stride < n_longest * n_layers * n_bits)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT,
                            "codeword.block_stride is %zu, less than the %zu bits of a code block",
                            codeword->block_stride, n_longest * n_layers * n_bits);
    if (__builtin_mul_overflow(codeword->block_stride, codeword->n_code_blocks, &nbytes) ||
        __builtin_mul_overflow(nbytes > codeword->n_bits ? nbytes : codeword->n_bits, params->value_nbytes, &nbytes) ||
        nbytes > PTRDIFF_MAX)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "the codeword's output is more than memory can hold");
    return SOFTQAM_OK;
}

static softqam_status check_range(const softqam_codeword *codeword, const softqam_segment *range, size_t n_bits)
{
    const size_t n_symbols = codeword->n_bits / n_bits;
    if (range->plane_stride != 0)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT,
                            "segment.plane_stride is %zu, not 0: codeword.planes asks for planes", range->plane_stride);
    if (range->first_symbol > n_symbols || range->n_symbols > n_symbols - range->first_symbol)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "%zu symbols from %llu on are not all of a codeword of %zu",
                            range->n_symbols, (unsigned long long)range->first_symbol, n_symbols);
    return SOFTQAM_OK;
}

/* Makes of the caller's range, whose own zeros stand for defaults in what it gets, too, the part that lies in a code
 * block of n symbols from symbol `first` of the codeword on, whose output begins at value out_at. */
static void take_block(softqam_segment *part, const softqam_params *params, const softqam_codeword *codeword,
                       const softqam_segment *range, size_t first, size_t n, size_t out_at)
{
    const size_t range_end = (size_t)range->first_symbol + range->n_symbols;
    const size_t begin = first > range->first_symbol ? first : (size_t)range->first_symbol;
    const size_t end = first + n < range_end ? first + n : range_end;
    const size_t into = begin - first;
    const size_t value = codeword->planes ? into : into * softqam_bits_per_symbol(range->modulation);
    part->n_symbols = end - begin;
    part->first_symbol = begin;
    part->out = (unsigned char *)range->out + (out_at + value) * params->value_nbytes;
    part->plane_stride = codeword->planes ? n : 0;
    softqam_segment_layers_at(params, range, begin - (size_t)range->first_symbol, part->layers);
}

/* The code block that a symbol of the codeword lies in, where all are transmitted, and the block's first symbol. */
static size_t block_at(const block_lengths *lengths, size_t n_layers, uint64_t symbol, size_t *first)
{
    const size_t element = (size_t)symbol / n_layers, longer = lengths->floor + 1;
    const size_t n_elements_floor = lengths->n_floor * lengths->floor; /* of the blocks of that length */
    if (element < n_elements_floor) {
        *first = element / lengths->floor * lengths->floor * n_layers;
        return element / lengths->floor;
    }
    const size_t further = (element - n_elements_floor) / longer;
    *first = (n_elements_floor + further * longer) * n_layers;
    return lengths->n_floor + further;
}

/* Writes the segments of the range, at most `capacity`; how many there are. */
static size_t cut_range(const softqam_segment_list *list, const softqam_codeword *codeword,
                        const block_lengths *lengths, unsigned char *segments, size_t capacity)
{
    softqam_segment copy;
    softqam_segment part = *softqam_segment_read(list, 0, &copy);
    const softqam_segment range = softqam_segment_at(list, 0);
    const size_t nbytes = list->segment_nbytes, known_nbytes = nbytes < sizeof part ? nbytes : sizeof part;
    const size_t n_bits = softqam_bits_per_symbol(range.modulation);
    const size_t range_end = (size_t)range.first_symbol + range.n_symbols;
    size_t count = 0, first = 0, begin = 0;
    if (!codeword->transmitted)
        begin = block_at(lengths, range.n_layers, range.first_symbol, &first);
    size_t n_before = begin; /* blocks that are transmitted */
    for (size_t r = begin; r < codeword->n_code_blocks && first < range_end; r++) {
        if (!is_transmitted(codeword, r))
            continue;
        const size_t n = (lengths->floor + (n_before++ >= lengths->n_floor)) * range.n_layers;
        if (n > 0 && first + n > range.first_symbol && range.n_symbols > 0) {
            const size_t out_at = codeword->block_stride > 0 ? r * codeword->block_stride : first * n_bits;
            if (count < capacity) {
                unsigned char *to = segments + count * nbytes;
                take_block(&part, list->params, codeword, &range, first, n, out_at);
                memcpy(to, &part, known_nbytes);
                memset(to + known_nbytes, 0, nbytes - known_nbytes);
            }
            count++;
        }
        first += n;
    }
    return count;
}

softqam_status softqam_codeword_segments_nbytes(const softqam_demodulator *demodulator,
                                                const softqam_codeword *caller_codeword, size_t codeword_nbytes,
                                                const softqam_segment *caller_range, softqam_segment *segments,
                                                size_t segment_nbytes, size_t *n_segments)
{
    softqam_codeword codeword = {0};
    block_lengths lengths = {0};
    if (!demodulator || !caller_range || !n_segments)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "%s is NULL",
                            !demodulator    ? "demodulator"
                            : !caller_range ? "range"
                                            : "n_segments");
    const softqam_params *params = &demodulator->params;
    /* Of one, whose structure may be of an older version. */
    softqam_segment_list list = softqam_segment_list_of(params, caller_range, 1, segment_nbytes);
    softqam_status status = read_codeword(&codeword, caller_codeword, codeword_nbytes);
    if (status == SOFTQAM_OK)
        status = softqam_segment_list_check_size(&list);
    if (status != SOFTQAM_OK)
        return status;
    softqam_segment copy;
    const softqam_segment *range = softqam_segment_read(&list, 0, &copy);
    const size_t n_layers = range->n_layers ? range->n_layers : 1;
    const size_t n_bits = softqam_bits_per_symbol(range->modulation ? range->modulation : params->modulation);
    status = softqam_segment_list_check_range(&list);
    if (status == SOFTQAM_OK)
        status = check_codeword(&lengths, params, &codeword, n_layers, n_bits);
    if (status == SOFTQAM_OK)
        status = check_range(&codeword, range, n_bits);
    if (status == SOFTQAM_OK && range->n_symbols > 0)
        status = softqam_segment_check_memory(params, range, true);
    if (status != SOFTQAM_OK)
        return status;
    const size_t capacity = segments ? *n_segments : 0;
    const size_t n = cut_range(&list, &codeword, &lengths, NULL, 0);
    *n_segments = n;
    if (!segments)
        return SOFTQAM_OK;
    if (n > capacity)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "n_segments is %zu, but there are %zu", capacity, n);
    cut_range(&list, &codeword, &lengths, (unsigned char *)segments, capacity);
    return SOFTQAM_OK;
}
