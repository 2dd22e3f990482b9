/* SPDX-License-Identifier: MIT */
#include "trial.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rate_recovery.h"

typedef enum placement { BY_STRIDE, SIDE_BY_SIDE, BY_POINTERS, N_PLACEMENTS } placement;

/* The target of codewords. Symbol order and planes count as one code block. */
typedef struct target {
    trial_choice choice;
    softqam_codeword buffers; /* what all codewords that are sent have in common */
    placement placement;
    size_t begin;
    size_t pointer_at[TRIAL_MAX_BLOCKS];
    size_t n_sent;
    trial_codeword sent[TRIAL_MAX_SENT];
} target;

struct trial {
    const llr_contexts *contexts;
    softqam_demodulator_config config;
    size_t value_nbytes, nbytes;
    size_t unit; /* where values may begin: device memory is aligned */
    size_t n_targets;
    target *targets[TRIAL_MAX_TARGETS];
    bool counts;
    softqam_statistics *statistics; /* shared by all segments that count */
};

/* Choosing. */

trial *trial_open(harness_random *random, const llr_contexts *contexts, softqam_output_format format,
                  softqam_input_format input)
{
    static const int limits[HARNESS_N_OUTPUT_FORMATS][6] = {
        [SOFTQAM_OUTPUT_S8] = {0, 127, 120, 31, 1, 100},
        [SOFTQAM_OUTPUT_S16] = {0, 32767, 1000, 127, 1, 500},
        [SOFTQAM_OUTPUT_F16] = {0, 0, 10000, 32, 1, 2047}, /* each a binary16 */
    };
    _Static_assert(HARNESS_N_OUTPUT_FORMATS == 5, "limits has a row for each that has limits");
    static const float floors[] = {0.01F, 0.01F, 1, 1e-4F, 1e-30F, 0x1p-100F, FLT_MIN, 1e-42F, 0x1p40F};
    trial *self = harness_alloc(sizeof *self);
    *self = (trial){.contexts = contexts, .value_nbytes = softqam_output_nbytes(format, SOFTQAM_MODULATION_BPSK, 1)};
    self->unit = llr_calls.alloc ? self->value_nbytes : 1;
    softqam_demodulator_config_init(&self->config);
    self->config.output_format = format;
    self->config.input_format = input;
    if (format != SOFTQAM_OUTPUT_U8)
        self->config.modulation = (softqam_modulation)harness_random_below(random, HARNESS_N_MODULATIONS + 1);
    self->config.sign = (softqam_sign)harness_random_below(random, 2);
    self->config.noise = (softqam_noise)harness_random_below(random, 2);
    self->config.noise_form = (softqam_noise_form)harness_random_below(random, 3);
    self->config.llr_limit = ANY_OF(random, limits[format]);
    if (format != SOFTQAM_OUTPUT_U8 && harness_random_below(random, 3) == 0)
        self->config.noise_floor = ANY_OF(random, floors);
    self->config.input_scale = harness_random_below(random, 5) ? 0 : trial_choose_input_scale(random);
    self->config.llr_scale = harness_random_below(random, 2) ? 0 : trial_choose_llr_scale(random, format);
    return self;
}

/* Returns what the reference must know: the format, and the limit of sums. */
static soft_values values_of(const softqam_demodulator_config *config)
{
    static const double largest[] = {127, 32767, 65504, FLT_MAX};
    const softqam_output_format format = config->output_format;
    _Static_assert((int)SOFT_S8 == SOFTQAM_OUTPUT_S8 && (int)SOFT_F32 == SOFTQAM_OUTPUT_F32, "one order");
    _Static_assert(HARNESS_COUNT(largest) == HARNESS_N_LLR_FORMATS && (int)SOFTQAM_OUTPUT_U8 == HARNESS_N_LLR_FORMATS,
                   "each but u8");
    if (format == SOFTQAM_OUTPUT_U8)
        return (soft_values){SOFT_S8, 0};
    return (soft_values){(soft_format)format, config->llr_limit ? config->llr_limit : largest[format]};
}

