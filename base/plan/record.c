#include "base/plan/record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/text.h"

kf_record *kf_records_add(kf_records *records, const char *table) {
    records->tables = kf_grow(records->tables, records->count, &records->room, sizeof *records->tables);
    kf_record *record = &records->tables[records->count++];
    *record = (kf_record){.count = 0};
    kf_copy_text(record->table, sizeof record->table, table);
    return record;
}

void kf_record_add(kf_record *record, const char *name, const char *unit, double value) {
    record->columns = kf_grow(record->columns, record->count, &record->room, sizeof *record->columns);
    kf_column *column = &record->columns[record->count++];
    column->value = value;
    kf_copy_text(column->name, sizeof column->name, name);
    kf_copy_text(column->unit, sizeof column->unit, unit);
}

void kf_record_add_vector(kf_record *record, const char *name, const char *unit, const double value[3]) {
    for (int a = 0; a < 3; a++) {
        char component[48];
        (void)snprintf(component, sizeof component, "%s_%c", name, "xyz"[a]);
        kf_record_add(record, component, unit, value[a]);
    }
}

char *kf_column_title(const kf_column *column, char *buffer, size_t size) {
    (void)snprintf(buffer, size, "%s%s%s", column->name, column->unit[0] != '\0' ? "_" : "", column->unit);
    return buffer;
}

const kf_record *kf_records_find(const kf_records *records, const char *table) {
    for (size_t i = 0; i < records->count; i++)
        if (strcmp(records->tables[i].table, table) == 0) return &records->tables[i];
    return NULL;
}

double kf_record_value(const kf_record *record, const char *name) {
    for (size_t i = 0; i < record->count; i++)
        if (strcmp(record->columns[i].name, name) == 0) return record->columns[i].value;
    return (double)NAN;
}

void kf_records_free(kf_records *records) {
    for (size_t i = 0; i < records->count; i++)
        free(records->tables[i].columns);
    free(records->tables);
    *records = (kf_records){.count = 0};
}
