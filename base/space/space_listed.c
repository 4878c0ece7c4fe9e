/* A space given as a list of configs, as landscapes have. Its tree is a plain trie of the configs. */
#include <stdlib.h>
#include <string.h>

#include "base/space/space_parts.h"
#include "base/util/memory.h"

/* --- Domains -------------------------------------------------------------------------------------------- */

static int compare_values(const void *left, const void *right) {
    const kf_scalar *a = left, *b = right;
    if (a->kind == KF_SCALAR_STRING) return strcmp(a->text, b->text);
    return (a->integer > b->integer) - (a->integer < b->integer);
}

/* Collects the values of parameter p in all configs, in ascending order. Their texts belong to the configs.
 */
static void collect_values(const kf_config *configs, size_t count, int p, kf_parameter *parameter) {
    static const kf_scalar_kind kinds[] = {KF_SCALAR_INTEGER, KF_SCALAR_BOOLEAN, KF_SCALAR_STRING};
    kf_scalar *values = kf_allocate(count * sizeof *values);
    for (size_t i = 0; i < count; i++) {
        const kf_value *value = &configs[i].values[p];
        values[i] = (kf_scalar){kinds[value->kind], value->integer, 0, value->name};
    }
    qsort(values, count, sizeof *values, compare_values);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || compare_values(&values[kept - 1], &values[i]) != 0) values[kept++] = values[i];
    parameter->values = values;
    parameter->value_count = (int)(kept <= KF_SPACE_DOMAIN ? kept : KF_SPACE_DOMAIN + 1);
}

static void fill_parameter(const kf_config *configs, size_t count, int p, kf_parameter *parameter) {
    const kf_value *first = &configs[0].values[p];
    kf_copy_text(parameter->name, sizeof parameter->name, first->parameter);
    parameter->kind = first->kind;
    parameter->help = kf_duplicate("");
    collect_values(configs, count, p, parameter);
    parameter->sorted = kf_allocate((size_t)parameter->value_count * sizeof *parameter->sorted);
    for (int i = 0; i < parameter->value_count; i++) {
        parameter->sorted[i] = i;
        if (parameter->kind == KF_VALUE_NAME)
            parameter->values[i].text = kf_duplicate(parameter->values[i].text);
    }
}

static kf_status check_alike(const char *file, const kf_config *configs, size_t count, kf_error *error) {
    for (size_t i = 1; i < count; i++) {
        bool alike = configs[i].count == configs[0].count;
        for (int p = 0; alike && p < configs[0].count; p++) {
            const kf_value *value = &configs[i].values[p], *first = &configs[0].values[p];
            alike = value->kind == first->kind && strcmp(value->parameter, first->parameter) == 0;
        }
        if (alike) continue;
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: config %zu has other parameters, or values of another kind, than the first one; "
                       "all configs of a landscape must have the same parameters",
                       file, i + 1);
    }
    return KF_OK;
}

/* --- The trie ------------------------------------------------------------------------------------------- */

typedef struct kf_position_row {
    uint16_t positions[KF_CONFIG_VALUES];
} kf_position_row;

static int compare_rows(const void *left, const void *right) {
    const kf_position_row *a = left, *b = right;
    for (int p = 0; p < KF_CONFIG_VALUES; p++)
        if (a->positions[p] != b->positions[p]) return a->positions[p] < b->positions[p] ? -1 : 1;
    return 0;
}

static kf_position_row *sorted_rows(const kf_space *space, const kf_config *configs, size_t count,
                                    size_t *kept) {
    kf_position_row *rows = kf_allocate_zeroed(count, sizeof *rows);
    for (size_t i = 0; i < count; i++)
        for (int p = 0; p < space->parameter_count; p++) {
            const kf_value *value = &configs[i].values[p];
            kf_scalar scalar = {space->parameters[p].values[0].kind, value->integer, 0, value->name};
            rows[i].positions[p] = (uint16_t)kf_parameter_position(&space->parameters[p], &scalar);
        }
    qsort(rows, count, sizeof *rows, compare_rows);
    *kept = 0;
    for (size_t i = 0; i < count; i++)
        if (*kept == 0 || compare_rows(&rows[*kept - 1], &rows[i]) != 0) rows[(*kept)++] = rows[i];
    return rows;
}

