/* SPDX-License-Identifier: MIT */
/* In place of engine_device.c in a build without CUDA. */
#include "common/message.h"
#include "engine.h"

bool engine_open_device(struct engine *engine, const struct layout *layout, size_t n_slots)
{
    (void)layout;
    (void)n_slots;
    *engine = (struct engine){0};
    message_print("--backend", "device: this build has no CUDA");
    return false;
}

bool engine_upload(struct engine *engine)
{
    (void)engine;
    return true;
}

bool engine_download(struct engine *engine)
{
    (void)engine;
    return true;
}

void engine_close_device(struct engine *engine)
{
    (void)engine;
}
