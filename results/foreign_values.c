/* Converts values of other tuners' parameters. Lists, texts with blanks, long texts, null and numbers with a
 * fraction become plain names in a config, and are exported as they were. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/hash.h"
#include "base/util/json.h"
#include "base/util/text.h"
#include "results/foreign_words.h"

/* Makes a plain name of another text. A hash of the text distinguishes it from texts with the same plain
 * name. */
static void make_plain(const char *text, char name[KF_NAME]) {
    enum { MARK = 8 };
    char hash[KF_HASH_HEX];
    kf_hash_text(text, hash);
    (void)snprintf(name, KF_NAME, "%.*s~%.*s", KF_NAME - 2 - MARK, text, MARK, hash);
    for (char *c = name; *c != '\0'; c++)
        if (*c <= ' ' || *c > '~' || strchr("\"'\\", *c) != NULL) *c = '_';
}

cJSON *kf_foreign_value(const cJSON *value) {
    const bool fraction = cJSON_IsNumber(value) && value->valuedouble != trunc(value->valuedouble);
    if (cJSON_IsBool(value) || cJSON_IsObject(value) || (cJSON_IsNumber(value) && !fraction))
        return cJSON_Duplicate(value, 1);
    if (cJSON_IsNull(value)) return cJSON_CreateString("None");
    char *text = cJSON_IsString(value) ? kf_duplicate(value->valuestring) : kf_json_canonical(value),
         name[KF_NAME];
    if (kf_config_plain_name(text))
        kf_copy_text(name, sizeof name, text);
    else
        make_plain(text, name);
    free(text);
    return cJSON_CreateString(name);
}

cJSON *kf_foreign_original(const cJSON *domain, const cJSON *value) {
    const cJSON *item, *original = value;
    cJSON_ArrayForEach(item, domain) {
        cJSON *plain = kf_foreign_value(item);
        const bool same = cJSON_Compare(plain, value, true) != 0;
        cJSON_Delete(plain);
        if (!same) continue;
        original = item;
        break;
    }
    if (cJSON_IsString(original) && original->valuestring[0] == KF_WHOLE_FLOAT)
        return cJSON_CreateRaw(original->valuestring + 1);
    return cJSON_Duplicate(original, 1);
}
