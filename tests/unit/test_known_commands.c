/* Tests what commands that measure nothing print, as a known text: every option that places a mesh, lists,
 * plots of stored figures, replays. Faults: a line or number that changes by accident. KFTUNE names the
 * program; without it there is nothing to ask. */
#include "tests/unit/known_text.h"

#include <unistd.h>

#include "base/util/program.h"
#include "tests/unit/output_scratch.h"

/* A wedge of 1 x 1.9 x 3 that stands on y and narrows towards +z: no two axes are alike. */
static const char wedge[] = "v 0 0 0\nv 1 0 0\nv 1 0 3\nv 0 0 3\nv 0.5 1.9 0.3\nv 0.5 1.9 1.2\nf 1 2 3\nf 1 "
                            "3 4\nf 1 5 2\nf 4 3 6\nf 1 4 6\nf 1 6 5\n"
                            "f 2 5 6\nf 2 6 3\n";
static const char links[] = "{\"roofs\": [{\"name\": \"link_0_1_copy\", \"value\": 40}, {\"name\": "
                            "\"link_1_2_copy\", \"value\": 20}, {\"name\": "
                            "\"link_0_1_order\", \"value\": 25}]}";
static const char toy[] =
    "{\"device_name\": \"gpu\", \"kernel_name\": \"k\", \"problem_size\": [1],\n\"tune_params_keys\": "
    "[\"a\"], \"tune_params\": "
    "{\"a\": [1, 2, 3, 4]},\n\"cache\": {\n"
    "\"1\": {\"a\": 1, \"time\": 4, \"times\": [4, 4.5, 3.5], \"compile_time\": 1000, \"benchmark_time\": "
    "500},\n"
    "\"2\": {\"a\": 2, \"time\": 2, \"compile_time\": 1000, \"benchmark_time\": 250},\n"
    "\"3\": {\"a\": 3, \"time\": \"RuntimeFailedConfig\", \"compile_time\": 1000, \"benchmark_time\": 500},\n"
    "\"4\": {\"a\": 4, \"time\": 2.05, \"compile_time\": 2000, \"benchmark_time\": 500}}}\n";

static void write_text(const char *name, const char *text) {
    assert_int_equal(kf_file_write_atomic(in_scratch(name), text, strlen(text), NULL), KF_OK);
}

static void assert_commands(const char *name, const char *const *commands, size_t count) {
    const char *program = getenv("KFTUNE"), *data = getenv("KFTUNE_DATA");
    char here[KF_PATH];
    if (program == NULL || getcwd(here, sizeof here) == NULL) skip();
    kf_text text = {0};
    for (size_t i = 0; i < count; i++) {
        char line[8192];
        char *command = kf_duplicate(commands[i]);
        command = with_word(command, "DATA", data != NULL ? data : here);
        kf_text whole = {0};
        kf_text_append(&whole, "cd '%s' && XDG_DATA_HOME='%s' '%s' %s 2>&1", scratch, scratch, program,
                       command);
        kf_text_append(&text, "$ kftune %s\n", commands[i]);
        FILE *output = popen(whole.text, "r");
        assert_non_null(output);
        while (fgets(line, sizeof line, output) != NULL)
            kf_text_append(&text, "%s", line);
        kf_text_append(&text, "status %d\n\n", pclose(output) >> 8);
        kf_text_free(&whole);
        free(command);
    }
    text.text = without_between(text.text, "searches, ", " us of its own", "SOME");
    text.text = without_between(text.text, "was never tuned on ", ", and nothing", "THIS PROCESSOR");
    text.text = without_between(text.text, "\"overhead_us\":\t", ",", "SOME");
    text.text = with_word(with_word(text.text, scratch, "FOLDER"), data != NULL ? data : here, "DATA");
    assert_known(name, with_word(text.text, KF_VERSION, "VERSION"));
}

