/* Units that mesh files state in words: which words count, in which formats, and what becomes of them. */
#include <math.h>

#include "tests/unit/placed_box.h"

/* A unit that a file states, in metres, and its line. 0 is none. */
typedef struct statement {
    const char *words;
    double metres;
} statement;

static const statement statements[] = {
    {"File units = millimeters", 0.001},
    {"Units: mm", 0.001},
    {"units mm", 0.001},
    {"UNITS=MM", 0.001},
    {"LengthUnit: 'cm'", 0.01},
    {"exported in units of nothing, unit: foot", 0.3048},
    {"all units are in inches", 0.0254},
    {"unit = in", 0.0254},
    {"1 unit = 1 meter", 1.0},
    {"1 unit = 0.01 m", 0.01},
    {"unit is 10 cm", 0.1},
    {"units (metres)", 1.0},
    {"Units: microns", 1e-6},
    {"units: m/s", 0.0},
    {"units: mm^2", 0.0},
    {"units in this file are not known", 0.0},
    {"units in the middle", 0.0},
    {"for the community, m", 0.0},
    {"12 units", 0.0},
    {"units", 0.0},
    {"unit =", 0.0},
    {"unit = 3", 0.0},
    {"unit = 0 mm", 0.0},
    {"scale 0.001", 0.0},
    {"unit: mmm", 0.0},
    {"", 0.0},
};

static void expect(const char *path, const statement *s, long line) {
    kf_mesh mesh = {0};
    kf_text notes = {0};
    kf_error error = {KF_OK, ""};
    if (kf_mesh_read(path, &mesh, &notes, &error) != KF_OK) fail_msg("'%s': %s", s->words, error.message);
    if (fabs(mesh.unit - s->metres) > 1e-12) fail_msg("%s '%s' is %g m", path, s->words, mesh.unit);
    if (s->metres > 0.0) assert_int_equal(mesh.unit_line, line);
    kf_mesh_free(&mesh);
    kf_text_free(&notes);
}

/* The ends of lines. In a binary header, which has no lines, they separate words as well. */
static const char *const ends[] = {"\n", "\r\n", "\r"};

/* Expects the statement of a text whose lines end in each way. */
static void expect_lines(const char *name, const char *text, const statement *s, long line) {
    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
        kf_text ended = {0};
        for (const char *at = text; *at != '\0'; at++)
            kf_text_append(&ended, "%.*s", *at == '\n' ? (int)strlen(ends[e]) : 1,
                           *at == '\n' ? ends[e] : at);
        expect(write_text(name, ended.text), s, line);
        kf_text_free(&ended);
    }
}

#define CORNERS "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
#define FACET   "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"

static void words_of_all_formats(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        const statement *s = &statements[i];
        char text[600], stl[84 + 50] = {0};
        (void)snprintf(text, sizeof text, "# made by hand\n# %s\n%s", s->words, CORNERS);
        expect_lines("a.obj", text, s, 2);
        (void)snprintf(text, sizeof text, "%s# %s\n", CORNERS, s->words);
        expect_lines("b.obj", text, s, 5);
        (void)snprintf(text, sizeof text, "solid part %s\n%sendsolid\n", s->words, FACET);
        expect_lines("a.stl", text, s, 1);
        (void)snprintf(
            text, sizeof text,
            "ply\nformat ascii 1.0\ncomment %s\nelement vertex 3\nproperty float x\nproperty float "
            "y\nproperty float z\nelement face 1\nproperty list uchar int vertex_indices\n"
            "end_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
            s->words);
        expect_lines("a.ply", text, s, 3);
        stl[80] = 1;
        const float corners[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
        memcpy(stl + 96, corners, sizeof corners);
        (void)snprintf(stl, 80, "%s", s->words);
        expect(write_bytes("b.stl", stl, sizeof stl), s, 0);
        for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
            (void)snprintf(stl, 80, "%s%sby hand", s->words, ends[e]);
            expect(write_bytes("c.stl", stl, sizeof stl), s, 0);
        }
    }
    /* The first statement counts, and words that are no comment do not. */
    expect(write_text("c.obj", "# units: cm\n# units: mm\n" CORNERS), &(statement){"two", 0.01}, 1);
    expect(write_text("d.obj", "o unit mm\n" CORNERS), &(statement){"a name", 0.0}, 0);
}

/* Writes a box of 2000 x 1000 x 500 with this first line, as large.obj. */
static const char *write_large_box(const char *first) {
    return write_box_of("large.obj", first, 2000, 1000, 500);
}

