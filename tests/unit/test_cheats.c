/* Tests the gate against kernels that seem fast and do not do their work, one of every kind in
 * docs/gate.md. Faults: such a kernel gets a time, or an honest one gets none. */
#include "tests/unit/t1_fixture.h"

#include "base/backend/team/team.h"
#include "harness/worker/worker.h"

static const char kernel_text[] =
    "#define _GNU_SOURCE\n"
    "#include <pthread.h>\n#include <stdio.h>\n#include <string.h>\n#include <time.h>\n#include <unistd.h>\n"
    "#define MOST 200000\n"
    "static void compute(float *out, const float *in, int from, int to) {\n"
    "    for (int i = from; i < to; i++) {\n"
    "        float sum = 0;\n"
    "        for (int k = 0; k < 64; k++) sum += in[i + k] * (1.0f + 0.01f * k);\n"
    "        out[i] = sum;\n    }\n}\n"
    "static int launches;\n"
    "static float kept[MOST], key;\n"
    "static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + 1e-9 "
    "* "
    "t.tv_nsec; }\n"
    "static struct { float *out; const float *in; int n; } later;\n"
    "static void *work_later(void *unused) { usleep(3000); compute(later.out, later.in, 0, later.n); return "
    "unused; }\n"
    "#if cheat == 11\n"
    "int clock_gettime(clockid_t id, struct timespec *t) { t->tv_sec = 5; t->tv_nsec = 0; return 0; }\n"
    "#endif\n"
    "void smooth(float *out, const float *in, int n) {\n"
    "    launches++;\n"
    "#if cheat == 1\n    if (launches > 1) return;\n"
    "#elif cheat == 2\n    static const float *last; if (last == in) return; last = in;\n"
    "#elif cheat == 3\n"
    "    if (in[0] == key && launches > 1) { memcpy(out, kept, n * sizeof *out); return; }\n"
    "#elif cheat == 4\n    return;\n"
    "#elif cheat == 6\n    n /= 2;\n"
    "#elif cheat == 7\n    for (int i = 0; i < n; i++) out[i] = 42.08f; return;\n"
    "#elif cheat == 8\n"
    "    for (int i = 0; i < n; i++) {\n        float sum = 0;\n"
    "        for (int k = 0; k < 64; k++) sum += (float)(_Float16)in[i + k] * (float)(_Float16)(1.0f + 0.01f "
    "* k);\n"
    "        out[i] = sum;\n    }\n    return;\n"
    "#elif cheat == 9\n    compute(out, in, launches % 2 ? 0 : n / 2, launches % 2 ? n / 2 : n); return;\n"
    "#elif cheat == 10\n"
    "    pthread_t t; later.out = out; later.in = in; later.n = n; pthread_create(&t, 0, work_later, 0); "
    "return;\n"
    "#elif cheat == 12\n"
    "    static double last; const double begin = now();\n"
    "    if (launches > 40 && begin - last < 0.02) { last = begin; return; } last = begin;\n"
    "#elif cheat == 13\n"
    "    FILE *f = fopen(ANSWER, \"rb\"); if (f) { (void)!fread(out, 4, n, f); fclose(f); "
    "} return;\n"
    "#elif cheat == 16\n    n = 20000;\n"
    "#elif cheat == 20\n"
    "    float sum = 0; for (int i = 0; i < n; i++) sum += in[i];\n"
    "    if (sum == key && launches > 1) { memcpy(out, kept, n * sizeof *out); return; }\n"
    "    key = sum;\n"
    "#endif\n"
    "    compute(out, in, 0, n);\n"
    "#if cheat == 20\n    for (int repeats = 0; repeats < 20; repeats++) compute(out, in, 0, n);\n#endif\n"
    "#if cheat == 3 || cheat == 20\n    memcpy(kept, out, n * sizeof *out);\n#endif\n"
    "#if cheat == 3\n    for (int repeats = 0; repeats < 20; repeats++) compute(out, in, 0, n); key = "
    "in[0];\n#endif\n"
    "#if cheat == 5\n    memcpy((float *)in, out, 400);\n#endif\n"
    "#if cheat == 14\n    out[n] = 1;\n#elif cheat == 15\n    out[-1] = 1;\n#endif\n"
    "#if cheat == 17\n    out[launches % n] *= 1 + 1e-6f * (launches % 7);\n#endif\n"
    "#if cheat == 18\n    for (int i = 0; i < n; i++) out[i] *= 1 + 1e-3f * ((launches * 7 + i) % "
    "5);\n#endif\n"
    "#if cheat == 19\n    out[n - 1] += 0 * in[n + 63];\n#endif\n"
    "}\n";

