/* Compares kftune's counters of a plan's kernels with those of Nsight Compute. Launches are paired by the
 * kernel's name and, among launches of one kernel, by their order. kftune lists them in the order of the
 * plan, and ncu in the order of time. A launch that does not come in every step is therefore early in one
 * and late in the other. */
#ifndef KF_TESTS_UNIT_NCU_TABLE_H
#define KF_TESTS_UNIT_NCU_TABLE_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NCU_COLUMNS = 1024, NCU_VALUES = 4096, NCU_KERNELS = 64 };

/* One of our values: a line "part,kernel,event,value". */
typedef struct ncu_our_value {
    int part, launch; /* launch: which one of its kernel, from 0 */
    const char *kernel, *event;
    double value;
} ncu_our_value;

typedef struct ncu_comparison {
    const char *const *judged; /* kernels that must agree; NULL-terminated */
    ncu_our_value *ours;
    int our_count;
    int launches, values, wrong; /* paired; compared and found different, of the judged kernels */
    int unpaired;                /* launches that only one of both saw */
    int judged_seen;             /* values of judged kernels */
} ncu_comparison;

/* Splits a line of CSV in place; quotes may hold commas. */
static inline int ncu_split(char *line, char *fields[NCU_COLUMNS]) {
    int count = 0;
    char *at = line;
    while (count < NCU_COLUMNS) {
        char *end;
        if (*at == '"') {
            fields[count++] = ++at;
            end = at + strcspn(at, "\"");
            if (*end == '"') *end++ = '\0';
        } else {
            fields[count++] = at;
            end = at + strcspn(at, ",");
        }
        if (*end == '\0') break;
        *end = '\0';
        at = end + 1;
    }
    return count;
}

/* Reads a number such as "1,234.5". Returns NAN if the text is none. */
static inline double ncu_number(const char *text) {
    char plain[64];
    size_t length = 0;
    for (; *text != '\0' && length + 1 < sizeof plain; text++)
        if (*text != ',') plain[length++] = *text;
    plain[length] = '\0';
    char *end = NULL;
    const double number = strtod(plain, &end);
    return end != plain ? number : (double)NAN;
}

/* Returns the number of this launch among those of its kernel, which is the number of earlier parts with
 * the same kernel. */
static inline int ncu_launch_of(const ncu_comparison *c, int part, const char *kernel) {
    int launch = 0, before = -1;
    for (int i = 0; i < c->our_count; i++) {
        if (c->ours[i].part == part || c->ours[i].part == before) continue;
        before = c->ours[i].part;
        launch += strcmp(c->ours[i].kernel, kernel) == 0;
    }
    return launch;
}

static inline void ncu_read_ours(ncu_comparison *c, char *text) {
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL && c->our_count < NCU_VALUES;
         line = strtok_r(NULL, "\n", &rest)) {
        char *fields[NCU_COLUMNS];
        if (ncu_split(line, fields) != 4) continue;
        const int part = (int)ncu_number(fields[0]);
        c->ours[c->our_count] = (ncu_our_value){.part = part,
                                                .launch = ncu_launch_of(c, part, fields[1]),
                                                .kernel = fields[1],
                                                .event = fields[2],
                                                .value = ncu_number(fields[3])};
        c->our_count++;
    }
}

static inline bool ncu_is_judged(const ncu_comparison *c, const char *kernel) {
    for (int i = 0; c->judged[i] != NULL; i++)
        if (strcmp(c->judged[i], kernel) == 0) return true;
    return false;
}

/* Returns whether two values agree: within 2 %, and percentages also within half a point, since 0.1 % and
 * 0.2 % of hits are the same. */
static inline bool ncu_agree(const char *event, double ours, double theirs, double *off) {
    const double scale = fmax(fabs(theirs), fabs(ours));
    *off = scale > 0.0 ? fabs(theirs - ours) / scale : fabs(theirs - ours);
    return *off <= 0.02 || (strstr(event, ".pct") != NULL && fabs(theirs - ours) <= 0.5);
}

