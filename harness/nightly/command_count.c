/* Counts the instructions of a command. They vary much less than its time, even on a machine that others use.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util/text.h"
#include "harness/nightly/command.h"
#include "harness/worker/await.h"

static const double CACHEGRIND_SLOWDOWN = 100.0; /* assumed limit of the slowdown; 20 to 50 is usual */

static kf_status run(const kf_timed_command *command, const char *const *words, double limit,
                     kf_awaited *spawned, kf_error *error) {
    const kf_await_request request = {.words = words,
                                      .folder = command->folder,
                                      .environment = (const char *const *)command->variables,
                                      .limit_seconds = limit};
    return kf_await(&request, spawned, error);
}

/* Opens a counter of what child processes do in user mode after exec. A negative number means that there is
 * none. */
static int open_counter(void) {
    struct perf_event_attr attributes = {.type = PERF_TYPE_HARDWARE,
                                         .size = sizeof attributes,
                                         .config = PERF_COUNT_HW_INSTRUCTIONS,
                                         .inherit = 1,
                                         .exclude_kernel = 1,
                                         .exclude_hv = 1};
    return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static kf_status count_by_perf(const kf_timed_command *command, int counter, double *counted,
                               kf_error *error) {
    kf_awaited spawned;
    uint64_t before = 0, after = 0;
    bool read_before = read(counter, &before, sizeof before) == (ssize_t)sizeof before;
    kf_status status = run(command, (const char *const *)command->words, command->timeout, &spawned, error);
    /* The system adds the counts of children that have ended to the count of their parent. */
    bool ok = status == KF_OK && spawned.ended && spawned.status == 0 && read_before &&
              read(counter, &after, sizeof after) == (ssize_t)sizeof after;
    if (ok) *counted = (double)(after - before);
    kf_awaited_free(&spawned);
    return status;
}

/* Sums lines such as "==12345== I   refs:      1,234,567", of which each process prints one. */
static double cachegrind_sum(const char *text) {
    static const char mark[] = "I   refs:";
    double sum = 0.0;
    while ((text = strstr(text, mark)) != NULL) {
        double number = 0.0;
        for (text += sizeof mark - 1; *text != '\0' && *text != '\n'; text++)
            if (*text >= '0' && *text <= '9') number = 10.0 * number + (*text - '0');
        sum += number;
    }
    return sum;
}

static kf_status count_by_cachegrind(const kf_timed_command *command, double *counted, kf_error *error) {
    static const char *const tool[] = {"valgrind", "--tool=cachegrind", "--cache-sim=no",
                                       "--cachegrind-out-file=/dev/null", "--trace-children=yes"};
    enum { TOOL = sizeof tool / sizeof tool[0] };
    const char *words[TOOL + KF_COMMAND_WORDS + 1] = {NULL};
    memcpy(words, tool, sizeof tool);
    for (int i = 0; command->words[i] != NULL; i++)
        words[TOOL + i] = command->words[i];
    kf_awaited spawned;
    kf_status status = run(command, words, CACHEGRIND_SLOWDOWN * command->timeout, &spawned, error);
    if (status == KF_OK && spawned.ended && spawned.status == 0 && spawned.err.text != NULL)
        *counted = cachegrind_sum(spawned.err.text);
    kf_awaited_free(&spawned);
    return status;
}

kf_status kf_command_count(const kf_timed_command *command, double *counted, char by[16], kf_error *error) {
    *counted = 0.0;
    int counter = open_counter();
    if (counter >= 0) {
        kf_copy_text(by, 16, "perf_event");
        kf_status status = count_by_perf(command, counter, counted, error);
        (void)close(counter);
        return status;
    }
    kf_copy_text(by, 16, "cachegrind");
    return count_by_cachegrind(command, counted, error);
}
