/* Records: what a plan tells in a few numbers about one moment (forces, motion, energy, mass, gauges). */
#ifndef KF_BASE_PLAN_RECORD_H
#define KF_BASE_PLAN_RECORD_H

#include <stddef.h>
#include <stdint.h>

typedef struct kf_column {
    char name[48]; /* "drag_coefficient", "force_x" */
    char unit[16]; /* as in file names: "m4_s2", "J"; "" for a pure number */
    double value;  /* NAN: not defined */
} kf_column;

/* A row of one table. A table has the same columns at every moment of a run. */
typedef struct kf_record {
    char table[24]; /* "forces": also the name of its file */
    kf_column *columns;
    size_t count, room;
} kf_record;

typedef struct kf_records {
    uint64_t step;
    double time;       /* s */
    kf_record *tables; /* owned */
    size_t count, room;
} kf_records;

/* Adds an empty table. The pointer is valid until the next table is added. */
kf_record *kf_records_add(kf_records *records, const char *table);
void kf_record_add(kf_record *record, const char *name, const char *unit, double value);
/* Adds three columns, one for each component: name_x, name_y, name_z. */
void kf_record_add_vector(kf_record *record, const char *name, const char *unit, const double value[3]);
/* Writes the column's name with its unit, if it has one: "force_x_m4_s2". Returns buffer. */
char *kf_column_title(const kf_column *column, char *buffer, size_t size);
/* These find a table (NULL: there is none) and the value of a column (NAN: there is none). */
const kf_record *kf_records_find(const kf_records *records, const char *table);
double kf_record_value(const kf_record *record, const char *name);
void kf_records_free(kf_records *records); /* its contents */

#endif
