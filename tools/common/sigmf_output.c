/* SPDX-License-Identifier: MIT */
/* SigMF metadata that are written: of the symbols that softqam-gen makes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "message.h"
#include "modulation.h"
#include "sigmf.h"

static const char *const datatypes[] = {[SOFTQAM_INPUT_CF32] = "cf32_le",
                                        [SOFTQAM_INPUT_CS16] = "ci16_le",
                                        [SOFTQAM_INPUT_CS8] = "ci8",
                                        [SOFTQAM_INPUT_CF16] = NULL};

bool sigmf_samples_check(softqam_input_format format) { return datatypes[format] != NULL; }

static bool add_modulation(cJSON *global, const struct sigmf_samples *samples)
{
    char text[64];
    const struct modulation *modulation = modulation_get(samples->modulation);
    snprintf(text, sizeof text, "%s, 3GPP TS 38.211 clause 5.1.%u", modulation->name, modulation->clause);
    return cJSON_AddStringToObject(global, "softqam:modulation", modulation->option) &&
           cJSON_AddStringToObject(global, "softqam:constellation", text) &&
           (!samples->c_init || cJSON_AddNumberToObject(global, "softqam:c_init", *samples->c_init)) &&
           cJSON_AddNumberToObject(global, "softqam:input_scale", samples->scale);
}

/* Declares our namespace. */
static bool add_extension(cJSON *global)
{
    cJSON *extensions = cJSON_AddArrayToObject(global, "core:extensions"), *extension = cJSON_CreateObject();
    if (cJSON_AddItemToArray(extensions, extension))
        return cJSON_AddStringToObject(extension, "name", SIGMF_EXTENSION) &&
               cJSON_AddStringToObject(extension, "version", "1.0.0") && cJSON_AddTrueToObject(extension, "optional");
    cJSON_Delete(extension);
    return false;
}

static bool add_global(cJSON *document, const struct sigmf_samples *samples)
{
    char recorder[64];
    cJSON *global = cJSON_AddObjectToObject(document, "global");
    snprintf(recorder, sizeof recorder, "softqam-gen %s", softqam_version());
    return cJSON_AddStringToObject(global, "core:datatype", datatypes[samples->format]) &&
           cJSON_AddStringToObject(global, "core:version", "1.2.0") &&
           cJSON_AddStringToObject(global, "core:recorder", recorder) &&
           cJSON_AddStringToObject(global, "core:description", samples->description) && add_extension(global) &&
           add_modulation(global, samples);
}

static bool add_capture(cJSON *document)
{
    cJSON *captures = cJSON_AddArrayToObject(document, "captures"), *capture = cJSON_CreateObject();
    if (cJSON_AddItemToArray(captures, capture))
        return cJSON_AddNumberToObject(capture, "core:sample_start", 0) != NULL;
    cJSON_Delete(capture);
    return false;
}

bool sigmf_samples_write(struct output_file *file, const struct sigmf_samples *samples)
{
    cJSON *document = cJSON_CreateObject();
    const bool complete =
        add_global(document, samples) && add_capture(document) && cJSON_AddArrayToObject(document, "annotations");
    char *text = complete ? cJSON_Print(document) : NULL;
    if (!text)
        message_print(NULL, "out of memory");
    const bool written = text && output_file_write(file, text, strlen(text)) && output_file_write(file, "\n", 1) &&
                         output_file_finish(file);
    free(text);
    cJSON_Delete(document);
    return written;
}
