/* Writes HTML. Everything that comes from a store or a scene passes kf_html_text. Internal to plots/report.
 */
#ifndef KF_PLOTS_REPORT_HTML_H
#define KF_PLOTS_REPORT_HTML_H

#include "base/util/text.h"

/* Appends text literally. Markup characters become entities, control characters spaces, and bytes that are
 * not UTF-8 U+FFFD. It is also safe within a quoted attribute. */
void kf_html_text(kf_text *page, const char *text);
/* Appends the output of printf in this way. */
void kf_html_print(kf_text *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A row of two cells. */
void kf_html_fact(kf_text *page, const char *name, const char *value);

/* Appends an <img> that contains the bytes. type: "image/png", "image/svg+xml". */
void kf_html_image(kf_text *page, const char *type, const void *bytes, size_t size, const char *description);

/* These append the style sheet and everything before the content, and everything after it. */
void kf_html_begin(kf_text *page, const char *title);
void kf_html_end(kf_text *page);

#endif
