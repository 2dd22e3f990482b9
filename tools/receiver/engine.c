/* SPDX-License-Identifier: MIT */
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/message.h"

static bool demodulate_on_host(struct engine *engine, size_t slot)
{
    const struct slot_memory *memory = &engine->slots[slot];
    const struct slot_places places = {memory->symbols, engine->noise_var, memory->values};
    layout_lay_out(engine->layout, slot_is_again(slot), &places, engine->segments);
    if (softqam_demodulate_segments(engine->demodulator, engine->segments, engine->layout->n_codewords) == SOFTQAM_OK)
        return true;
    message_print(NULL, "%s", softqam_error_message());
    return false;
}

bool engine_demodulate(struct engine *engine, size_t slot)
{
    size_t *n_received = &engine->slots[slot - slot_is_again(slot)].n_received;
    *n_received = !slot_is_again(slot) ? 1 : *n_received == 1 ? 2 : 0;
    return engine->demodulate(engine, slot);
}

bool engine_allocate(struct engine *engine, size_t nbytes, void **memory)
{
    if (softqam_host_alloc(engine->context, nbytes, memory) == SOFTQAM_OK)
        return true;
    message_print(NULL, "%s", softqam_error_message());
    return false;
}

static bool create_demodulator(struct engine *engine, const softqam_context_config *context_config, unsigned prepare)
{
    softqam_status status = softqam_context_create(&engine->context, context_config);
    softqam_demodulator_config config;
    softqam_demodulator_config_init(&config);
    config.context = engine->context;
    config.output_format = SOFTQAM_OUTPUT_S8;
    if (status == SOFTQAM_OK)
        status = softqam_demodulator_create(&engine->demodulator, &config);
    if (status == SOFTQAM_OK)
        status = softqam_context_prepare(engine->context, prepare);
    if (status == SOFTQAM_OK)
        return true;
    message_print(NULL, "%s", softqam_error_message());
    return false;
}

static bool allocate_all(struct engine *engine, size_t n_slots)
{
    const struct layout *layout = engine->layout;
    void *noise_var;
    engine->slots = calloc(n_slots, sizeof *engine->slots);
    engine->segments = calloc(layout->n_codewords, sizeof *engine->segments);
    if (!engine->slots || !engine->segments) {
        message_print(NULL, "no memory for %zu slots", n_slots);
        return false;
    }
    if (!engine_allocate(engine, SLOT_SYMBOLS * sizeof(float), &noise_var))
        return false;
    engine->noise_var = noise_var;
    for (; engine->n_slots < n_slots; engine->n_slots++) {
        struct slot_memory *slot = &engine->slots[engine->n_slots];
        void *symbols, *values = slot_is_again(engine->n_slots) ? slot[-1].values : NULL;
        if (!engine_allocate(engine, SLOT_SYMBOLS * 2 * sizeof(float), &symbols))
            return false;
        slot->symbols = symbols;
        if (!values && !engine_allocate(engine, layout->n_values, &values)) {
            softqam_host_free(symbols);
            return false;
        }
        slot->values = values;
    }
    return true;
}

bool engine_open_host(struct engine *engine, const struct layout *layout, const softqam_context_config *config,
                      unsigned prepare, size_t n_slots)
{
    *engine = (struct engine){.layout = layout, .demodulate = demodulate_on_host};
    if (!create_demodulator(engine, config, prepare) || !allocate_all(engine, n_slots))
        return false;
    snprintf(engine->counted, sizeof engine->counted,
             "softqam_demodulate_segments() of %zu segment%s, host memory to host memory", layout->n_codewords,
             PLURAL(layout->n_codewords));
    return true;
}

void engine_close(struct engine *engine)
{
    if (engine->device)
        engine_close_device(engine);
    for (size_t k = 0; k < engine->n_slots; k++) {
        softqam_host_free(engine->slots[k].symbols);
        if (!slot_is_again(k))
            softqam_host_free(engine->slots[k].values);
    }
    softqam_host_free(engine->noise_var);
    free(engine->slots);
    free(engine->segments);
    softqam_demodulator_destroy(engine->demodulator);
    softqam_context_destroy(engine->context);
}