static void test_meshes_are_placed_as_said(void **state) {
    (void)state;
    static const char *const commands[] = {
        "scene wedge.obj --wind -z --up y --length 420cm --speed 108km/h --reynolds 500 --grid 48x24x24",
        "scene wedge.obj --wind -z --up y --length 420cm --speed 108km/h --reynolds 500 --grid 48x24x24 "
        "--json --picture one.png --write one.scene.json",
        "scene one.scene.json --json --picture one.png",
        "scene wedge.obj --wind -z --up y --length 4.2m --speed 30m/s --viscosity 0.2 --cells 12 "
        "--blockage 8% --road yes --json --samples-per-cell 3",
        "scene wedge.obj --wind x --up -y --length 2100mm --speed 12 --cells 12 --blockage 0.1 --road no "
        "--yaw 15 --json",
        "scene wedge.obj --wind -z --up y --yaw 90 --cells 16",
        "scene wedge.obj --wind -z --road maybe",
        "scene wedge.obj --wind -z --blockage 0",
        "scene wedge.obj --wind -z --cells 0",
        "scene wedge.obj --wind -z --reynolds 100 --viscosity 1e-5",
        "scene wedge.obj --wind -z --yaw north",
        "scene wedge.obj --wind -z --speed -3",
        "scene column --picture column.png",
        "scene column --json"};
    write_text("wedge.obj", wedge);
    assert_commands("placed.txt", commands, sizeof commands / sizeof *commands);
    assert_int_equal(access(in_scratch("one.png"), F_OK), 0);
}

static void test_what_is_there(void **state) {
    (void)state;
    static const char *const commands[] = {"list systems", "list systems --json", "list scenes --json",
                                           "list nothing"};
    assert_commands("lists.txt", commands, sizeof commands / sizeof *commands);
}

static void test_what_is_stored_is_shown(void **state) {
    (void)state;
    static const char *const commands[] = {
        "plot scaling --figures DATA/results/measured/h200-scaling.json --out scaling.svg",
        "plot scaling --figures DATA/results/measured/h200-scaling.json --links links.json --out scaling.svg",
        "plot scaling --figures DATA/results/measured/h200-scaling.json --links links.json --out scaling.svg "
        "--json",
        "replay --landscape toy.json --strategy enumerate --evaluations 4 --repeats 2",
        "replay --landscape toy.json --strategy enumerate --evaluations 4 --repeats 2 --json",
        "replay --landscape toy.json --strategy enumerate --evaluations 3 --repeats 1 --json",
        "store import toy.json --store s.db",
        "plot convergence --landscape toy.json --strategy enumerate --evaluations 4 --repeats 2 --out c.svg "
        "--json"};
    if (system("command -v gnuplot >/dev/null 2>&1") != 0) skip();
    write_text("links.json", links);
    write_text("toy.json", toy);
    assert_commands("shown.txt", commands, sizeof commands / sizeof *commands);
}

