#include "base/plan/facts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/text.h"

static const char *const size_names[3] = {"size_x", "size_y", "size_z"};

static kf_fact *add(kf_facts *facts, const char *name, const char *unit) {
    if (facts->count == facts->capacity) {
        facts->capacity = facts->capacity > 0 ? 2 * facts->capacity : 16;
        facts->list = kf_reallocate(facts->list, (size_t)facts->capacity * sizeof *facts->list);
    }
    kf_fact *fact = &facts->list[facts->count++];
    *fact = (kf_fact){.value = (double)NAN};
    kf_copy_text(fact->name, sizeof fact->name, name);
    kf_copy_text(fact->unit, sizeof fact->unit, unit);
    return fact;
}

void kf_facts_number(kf_facts *facts, const char *name, double value, const char *unit) {
    add(facts, name, unit)->value = value;
}

void kf_facts_word(kf_facts *facts, const char *name, const char *word) {
    kf_fact *fact = add(facts, name, "");
    kf_copy_text(fact->word, sizeof fact->word, word);
}

void kf_facts_amount(kf_facts *facts, const char *name, double value, const char *unit) {
    kf_fact *fact = add(facts, name, unit);
    fact->value = value;
    fact->extensive = true;
}

void kf_facts_size(kf_facts *facts, const int size[3], const char *unit) {
    for (int axis = 0; axis < 3; axis++)
        kf_facts_number(facts, size_names[axis], size[axis], unit);
}

const kf_fact *kf_facts_find(const kf_facts *facts, const char *name) {
    for (int i = 0; i < facts->count; i++)
        if (strcmp(facts->list[i].name, name) == 0) return &facts->list[i];
    return NULL;
}

double kf_facts_value(const kf_facts *facts, const char *name) {
    const kf_fact *fact = kf_facts_find(facts, name);
    return fact != NULL ? fact->value : (double)NAN;
}

bool kf_facts_get_size(const kf_facts *facts, int size[3]) {
    for (int axis = 0; axis < 3; axis++) {
        const double value = kf_facts_value(facts, size_names[axis]);
        if (!(value >= 0 && value <= 0x1p30)) {
            memset(size, 0, 3 * sizeof *size);
            return false;
        }
        size[axis] = (int)value;
    }
    return true;
}

void kf_facts_copy(kf_facts *to, const kf_facts *from) {
    *to = (kf_facts){.count = from->count, .capacity = from->count};
    if (from->count == 0) return;
    to->list = kf_allocate((size_t)from->count * sizeof *to->list);
    memcpy(to->list, from->list, (size_t)from->count * sizeof *to->list);
}

void kf_facts_free(kf_facts *facts) {
    free(facts->list);
    *facts = (kf_facts){NULL, 0, 0};
}

/* --- JSON --------------------------------------------------------------------------------------------- */

cJSON *kf_facts_to_json(const kf_facts *facts) {
    cJSON *json = cJSON_CreateObject();
    for (int i = 0; i < facts->count; i++) {
        const kf_fact *fact = &facts->list[i];
        if (fact->word[0] != '\0')
            (void)cJSON_AddStringToObject(json, fact->name, fact->word);
        else if (isfinite(fact->value))
            (void)cJSON_AddNumberToObject(json, fact->name, fact->value);
    }
    return json;
}

cJSON *kf_facts_units(const kf_facts *facts) {
    cJSON *json = cJSON_CreateObject();
    for (int i = 0; i < facts->count; i++)
        if (facts->list[i].unit[0] != '\0')
            (void)cJSON_AddStringToObject(json, facts->list[i].name, facts->list[i].unit);
    return json;
}

kf_status kf_facts_from_json(const char *file, const cJSON *json, const cJSON *units, kf_facts *facts,
                             kf_error *error) {
    enum { MOST = 1000 };
    *facts = (kf_facts){NULL, 0, 0};
    for (const cJSON *item = json != NULL ? json->child : NULL; item != NULL; item = item->next) {
        const bool number = cJSON_IsNumber(item) && isfinite(item->valuedouble);
        const bool word = cJSON_IsString(item) && strlen(item->valuestring) < KF_NAME;
        if (strlen(item->string) >= KF_NAME || (!number && !word) || facts->count == MOST) {
            kf_facts_free(facts);
            return kf_fail(error, KF_BAD_INPUT,
                           "%s: facts.%.40s: a fact is a finite number or a word of fewer than %d characters",
                           file, item->string, KF_NAME);
        }
        const char *unit = units != NULL
                               ? cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(units, item->string))
                               : NULL;
        if (number)
            kf_facts_number(facts, item->string, item->valuedouble, unit != NULL ? unit : "");
        else
            kf_facts_word(facts, item->string, item->valuestring);
    }
    return KF_OK;
}

/* --- Text --------------------------------------------------------------------------------------------- */

static bool is_count(const kf_fact *fact) {
    return kf_ends_in(fact->name, "_count") && isfinite(fact->value);
}

/* Writes size and counts of a problem in one line, "256x128x128 nodes, 11234 samples", or "512x512 nodes" in
 * two dimensions. */
char *kf_facts_text(const kf_facts *facts, char buffer[KF_FACTS_TEXT]) {
    int size[3], used = 0;
    double product = (double)NAN;
    buffer[0] = '\0';
    if (kf_facts_get_size(facts, size)) {
        product = (double)size[0] * size[1] * size[2];
        char grid[KF_GRID_TEXT];
        used = snprintf(buffer, KF_FACTS_TEXT, "%s", kf_grid_text(size, grid));
        const char *unit = kf_facts_find(facts, size_names[0])->unit;
        if (unit[0] != '\0') used += snprintf(buffer + used, KF_FACTS_TEXT - (size_t)used, " %s", unit);
    }
    for (int i = 0; i < facts->count; i++) {
        const kf_fact *fact = &facts->list[i];
        if (!is_count(fact) || fact->value == product || used >= KF_FACTS_TEXT - 1) continue;
        const char *unit = fact->unit[0] != '\0' ? fact->unit : fact->name;
        used += snprintf(buffer + used, KF_FACTS_TEXT - (size_t)used, "%s%.15g %s", used > 0 ? ", " : "",
                         fact->value, unit);
    }
    return buffer;
}

char *kf_facts_size_text(const kf_facts *facts, char buffer[KF_FACTS_TEXT]) {
    int size[3];
    if (!kf_facts_get_size(facts, size)) return kf_facts_text(facts, buffer);
    (void)snprintf(buffer, KF_FACTS_TEXT, "%dx%dx%d", size[0], size[1], size[2]);
    return buffer;
}
