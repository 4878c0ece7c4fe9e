/* Tests random meshes, spoilt as programs spoil them. Faults: volume, area or box changes by more than 0.1
 * %. */
#include "tests/unit/mesh_heap.h"

static const double PI = 3.14159265358979323846;

/* ---- Concave outlines ---- */

enum { CORNERS = 160, OUTLINES = 240 };

typedef struct outline {
    double x[CORNERS], y[CORNERS];
    size_t count;
} outline;

static void add_corner(outline *o, double x, double y) {
    o->x[o->count] = x;
    o->y[o->count++] = y;
}

static double outline_area(const outline *o) {
    double twice = 0.0;
    for (size_t i = 0, j = o->count - 1; i < o->count; j = i++)
        twice += o->x[j] * o->y[i] - o->x[i] * o->y[j];
    return 0.5 * twice;
}

/* Makes steps at whole numbers along both sides of a middle line, as in plans of buildings: many corners
 * lie on lines through others. */
static void make_steps(outline *o, uint64_t *state) {
    const size_t steps = 2 + draw_below(state, 12);
    double height[2][16];
    for (size_t i = 0; i < steps; i++)
        for (int side = 0; side < 2; side++)
            height[side][i] = 1.0 + draw_below(state, 5);
    for (size_t i = 0; i < steps; i++) {
        add_corner(o, (double)i, -height[0][i]);
        add_corner(o, (double)i + 1.0, -height[0][i]);
    }
    for (size_t i = steps; i-- > 0;) {
        add_corner(o, (double)i + 1.0, height[1][i]);
        add_corner(o, (double)i, height[1][i]);
    }
}

static void make_star(outline *o, uint64_t *state) {
    const size_t count = 5 + draw_below(state, 60);
    for (size_t i = 0; i < count; i++) {
        const double turn = 2.0 * PI * ((double)i + 0.4 * draw(state)) / (double)count, r = 0.2 + draw(state);
        add_corner(o, r * cos(turn), r * sin(turn));
    }
}

/* Makes a comb with teeth of different lengths, some of which have corners within straight edges. */
static void make_comb(outline *o, uint64_t *state) {
    const size_t teeth = 2 + draw_below(state, 18);
    add_corner(o, 0.0, 0.0);
    add_corner(o, 2.0 * (double)teeth, 0.0);
    for (size_t i = teeth; i-- > 0;) {
        const double tip = 2.0 + 8.0 * draw(state), x = 2.0 * (double)i;
        add_corner(o, x + 2.0, 1.0);
        add_corner(o, x + 2.0, tip);
        add_corner(o, x + 1.0, tip);
        if (draw(state) < 0.5) add_corner(o, x + 1.0, 0.5 * (1.0 + tip));
        add_corner(o, x + 1.0, 1.0);
    }
    add_corner(o, 0.0, 1.0);
}

/* Makes a square with holes, each tied to its edge by a bridge that the outline passes twice. */
static void make_holes(outline *o, uint64_t *state) {
    const size_t holes = 1 + draw_below(state, 6);
    add_corner(o, 0.0, 0.0);
    for (size_t h = 0; h < holes; h++) {
        const double x = (double)h + 0.5, size = 0.1 + 0.3 * draw(state);
        const size_t corners = 3 + draw_below(state, 8);
        add_corner(o, x, 0.0);
        for (size_t i = 0; i <= corners; i++) { /* clockwise, from below and back */
            const double turn = -0.5 * PI - 2.0 * PI * (double)(i % corners) / (double)corners;
            add_corner(o, x + size * cos(turn), 1.0 + size * sin(turn));
        }
        add_corner(o, x, 0.0);
    }
    add_corner(o, (double)holes, 0.0);
    add_corner(o, (double)holes, 2.0);
    add_corner(o, 0.0, 2.0);
}

static void make_outline(outline *o, int number, uint64_t *state) {
    static void (*const kinds[])(outline *, uint64_t *) = {make_steps, make_star, make_comb, make_holes};
    o->count = 0;
    kinds[number % 4](o, state);
}

/* A turn about a drawn axis; of the first outlines none, so that their corners stay whole numbers. */
static void draw_turn(uint64_t *state, bool none, double matrix[9]) {
    double axis[3] = {0, 0, 1};
    for (int a = 0; a < 3 && !none; a++)
        axis[a] = draw(state) - 0.5;
    kf_normalise(axis);
    kf_rotation(axis, none ? 0.0 : 2.0 * PI * draw(state), matrix);
}