static float choose_filler_value(harness_random *random, softqam_output_format format)
{
    static const float halves[] = {0, -0.0F, 20, -20, 127, 10000, 65504, 65519, 0.1F, -1e-6F, 1e-9F, 2049};
    static const float floats[] = {0, -0.0F, 1e30F, -3.4028235e38F, 1e-42F, 0.1F};
    if (format == SOFTQAM_OUTPUT_S8)
        return (float)(int)harness_random_below(random, 256) - 128;
    if (format == SOFTQAM_OUTPUT_S16)
        return (float)(int)harness_random_below(random, 65536) - 32768;
    return format == SOFTQAM_OUTPUT_F16 ? ANY_OF(random, halves) : ANY_OF(random, floats);
}

/* Returns what positions in buffers are multiples of. */
static uint32_t unit_of(const trial_choice *choice) { return choice->is_aligned ? 4 : 1; }

/* Chooses what all transmissions have in common: symbol order and planes are one code block without a buffer. Buffers
 * are small or of any size, with fillers anywhere, the first and last positions among them. */
static void choose_buffers(harness_random *random, softqam_output_format format, target *self)
{
    const trial_choice *choice = &self->choice;
    const uint32_t unit = unit_of(choice);
    softqam_codeword *buffers = &self->buffers;
    self->n_sent = 1;
    if (choice->layout != TRIAL_BLOCKS) {
        buffers->n_code_blocks = 1;
    } else if (choice->is_aligned || harness_random_below(random, 6)) {
        const size_t sizes[] = {8, 400, choice->max_n_cb, choice->max_n_cb};
        const size_t any = harness_random_below(random, smaller(ANY_OF(random, sizes), choice->max_n_cb));
        buffers->n_cb = ((uint32_t)any / unit + 1) * unit;
        const size_t most = smaller(choice->max_blocks, 1 + 2 * choice->max_n_cb / buffers->n_cb);
        buffers->n_code_blocks = 1 + (uint32_t)harness_random_below(random, most);
        if (harness_random_below(random, 4))
            buffers->n_fillers = (uint32_t)harness_random_below(random, buffers->n_cb) / unit * unit;
        const uint32_t last = buffers->n_cb - buffers->n_fillers;
        const uint32_t firsts[] = {0, last, (uint32_t)harness_random_below(random, last + 1)};
        buffers->first_filler = buffers->n_fillers ? ANY_OF(random, firsts) / unit * unit : 0;
        const uint32_t fills[] = {0, 0, 1 + (uint32_t)harness_random_below(random, buffers->n_cb),
                                  buffers->n_cb + (uint32_t)harness_random_below(random, 300)};
        buffers->n_fill = ANY_OF(random, fills);
        buffers->deinterleave = 1;
        self->n_sent = 1 + harness_random_below(random, TRIAL_MAX_SENT);
    } else {
        const size_t most = harness_random_below(random, 3) ? choice->max_blocks : TRIAL_MAX_BLOCKS;
        buffers->n_code_blocks = 1 + (uint32_t)harness_random_below(random, most);
        buffers->deinterleave = (uint32_t)harness_random_below(random, 2);
    }
    if (buffers->n_cb)
        buffers->filler_value = choose_filler_value(random, format);
}

static uint32_t choose_k0(harness_random *random, const softqam_codeword *buffers, uint32_t unit)
{
    const uint32_t n_cb = buffers->n_cb, after = buffers->first_filler + buffers->n_fillers;
    if (n_cb == 0)
        return 0;
    const uint32_t any = (uint32_t)harness_random_below(random, n_cb);
    const uint32_t filler = buffers->first_filler + (uint32_t)harness_random_below(random, buffers->n_fillers + 1);
    const uint32_t all[] = {0, any, any, n_cb - 1, filler % n_cb, after % n_cb};
    return ANY_OF(random, all) / unit * unit;
}