/* Every command refuses wrong options, and values beyond the ends of ranges. */
static void test_what_is_refused(void **state) {
    (void)state;
    static const char *const commands[] = {
        "tune --scene ball --device cpu:0",
        "tune --scene ball --devices cpu,nope",
        "tune --scene ball --device cpu:1 --devices cpu,cpu",
        "tune --scene ball --grid 3x3x",
        "tune --scene ball --samples-per-cell 0.9",
        "tune --scene ball --samples-per-cell 1001",
        "tune --scene ball --strategy nope",
        "tune --scene ball --strategy random:bogus=1",
        "tune --scene ball --strategy model:trend=7",
        "tune --scene ball --budget 5parsecs",
        "tune --scene ball --accuracy 2",
        "tune --scene ball --accuracy 11%",
        "tune --scene ball --objective speed",
        "tune --scene ball --cache lukewarm",
        "tune --scene ball --seed 0",
        "tune --scene ball --effort 1.5",
        "tune --scene ball --counters nope",
        "tune --scene ball --share nothing",
        "tune --scene ball --grid 20x10x10 --system d2q9 --device cpu:1",
        "tune --scene ball --system nope",
        "tune --scene nothing",
        "tune ball",
        "tune --scene ball --scene torus",
        "tune --scen ball",
        "space --scene ball --grid 2x2x2",
        "space --scene ball --system sph",
        "space --scene cavity2d --system d2q9 --fix nope=1 --device cpu:1",
        "space --scene cavity2d --system d2q9 --fix alpha=3 --device cpu:1",
        "space --scene cavity2d --system d2q9 --fix alpha --device cpu:1",
        "demo --steps 0",
        "run --config missing.kftune.json",
        "run --config missing.kftune.json --scene ball",
        "run --scene cavity2d --steps 0 --device cpu:1",
        "run --scene cavity2d --time 0s --device cpu:1",
        "run --scene cavity2d --time 2parsecs --device cpu:1",
        "run --scene cavity2d --flow-throughs 0 --device cpu:1",
        "run --scene cavity2d --until never --device cpu:1",
        "run --scene cavity2d --steps 1 --time 1s --device cpu:1",
        "run --scene cavity2d --steps 1 --fields nope --device cpu:1",
        "run --scene cavity2d --steps 1 --fields levels --device cpu:1",
        "run --scene cavity2d --steps 1 --every 0 --device cpu:1",
        "run --scene cavity2d --steps 1 --area -1 --device cpu:1",
        "run --scene cavity2d --steps 1 --mean-from -1 --device cpu:1",
        "run --scene cavity2d --steps 1 --checkpoints -1 --device cpu:1",
        "run --scene cavity2d --steps 1 --checkpoint-every 0 --device cpu:1",
        "run --scene cavity2d --steps 1 --smoke-every 0 --device cpu:1",
        "run --scene cavity2d --steps 1 --smoke-size 3x3 --device cpu:1",
        "run --scene cavity2d --steps 1 --compress 10 --device cpu:1",
        "validate --case nope",
        "validate --case poiseuile",
        "validate --accuracy 0.5 --case poiseuille",
        "validate --list --json",
        "bench --suite nope --device cpu:1",
        "bench --suite step --figure nope --device cpu:1",
        "bench --suite step --grid 4 --device cpu:1",
        "roofs --device cuda:99",
        "roofs --device gpu:0",
        "replay --landscape missing.json --strategy random",
        "replay --landscape toy.json --strategy nope",
        "replay --landscape toy.json --strategy random --evaluations 0",
        "replay --landscape toy.json --strategy random --repeats 0",
        "predict --scene ball --top 0",
        "predict --scene ball --bandwidth 0",
        "landscape --scene ball --configs 0",
        "landscape --scene ball --shard 4/4",
        "landscape --scene ball --shard 1",
        "landscape --scene ball --effort 0",
        "nightly --suite missing.json",
        "nightly --suite missing.json --label nope",
        "nightly --suite missing.json --night -1",
        "nightly",
        "store show",
        "store show --run nope",
        "store list --limit 0",
        "store export --format nope",
        "store export --format csv --run 0",
        "store prune",
        "store prune --older-than 3parsecs",
        "store import missing.json",
        "store nope",
        "plot roofline --out a.svg",
        "plot surface --out a.txt",
        "plot nope --out a.svg",
        "plot kernels --out a.svg --run -1",
        "report --out r.html",
        "report --run 0 --out r.html",
        "completion nope",
        "doctor nope",
        "list systems scenes",
        "nope",
        "--nope"};
    write_text("toy.json", toy);
    assert_commands("refused.txt", commands, sizeof commands / sizeof *commands);
}