/* The prism over an outline as an OBJ file whose faces have all its corners, one of them any first. */
static const char *write_prism(const outline *o, const double matrix[9], const double at[3],
                               uint64_t *state) {
    kf_text obj = {0};
    const size_t n = o->count, first = draw_below(state, n);
    for (size_t i = 0; i < 2 * n; i++) {
        const double p[3] = {o->x[i % n], o->y[i % n], i < n ? 0.0 : 1.5};
        kf_text_append(&obj, "v");
        for (int a = 0; a < 3; a++)
            kf_text_append(&obj, " %.12g",
                           matrix[3 * a] * p[0] + matrix[3 * a + 1] * p[1] + matrix[3 * a + 2] * p[2] +
                               at[a]);
        kf_text_append(&obj, "\n");
    }
    kf_text_append(&obj, "f");
    for (size_t i = n; i-- > 0;)
        kf_text_append(&obj, " %zu", (first + i) % n + 1);
    kf_text_append(&obj, "\nf");
    for (size_t i = 0; i < n; i++)
        kf_text_append(&obj, " %zu", n + (first + i) % n + 1);
    for (size_t i = 0; i < n; i++) {
        const size_t next = (i + 1) % n;
        kf_text_append(&obj, "\nf %zu %zu %zu %zu", i + 1, next + 1, n + next + 1, n + i + 1);
    }
    kf_text_append(&obj, "\n");
    const char *path = write_text("prism.obj", obj.text);
    kf_text_free(&obj);
    return path;
}

/* Returns the length of the walls. Those of a bridge are there twice, once from each side, inside, and are
 * no surface. */
static double wall_length(const outline *o) {
    double length = 0.0;
    for (size_t i = 0; i < o->count; i++) {
        const size_t j = (i + 1) % o->count;
        bool bridge = false;
        for (size_t k = 0; k < o->count; k++) {
            const size_t l = (k + 1) % o->count;
            bridge = bridge ||
                     (o->x[k] == o->x[j] && o->y[k] == o->y[j] && o->x[l] == o->x[i] && o->y[l] == o->y[i]);
        }
        if (!bridge) length += hypot(o->x[j] - o->x[i], o->y[j] - o->y[i]);
    }
    return length;
}

static kf_box outline_box(const outline *o, const double matrix[9], const double at[3]) {
    kf_box box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (size_t i = 0; i < 2 * o->count; i++)
        for (int a = 0; a < 3; a++) {
            const double p[3] = {o->x[i % o->count], o->y[i % o->count], i < o->count ? 0.0 : 1.5},
                         place = kf_dot(matrix + (ptrdiff_t)3 * a, p) + at[a];
            box.low[a] = fmin(box.low[a], place);
            box.high[a] = fmax(box.high[a], place);
        }
    return box;
}

static void test_concave_outlines(void **state) {
    (void)state;
    uint64_t random = 20;
    for (int number = 0; number < OUTLINES; number++) {
        static outline o;
        double matrix[9];
        char what[32];
        const double at[3] = {number % 3 == 1 ? 5e5 : 0.0, number % 3 == 1 ? 5.4e6 : 0.0, 100.0};
        kf_text notes = {0};
        make_outline(&o, number, &random);
        draw_turn(&random, number < 40, matrix);
        kf_mesh mesh = read_mesh(write_prism(&o, matrix, at, &random), &notes);
        const double area = outline_area(&o);
        const kf_box box = outline_box(&o, matrix, at);
        (void)snprintf(what, sizeof what, "outline %d", number);
        assert_true(area > 0.0);
        assert_solid(what, &mesh, 1.5 * area, 2.0 * area + 1.5 * wall_length(&o), &box);
        kf_text_free(&notes);
        kf_mesh_free(&mesh);
    }
}

/* ---- Spoilt surfaces ---- */

enum { SURFACES = 240 };

/* A ball with bumps, a box, or a ring: closed, outwards. */
static void make_surface(kf_mesh_builder *heap, int number, uint64_t *state) {
    if (number % 3 == 0) {
        (void)heap_box(heap, (double[3]){draw(state), draw(state), -3.0},
                       (double[3]){0.1 + draw(state), 0.1 + draw(state), 0.1 + draw(state)});
    } else if (number % 3 == 1) {
        heap_ball(heap, 0.5 + draw(state), 4 + draw_below(state, 8));
        for (size_t v = 0; v < heap->mesh.vertex_count; v++) {
            const double k = 0.7 + 0.3 * draw(state);
            for (size_t a = 0; a < 3; a++)
                heap->mesh.vertices[3 * v + a] *= k;
        }
    } else {
        const double values[KF_SHAPE_PARAMETERS] = {0.35, 0.05 + 0.1 * draw(state)};
        kf_shape_mesh(&kf_shapes[1], values, &heap->mesh);
        heap->vertex_capacity = heap->mesh.vertex_count;
        heap->triangle_capacity = heap->mesh.triangle_count;
    }
}