/* Chooses a code block's bits, roughly: any part of the buffer, just all of it, some times that, or very often that. */
static size_t choose_block_length(harness_random *random, const target *self, size_t most)
{
    const size_t n = self->buffers.n_cb ? self->buffers.n_cb - self->buffers.n_fillers : most;
    const size_t kind = harness_random_below(random, 8);
    return kind == 0   ? smaller(n, most)
           : kind == 1 ? smaller(harness_random_below(random, 4 * n + 1), most)
           : kind == 2 ? harness_random_below(random, smaller(100 * n, most) + 1)
                       : harness_random_below(random, smaller(n, most) + 1);
}

/* Chooses the code blocks and groups of codeword number k, and how many bits it has. */
static void choose_blocks(harness_random *random, const target *destination, size_t k, trial_codeword *self)
{
    softqam_codeword *codeword = &self->whole.codeword;
    const size_t element_bits = self->n_layers * self->Q_m, C = destination->buffers.n_code_blocks;
    *codeword = destination->buffers;
    if (destination->choice.layout != TRIAL_BLOCKS) {
        codeword->n_bits = destination->choice.n_elements * element_bits;
        return;
    }
    codeword->combine = codeword->n_cb > 0 && (k > 0 || harness_random_below(random, 4) == 0);
    codeword->n_fill = codeword->combine ? 0 : codeword->n_fill;
    codeword->k0 = choose_k0(random, codeword, unit_of(&destination->choice));
    if (harness_random_below(random, 3) == 0) {
        codeword->n_cbg = 1 + (uint32_t)harness_random_below(random, harness_random_below(random, 3) ? 8 : 32);
        const size_t n_groups = smaller(codeword->n_cbg, C);
        codeword->cbgti =
            (harness_random_u32(random) >> (32 - n_groups)) | 1U << harness_random_below(random, n_groups);
    }
    const size_t length = choose_block_length(random, destination, destination->choice.max_bits / C);
    codeword->n_bits = (length * C / element_bits + harness_random_below(random, C)) * element_bits;
}

/* The expected values. */

static circular_buffer buffer_of(const softqam_codeword *codeword)
{
    return (circular_buffer){
        .N_cb = codeword->n_cb,
        .k0 = codeword->k0,
        .first_filler = codeword->first_filler,
        .n_fillers = codeword->n_fillers,
        .N_fill = codeword->n_fill,
    };
}

/* Brings a codeword's code blocks up to date by the reference; or puts its LLRs, or their complements, where they go.
 */
static void expect(const trial *self, const trial_codeword *sent, bool complements, uint8_t *memory)
{
    const softqam_codeword *codeword = &sent->whole.codeword;
    const soft_values values = values_of(&self->config);
    const circular_buffer circular = buffer_of(codeword);
    const size_t nbytes = self->value_nbytes, stride = sent->whole.plane_stride;
    const uint8_t *llrs = sent->llrs;
    for (size_t r = 0; r < codeword->n_code_blocks; llrs += sent->lengths[r++] * nbytes) {
        const size_t row = stride ? stride : codeword->deinterleave ? sent->lengths[r] / sent->Q_m : 0;
        if (!sent->transmitted[r] || sent->begins[r] == TRIAL_NOWHERE)
            continue;
        uint8_t *to = memory + sent->begins[r];
        if (codeword->n_cb > 0)
            soft_buffer_update(&values, &circular, sent->lengths[r], sent->Q_m, llrs, codeword->combine == 0,
                               codeword->filler_value, to);
        /* 38.212 clause 5.4.2.2: e at i E / Qm + j comes out as f at i + j Qm. */
        for (size_t k = 0; codeword->n_cb == 0 && k < sent->lengths[r]; k++) {
            const size_t place = row ? k % sent->Q_m * row + k / sent->Q_m : k;
            for (size_t byte = 0; byte < nbytes; byte++)
                to[place * nbytes + byte] = llrs[k * nbytes + byte] ^ (complements ? 0xff : 0);
        }
    }
}

