/* The readers of landscape files, one for each format, and what they share. Only results/ includes this. */
#ifndef KF_RESULTS_LANDSCAPE_READ_H
#define KF_RESULTS_LANDSCAPE_READ_H

#include "results/landscape_file.h"

/* Reads the text, unpacks it, and completes JSON that was cut off. The caller deletes *root. */
kf_status kf_landscape_text_read(const char *file, cJSON **root, kf_error *error);

/* Refuses a file, with its name and the place in it. */
kf_status kf_landscape_complain(const kf_landscape_file *file, const char *where, kf_error *error,
                                const char *what);
/* Gives a correct result the samples of the list, or the single time, and their summary. */
kf_status kf_landscape_set_samples(const kf_landscape_file *file, kf_landscape_entry *entry,
                                   const cJSON *times, const cJSON *time, kf_error *error);

/* Find out what a file is of, and visit its configs: in kftune's own compact form, and in other programs'
 * forms.
 */
kf_status kf_compact_identify(kf_landscape_file *file, kf_error *error);
kf_status kf_compact_visit(const kf_landscape_file *file, kf_landscape_visit visit, void *context,
                           kf_error *error);
kf_status kf_foreign_identify(kf_landscape_file *file, kf_error *error);
kf_status kf_foreign_visit(const kf_landscape_file *file, kf_landscape_visit visit, void *context,
                           kf_error *error);

/* Begins an entry about which nothing else is known yet. */
void kf_landscape_begin(kf_landscape_entry *entry, const cJSON *json, int sequence, const char *where, ...)
    __attribute__((format(printf, 4, 5)));
/* Calls visit unless status is an error, and frees the contents of the entry's measurement. */
kf_status kf_landscape_give(kf_landscape_entry *entry, kf_status status, kf_landscape_visit visit,
                            void *context, kf_error *error);

#endif
