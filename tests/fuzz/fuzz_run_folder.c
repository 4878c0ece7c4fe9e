/* Reads any bytes as the run.json of a folder, in every way in which it is read: to continue, to refuse,
 * to compare. */
#include "tests/fuzz/fuzz_file.h"

#include <sys/stat.h>

#include "base/util/json.h"
#include "harness/cli/run_figures.h"
#include "solver/output/run_folder.h"

/* Makes a folder of a run with its record, the same text as its scene, and checkpoints that the record may
 * name. */
static const char *make_folder(const uint8_t *data, size_t size) {
    static char folder[KF_PATH], path[KF_PATH + 32];
    const char *at = getenv("TMPDIR");
    if (folder[0] == '\0') {
        (void)snprintf(folder, sizeof folder, "%s/fuzz-run-%ld", at != NULL ? at : "/tmp", (long)getpid());
        if (mkdir(folder, 0700) != 0) abort();
        (void)snprintf(path, sizeof path, "%s/checkpoint_000020.kfc", folder);
        FILE *file = fopen(path, "wb");
        if (file == NULL || fclose(file) != 0) abort();
    }
    static const char *const names[] = {"run.json", "scene.json"};
    for (int i = 0; i < 2; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        FILE *file = fopen(path, "wb");
        if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0) abort();
    }
    return folder;
}

static void compare(const char *folder) {
    kf_error error = {KF_OK, ""};
    kf_run_figures figures;
    const kf_status status = kf_run_figures_read(folder, &figures, &error);
    fuzz_check(status, &error);
    for (int f = 0; f < KF_FIGURES && status == KF_OK; f++) {
        char text[48];
        (void)kf_figure_text(&figures.wind[f], text);
        cJSON_Delete(kf_figure_json(&figures.body[f]));
    }
    kf_run_figures_free(&figures);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kf_error error = {KF_OK, ""};
    const char *folder = make_folder(data, size);
    char checkpoint[KF_PATH];
    bool done;
    uint64_t step;
    int lock = -1;
    kf_facts meaning = {0};
    kf_facts_number(&meaning, "reference_area", 0.5, "m^2");
    (void)kf_run_folder_was_killed(folder, checkpoint);
    fuzz_check(kf_run_folder_resume(folder, "abc", &done, checkpoint, &step, &error), &error);
    fuzz_check(kf_run_folder_keep_longer(folder, 100, &error), &error);
    fuzz_check(kf_run_folder_check_meaning(folder, &meaning, &error), &error);
    fuzz_check(kf_run_folder_open(folder, "abc", false, &lock, &error), &error);
    if (lock >= 0) (void)close(lock);
    kf_facts_free(&meaning);
    compare(folder);
    return 0;
}