/* Counts codewords number k, without their code blocks that are dropped. */
static softqam_statistics count(const trial *self, size_t k)
{
    softqam_statistics all = {0};
    for (size_t t = 0; t < self->n_targets; t++) {
        const trial_codeword *sent = &self->targets[t]->sent[k];
        if (k >= self->targets[t]->n_sent || !self->targets[t]->choice.counts)
            continue;
        for (size_t p = 0; p < sent->n_parts; p++) {
            const softqam_segment *part = &sent->parts[p];
            const size_t first = part->first_symbol - sent->whole.first_symbol;
            for (size_t r = 0, begin = 0; r < sent->whole.codeword.n_code_blocks;
                 begin += sent->lengths[r++] / sent->Q_m) {
                const size_t from = larger(begin, first);
                const size_t end = smaller(begin + sent->lengths[r] / sent->Q_m, first + part->n_symbols);
                if (sent->begins[r] != TRIAL_NOWHERE && from < end)
                    llr_count(&self->config, part, from - first, end - from,
                              sent->llrs + from * sent->Q_m * self->value_nbytes, &all);
            }
        }
    }
    return all;
}

/* Writes an end of the range, a value beyond the limit, a zero, or of f16 an infinity or NaN. */
static void write_special(harness_random *random, const soft_values *values, uint8_t *value)
{
    static const uint16_t halves[] = {0x7c00, 0xfc00, 0xfbff, 0x7e01};
    const double limit = values->limit, outside = values->format == SOFT_F32 ? INFINITY : -limit - 1;
    const double numbers[] = {limit, -limit, 0, -0.0, outside, limit - 1};
    if (values->format == SOFT_F16 && harness_random_below(random, 2))
        memcpy(value, &ANY_OF(random, halves), sizeof halves[0]);
    else
        soft_values_write(values->format, ANY_OF(random, numbers), value);
}

/* Fills the memory as it is before a call: soft buffers hold LLRs mostly, and any bits; no other value is right yet. */
static void fill_before(const trial *self, harness_random *random, uint8_t *before)
{
    const soft_values values = values_of(&self->config);
    const size_t nbytes = self->value_nbytes;
    harness_random_fill(random, before, self->nbytes);
    for (size_t t = 0; t < self->n_targets; t++) {
        const trial_codeword *first = &self->targets[t]->sent[0];
        const size_t n_cb = first->whole.codeword.n_cb, n_llrs = first->whole.codeword.n_bits;
        if (n_cb == 0)
            expect(self, first, true, before);
        for (size_t r = 0; r < first->whole.codeword.n_code_blocks; r++)
            for (size_t i = 0; i < n_cb && first->begins[r] != TRIAL_NOWHERE && first->transmitted[r]; i++) {
                const size_t kind = harness_random_below(random, 8);
                uint8_t *value = before + first->begins[r] + i * nbytes;
                if (kind == 0)
                    write_special(random, &values, value);
                else if (kind < 6 && n_llrs > 0)
                    memcpy(value, first->llrs + harness_random_below(random, n_llrs) * nbytes, nbytes);
            }
    }
}

/* The destination. */

/* Returns how many values code block r's buffer has, or all planes. */
static size_t room_of(const target *self, size_t r)
{
    const trial_codeword *first = &self->sent[0];
    const size_t n = first->whole.n_symbols, stride = first->whole.plane_stride;
    return n > 0 && stride      ? (first->Q_m - 1) * stride + n
           : self->buffers.n_cb ? larger(self->buffers.n_cb, self->buffers.n_fill)
                                : first->lengths[r];
}

static void choose_placement(harness_random *random, const trial *owner, target *self)
{
    const size_t C = self->buffers.n_code_blocks;
    size_t longest = 0, end = self->begin;
    for (size_t r = 0; r < C; r++)
        longest = larger(room_of(self, r), longest);
    if (self->choice.layout == TRIAL_BLOCKS)
        self->placement = (placement)harness_random_below(random, self->choice.is_aligned ? BY_POINTERS : N_PLACEMENTS);
    if (self->buffers.n_fill > self->buffers.n_cb &&
        self->placement != BY_POINTERS) /* else retransmissions' are apart */
        self->placement = BY_STRIDE;
    if (self->placement == BY_STRIDE && longest > 0) {
        const size_t gap = harness_random_below(random, 3) ? harness_random_below(random, 40) : 0;
        self->buffers.block_stride = next_multiple(longest + gap, unit_of(&self->choice));
    }
    for (size_t k = 0; k < C && self->placement == BY_POINTERS; k++) {
        const size_t r = (k + C / 2) % C; /* in another order than they have in the codeword */
        end += harness_random_below(random, 20) * owner->unit;
        self->pointer_at[r] = end;
        end += room_of(self, r) * owner->value_nbytes;
    }
}

