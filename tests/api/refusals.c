/* SPDX-License-Identifier: MIT */
#include "refusals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Alignas(64) uint8_t memory[MEMORY_NBYTES];

/* The fields of the public structures: numbers, floats, pointers, lists of pointers, text, reserved words, and what no
 * row may name. */
typedef struct field {
    refusal_object object;
    const char *name;
    size_t at, nbytes;
    enum { NUMBER, FLOAT, POINTER, LIST, TEXT, RESERVED, OTHER } type;
} field;

#define FIELD(object, structure, name, type)                                                                           \
    {                                                                                                                  \
        object, #name, offsetof(structure, name), sizeof(((structure *)NULL)->name), type                              \
    }
#define C(name, type) FIELD(CONTEXT, softqam_context_config, name, type)
#define D(name, type) FIELD(DEMODULATOR, softqam_demodulator_config, name, type)
#define G(name, type) FIELD(GRANT, softqam_ldpc_grant, name, type)
#define S(name, type) FIELD(SEGMENT, softqam_segment, name, type)
#define L(name, type) FIELD(LAYER, softqam_layer, name, type)
#define W(name, type) FIELD(CODEWORD, softqam_codeword, name, type)

/* clang-format off */
static const field fields[] = {
    C(backend, NUMBER), C(n_threads, NUMBER), C(cpus, POINTER), C(n_cpus, NUMBER), C(device, NUMBER),
    C(thread_priority, NUMBER), C(n_streams, NUMBER), C(chunk_symbols, NUMBER), C(cpu_variant, TEXT),
    C(reserved_words[0], NUMBER), C(reserved_word, NUMBER), C(reserved, RESERVED), C(reserved_words[1], NUMBER),
    C(reserved_words[2], NUMBER), D(context, OTHER), D(modulation, NUMBER), D(input_format, NUMBER),
    D(output_format, NUMBER), D(sign, NUMBER), D(noise, NUMBER), D(noise_form, NUMBER), D(input_scale, FLOAT),
    D(llr_scale, FLOAT), D(llr_limit, NUMBER), D(reserved_word, NUMBER), D(reserved, RESERVED), G(n_bits, NUMBER),
    G(tb_size, NUMBER), G(base_graph, NUMBER), G(code_rate, FLOAT), G(rv, NUMBER), G(n_layers, NUMBER),
    G(bits_per_symbol, NUMBER), G(tbs_lbrm, NUMBER), G(n_ref, NUMBER), G(reserved, RESERVED), S(n_symbols, NUMBER),
    S(first_symbol, NUMBER), S(scrambling_offset, NUMBER), S(out, POINTER), S(plane_stride, NUMBER),
    S(symbol_stride, NUMBER), S(noise_stride, NUMBER), S(layers, OTHER), S(n_layers, NUMBER), S(modulation, NUMBER),
    S(noise_form, NUMBER), S(input_scale, FLOAT), S(llr_scale, FLOAT), S(descramble, NUMBER), S(c_init, NUMBER),
    S(codeword, OTHER), S(reserved_word, NUMBER), S(reserved, RESERVED), L(symbols, POINTER), L(symbols_q, POINTER),
    L(noise_var, POINTER), L(gain, POINTER), L(reserved, RESERVED), W(n_bits, NUMBER), W(buffers, POINTER),
    W(block_stride, NUMBER), W(block_buffers, LIST), W(n_cbg, NUMBER), W(n_code_blocks, NUMBER), W(cbgti, NUMBER),
    W(k0, NUMBER), W(deinterleave, NUMBER), W(n_cb, NUMBER), W(n_fillers, NUMBER), W(first_filler, NUMBER),
    W(filler_value, FLOAT), W(combine, NUMBER),
    {CODEWORD, "codeword.reserved", offsetof(softqam_codeword, reserved), 32, RESERVED},
};
/* clang-format on */

void refusal_check_fields(void)
{
    static const size_t sizes[] = {sizeof(softqam_context_config), sizeof(softqam_demodulator_config),
                                   sizeof(softqam_ldpc_grant),     sizeof(softqam_segment),
                                   sizeof(softqam_codeword),       sizeof(softqam_layer)};
    for (size_t object = 0; object < HARNESS_COUNT(sizes); object++) {
        uint8_t named[1024] = {0};
        for (size_t k = 0; k < HARNESS_COUNT(fields); k++)
            if (fields[k].object == object)
                memset(named + fields[k].at, 1, fields[k].nbytes);
        if (memchr(named, 0, sizes[object]))
            fail_msg("structure %zu of refusals.c has a new field: add it to the list", object);
    }
}

