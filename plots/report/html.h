/* Writing HTML: everything that comes from a store or a scene goes through kf_html_text. Internal to
 * harness/report. */
#ifndef KF_PLOTS_REPORT_HTML_H
#define KF_PLOTS_REPORT_HTML_H

#include "base/util/text.h"

/* Appends text so that it means itself: markup characters become entities, control characters spaces, bytes
 * that are no UTF-8 U+FFFD. Also right within a quoted attribute. */
void kf_html_text(kf_text *page, const char *text);
/* Appends printf's output so. */
void kf_html_print(kf_text *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A row of two cells. */
void kf_html_fact(kf_text *page, const char *name, const char *value);

/* An <img> with the bytes in its address. type: "image/png", "image/svg+xml". */
void kf_html_image(kf_text *page, const char *type, const void *bytes, size_t size, const char *description);

/* The style sheet and everything before the content; everything after it. */
void kf_html_begin(kf_text *page, const char *title);
void kf_html_end(kf_text *page);

#endif
