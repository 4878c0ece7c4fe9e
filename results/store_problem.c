/* The problems of runs. Facts are stored as JSON, and read once for each problem. */
#include <stdlib.h>

#include "base/util/json.h"
#include "base/util/memory.h"
#include "results/store_internal.h"

/* Stores a problem if it is new, and returns its id. */
kf_status kf_store_problem(kf_store *store, const kf_problem *problem, int64_t *id, kf_error *error) {
    sqlite3_stmt *statement = NULL;
    KF_TRY(
        kf_store_prepare(store,
                         "INSERT INTO problem (hash, name, source, seed, facts, units) VALUES (?,?,?,?,?,?) "
                         "ON CONFLICT (hash, name, source) DO UPDATE SET hash = excluded.hash RETURNING id",
                         &statement, error));
    cJSON *facts = kf_facts_to_json(&problem->facts), *units = kf_facts_units(&problem->facts);
    char *facts_text = cJSON_PrintUnformatted(facts), *units_text = cJSON_PrintUnformatted(units);
    kf_binder binder = {statement, 0};
    kf_bind_text(&binder, problem->hash);
    kf_bind_text(&binder, problem->name);
    kf_bind_text(&binder, problem->source);
    kf_bind_integer(&binder, (int64_t)problem->seed);
    kf_bind_text(&binder, facts_text);
    kf_bind_text(&binder, units_text);
    const kf_status status = kf_store_fetch_id(store, statement, "storing the problem", id, error);
    cJSON_free(facts_text);
    cJSON_free(units_text);
    cJSON_Delete(facts);
    cJSON_Delete(units);
    return status;
}

static kf_problem_facts *facts_at(kf_store *store, int64_t problem) {
    for (int i = 0; i < store->facts_count; i++)
        if (store->facts[i]->problem == problem) return store->facts[i];
    return NULL;
}

/* Returns the facts of a row's problem. They belong to the store. */
const kf_facts *kf_read_facts(kf_store *store, kf_reader *reader) {
    const int64_t id = kf_read_integer(reader);
    const char *facts = (const char *)sqlite3_column_text(reader->statement, reader->at++);
    const char *units = (const char *)sqlite3_column_text(reader->statement, reader->at++);
    kf_problem_facts *known = facts_at(store, id);
    if (known != NULL) return &known->facts;
    known = kf_allocate_zeroed(1, sizeof *known);
    known->problem = id;
    cJSON *facts_json = cJSON_Parse(facts != NULL ? facts : "{}"),
          *units_json = cJSON_Parse(units != NULL ? units : "{}");
    /* Another program may have written something that is not a fact. It is ignored. */
    if (kf_facts_from_json(store->path, facts_json, units_json, &known->facts, NULL) != KF_OK)
        kf_facts_free(&known->facts);
    cJSON_Delete(facts_json);
    cJSON_Delete(units_json);
    store->facts = kf_reallocate(store->facts, (size_t)(store->facts_count + 1) * sizeof(kf_problem_facts *));
    store->facts[store->facts_count++] = known;
    return &known->facts;
}

void kf_store_forget_facts(kf_store *store) {
    for (int i = 0; i < store->facts_count; i++) {
        kf_facts_free(&store->facts[i]->facts);
        free(store->facts[i]);
    }
    free(store->facts);
    store->facts = NULL;
    store->facts_count = 0;
}
