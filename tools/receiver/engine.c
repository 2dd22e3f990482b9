/* SPDX-License-Identifier: MIT */
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/message.h"

static bool demodulate_on_host(struct engine *engine, size_t slot)
{
    layout_lay_out(engine->layout, engine->segments, engine->slots[slot].symbols, engine->noise_var,
                   engine->slots[slot].llrs);
    if (softqam_demodulate_segments(engine->demodulator, engine->segments, engine->layout->n_segments) == SOFTQAM_OK)
        return true;
    message_print(NULL, "%s", softqam_error_message());
    return false;
}

static bool allocate(struct engine *engine, size_t nbytes, void **memory)
{
    if (softqam_host_alloc(engine->context, nbytes, memory) == SOFTQAM_OK)
        return true;
    message_print(NULL, "%s", softqam_error_message());
    return false;
}

static bool create_demodulator(struct engine *engine, const softqam_context_config *context_config, unsigned prepare)
{
    softqam_status status = softqam_context_create(&engine->context, context_config);
    softqam_config config;
    softqam_config_init(&config);
    config.context = engine->context;
    config.output_format = SOFTQAM_OUTPUT_S8;
    if (status == SOFTQAM_OK)
        status = softqam_create(&engine->demodulator, &config);
    if (status == SOFTQAM_OK)
        status = softqam_context_prepare(engine->context, prepare);
    if (status == SOFTQAM_OK)
        return true;
    message_print(NULL, "%s", softqam_error_message());
    return false;
}

bool engine_open_host(struct engine *engine, const struct layout *layout, const softqam_context_config *config,
                      unsigned prepare, size_t n_slots)
{
    *engine = (struct engine){.layout = layout, .demodulate = demodulate_on_host};
    snprintf(engine->counted, sizeof engine->counted,
             "softqam_demodulate_segments() of %zu segments, host memory to host memory", layout->n_segments);
    if (!create_demodulator(engine, config, prepare))
        return false;
    engine->slots = calloc(n_slots, sizeof *engine->slots);
    engine->segments = calloc(layout->n_segments, sizeof *engine->segments);
    if (!engine->slots || !engine->segments) {
        message_print(NULL, "no memory for %zu slots", n_slots);
        return false;
    }
    void *noise_var;
    if (!allocate(engine, LAYERS * SUBCARRIERS * sizeof(float), &noise_var))
        return false;
    engine->noise_var = noise_var;
    for (; engine->n_slots < n_slots; engine->n_slots++) {
        struct slot_memory *slot = &engine->slots[engine->n_slots];
        void *symbols, *llrs;
        if (!allocate(engine, SLOT_SYMBOLS * 2 * sizeof(float), &symbols))
            return false;
        slot->symbols = symbols;
        if (!allocate(engine, layout->n_llrs, &llrs)) {
            softqam_host_free(symbols);
            return false;
        }
        slot->llrs = llrs;
    }
    return true;
}

void engine_close(struct engine *engine)
{
    if (engine->device)
        engine_close_device(engine);
    for (size_t k = 0; k < engine->n_slots; k++) {
        softqam_host_free(engine->slots[k].symbols);
        softqam_host_free(engine->slots[k].llrs);
    }
    softqam_host_free(engine->noise_var);
    free(engine->slots);
    free(engine->segments);
    softqam_destroy(engine->demodulator);
    softqam_context_destroy(engine->context);
}