/* Cuts an edge of one triangle, and of no other, at a place of its own, with a sliver that closes it or
 * without. */
static void cut_one_side(kf_mesh_builder *heap, size_t triangle, bool sliver, uint64_t *state) {
    const uint32_t a = heap->mesh.triangles[3 * triangle], b = heap->mesh.triangles[3 * triangle + 1],
                   c = heap->mesh.triangles[3 * triangle + 2];
    const double share = draw(state) < 0.3 ? 0.5 : 0.1 + 0.8 * draw(state);
    double m[3];
    for (size_t i = 0; i < 3; i++)
        m[i] = heap->mesh.vertices[3 * a + i] +
               share * (heap->mesh.vertices[3 * b + i] - heap->mesh.vertices[3 * a + i]);
    const uint32_t middle = kf_mesh_add_vertex(heap, m[0], m[1], m[2]);
    heap->mesh.triangles[3 * triangle + 1] = middle;
    kf_mesh_add_triangle(heap, middle, b, c);
    if (sliver) kf_mesh_add_triangle(heap, a, b, middle);
}

static void shuffle(kf_mesh *mesh, uint64_t *state) {
    for (size_t t = mesh->triangle_count; t-- > 1;) {
        uint32_t *one = mesh->triangles + 3 * t,
                 *other = mesh->triangles + 3 * (size_t)draw_below(state, t + 1), kept[3];
        memcpy(kept, one, sizeof kept);
        memmove(one, other, sizeof kept);
        memcpy(other, kept, sizeof kept);
    }
}

/* Adds slivers, duplicates of either winding, reversed triangles, lines and points as triangles, unused
 * vertices, and corners that are there twice. */
static void spoil(kf_mesh_builder *heap, uint64_t *state) {
    const size_t cuts = draw_below(state, 20), turned = draw_below(state, 12), copies = draw_below(state, 40);
    for (size_t i = 0; i < cuts; i++)
        cut_one_side(heap, draw_below(state, heap->mesh.triangle_count), draw(state) < 0.6, state);
    for (size_t i = 0; i < turned; i++)
        turn_round(&heap->mesh, draw_below(state, heap->mesh.triangle_count));
    for (size_t i = 0; i < copies; i++) {
        const uint32_t *t = heap->mesh.triangles + 3 * (size_t)draw_below(state, heap->mesh.triangle_count);
        const uint32_t c[3] = {t[0], t[1], t[2]};
        const size_t by = draw_below(state, 3);
        const bool back = draw(state) < 0.5;
        kf_mesh_add_triangle(heap, c[by], c[(by + (back ? 2 : 1)) % 3], c[(by + (back ? 1 : 2)) % 3]);
    }
    for (int i = 0; i < 5; i++) {
        const uint32_t v = draw_below(state, heap->mesh.vertex_count);
        const double *p = heap->mesh.vertices + 3 * (size_t)v;
        const uint32_t again = kf_mesh_add_vertex(heap, p[0], p[1], p[2]),
                       far = kf_mesh_add_vertex(heap, 1e3 * (draw(state) - 0.5), 50.0, -70.0 * draw(state));
        kf_mesh_add_triangle(heap, v, again, far);
        kf_mesh_add_triangle(heap, again, again, again);
    }
    shuffle(&heap->mesh, state);
}

static void test_spoilt_surfaces(void **state) {
    (void)state;
    uint64_t random = 7;
    for (int number = 0; number < SURFACES; number++) {
        kf_mesh_builder heap = {.vertex_capacity = 0};
        kf_text notes = {0};
        kf_body body;
        char what[32];
        make_surface(&heap, number, &random);
        assert_int_equal(kf_mesh_body(&heap.mesh, false, &body), 0);
        const double area = kf_mesh_area(&heap.mesh);
        const kf_box box = kf_mesh_bounds(&heap.mesh);
        spoil(&heap, &random);
        kf_mesh mesh = read_mesh(write_obj("spoilt.obj", &heap.mesh), &notes);
        (void)snprintf(what, sizeof what, "surface %d", number);
        assert_solid(what, &mesh, body.volume, area, &box);
        assert_int_equal(mesh.inner_count + mesh.sheet_count, 0);
        kf_text_free(&notes);
        kf_mesh_free(&mesh);
        kf_mesh_free(&heap.mesh);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_concave_outlines),
        cmocka_unit_test(test_spoilt_surfaces),
    };
    return cmocka_run_group_tests_name("random meshes", tests, make_test_folder, remove_test_folder);
}