/* Places the buffers of codeword k's code blocks, and the memory's end after them. */
static void place_blocks(harness_random *random, trial *owner, target *self, size_t k)
{
    trial_codeword *sent = &self->sent[k];
    const size_t stride = self->buffers.block_stride;
    sent->whole.codeword.block_stride = stride;
    for (size_t r = 0, next = self->begin; r < self->buffers.n_code_blocks; r++) {
        const size_t begin = self->placement == BY_STRIDE     ? self->begin + r * stride * owner->value_nbytes
                             : self->placement == BY_POINTERS ? self->pointer_at[r]
                                                              : next;
        const size_t end = begin + room_of(self, r) * owner->value_nbytes;
        /* No input may lie in the last code block's stride. */
        owner->nbytes = larger(owner->nbytes, stride ? begin + stride * owner->value_nbytes : end);
        sent->begins[r] =
            self->placement == BY_POINTERS && harness_random_below(random, 5) == 0 ? TRIAL_NOWHERE : begin;
        next = sent->transmitted[r] ? end : next;
    }
}

/* Checks that softqam_codeword_block() gives each code block's place in the codeword. */
static void check_blocks(const trial_codeword *self)
{
    const softqam_codeword *codeword = &self->whole.codeword;
    for (size_t r = 0, expected = 0; r < codeword->n_code_blocks; expected += self->lengths[r++]) {
        uint64_t first = UINT64_MAX, length = UINT64_MAX;
        assert_int_equal(softqam_codeword_block(codeword, self->Q_m, self->n_layers, r, &first, &length), SOFTQAM_OK);
        assert_true(first == expected && length == self->lengths[r]);
    }
}

/* True if values are added to each other, so that their order counts. */
static bool keeps_order(const trial_codeword *self)
{
    const circular_buffer buffer = buffer_of(&self->whole.codeword);
    for (size_t r = 0; buffer.N_cb > 0 && r < self->whole.codeword.n_code_blocks; r++)
        if (circular_buffer_repeats(&buffer, self->lengths[r]))
            return true;
    return false;
}

static void open_sent(harness_random *random, trial *owner, target *destination, size_t k)
{
    trial_codeword *self = &destination->sent[k];
    softqam_codeword *codeword = &self->whole.codeword;
    trial_choose_segment(random, &owner->config, &destination->choice, self);
    choose_blocks(random, destination, k, self);
    rate_recovery_transmitted(codeword->n_code_blocks, codeword->n_cbg, codeword->cbgti, self->transmitted);
    rate_recovery_lengths(codeword->n_bits, self->n_layers, self->Q_m, codeword->n_code_blocks, self->transmitted,
                          self->lengths);
    check_blocks(self);
    self->whole.n_symbols = codeword->n_bits / self->Q_m;
    if (destination->choice.layout == TRIAL_PLANES) /* BPSK has one plane, too */
        self->whole.plane_stride =
            self->whole.n_symbols + (harness_random_below(random, 2) ? harness_random_below(random, 100) : 0);
    self->n_parts = destination->choice.n_parts
                        ? destination->choice.n_parts
                        : 1 + harness_random_below(random, harness_random_below(random, 3) ? 16 : 1);
    trial_open_inputs(random, &owner->config, owner->contexts, &destination->choice, self);
    trial_cut(random, &owner->config, self);
    const size_t nbytes = owner->value_nbytes * self->Q_m;
    self->llrs = harness_alloc(nbytes * self->whole.n_symbols);
    for (size_t p = 0; p < self->n_parts; p++)
        llr_expect(&owner->config, &self->parts[p],
                   self->llrs + (self->parts[p].first_symbol - self->whole.first_symbol) * nbytes);
    for (size_t i = 0; i < codeword->n_bits && owner->config.output_format != SOFTQAM_OUTPUT_U8; i++)
        assert_true(
            isfinite(soft_values_read((soft_format)owner->config.output_format, self->llrs + i * owner->value_nbytes)));
    for (size_t p = 0; p < self->n_parts && !keeps_order(self); p++) {
        const size_t other = harness_random_below(random, p + 1);
        const softqam_segment part = self->parts[p];
        self->parts[p] = self->parts[other];
        self->parts[other] = part;
    }
}

