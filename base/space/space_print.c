/* Writes a space as a table for people, as JSON for programs, and as a hash for the store. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/space/space_parts.h"
#include "base/util/json.h"
#include "base/util/memory.h"

enum { MOST_PRESETS_IN_TABLE = 4 };

/* --- Table ---------------------------------------------------------------------------------------------- */

/* Parameter, type, values, presets. */
enum { COLUMNS = 3 + MOST_PRESETS_IN_TABLE };

typedef struct kf_table {
    int columns, rows;
    /* Row 0 is the head. */
    kf_text (*cells)[COLUMNS];
} kf_table;

/* Fills a parameter's row of the table: name, kind, domain, and its value in each preset. */
static void fill_row(const kf_space *space, int p, kf_text *cells) {
    static const char *const kinds[] = {"integer", "boolean", "name"};
    const kf_parameter *parameter = &space->parameters[p];
    kf_text_append(&cells[0], "%s", parameter->name);
    kf_text_append(&cells[1], "%s", kinds[parameter->kind]);
    if (parameter->choices != NULL) {
        for (int i = 0; i < parameter->choice_count; i++) {
            kf_text_append(&cells[2], i > 0 ? " " : "");
            kf_scalar_text(&parameter->values[parameter->choices[i]], &cells[2]);
        }
        kf_text_append(&cells[2], " (fixed)");
    } else {
        kf_domain_text(parameter, &cells[2]);
    }
    for (int i = 0; i < space->preset_count && i < MOST_PRESETS_IN_TABLE; i++)
        kf_scalar_text(&parameter->values[space->presets[i].positions[p]], &cells[3 + i]);
}

static kf_table make_table(const kf_space *space) {
    int presets = space->preset_count < MOST_PRESETS_IN_TABLE ? space->preset_count : MOST_PRESETS_IN_TABLE;
    kf_table table = {3 + presets, space->parameter_count + 1, NULL};
    table.cells = kf_allocate_zeroed((size_t)table.rows, sizeof *table.cells);
    static const char *const heads[] = {"parameter", "type", "values"};
    for (int i = 0; i < 3; i++)
        kf_text_append(&table.cells[0][i], "%s", heads[i]);
    for (int i = 0; i < presets; i++)
        kf_text_append(&table.cells[0][3 + i], "%s", space->presets[i].name);
    for (int p = 0; p < space->parameter_count; p++)
        fill_row(space, p, table.cells[p + 1]);
    return table;
}

static void print_table(const kf_table *table, FILE *stream) {
    int widths[COLUMNS] = {0};
    for (int r = 0; r < table->rows; r++)
        for (int c = 0; c < table->columns; c++)
            if ((int)table->cells[r][c].length > widths[c]) widths[c] = (int)table->cells[r][c].length;
    for (int r = 0; r < table->rows; r++)
        for (int c = 0; c < table->columns; c++) {
            bool last = c == table->columns - 1;
            (void)fprintf(stream, "%-*s%s", last ? 0 : widths[c], table->cells[r][c].text,
                          last ? "\n" : "  ");
        }
}

static void free_table(kf_table *table) {
    for (int r = 0; r < table->rows; r++)
        for (int c = 0; c < table->columns; c++)
            kf_text_free(&table->cells[r][c]);
    free(table->cells);
}

/* Prints what the parameters mean, as far as the space says. */
static void print_help(const kf_space *space, FILE *stream) {
    int widest = 0, said = 0;
    for (int p = 0; p < space->parameter_count; p++) {
        const int length = (int)strlen(space->parameters[p].name);
        if (length > widest) widest = length;
        said += space->parameters[p].help[0] != '\0';
    }
    if (said > 0) (void)fprintf(stream, "\nmeaning\n");
    for (int p = 0; p < space->parameter_count; p++)
        if (space->parameters[p].help[0] != '\0')
            (void)fprintf(stream, "  %-*s  %s\n", widest, space->parameters[p].name,
                          space->parameters[p].help);
}

/* Prints a space for people: its table of parameters, their meanings, constraints, and presets that did
 * not fit the table. */
void kf_space_print(const kf_space *space, FILE *stream) {
    (void)fprintf(stream,
                  "space of system %s: %d parameters, %.10g combinations, %" PRIu64 " valid configs\n\n",
                  space->system, space->parameter_count, kf_space_raw_size(space), space->size);
    kf_table table = make_table(space);
    print_table(&table, stream);
    free_table(&table);
    print_help(space, stream);
    if (space->constraint_count > 0) (void)fprintf(stream, "\nconstraints\n");
    for (int c = 0; c < space->constraint_count; c++)
        (void)fprintf(stream, "  %s\n      %s\n", space->constraints[c].text, space->constraints[c].reason);
    if (space->preset_count <= MOST_PRESETS_IN_TABLE) return;
    (void)fprintf(stream, "\nmore presets:");
    for (int i = MOST_PRESETS_IN_TABLE; i < space->preset_count; i++)
        (void)fprintf(stream, " %s", space->presets[i].name);
    (void)fprintf(stream, "\n");
}