/* Fills level p, which has a node for every distinct prefix of length p, and an edge for every one of length
 * p + 1. A row's number is the count of rows before it. */
static void fill_level(kf_level *level, int p, const kf_position_row *rows, size_t count) {
    level->parameter = p;
    level->first_edge = kf_allocate((count + 1) * sizeof *level->first_edge);
    level->value = kf_allocate(count * sizeof *level->value);
    level->child = kf_allocate(count * sizeof *level->child);
    level->before = kf_allocate(count * sizeof *level->before);
    uint32_t nodes = 0, edges = 0;
    uint64_t node_start = 0;
    for (size_t i = 0; i < count; i++) {
        /* The length of the prefix that the row shares with the previous one. */
        size_t same = 0;
        while (i > 0 && same < KF_CONFIG_VALUES && rows[i].positions[same] == rows[i - 1].positions[same])
            same++;
        if (i > 0 && same > (size_t)p) continue;
        if (i == 0 || same < (size_t)p) {
            level->first_edge[nodes++] = edges;
            node_start = i;
        }
        level->value[edges] = rows[i].positions[p];
        level->child[edges] = edges;
        level->before[edges++] = i - node_start;
    }
    level->node_count = nodes;
    level->first_edge[nodes] = edges;
}

kf_status kf_space_from_configs(const char *file, const kf_config *configs, size_t count, kf_space **space,
                                kf_error *error) {
    *space = NULL;
    if (count == 0 || count > KF_SPACE_EDGES)
        return kf_fail(error, KF_BAD_INPUT, "%s: has %zu configs; a space has 1 to %d", file, count,
                       KF_SPACE_EDGES);
    KF_TRY(check_alike(file, configs, count, error));
    kf_space *made = kf_allocate_zeroed(1, sizeof *made);
    made->file = kf_duplicate(file);
    kf_copy_text(made->system, sizeof made->system, configs[0].system);
    made->parameter_count = configs[0].count;
    bool fits = true;
    for (int p = 0; p < made->parameter_count; p++) {
        fill_parameter(configs, count, p, &made->parameters[p]);
        /* The order of names is that of the configs. */
        made->by_name[p] = p;
        fits = fits && made->parameters[p].value_count <= KF_SPACE_DOMAIN;
    }
    if (!fits) {
        kf_space_free(made);
        return kf_fail(error, KF_BAD_INPUT, "%s: a parameter has more than %d values", file, KF_SPACE_DOMAIN);
    }
    size_t kept = 0;
    kf_position_row *rows = sorted_rows(made, configs, count, &kept);
    for (int p = 0; p < made->parameter_count; p++)
        fill_level(&made->levels[p], p, rows, kept);
    made->size = made->parameter_count > 0 ? kept : 1;
    free(rows);
    *space = made;
    return KF_OK;
}

kf_status kf_space_add_preset(kf_space *space, const char *name, const kf_config *config, kf_error *error) {
    uint64_t index;
    char why[256];
    if (space->preset_count == KF_SPACE_PRESETS)
        return kf_fail(error, KF_BAD_INPUT, "%s: more than %d presets", space->file, KF_SPACE_PRESETS);
    if (!kf_space_index(space, config, &index, why, sizeof why))
        return kf_fail(error, KF_BAD_INPUT, "%s: preset %s: %s", space->file, name, why);
    space->presets =
        kf_reallocate(space->presets, (size_t)(space->preset_count + 1) * sizeof *space->presets);
    kf_preset *preset = &space->presets[space->preset_count++];
    memset(preset, 0, sizeof *preset);
    kf_copy_text(preset->name, sizeof preset->name, name);
    kf_space_positions(space, index, preset->positions);
    return KF_OK;
}