static inline void ncu_compare_value(ncu_comparison *c, const ncu_our_value *ours, double theirs, FILE *out) {
    double off = 0.0;
    const bool right = ncu_agree(ours->event, ours->value, theirs, &off);
    const bool judged = ncu_is_judged(c, ours->kernel);
    c->values++;
    c->judged_seen += judged;
    c->wrong += judged && !right;
    (void)fprintf(out, "ncu %-18s %-64s %16.9g %16.9g %9.4f %% %s\n", ours->kernel, ours->event, ours->value,
                  theirs, 100.0 * off,
                  right    ? "ok"
                  : judged ? "DIFFERS"
                           : "differs, not judged");
}

/* Compares one launch as ncu saw it, named by the columns, with our launch of the same number of its
 * kernel. */
static inline void ncu_compare_row(ncu_comparison *c, char *const *names, char *const *fields, int count,
                                   const char *kernel, int launch, FILE *out) {
    bool paired = false;
    for (int i = 0; i < c->our_count; i++) {
        const ncu_our_value *ours = &c->ours[i];
        if (ours->launch != launch || strcmp(ours->kernel, kernel) != 0) continue;
        paired = true;
        for (int column = 0; column < count; column++)
            if (strcmp(names[column], ours->event) == 0)
                ncu_compare_value(c, ours, ncu_number(fields[column]), out);
    }
    c->launches += paired;
    c->unpaired += !paired;
}

static inline int ncu_our_launches(const ncu_comparison *c) {
    int launches = 0;
    for (int i = 0; i < c->our_count; i++)
        launches += i == 0 || c->ours[i].part != c->ours[i - 1].part;
    return launches;
}

/* Launches of each kernel, as ncu's rows go by. */
typedef struct ncu_seen {
    const char *kernels[NCU_KERNELS];
    int launches[NCU_KERNELS], count;
} ncu_seen;

static inline int ncu_next_launch(ncu_seen *seen, const char *kernel) {
    for (int i = 0; i < seen->count; i++)
        if (strcmp(seen->kernels[i], kernel) == 0) return seen->launches[i]++;
    if (seen->count == NCU_KERNELS) return 0;
    seen->kernels[seen->count] = kernel;
    seen->launches[seen->count++] = 1;
    return 0;
}

/* Compares counters. our_text has lines "part,kernel,event,value", with a part's lines together. ncu_text
 * is the output of `ncu --csv --page raw`: notes, a line of names, one of units, and one for each launch.
 * Both texts are changed. Returns whether the kernels in `judged` agree and every launch has its partner. */
static inline bool ncu_compare(char *our_text, char *ncu_text, const char *const *judged, ncu_comparison *c,
                               FILE *out) {
    char *rest = NULL, *names[NCU_COLUMNS];
    int name_count = 0, kernel_column = -1;
    ncu_seen seen = {.count = 0};
    *c = (ncu_comparison){.judged = judged, .ours = calloc(NCU_VALUES, sizeof *c->ours)};
    if (c->ours == NULL) return false;
    ncu_read_ours(c, our_text);
    for (char *line = strtok_r(ncu_text, "\r\n", &rest); line != NULL; line = strtok_r(NULL, "\r\n", &rest)) {
        char *fields[NCU_COLUMNS];
        if (line[0] != '"') continue;
        const int count = ncu_split(line, name_count == 0 ? names : fields);
        if (name_count == 0) {
            for (int i = 0; i < count; i++)
                if (strcmp(names[i], "Kernel Name") == 0) kernel_column = i;
            name_count = count;
            continue;
        }
        if (kernel_column < 0 || count != name_count || fields[0][0] == '\0') continue; /* units */
        char *kernel = fields[kernel_column];
        kernel[strcspn(kernel, "(")] = '\0';
        ncu_compare_row(c, names, fields, count, kernel, ncu_next_launch(&seen, kernel), out);
    }
    c->unpaired += ncu_our_launches(c) - c->launches;
    free(c->ours);
    c->ours = NULL;
    (void)fprintf(
        out,
        "%d launches, %d values compared; %d of the %d of the judged kernels differ, %d launches have no "
        "partner\n",
        c->launches, c->values, c->wrong, c->judged_seen, c->unpaired);
    return c->wrong == 0 && c->unpaired == 0 && c->judged_seen > 0;
}

#endif