static const char problem_text[] =
    "{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"cheat\", \"Type\": \"int\", \"Values\": "
    "\"range(0, 24)\"}]}, \"KernelSpecification\": {\"Language\": \"C\", \"KernelName\": \"smooth\", "
    "\"KernelFile\": \"cheats.c\", \"ProblemSize\": 20000, \"Arguments\": ["
    "{\"Name\": \"out\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"AccessType\": \"WriteOnly\", "
    "\"Size\": "
    "\"ProblemSize\"},"
    "{\"Name\": \"in\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"AccessType\": \"ReadOnly\", "
    "\"Size\": "
    "\"ProblemSize + 63\", \"FillType\": \"Random\", \"FillValue\": 1},"
    "{\"Name\": \"n\", \"Type\": \"int32\", \"MemoryType\": \"Scalar\", \"FillValue\": \"ProblemSize\"}]}}";

typedef struct bench {
    kf_problem *problem;
    kf_trial trial;
    kf_setting setting;
    kf_worker *worker;
} bench;

static bench open_bench(void) {
    bench b = {.problem = NULL};
    kf_error error = {KF_OK, ""};
    kf_text text = {0};
    kf_text_append(&text, "#define ANSWER \"%s/answer.raw\"\n%s", problem_folder, kernel_text);
    assert_int_equal(kf_file_write_atomic(problem_path("cheats.c"), text.text, strlen(text.text), NULL),
                     KF_OK);
    kf_text_free(&text);
    assert_int_equal(
        kf_file_write_atomic(problem_path("cheats.t1.json"), problem_text, sizeof problem_text - 1, NULL),
        KF_OK);
    b.problem = open_problem("cheats.t1.json");
    assert_int_equal(kf_trial_open(b.problem, &b.trial, &error), KF_OK);
    assert_int_equal(kf_trial_refer(&b.trial, &error), KF_OK);
    return b;
}

static void start(bench *b) {
    kf_error error = {KF_OK, ""};
    b->setting = (kf_setting){.problem = b->problem, .trial = &b->trial};
    const kf_worker_setup setup = {
        .setting = b->setting, .device = "cpu:1", .limit_seconds = 60.0, .compile_limit_seconds = 120.0};
    if (kf_worker_open(&setup, &b->worker, &error) != KF_OK) fail_msg("%s", error.message);
}

static void close_bench(bench *b) {
    kf_worker_close(b->worker);
    kf_trial_close(&b->trial);
    kf_problem_free(b->problem);
}

static kf_measurement measure(const bench *b, int cheat) {
    kf_job job = {
        .config = ((const kf_t1_problem *)b->problem->own)->reference, .verify = true, .time_limit_us = 1e5};
    kf_measurement m;
    kf_outcome outcome = KF_ABANDONED;
    kf_error error = {KF_OK, ""};
    kf_config_set_integer(&job.config, "cheat", cheat);
    if (kf_worker_measure(b->worker, &job, 0.0, NULL, NULL, &outcome, &m, &error) != KF_OK)
        fail_msg("%s", error.message);
    assert_int_equal(outcome, KF_MEASURED);
    return m;
}

/* Writes the right outputs for the file's own inputs. */
static void write_answer(const bench *b) {
    kf_backend *backend = NULL;
    kf_plan *plan = NULL;
    void *out = NULL;
    kf_error error = {KF_OK, ""};
    assert_int_equal(kf_backend_open("cpu:1", &backend, &error), KF_OK);
    kf_status status =
        kf_t1_plan(b->problem, &((const kf_t1_problem *)b->problem->own)->reference, backend, &plan, &error);
    if (status == KF_OK) status = kf_plan_initialise(plan, &error);
    if (status == KF_OK) status = kf_plan_advance(plan, 1, &error);
    if (status == KF_OK) status = kf_backend_synchronize(backend, &error);
    if (status == KF_OK) status = kf_t1_download(plan, 0, &out, &error);
    if (status != KF_OK) fail_msg("%s", error.message);
    assert_int_equal(kf_file_write_atomic(problem_path("answer.raw"), out, 20000 * sizeof(float), NULL),
                     KF_OK);
    free(out);
    kf_plan_free(plan);
    kf_backend_close(backend);
}