void trial_add(trial *self, harness_random *random, const trial_choice *choice)
{
    target *destination = harness_alloc(sizeof *destination);
    *destination = (target){.choice = *choice};
    self->targets[self->n_targets++] = destination;
    self->counts = self->counts || choice->counts;
    if (choice->is_aligned)
        self->unit = 16;
    destination->begin = !choice->is_aligned && harness_random_below(random, 3)
                             ? self->nbytes + harness_random_below(random, 12) * self->unit
                             : next_multiple(self->nbytes, 16);
    choose_buffers(random, self->config.output_format, destination);
    for (size_t k = 0; k < destination->n_sent; k++) {
        open_sent(random, self, destination, k);
        if (k == 0)
            choose_placement(random, self, destination);
        place_blocks(random, self, destination, k);
    }
    if (choice->is_aligned) /* the memory may be placed by its end */
        self->nbytes = next_multiple(self->nbytes, self->unit);
}

static void close_target(target *self)
{
    for (size_t k = 0; k < self->n_sent; k++) {
        free(self->sent[k].llrs);
        trial_close_inputs(&self->sent[k]);
    }
    free(self);
}

/* The library. */

/* Sets where the LLRs of a part of codeword k go, in memory that begins at `base`. `pointers` has room for all
 * blocks. */
static void aim(const trial *self, const target *destination, size_t k, uint8_t *base, void **pointers,
                softqam_segment *part)
{
    const trial_codeword *codeword = &destination->sent[k];
    part->statistics = destination->choice.counts ? self->statistics : NULL;
    if (destination->choice.layout != TRIAL_BLOCKS) {
        const size_t step = (codeword->whole.plane_stride ? 1 : codeword->Q_m) * self->value_nbytes;
        part->codeword = (softqam_codeword){0};
        part->out = base + destination->begin + (part->first_symbol - codeword->whole.first_symbol) * step;
        return;
    }
    part->codeword = codeword->whole.codeword;
    if (destination->placement != BY_POINTERS) {
        part->codeword.buffers = base + destination->begin;
        return;
    }
    for (size_t r = 0; r < destination->buffers.n_code_blocks; r++) {
        pointers[r] = codeword->begins[r] == TRIAL_NOWHERE ? NULL : base + codeword->begins[r];
        if (!codeword->transmitted[r] && r % 2)
            pointers[r] = (void *)(uintptr_t)16; /* not followed */
    }
    part->codeword.block_buffers = pointers;
}

/* The parts of all codewords number k, those of each in its order. */
static size_t list_parts(const trial *self, harness_random *random, size_t k, uint8_t *base, void **pointers,
                         softqam_segment segments[])
{
    size_t n = 0, taken[TRIAL_MAX_TARGETS] = {0}, left[TRIAL_MAX_TARGETS], n_left = 0;
    for (size_t t = 0; t < self->n_targets; t++)
        if (k < self->targets[t]->n_sent)
            left[n_left++] = t;
    while (n_left > 0) {
        const size_t i = harness_random_below(random, n_left), t = left[i];
        const target *destination = self->targets[t];
        const trial_codeword *codeword = &destination->sent[k];
        segments[n] = codeword->parts[taken[t]];
        aim(self, destination, k, base, pointers + t * TRIAL_MAX_BLOCKS, &segments[n]);
        if (segments[n].n_symbols == 0 && harness_random_below(random, 2))
            segments[n] = (softqam_segment){0}; /* NULL pointers, of which nothing is read */
        n++;
        if (++taken[t] == codeword->n_parts)
            left[i] = left[--n_left];
    }
    return n;
}

