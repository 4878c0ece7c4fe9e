#include "results/facts.h"

#include <stdio.h>

#include "base/util/text.h"
#include "results/store_internal.h"

/* Columns are shown with their names in the query. */
static const char *const queries[KF_FACT_GROUPS] = {
    [KF_FACTS_SCENE] = "SELECT s.name AS scene, s.source AS file, printf('%llu', s.seed) AS seed, s.hash AS "
                       "\"content hash\", s.id, s.facts, s.units "
                       "FROM run r JOIN problem s ON s.id = r.problem WHERE r.id = ?",
    [KF_FACTS_ENVIRONMENT] =
        "SELECT e.device, e.backend, e.identity, e.architecture, e.driver, e.compiler, "
        "e.multiprocessors AS \"multiprocessors or threads\", "
        "printf('%.1f GiB', e.memory_bytes / 1073741824.0) AS memory, "
        "printf('%.1f MiB', e.l2_bytes / 1048576.0) AS \"last-level cache\", "
        "iif(e.peak_bandwidth > 0, printf('%.0f GB/s', e.peak_bandwidth / 1e9), NULL) AS \"memory "
        "bandwidth\", "
        "e.processor AS \"host processor\", e.processor_count AS processors, e.operating_system AS "
        "\"operating system\", "
        "iif(e.container, 'yes', 'no') AS \"in a container\", e.kftune AS \"kftune version\" "
        "FROM run r JOIN environment e ON e.id = r.environment WHERE r.id = ?",
    [KF_FACTS_RUN] = "SELECT id AS run, uuid, system, strategy, budget, printf('%llu', seed) AS seed, "
                     "origin, state, started, ended, objective, "
                     "(SELECT group_concat(json_extract(value, '$.name') || ' = ' || "
                     "json_extract(value, '$.expression'), '; ') FROM json_each(run.metrics)) AS metrics "
                     "FROM run WHERE id = ?",
};

typedef struct kf_visitor {
    void (*visit)(void *context, const char *name, const char *value);
    void *context;
} kf_visitor;

/* Passes a fact such as "sample_count" as "sample count" with its unit. */
static void tell(const kf_visitor *visitor, const kf_fact *fact) {
    char name[KF_NAME], value[KF_NAME + sizeof fact->unit + 1];
    kf_copy_text(name, sizeof name, fact->name);
    for (char *c = name; *c != '\0'; c++)
        if (*c == '_') *c = ' ';
    if (fact->word[0] != '\0')
        kf_copy_text(value, sizeof value, fact->word);
    else
        (void)snprintf(value, sizeof value, "%.10g%s%s", fact->value, fact->unit[0] != '\0' ? " " : "",
                       fact->unit);
    visitor->visit(visitor->context, name, value);
}

kf_status kf_store_facts(kf_store *store, int64_t run_id, kf_fact_group group,
                         void (*visit)(void *context, const char *name, const char *value), void *context,
                         kf_error *error) {
    sqlite3_stmt *statement = NULL;
    KF_TRY(kf_store_prepare(store, queries[group], &statement, error));
    (void)sqlite3_bind_int64(statement, 1, run_id);
    bool found = false;
    kf_status status = kf_store_step(store, statement, "reading a run", &found, error);
    const int shown = sqlite3_column_count(statement) - (group == KF_FACTS_SCENE ? 3 : 0);
    for (int i = 0; found && i < shown; i++) {
        const char *value = (const char *)sqlite3_column_text(statement, i);
        if (value != NULL && value[0] != '\0') visit(context, sqlite3_column_name(statement, i), value);
    }
    if (found && group == KF_FACTS_SCENE) {
        kf_reader reader = {statement, shown};
        const kf_facts *facts = kf_read_facts(store, &reader);
        for (int i = 0; i < facts->count; i++)
            tell(&(kf_visitor){visit, context}, &facts->list[i]);
    }
    (void)sqlite3_finalize(statement);
    return status;
}

kf_status kf_store_counters(kf_store *store, int64_t run_id, int sequence,
                            void (*visit)(void *context, int ordinal, const char *metric, double value),
                            void *context, kf_error *error) {
    sqlite3_stmt *statement = NULL;
    KF_TRY(kf_store_prepare(
        store,
        "SELECT c.ordinal, c.metric, c.value FROM counter c JOIN result r ON r.id = c.result "
        "WHERE r.run = ? AND r.sequence = ? ORDER BY c.ordinal, c.metric",
        &statement, error));
    kf_binder binder = {statement, 0};
    kf_bind_integer(&binder, run_id);
    kf_bind_integer(&binder, sequence);
    bool found = true;
    kf_status status = KF_OK;
    while ((status = kf_store_step(store, statement, "reading counters", &found, error)) == KF_OK && found) {
        kf_reader reader = {statement, 0};
        char metric[96];
        int ordinal = (int)kf_read_integer(&reader);
        kf_read_text(&reader, metric, sizeof metric);
        visit(context, ordinal, metric, kf_read_number(&reader));
    }
    (void)sqlite3_finalize(statement);
    return status;
}