/* A run's record: its drag and half of the interval (0: none), and what else differs from run to run. */
static void write_run(const char *folder, const char *state, const char *settled, double drag, double half,
                      double reynolds, double cells) {
    char path[64];
    kf_text text = {0};
    assert_int_equal(kf_make_folders(in_scratch(folder), NULL), KF_OK);
    kf_text_append(&text, "{\"scene\": \"car\", \"scene_hash\": \"aa\", \"state\": \"%s\", \"seconds\": 3",
                   state);
    if (settled != NULL) {
        kf_text_append(&text, ", \"coefficients\": {\"settled\": %s", settled);
        static const char *const names[] = {"drag", "lift", "side"};
        static const double shares[] = {1.0, -0.25, 0.0625};
        for (int n = 0; n < 3; n++) {
            kf_text_append(&text, ", \"%s\": {\"mean\": %.10g, \"interval_95\": ", names[n],
                           shares[n] * drag);
            if (half > 0.0)
                kf_text_append(&text, "[%.10g, %.10g]}", shares[n] * drag - half, shares[n] * drag + half);
            else
                kf_text_append(&text, "null}");
        }
        kf_text_append(
            &text,
            ", \"reference_area_m2\": 2, \"speed_m_s\": 30, \"reynolds\": %g, \"cells_a_length\": %g, "
            "\"flow_throughs\": 5, \"open_stream_drag\": {\"raw\": %.10g, \"corrected\": %.10g, \"parts\": "
            "{\"statistics\": {\"half_of_interval_95\": %.10g, \"because\": \"of rows\"}, \"grid\": "
            "{\"half_of_interval_95\": 0.03, \"because\": \"of cells\"}, \"tunnel\": "
            "{\"half_of_interval_95\": null, \"because\": \"nobody knows\"}}}}",
            reynolds, cells, drag, 0.9 * drag, half);
    }
    kf_text_append(&text, "}\n");
    (void)snprintf(path, sizeof path, "%s/run.json", folder);
    write_text(path, text.text);
    kf_text_free(&text);
    (void)snprintf(path, sizeof path, "%s/scene.json", folder);
    kf_text_append(&text, "{\"flow\": {\"speed\": 30, \"reynolds\": %g}, \"model\": {\"rates\": \"k17\"}}\n",
                   reynolds);
    write_text(path, text.text);
    kf_text_free(&text);
}

/* Runs that lie within their intervals, just below and just above the floor, on either side, on finer cells,
 * at another Reynolds number, and those of which too little is known. */
static void test_runs_are_compared(void **state) {
    (void)state;
    static const char *const commands[] = {
        "compare first/ within below above beneath --floor 2%",
        "compare half more --floor 0.02 --json",
        "compare first below",
        "compare fine finer",
        "compare first other open unknown none failed",
        "compare none first",
        "compare open first",
        "compare first",
        "compare first nowhere",
    };
    write_run("first", "finished", "true", 0.4, 0.003, 1e5, 16);
    write_run("within", "finished", "true", 0.404, 0.003, 1e5, 16);
    write_run("below", "finished", "true", 0.4079, 0.003, 1e5, 16);
    write_run("above", "finished", "true", 0.4081, 0.003, 1e5, 16);
    write_run("beneath", "interrupted", "true", 0.3919, 0.003, 1e5, 16);
    write_run("half", "finished", "true", 0.5, 0.0078125, 1e5, 16);
    write_run("more", "finished", "true", 0.53125, 0.0078125, 1e5, 16);
    write_run("fine", "finished", "true", 0.4, 0.0001, 1e5, 32);
    write_run("finer", "finished", "true", 0.4005, 0.0001, 1e5, 64);
    write_run("other", "finished", "true", 0.5, 0.003, 2e5, 20);
    write_run("open", "finished", "false", 0.5, 0.003, 1e5, 16);
    write_run("unknown", "finished", "true", 0.5, 0.0, 1e5, 16);
    write_run("none", "finished", NULL, 0.5, 0.0, 1e5, 16);
    write_run("failed", "failed", "true", 0.5, 0.003, 1e5, 16);
    assert_commands("compare.txt", commands, sizeof commands / sizeof *commands);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meshes_are_placed_as_said), cmocka_unit_test(test_what_is_there),
        cmocka_unit_test(test_what_is_stored_is_shown),   cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_runs_are_compared),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