/* Fails if a byte differs, and says where, and which call it was. */
static void compare(const trial *self, size_t k, const uint8_t *got, const uint8_t *before, const uint8_t *expected,
                    const char *context)
{
    if (memcmp(got, expected, self->nbytes) == 0)
        return;
    size_t i = 0, t = self->n_targets - 1;
    while (got[i] == expected[i])
        i++;
    while (t > 0 && self->targets[t]->begin > i)
        t--;
    const target *destination = self->targets[t];
    const trial_codeword *codeword = &destination->sent[k < destination->n_sent ? k : 0];
    fail_msg("%s%s, %s to %s, %s, layout %d, modulation %d, %u layers, %zu symbols in %zu parts, %u code blocks; "
             "target %zu of %zu, transmission %zu of %zu: byte %zu is %d, was %d, should be %d",
             context, llr_calls.way, harness_input_names[self->config.input_format],
             harness_output_names[self->config.output_format],
             destination->choice.values ? destination->choice.values->name : "a mixture",
             (int)destination->choice.layout, (int)codeword->whole.modulation, codeword->n_layers,
             codeword->whole.n_symbols, codeword->n_parts, destination->buffers.n_code_blocks, t, self->n_targets, k,
             destination->n_sent, i - destination->begin, got[i], before[i], expected[i]);
}

/* Codewords number k on one context. */
static void demodulate(const trial *self, harness_random *random, size_t k, const softqam_demodulator *demodulator,
                       bool splits, uint8_t *base)
{
    size_t n_parts = 0;
    for (size_t t = 0; t < self->n_targets; t++)
        n_parts += k < self->targets[t]->n_sent ? self->targets[t]->sent[k].n_parts : 0;
    llr_memory pointers;
    llr_memory_open(&pointers, random, self->contexts, self->n_targets * TRIAL_MAX_BLOCKS * sizeof(void *),
                    sizeof(void *));
    scoped_memory softqam_segment *segments = harness_alloc(n_parts * sizeof *segments),
                                  *copies = harness_alloc(n_parts * sizeof *copies);
    assert_int_equal(list_parts(self, random, k, base, (void **)(void *)pointers.buffer.data, segments), n_parts);
    memcpy(copies, segments, n_parts * sizeof *segments);
    const bool is_one_call = !splits || harness_random_below(random, 2);
    for (size_t first = 0, n; first < n_parts; first += n) {
        n = is_one_call ? n_parts : 1 + harness_random_below(random, n_parts - first);
        llr_calls.demodulate(&self->config, demodulator, segments + first, n);
    }
    assert_memory_equal(segments, copies, n_parts * sizeof *segments);
    llr_memory_close(&pointers);
}

/* Does so with statistics, which are added to others. */
static void demodulate_and_count(trial *self, harness_random *random, size_t k, const softqam_demodulator *demodulator,
                                 bool splits, uint8_t *base)
{
    const softqam_statistics before = {.n_symbols = 5, .information = 7}, expected = count(self, k);
    uint64_t numbers[3][sizeof before / sizeof before.n_symbols];
    llr_memory memory;
    llr_memory_open(&memory, random, self->contexts, sizeof before, sizeof(uint64_t));
    self->statistics = memcpy(memory.buffer.data, &before, sizeof before);
    demodulate(self, random, k, demodulator, splits, base);
    memcpy(numbers[0], &before, sizeof before);
    memcpy(numbers[1], &expected, sizeof expected);
    memcpy(numbers[2], self->statistics, sizeof before);
    llr_memory_close(&memory);
    for (size_t j = 0; j < HARNESS_COUNT(numbers[0]); j++)
        if (numbers[2][j] != numbers[0][j] + numbers[1][j])
            fail_msg("%s%s, %s, transmission %zu: number %zu of statistics is %lld off",
                     softqam_backend_detail(demodulator), llr_calls.way,
                     harness_output_names[self->config.output_format], k, j,
                     (long long)(numbers[2][j] - numbers[0][j] - numbers[1][j]));
}