static void every_cheat_is_caught(void **state) {
    (void)state;
    static const struct {
        int cheat;
        const char *kind, *says; /* says: a part of the reason; "": any */
    } cheats[] = {
        {1, "a result kept by a flag", "another seed"},
        {2, "a result kept by pointer", "another seed"},
        {3, "a result kept by one value of the inputs", ""},
        {4, "a stale output", "out[0] is not written (or is the NaN behind an input), one of 20000 such"},
        {5, "an input used as output", "which is ReadOnly: value 0 has changed"},
        {6, "a part computed", "out[10000] is not written (or is the NaN behind an input), one of 10000"},
        {7, "a constant in place of a computation", "deviates"},
        {8, "lower precision than declared", "few inputs that are not zero"},
        {9, "work left to a later launch", "deviates"},
        {10, "work left to another thread", "leaves 1 thread of its own at work"},
        {12, "work left out where launches follow each other", ""},
        {13, "reading the reference", "another seed"},
        {14, "overflow behind", "writes past the end of 'out', which has 20000 values: to out[20000]"},
        {15, "overflow before", "writes before 'out', which has 20000 values: to out[-1]"},
        {16, "one size only", "at another size, 40000x1x1"},
        {18, "results that differ", ""},
        {19, "reading past an input's end", "(or is the NaN behind an input), one of 1 such"},
        {20, "a result kept by all inputs", "keeps results for inputs"},
    };
    bench b = open_bench();
    write_answer(&b);
    start(&b);
    kf_measurement honest = measure(&b, 0);
    if (honest.state != KF_STATE_OK)
        fail_msg("the honest one is %s: %s", kf_state_names[honest.state], honest.reason);
    for (size_t i = 0; i < sizeof cheats / sizeof *cheats; i++) {
        kf_measurement m = measure(&b, cheats[i].cheat);
        const bool refused = m.state == KF_STATE_WRONG_RESULT;
        if (!refused || strstr(m.reason, cheats[i].says) == NULL || m.sample_count != 0)
            fail_msg("%s: %s: %s", cheats[i].kind, kf_state_names[m.state], m.reason);
        print_message("%s: %s\n", cheats[i].kind, m.reason);
        /* The deviation that is kept is that of the launch which is refused. */
        if (strstr(m.reason, "deviates") != NULL && strstr(m.reason, "after it was timed") == NULL)
            assert_false(m.verification.error <= m.verification.bound);
        kf_measurement_free(&m);
    }
    assert_int_equal(kf_worker_starts(b.worker), 1); /* none of these cost the worker */
    /* A clock of its own, which stands still, changes nothing: time is taken outside. No machine writes
     * 20,000 values in this time. */
    kf_measurement timed = measure(&b, 11);
    assert_int_equal(timed.state, KF_STATE_OK);
    assert_true(timed.step_us.median > 0.01);
    /* A value that differs within the bound is marked. */
    kf_measurement marked = measure(&b, 17);
    assert_int_equal(marked.state, KF_STATE_OK);
    assert_true(marked.verification.repeated && marked.verification.spread > 0.0);
    assert_true(marked.verification.spread <= marked.verification.bound);
    assert_true(honest.verification.repeated && honest.verification.spread == 0.0);
    kf_measurement_free(&timed);
    kf_measurement_free(&marked);
    kf_measurement_free(&honest);
    close_bench(&b);
}

/* No launch writes its outputs faster than a machine can, whatever a clock says. */
static void nothing_is_faster_than_the_machine(void **state) {
    (void)state;
    bench b = open_bench();
    kf_backend *backend = NULL;
    kf_plan *plan = NULL;
    kf_error error = {KF_OK, ""};
    assert_int_equal(kf_backend_open("cpu:1", &backend, &error), KF_OK);
    assert_int_equal(
        kf_t1_plan(b.problem, &((const kf_t1_problem *)b.problem->own)->reference, backend, &plan, &error),
        KF_OK);
    assert_int_equal(kf_plan_initialise(plan, &error), KF_OK);
    assert_int_equal(kf_t1_recheck(plan, b.trial.reference, 1e-3, &error), KF_GATE_FAILED);
    if (strstr(error.message, "faster than the machine: writes 8e+04 bytes in 0.001 us") == NULL)
        fail_msg("%s", error.message);
    kf_plan_free(plan);
    kf_trial_close(&b.trial);
    kf_backend_close(backend);
    kf_problem_free(b.problem);
}

