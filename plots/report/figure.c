/* Pictures within the page. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plots/report/sections.h"

static kf_status draw_and_read(kf_report_draw draw, const void *context, const char *type, char **bytes,
                               size_t *size, kf_error *error) {
    const char *base = getenv("TMPDIR");
    char folder[KF_PATH], path[KF_PATH];
    KF_TRY(kf_path(folder, error, "%s/kftune-report-XXXXXX", base != NULL && base[0] == '/' ? base : "/tmp"));
    if (mkdtemp(folder) == NULL)
        return kf_fail(error, KF_MACHINE, "%s: cannot be made: %s; set TMPDIR", folder, strerror(errno));
    kf_status status = kf_path(path, error, "%s/picture.%s", folder, type);
    if (status == KF_OK) status = draw(context, path, error);
    if (status == KF_OK) status = kf_file_read(path, 0, bytes, size, error);
    (void)unlink(path);
    (void)rmdir(folder);
    return status;
}

void kf_report_figure(kf_text *page, kf_report_draw draw, const void *context, const char *type,
                      const char *description) {
    char *bytes = NULL;
    size_t size = 0;
    kf_error error = {KF_OK, ""};
    if (draw_and_read(draw, context, type, &bytes, &size, &error) == KF_OK) {
        kf_text_append(page, strcmp(type, "svg") == 0 ? "<figure class=\"plot\">" : "<figure>");
        kf_html_image(page, strcmp(type, "svg") == 0 ? "image/svg+xml" : "image/png", bytes, size,
                      description);
        kf_text_append(page, "</figure>\n");
    } else {
        kf_text_append(page, "<p class=\"quiet\">No picture of ");
        kf_html_print(page, "%s: %s.", description, error.message);
        kf_text_append(page, "</p>\n");
    }
    free(bytes);
}