size_t trial_run(trial *self, harness_random *random, bool splits)
{
    uint8_t *states[1 + TRIAL_MAX_SENT]; /* before, and after each */
    size_t n_sent = 0, n_rounds = 0;
    for (size_t t = 0; t < self->n_targets; t++) {
        n_sent += self->targets[t]->n_sent;
        n_rounds = larger(n_rounds, self->targets[t]->n_sent);
    }
    states[0] = harness_alloc(self->nbytes);
    fill_before(self, random, states[0]);
    for (size_t k = 1; k <= n_rounds; k++) {
        states[k] = memcpy(harness_alloc(self->nbytes), states[k - 1], self->nbytes);
        for (size_t t = 0; t < self->n_targets; t++)
            if (k <= self->targets[t]->n_sent)
                expect(self, &self->targets[t]->sent[k - 1], false, states[k]);
    }
    for (size_t c = 0; c < self->contexts->n; c++) {
        llr_memory memory;
        scoped_demodulator *demodulator = llr_create(&self->config, self->contexts->items[c]);
        llr_memory_open(&memory, random, self->contexts, self->nbytes, self->unit);
        memcpy(memory.buffer.data, states[0], self->nbytes);
        for (size_t k = 0; k < n_rounds; k++) {
            if (self->counts)
                demodulate_and_count(self, random, k, demodulator, splits, memory.buffer.data);
            else
                demodulate(self, random, k, demodulator, splits, memory.buffer.data);
            compare(self, k, memory.buffer.data, states[k], states[k + 1], self->contexts->names[c]);
        }
        llr_memory_close(&memory);
    }
    for (size_t k = 0; k <= n_rounds; k++)
        free(states[k]);
    for (size_t t = 0; t < self->n_targets; t++)
        close_target(self->targets[t]);
    free(self);
    return n_sent;
}

size_t trial_check(harness_random *random, const llr_contexts *contexts, softqam_output_format format,
                   softqam_input_format input, const trial_choice *choice)
{
    trial *self = trial_open(random, contexts, format, input);
    if (choice->config)
        self->config = *choice->config;
    trial_add(self, random, choice);
    return trial_run(self, random, choice->layout == TRIAL_BLOCKS);
}

void trial_check_all(harness_random *random, const llr_contexts *contexts, size_t n_symbols, size_t n)
{
    for (int format = 0; format < HARNESS_N_OUTPUT_FORMATS; format++) {
        const trial_choice plain = {.modulation = format == SOFTQAM_OUTPUT_U8 ? SOFTQAM_MODULATION_256QAM
                                                                              : SOFTQAM_MODULATION_DEFAULT,
                                    .n_layers = 1,
                                    .is_plain = true,
                                    .n_elements = n_symbols,
                                    .n_parts = 1};
        trial_check(random, contexts, (softqam_output_format)format, SOFTQAM_INPUT_CF32, &plain);
    }
    for (size_t k = 0; k < harness_symbol_count(n * 1000) / 1000; k++) {
        const trial_choice any = {.layout = (trial_layout)(k / HARNESS_N_LLR_FORMATS % 3),
                                  .is_descrambled = harness_random_below(random, 2),
                                  .counts = harness_random_below(random, 4) == 0,
                                  .is_aligned = harness_random_below(random, 2),
                                  .n_elements = 1 + harness_random_below(random, 200),
                                  .max_n_cb = 2000,
                                  .max_blocks = 12,
                                  .max_bits = 6000};
        trial_check(random, contexts, harness_llr_formats[k % HARNESS_N_LLR_FORMATS],
                    (softqam_input_format)harness_random_below(random, HARNESS_N_INPUT_FORMATS), &any);
    }
}