/* A reference that is of no use is named before any config is tried. */
static void a_useless_reference_is_named(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } kernels[] = {
        {"out[0] = 0; for (int i = 0; i < n; i++) out[i] = in[i] + in[i + 1];", NULL},
        {"for (int i = 0; i < n; i++) out[i] = in[i] + in[i + 100];",
         "'in' is too short: its Size is 1001, and the kernel reads value 1099; give it at least 1100"},
        {"for (int i = 0; i < n; i++) out[i] = 1 / (in[i] - in[i]);", "not finite: out[0] is inf"},
        {"for (int i = 0; i < n; i++) out[i] += in[i];",
         "it reads its output 'out', as out[0], which is called"},
        {"out[0] = 0; for (int i = 1; i < n - 1; i++) out[i] *= 2;", "it reads its output 'out', as out[1]"},
        {"for (int i = 1; i < n - 1; i++) out[i] = in[i];", NULL},
        {"static int k; for (int i = 0; i < n; i++) out[i] = in[i] + k; k++;",
         "differs from launch to launch: out["},
        {"for (int i = 0; i <= n; i++) out[i] = in[i];", "writes past the end of 'out'"},
        {"(void)out;", "writes nothing to its output 'out'"},
        {"for (int i = 0; i < n; i++) out[i] = in[i]; ((float *)in)[3] = 7;",
         "'in', which is ReadOnly: value 3"},
    };
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        kf_text text = {0};
        kf_backend *backend = NULL;
        kf_error error = {KF_OK, ""};
        kf_text_append(&text, "void smooth(float *out, const float *in, int n) { %s }\n", kernels[i].text);
        assert_int_equal(kf_file_write_atomic(problem_path("cheats.c"), text.text, strlen(text.text), NULL),
                         KF_OK);
        kf_text_free(&text);
        assert_int_equal(
            kf_file_write_atomic(problem_path("cheats.t1.json"), problem_text, sizeof problem_text - 1, NULL),
            KF_OK);
        change("cheats.t1.json", "\"ProblemSize\": 20000", "\"ProblemSize\": 1000");
        char *changed = NULL;
        size_t size = 0;
        assert_int_equal(kf_file_read(problem_path("changed.t1.json"), 0, &changed, &size, NULL), KF_OK);
        assert_int_equal(kf_file_write_atomic(problem_path("cheats.t1.json"), changed, size, NULL), KF_OK);
        free(changed);
        change("cheats.t1.json", "ProblemSize + 63", "ProblemSize + 1");
        kf_problem *problem = open_problem("changed.t1.json");
        assert_int_equal(kf_backend_open("cpu:1", &backend, &error), KF_OK);
        const kf_status status = kf_t1_examine(problem, backend, &error);
        if (kernels[i].says == NULL && status != KF_OK) fail_msg("%s: %s", kernels[i].text, error.message);
        if (kernels[i].says != NULL && (status == KF_OK || strstr(error.message, kernels[i].says) == NULL))
            fail_msg("%s: %s", kernels[i].text, error.message);
        kf_backend_close(backend);
        kf_problem_free(problem);
    }
}

/* --- Honest kernels --- */

/* Kernels may have their size in them, as many published ones have, though their file gives sizes that
 * follow ProblemSize. What such a kernel does at another size is no evidence against a config, whatever
 * the config writes into the room at the outputs' end. */