/* A bare mesh has the unit that its file states; a length that is given overrides it. */
static void a_bare_mesh_has_its_unit(void **state) {
    (void)state;
    static const struct {
        const char *first;
        double given, length;
        const char *says;
    } cases[] = {{"# File units = millimeters\n", 0.0, 2.0,
                  "unit: a millimetre, as the file says in line 1, so the solid is 2 m long"},
                 {"# 1 unit = 0.1 m\n", 0.0, 200.0, "unit: a length of 0.1 m, as the file says in line 1"},
                 {"# File units = meters\n", 0.0, 2000.0, "unit: a metre, as the file says in line 1"},
                 {"# File units = millimeters\n", 5.0, 5.0, NULL},
                 {"", 0.0, 2000.0, "not known from the mesh"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const kf_placement said = {
            .wind = {0, 1}, .up = {2, 1}, .road = KF_ROAD_NO, .length = cases[i].given};
        const int nodes[3] = {24, 16, 16};
        const char *path = write_large_box(cases[i].first);
        kf_mesh mesh = {0};
        kf_text notes = {0};
        kf_description d;
        kf_error error = {KF_OK, ""};
        assert_int_equal(kf_mesh_read(path, &mesh, &notes, &error), KF_OK);
        kf_description_defaults(&d, path);
        assert_int_equal(kf_description_place(&d, &mesh, &said, nodes, &notes, &error), KF_OK);
        if (fabs(2000.0 * d.solid.scale - cases[i].length) > 1e-6 * cases[i].length ||
            (strstr(notes.text, "unit: ") != NULL) != (cases[i].says != NULL) ||
            (cases[i].says != NULL && strstr(notes.text, cases[i].says) == NULL))
            fail_msg("case %zu: scale %g\n%s", i, d.solid.scale, notes.text);
        kf_text_free(&notes);
        kf_mesh_free(&mesh);
    }
}

/* A scene file reads a mesh in metres unless it says otherwise. A mesh that states another unit is named. */
static void a_scene_names_another_unit(void **state) {
    (void)state;
    static const struct {
        const char *first, *pose;
        bool named;
    } cases[] = {{"# units: mm\n", "", true},
                 {"# units: mm\n", "\"scale\": 0.001, ", false},
                 {"# units: mm\n", "\"scale\": 1, ", false},
                 {"# units: mm\n", "\"length\": 2000, ", false},
                 {"# units: m\n", "", false},
                 {"", "", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[800];
        const double far = strstr(cases[i].pose, "0.001") != NULL ? 1.0 : 1000.0;
        (void)write_large_box(cases[i].first);
        (void)snprintf(
            text, sizeof text,
            "{\"domain\": {\"cells\": [24, 12, 12], \"cell_size\": %g}, \"flow\": {\"speed\": 1, "
            "\"reynolds\": 100}, \"solid\": {\"mesh\": \"large.obj\", %s\"position\": [%g, %g, %g]}}",
            0.25 * far, cases[i].pose, 3 * far, 1.5 * far, 1.5 * far);
        kf_scene *scene = open_scene_text(text, NULL);
        const char *said = strstr(scene->notes, "large.obj:1: says that its unit is a millimetre, but");
        if ((said != NULL) != cases[i].named) fail_msg("case %zu: %s", i, scene->notes);
        if (said != NULL) assert_non_null(strstr(said, "\"scale\": 0.001 converts it"));
        kf_scene_free(scene);
    }
}

/* A mesh that is too large for its domain when it is read in metres is refused with the unit that it states.
 */
static void a_refused_size_names_the_unit(void **state) {
    (void)state;
    static const char text[] = "{\"domain\": {\"cells\": [24, 12, 12], \"cell_size\": 0.25}, \"flow\": "
                               "{\"speed\": 1, \"reynolds\": 100}, "
                               "\"solid\": {\"mesh\": \"large.obj\", \"position\": [3, 1.5, 1.5]}}";
    static const char hint[] = "(its file says that its unit is a millimetre: \"scale\": 0.001)";
    for (int stated = 0; stated < 2; stated++) {
        kf_scene *scene = NULL;
        kf_error error = {KF_OK, ""};
        (void)write_large_box(stated ? "# units: mm\n" : "");
        assert_int_equal(kf_scene_open(write_text("small.json", text), NULL, &scene, &error), KF_BAD_INPUT);
        if ((strstr(error.message, hint) != NULL) != (stated == 1)) fail_msg("%s", error.message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_of_all_formats),
        cmocka_unit_test(a_bare_mesh_has_its_unit),
        cmocka_unit_test(a_scene_names_another_unit),
        cmocka_unit_test(a_refused_size_names_the_unit),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