/* Finds the field that a row names, and where it lies in the call. */
static const field *find(refused_call *call, refusal_object object, const char *name, uint8_t **place)
{
    const bool is_layer = strncmp(name, "layer", 5) == 0 && name[6] == '.';
    const char *own = is_layer ? name + 7 : name;
    const size_t length = strcspn(own, "=");
    softqam_layer *layer = is_layer ? &call->segment.layers[name[5] - '0'] : NULL;
    void *const objects[] = {&call->context, &call->demodulator,      &call->grant,
                             &call->segment, &call->segment.codeword, layer};
    for (size_t k = 0; k < HARNESS_COUNT(fields); k++) {
        const field *f = &fields[k];
        const bool fits =
            is_layer ? f->object == LAYER : f->object == object || (object == SEGMENT && f->object == CODEWORD);
        if (fits && strlen(f->name) == length && strncmp(f->name, own, length) == 0) {
            *place = (uint8_t *)objects[f->object] + f->at;
            return f;
        }
    }
    fail_msg("there is no field %s", name);
    return NULL;
}

static void *read_pointer(const char *text)
{
    static unsigned cpus[] = {0, 1, 1024};
    static const char *const names[] = {"in", "q", "noise", "out", "cpus", "end", "null"};
    void *const places[] = {IN, Q, NOISE, OUT, cpus, NULL, NULL};
    const size_t length = strcspn(text, "+-,| ");
    for (size_t k = 0; k < HARNESS_COUNT(names); k++)
        if (strlen(names[k]) == length && strncmp(names[k], text, length) == 0)
            return (void *)((uintptr_t)places[k] + (uintptr_t)strtoll(text + length, NULL, 10));
    fail_msg("there is no memory %s", text);
    return NULL;
}

/* Writes a value into its field. */
static void set(refused_call *call, const field *f, uint8_t *place, const char *text)
{
    const float number = f->type == FLOAT ? strtof(text, NULL) : 0;
    const uint64_t integer = f->type == NUMBER || f->type == RESERVED ? strtoull(text, NULL, 0) : 0;
    void *pointer = f->type == POINTER ? read_pointer(text) : f->type == LIST ? (void *)call->pointers : call->text;
    if (f->type == NUMBER) {
        memcpy(place, &integer, f->nbytes);
    } else if (f->type == FLOAT) {
        memcpy(place, &number, sizeof number);
    } else if (f->type == RESERVED) {
        place[8 * integer + (integer % 2 ? 0 : 7)] = integer % 2 ? 1 : 0x80;
    } else {
        memcpy(place, &pointer, sizeof pointer);
        sprintf(call->text, "%.*s", (int)strcspn(text, "|"), text);
        for (size_t k = 0; f->type == LIST && k < HARNESS_COUNT(call->pointers); k++, text += strcspn(text, ",") + 1)
            call->pointers[k] = read_pointer(text);
    }
}

/* "FIELD is VALUE", as the library writes it. */
static void describe(char *to, const field *f, const char *name, const char *value)
{
    static const char *const prefixes[] = {"config.", "config.", "grant.", "segment.", "codeword.", "segment."};
    to += sprintf(to, "%s%.*s is ", prefixes[f->object], (int)strcspn(name, "="), name);
    const int length = (int)strcspn(value, "|");
    if (f->type == FLOAT)
        sprintf(to, "%g", (double)strtof(value, NULL));
    else
        sprintf(to, f->type == TEXT ? "\"%.*s\"" : "%.*s", length, value);
    for (; *to; to++)
        *to = (char)(*to < ' ' ? '?' : *to);
}

/* What a row need not say. */
static void fill_call(refused_call *call, const char *settings)
{
    memset(call, 0, sizeof *call);
    call->context.device = -1;
    call->segment.n_symbols = 4;
    call->segment.out = strstr(settings, "n_code_blocks=") ? NULL : OUT;
    while (call->format < SOFTQAM_OUTPUT_U8 &&
           strncmp(settings, harness_output_names[call->format], strlen(harness_output_names[call->format])) != 0)
        call->format++;
    call->demodulator.output_format = call->format;
    for (size_t k = 0; k < SOFTQAM_MAX_LAYERS; k++)
        call->segment.layers[k] =
            (softqam_layer){.symbols = IN, .noise_var = call->format == SOFTQAM_OUTPUT_U8 ? NULL : FLOATS(NOISE)};
}

/* False if the row's last value has no such alternative. */
static bool read_row(const refusal *row, refusal_object object, unsigned alternative, refused_call *call)
{
    char said[200] = "";
    fill_call(call, row->settings);
    for (const char *word = strchr(row->settings, ' ') + 1, *end; *word; word = end) {
        uint8_t *place;
        const field *f = find(call, object, word, &place);
        const char *value = strchr(word, '=') + 1;
        end = f->type == TEXT ? value + strlen(value) : value + strcspn(value, " ");
        end += strspn(end, " ");
        for (unsigned k = *end ? 0 : alternative; k > 0; k--, value++) {
            value += strcspn(value, "|");
            if (!*value)
                return false;
        }
        set(call, f, place, value);
        if (!*end)
            describe(said, f, word, value);
    }
    const char *message = row->message ? row->message : "";
    sprintf(call->message, "%s%s", *message == '%' ? said : "", *message == '%' ? message + 1 : message);
    return true;
}

bool refusal_next(const refusal *rows, size_t n_rows, refusal_object object, refusal_position *position,
                  refused_call *call)
{
    for (; position->row < n_rows; position->row++, position->alternative = 0)
        if (read_row(&rows[position->row], object, position->alternative++, call))
            return true;
    return false;
}