static void a_kernel_with_its_size_in_it_is_no_cheat(void **state) {
    (void)state;
    static const char kernel[] =
        "void fixed(float *out, const float *in, int room) {\n"
        "    const int n = 20000, more = cheat == 0 ? 0 : 64;\n"
        "    for (int i = 0; i < n + more && i < room; i++) out[i] = 2 * in[i];\n}\n";
    static const char *const accesses[] = {"WriteOnly", "ReadWrite"};
    for (int i = 0; i < 2; i++) {
        bench b = {.problem = NULL};
        kf_error error = {KF_OK, ""};
        kf_text text = {0};
        kf_text_append(&text,
                       "{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"cheat\", \"Type\": "
                       "\"int\", \"Values\": [0, 1]}]}, "
                       "\"KernelSpecification\": {\"Language\": \"C\", \"KernelName\": \"fixed\", "
                       "\"KernelFile\": \"fixed.c\", "
                       "\"ProblemSize\": 20000, \"Arguments\": ["
                       "{\"Name\": \"out\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"AccessType\": "
                       "\"%s\", \"Size\": \"ProblemSize\"},"
                       "{\"Name\": \"in\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"AccessType\": "
                       "\"ReadOnly\", \"Size\": "
                       "\"ProblemSize\", \"FillType\": \"Random\", \"FillValue\": 1},"
                       "{\"Name\": \"room\", \"Type\": \"int32\", \"MemoryType\": \"Scalar\", \"FillValue\": "
                       "\"ProblemSize\"}]}}",
                       accesses[i]);
        assert_int_equal(kf_file_write_atomic(problem_path("fixed.c"), kernel, sizeof kernel - 1, NULL),
                         KF_OK);
        assert_int_equal(
            kf_file_write_atomic(problem_path("fixed.t1.json"), text.text, strlen(text.text), NULL), KF_OK);
        kf_text_free(&text);
        b.problem = open_problem("fixed.t1.json");
        assert_int_equal(kf_trial_open(b.problem, &b.trial, &error), KF_OK);
        assert_int_equal(kf_trial_refer(&b.trial, &error), KF_OK);
        start(&b);
        for (int config = 0; config < 2; config++) {
            kf_measurement m = measure(&b, config);
            if (m.state != KF_STATE_OK) fail_msg("%s, %d: %s", accesses[i], config, m.reason);
            kf_measurement_free(&m);
        }
        close_bench(&b);
    }
}

/* If a step is so small that its start is within the threshold, a kernel that does nothing, or only a
 * part, must still fail. One with another order of rounding must pass. */
static void doing_nothing_is_never_right(void **state) {
    (void)state;
    static const struct {
        const char *step;
        int cheat;
        bool right;
    } cases[] = {
        {"1e-6f", 0, true},  {"1e-6f", 1, false}, {"1e-6f", 2, false}, {"1e-6f", 3, true},
        {"1e-5f", 1, false}, {"1e-5f", 3, true},  {"1e-3f", 1, false}, {"1e-3f", 3, true},
    };
    static const char problem[] =
        "{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"cheat\", \"Type\": \"int\", "
        "\"Values\": [0, 1, 2, 3]}]}, \"KernelSpecification\": {\"Language\": \"C\", \"KernelName\": "
        "\"creep\", \"KernelFile\": \"creep.c\", \"ProblemSize\": 5000, \"Arguments\": ["
        "{\"Name\": \"u\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"AccessType\": "
        "\"ReadWrite\", \"Size\": \"ProblemSize\", \"FillType\": \"Random\"},"
        "{\"Name\": \"q\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"AccessType\": "
        "\"ReadOnly\", \"Size\": \"ProblemSize\", \"FillType\": \"Random\"},"
        "{\"Name\": \"n\", \"Type\": \"int32\", \"MemoryType\": \"Scalar\", \"FillValue\": "
        "\"ProblemSize\"}]}}";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench b = {.problem = NULL};
        kf_error error = {KF_OK, ""};
        kf_text text = {0};
        kf_text_append(
            &text,
            "void creep(float *u, const float *q, int n) {\n"
            "    for (int i = cheat == 2 ? n / 2 : 0; i < n && cheat != 1; i++)\n"
            "        u[i] = cheat == 3 ? (float)(u[i] + (double)%s * q[i]) : u[i] + %s * q[i];\n}\n",
            cases[i].step, cases[i].step);
        assert_int_equal(kf_file_write_atomic(problem_path("creep.c"), text.text, text.length, NULL), KF_OK);
        kf_text_free(&text);
        assert_int_equal(
            kf_file_write_atomic(problem_path("creep.t1.json"), problem, sizeof problem - 1, NULL), KF_OK);
        b.problem = open_problem("creep.t1.json");
        assert_int_equal(kf_trial_open(b.problem, &b.trial, &error), KF_OK);
        assert_int_equal(kf_trial_refer(&b.trial, &error), KF_OK);
        start(&b);
        kf_measurement m = measure(&b, cases[i].cheat);
        if ((m.state == KF_STATE_OK) != cases[i].right)
            fail_msg("step %s, cheat %d: %s: %s", cases[i].step, cases[i].cheat, kf_state_names[m.state],
                     m.reason);
        kf_measurement_free(&m);
        close_bench(&b);
    }
}

/* Inputs from which a kernel that does nothing computes what is right are named before anything is measured.
 */
