/* Sources as a text that travels to another process. */
#include <cjson/cJSON.h>
#include <stdlib.h>

#include "base/backend/backend.h"
#include "base/util/memory.h"
#include "base/util/text.h"

void kf_source_free(kf_source *source) {
    if (source == NULL) return;
    for (int i = 0; i < source->define_count; i++)
        free((char *)(uintptr_t)source->defines[i].name);
    for (int i = 0; i < source->option_count; i++)
        free((char *)(uintptr_t)source->options[i]);
    free((void *)(uintptr_t)source->defines);
    free((void *)(uintptr_t)source->options);
    free((char *)(uintptr_t)source->file);
    free((char *)(uintptr_t)source->name);
    free(source);
}

/* Writes a source as one line of text, for a process that compiles ahead. The caller frees it. */
char *kf_source_text(const kf_source *source) {
    cJSON *json = cJSON_CreateObject();
    cJSON *defines = cJSON_AddArrayToObject(json, "defines"),
          *options = cJSON_AddArrayToObject(json, "options");
    (void)cJSON_AddStringToObject(json, "file", source->file);
    if (source->name != NULL) (void)cJSON_AddStringToObject(json, "name", source->name);
    (void)cJSON_AddNumberToObject(json, "language", source->language);
    for (int i = 0; i < source->define_count; i++) {
        (void)cJSON_AddItemToArray(defines, cJSON_CreateString(source->defines[i].name));
        (void)cJSON_AddItemToArray(defines, cJSON_CreateString(source->defines[i].value));
    }
    for (int i = 0; i < source->option_count; i++)
        (void)cJSON_AddItemToArray(options, cJSON_CreateString(source->options[i]));
    char *text = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    return text;
}

/* Reads such a text, which kf_source_text wrote in another process of the same program. */
kf_source *kf_source_from_text(const char *text) {
    cJSON *json = cJSON_Parse(text);
    const cJSON *defines = cJSON_GetObjectItemCaseSensitive(json, "defines"), *item = defines->child;
    const cJSON *options = cJSON_GetObjectItemCaseSensitive(json, "options");
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "name"));
    kf_source *source = kf_allocate_zeroed(1, sizeof *source);
    source->file = kf_duplicate(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "file")));
    source->name = name != NULL ? kf_duplicate(name) : NULL;
    source->language = (kf_language)cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(json, "language"));
    source->define_count = cJSON_GetArraySize(defines) / 2;
    source->option_count = cJSON_GetArraySize(options);
    kf_define *define = kf_allocate_zeroed((size_t)source->define_count + 1, sizeof *define);
    const char **option = kf_allocate_zeroed((size_t)source->option_count + 1, sizeof *option);
    source->defines = define;
    source->options = option;
    for (int i = 0; i < source->define_count; i++, item = item->next->next) {
        define[i].name = kf_duplicate(item->valuestring);
        kf_copy_text(define[i].value, sizeof define[i].value, item->next->valuestring);
    }
    cJSON_ArrayForEach(item, options) *option++ = kf_duplicate(item->valuestring);
    cJSON_Delete(json);
    return source;
}
