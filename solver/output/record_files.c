#include "solver/output/record_files.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/util/memory.h"
#include "base/util/text.h"
#include "solver/output/table.h"

static kf_status open_file(const kf_record_files *files, const kf_record *record, kf_record_file *file,
                           kf_error *error) {
    kf_text header = {0};
    KF_TRY(kf_path(file->path, error, "%s/%s.csv", files->folder, record->table));
    kf_text_append(&header, "step,time_s");
    for (size_t i = 0; i < record->count; i++) {
        char title[sizeof record->columns->name + sizeof record->columns->unit];
        kf_text_append(&header, ",%s", kf_column_title(&record->columns[i], title, sizeof title));
    }
    kf_text_append(&header, "\n");
    const kf_status status = kf_table_open(file->path, header.text, files->from_step, &file->stream, error);
    kf_text_free(&header);
    return status;
}

static kf_status open_files(kf_record_files *files, const kf_records *records, kf_error *error) {
    files->list = kf_allocate_zeroed(records->count, sizeof *files->list);
    for (; files->count < records->count; files->count++)
        KF_TRY(open_file(files, &records->tables[files->count], &files->list[files->count], error));
    return KF_OK;
}

kf_status kf_record_files_add(kf_record_files *files, const kf_records *records, kf_error *error) {
    if (files->list == NULL) KF_TRY(open_files(files, records, error));
    for (size_t t = 0; t < records->count; t++) {
        const kf_record *record = &records->tables[t];
        const kf_record_file *file = &files->list[t];
        (void)fprintf(file->stream, "%" PRIu64 ",%.9g", records->step, records->time);
        for (size_t i = 0; i < record->count; i++)
            kf_table_add(file->stream, 1, &record->columns[i].value);
        KF_TRY(kf_table_end_row(file->stream, file->path, error));
    }
    return KF_OK;
}

kf_status kf_record_files_close(kf_record_files *files, kf_error *error) {
    kf_status status = KF_OK;
    for (size_t i = 0; i < files->count; i++)
        if (fclose(files->list[i].stream) != 0 && status == KF_OK)
            status = kf_fail(error, KF_MACHINE, "%s: cannot write the last rows", files->list[i].path);
    free(files->list);
    files->list = NULL;
    files->count = 0;
    return status;
}