static void useless_inputs_are_named(void **state) {
    (void)state;
    static const char problem[] =
        "{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"a\", \"Type\": \"int\", \"Values\": "
        "[1]}]}, \"KernelSpecification\": {\"Language\": \"C\", \"KernelName\": \"creep\", \"KernelFile\": "
        "\"creep.c\", \"ProblemSize\": 5000, \"Arguments\": [{\"Name\": \"u\", \"Type\": \"float\", "
        "\"MemoryType\": \"Vector\", \"AccessType\": \"ReadWrite\", \"Size\": \"ProblemSize\"%s}]}}";
    static const char kernel[] = "void creep(float *u) { for (int i = 0; i < 5000; i++) u[i] *= 2; }\n";
    assert_int_equal(kf_file_write_atomic(problem_path("creep.c"), kernel, sizeof kernel - 1, NULL), KF_OK);
    for (int random = 0; random < 2; random++) {
        kf_backend *backend = NULL;
        kf_error error = {KF_OK, ""};
        kf_text text = {0};
        const char *end = strstr(problem, "%s");
        kf_text_append(&text, "%.*s%s%s", (int)(end - problem), problem,
                       random ? ", \"FillType\": \"Random\", \"ValidationThreshold\": 1" : "", end + 2);
        assert_int_equal(kf_file_write_atomic(problem_path("creep.t1.json"), text.text, text.length, NULL),
                         KF_OK);
        kf_text_free(&text);
        kf_problem *opened = open_problem("creep.t1.json");
        assert_true((opened->notes.text != NULL &&
                     strstr(opened->notes.text, "one value everywhere") != NULL) == (random == 0));
        assert_true((opened->notes.text != NULL &&
                     strstr(opened->notes.text, "a kernel that writes zeros") != NULL) == (random == 1));
        assert_int_equal(kf_backend_open("cpu:1", &backend, &error), KF_OK);
        assert_int_equal(kf_t1_examine(opened, backend, &error), random ? KF_OK : KF_BAD_INPUT);
        if (!random && strstr(error.message, "it changes none of its outputs") == NULL)
            fail_msg("%s", error.message);
        kf_backend_close(backend);
        kf_problem_free(opened);
    }
}

/* An input that the file calls WriteOnly is NaN, and the reason says so. */
static void an_input_called_write_only_is_named(void **state) {
    (void)state;
    static const char problem[] =
        "{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"a\", \"Type\": \"int\", \"Values\": "
        "[1]}]}, \"KernelSpecification\": {\"Language\": \"C\", \"KernelName\": \"add\", \"KernelFile\": "
        "\"add.c\", \"ProblemSize\": 100, \"Arguments\": [{\"Name\": \"u\", \"Type\": \"float\", "
        "\"MemoryType\": \"Vector\", \"AccessType\": \"ReadWrite\", \"Size\": 100}, {\"Name\": \"q\", "
        "\"Type\": \"float\", \"MemoryType\": \"Vector\", \"AccessType\": \"WriteOnly\", \"Size\": 100}]}}";
    static const char kernel[] =
        "void add(float *u, const float *q) { for (int i = 0; i < 100; i++) u[i] += q[i]; }\n";
    kf_backend *backend = NULL;
    kf_error error = {KF_OK, ""};
    assert_int_equal(kf_file_write_atomic(problem_path("add.c"), kernel, sizeof kernel - 1, NULL), KF_OK);
    assert_int_equal(kf_file_write_atomic(problem_path("add.t1.json"), problem, sizeof problem - 1, NULL),
                     KF_OK);
    kf_problem *opened = open_problem("add.t1.json");
    assert_int_equal(kf_backend_open("cpu:1", &backend, &error), KF_OK);
    assert_int_equal(kf_t1_examine(opened, backend, &error), KF_BAD_INPUT);
    if (strstr(error.message, "u[0] is nan; what is WriteOnly begins as NaN") == NULL)
        fail_msg("%s", error.message);
    kf_backend_close(backend);
    kf_problem_free(opened);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cheat_is_caught),
        cmocka_unit_test(doing_nothing_is_never_right),
        cmocka_unit_test(useless_inputs_are_named),
        cmocka_unit_test(an_input_called_write_only_is_named),
        cmocka_unit_test(nothing_is_faster_than_the_machine),
        cmocka_unit_test(a_useless_reference_is_named),
        cmocka_unit_test(a_kernel_with_its_size_in_it_is_no_cheat),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