/* --- JSON ----------------------------------------------------------------------------------------------- */

static cJSON *scalar_json(const kf_scalar *value) {
    if (value->kind == KF_SCALAR_STRING) return cJSON_CreateString(value->text);
    if (value->kind == KF_SCALAR_BOOLEAN) return cJSON_CreateBool(value->integer != 0);
    return cJSON_CreateNumber((double)value->integer);
}

static cJSON *parameter_json(const kf_parameter *parameter) {
    static const char *const kinds[] = {"integer", "boolean", "name"};
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "name", parameter->name);
    cJSON_AddStringToObject(json, "type", kinds[parameter->kind]);
    cJSON *values = cJSON_AddArrayToObject(json, "values");
    for (int i = 0; i < parameter->value_count; i++)
        if (kf_parameter_allows(parameter, i))
            cJSON_AddItemToArray(values, scalar_json(&parameter->values[i]));
    cJSON_AddItemToObject(json, "default", scalar_json(&parameter->values[parameter->default_position]));
    cJSON_AddBoolToObject(json, "fixed", parameter->choices != NULL && parameter->choice_count == 1);
    return json;
}

static cJSON *presets_json(const kf_space *space) {
    cJSON *json = cJSON_CreateObject();
    for (int i = 0; i < space->preset_count; i++) {
        cJSON *preset = cJSON_AddObjectToObject(json, space->presets[i].name);
        for (int p = 0; p < space->parameter_count; p++)
            cJSON_AddItemToObject(preset, space->parameters[p].name,
                                  scalar_json(&space->parameters[p].values[space->presets[i].positions[p]]));
    }
    return json;
}

typedef struct used_variables {
    const kf_space *space;
    cJSON *json;
} used_variables;

static void add_variable(void *context, const char *name) {
    used_variables *used = context;
    kf_scalar value;
    if (!kf_space_variable((void *)(uintptr_t)used->space, name, &value)) return;
    if (cJSON_GetObjectItemCaseSensitive(used->json, name) != NULL) return;
    cJSON_AddNumberToObject(used->json, name,
                            value.kind == KF_SCALAR_FLOAT ? value.number : (double)value.integer);
}

/* Writes the variables that constraints use. The values of domains and presets contain their results already.
 */
static cJSON *variables_json(const kf_space *space) {
    used_variables used = {space, cJSON_CreateObject()};
    for (int c = 0; c < space->constraint_count; c++)
        kf_expression_names(space->constraints[c].expression, add_variable, &used);
    return used.json;
}

/* Writes everything that distinguishes one space from another, and nothing else. */
static cJSON *essence_json(const kf_space *space) {
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "system", space->system);
    cJSON_AddNumberToObject(json, "format", 1);
    cJSON *parameters = cJSON_AddArrayToObject(json, "parameters");
    for (int p = 0; p < space->parameter_count; p++)
        cJSON_AddItemToArray(parameters, parameter_json(&space->parameters[p]));
    cJSON *constraints = cJSON_AddArrayToObject(json, "constraints");
    for (int c = 0; c < space->constraint_count; c++) {
        cJSON *constraint = cJSON_CreateObject();
        cJSON_AddStringToObject(constraint, "expression", space->constraints[c].text);
        cJSON_AddItemToArray(constraints, constraint);
    }
    cJSON_AddItemToObject(json, "presets", presets_json(space));
    cJSON_AddItemToObject(json, "variables", variables_json(space));
    return json;
}

/* Writes a space as JSON, with sizes and hash, which depends on neither helps nor reasons. */
cJSON *kf_space_to_json(const kf_space *space) {
    cJSON *json = essence_json(space);
    int i = 0;
    for (cJSON *item = cJSON_GetObjectItemCaseSensitive(json, "parameters")->child; item != NULL;
         item = item->next)
        cJSON_AddStringToObject(item, "help", space->parameters[i++].help);
    i = 0;
    for (cJSON *item = cJSON_GetObjectItemCaseSensitive(json, "constraints")->child; item != NULL;
         item = item->next)
        cJSON_AddStringToObject(item, "reason", space->constraints[i++].reason);
    char hash[KF_HASH_HEX];
    kf_space_hash(space, hash);
    cJSON_AddNumberToObject(json, "raw_size", kf_space_raw_size(space));
    cJSON_AddNumberToObject(json, "size", (double)space->size);
    cJSON_AddStringToObject(json, "hash", hash);
    return json;
}

void kf_space_hash(const kf_space *space, char hex[KF_HASH_HEX]) {
    cJSON *json = essence_json(space);
    char *text = kf_json_canonical(json);
    kf_hash_bytes(text, strlen(text), hex);
    free(text);
    cJSON_Delete(json);
}
