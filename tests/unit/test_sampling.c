/* Tests the samples on a surface. Faults: samples too close or too far, wrong areas, others in the next
 * run. */
#include "base/util/memory.h"
#include "tests/unit/scene_files.h"

#include <math.h>
#include <time.h>

static const double PI = 3.14159265358979323846;

static void make_shape(int shape, kf_mesh *mesh) {
    double values[KF_SHAPE_PARAMETERS] = {0};
    for (int p = 0; p < KF_SHAPE_PARAMETERS && kf_shapes[shape].parameters[p].key != NULL; p++)
        values[p] = kf_shapes[shape].parameters[p].fallback;
    kf_shape_mesh(&kf_shapes[shape], values, mesh);
}

static double distance(const kf_samples *s, size_t i, size_t j) {
    const double dx = s->x[i] - s->x[j], dy = s->y[i] - s->y[j], dz = s->z[i] - s->z[j];
    return sqrt(dx * dx + dy * dy + dz * dz);
}

static double smallest_distance(const kf_samples *s) {
    double smallest = INFINITY;
    for (size_t i = 0; i < s->count; i++)
        for (size_t j = 0; j < i; j++)
            smallest = fmin(smallest, distance(s, i, j));
    return smallest;
}

static double largest_gap(const kf_samples *s, const kf_samples *probes) {
    double largest = 0.0;
    for (size_t p = 0; p < probes->count; p++) {
        double nearest = INFINITY;
        for (size_t i = 0; i < s->count; i++)
            nearest = fmin(nearest, hypot(hypot(s->x[i] - probes->x[p], s->y[i] - probes->y[p]),
                                          s->z[i] - probes->z[p]));
        largest = fmax(largest, nearest);
    }
    return largest;
}

/* In the densest packing neighbours are 2 r_max apart. Elimination reaches 0.6 to 0.75 of that, and white
 * noise hardly anything. */
static void test_samples_keep_their_distance(void **state) {
    (void)state;
    kf_mesh mesh;
    make_shape(0, &mesh);
    kf_samples samples = {0}, probes = {0};
    kf_sample_mesh(&mesh, 3000, 11, &samples, NULL);
    kf_sample_mesh(&mesh, 500, 12, &probes, NULL);
    const double radius = kf_sample_radius(kf_mesh_area(&mesh), samples.count);
    const double smallest = smallest_distance(&samples), gap = largest_gap(&samples, &probes);
    print_message("smallest distance %.3f of 2 r_max, largest gap %.3f of 2 r_max\n",
                  smallest / (2.0 * radius), gap / (2.0 * radius));
    assert_true(smallest >= 0.6 * 2.0 * radius);
    assert_true(gap <= 2.0 * radius); /* no holes: a disk is covered */

    kf_samples noise = samples; /* independent uniform points on the same sphere */
    uint64_t number = 99;
    double *coordinates = kf_allocate(3 * samples.count * sizeof *coordinates);
    noise.x = coordinates;
    noise.y = coordinates + samples.count;
    noise.z = coordinates + 2 * samples.count;
    for (size_t i = 0; i < noise.count; i++) {
        number = number * 6364136223846793005ULL + 1442695040888963407ULL;
        const double height = (double)(number >> 11) * 0x1p-52 - 1.0;
        number = number * 6364136223846793005ULL + 1442695040888963407ULL;
        const double angle = 2.0 * PI * (double)(number >> 11) * 0x1p-53, ring = sqrt(1.0 - height * height);
        noise.x[i] = 0.5 * ring * cos(angle);
        noise.y[i] = 0.5 * ring * sin(angle);
        noise.z[i] = 0.5 * height;
    }
    assert_true(smallest_distance(&noise) < 0.1 * smallest);
    free(coordinates);
    kf_samples_free(&samples);
    kf_samples_free(&probes);
    kf_mesh_free(&mesh);
}

static void test_area_and_surface(void **state) {
    (void)state;
    kf_mesh mesh;
    make_shape(0, &mesh);
    kf_samples samples = {0};
    kf_sample_mesh(&mesh, 20000, 1, &samples, NULL);
    assert_int_equal(samples.count, 20000);
    double total = 0.0;
    for (size_t i = 0; i < samples.count; i++) {
        const double r =
            sqrt(samples.x[i] * samples.x[i] + samples.y[i] * samples.y[i] + samples.z[i] * samples.z[i]);
        assert_true(r <= 0.5 + 1e-12 && r >= 0.5 * 0.999); /* facets are slightly inside the ball */
        total += samples.area[i];
    }
    assert_true(fabs(total / kf_mesh_area(&mesh) - 1.0) < 1e-12);
    kf_samples_free(&samples);
    kf_mesh_free(&mesh);
}

/* On a box every sample lies exactly on a face, and each side has its share of the samples. */
static void test_plate_shares(void **state) {
    (void)state;
    const double sizes[KF_SHAPE_PARAMETERS] = {2.0, 1.0, 0.5};
    kf_mesh mesh;
    kf_shape_mesh(&kf_shapes[3], sizes, &mesh);
    kf_samples samples = {0};
    kf_sample_mesh(&mesh, 7000, 5, &samples, NULL); /* 1000 per unit of area */
    int across[3] = {0};
    for (size_t i = 0; i < samples.count; i++) {
        const double position[3] = {samples.x[i], samples.y[i], samples.z[i]};
        double off = INFINITY;
        int face = 0;
        for (int a = 0; a < 3; a++)
            if (fabs(0.5 * sizes[a] - fabs(position[a])) < off) {
                off = fabs(0.5 * sizes[a] - fabs(position[a]));
                face = a;
            }
        assert_true(off < 1e-12);
        across[face]++;
    }
    assert_in_range(across[0], 950, 1050);
    assert_in_range(across[1], 1900, 2100);
    assert_in_range(across[2], 3850, 4150);
    kf_samples_free(&samples);
    kf_mesh_free(&mesh);
}

static void test_a_seed_repeats_the_samples(void **state) {
    (void)state;
    kf_mesh mesh;
    make_shape(4, &mesh);
    kf_samples first = {0}, again = {0}, other = {0};
    kf_sample_mesh(&mesh, 10000, 42, &first, NULL);
    kf_sample_mesh(&mesh, 10000, 42, &again, NULL);
    kf_sample_mesh(&mesh, 10000, 43, &other, NULL);
    const size_t bytes = first.count * sizeof(double);
    assert_memory_equal(first.x, again.x, bytes);
    assert_memory_equal(first.y, again.y, bytes);
    assert_memory_equal(first.z, again.z, bytes);
    assert_memory_not_equal(first.x, other.x, bytes);
    kf_samples_free(&first);
    kf_samples_free(&again);
    kf_samples_free(&other);
    kf_mesh_free(&mesh);
}

/* Guards the bits on every machine. The plate needs no sine, so that only IEEE arithmetic is involved. */
static void test_the_bits_are_those_of_every_machine(void **state) {
    (void)state;
    const double sizes[KF_SHAPE_PARAMETERS] = {2.0, 1.0, 0.5};
    kf_mesh mesh;
    kf_shape_mesh(&kf_shapes[3], sizes, &mesh);
    kf_samples samples = {0};
    kf_sample_mesh(&mesh, 5000, 1, &samples, NULL);
    kf_hasher hasher;
    char hex[KF_HASH_HEX];
    kf_hash_begin(&hasher);
    kf_hash_add(&hasher, samples.x, samples.count * sizeof(double));
    kf_hash_add(&hasher, samples.y, samples.count * sizeof(double));
    kf_hash_add(&hasher, samples.z, samples.count * sizeof(double));
    kf_hash_end(&hasher, hex);
    assert_string_equal(hex, "ffa643b0ac74fa979ef71e6995237e16458de0094fb48752dc151f8d05ef29db");
    kf_samples_free(&samples);
    kf_mesh_free(&mesh);
}

static void test_few_and_flat(void **state) {
    (void)state;
    kf_mesh_builder b = {
        0}; /* a needle along the diagonal, which would need more cubes than there are keys */
    kf_mesh_add_vertex(&b, 0, 0, 0);
    kf_mesh_add_vertex(&b, 1000, 1000, 1000);
    kf_mesh_add_vertex(&b, 0, 0, 1e-8);
    kf_mesh_add_triangle(&b, 0, 1, 2);
    for (size_t count = 1; count <= 1000; count *= 10) {
        kf_samples samples = {0};
        kf_sample_mesh(&b.mesh, count, 1, &samples, NULL);
        assert_int_equal(samples.count, count);
        for (size_t i = 0; i < count; i++)
            assert_true(fabs(samples.x[i] - samples.y[i]) < 1e-9 && samples.x[i] >= 0.0 &&
                        samples.x[i] <= 1000.0);
        kf_samples_free(&samples);
    }
    kf_mesh_free(&b.mesh);
}

static void test_time_of_many(void **state) {
    (void)state;
    kf_mesh mesh;
    make_shape(4, &mesh);
    kf_samples samples = {0};
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    const clock_t processor = clock();
#ifdef __SANITIZE_ADDRESS__
    const size_t count = 200000; /* sanitizers take longer for each sample */
#else
    const size_t count = 1000000;
#endif
    kf_sample_mesh(&mesh, count, 1, &samples, NULL);
    clock_gettime(CLOCK_MONOTONIC, &end);
    print_message("%zu samples in %.1f s (%.1f s of processor time)\n", count,
                  (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec),
                  (double)(clock() - processor) / CLOCKS_PER_SEC);
    assert_int_equal(samples.count, count);
    kf_samples_free(&samples);
    kf_mesh_free(&mesh);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples_keep_their_distance),
        cmocka_unit_test(test_area_and_surface),
        cmocka_unit_test(test_plate_shares),
        cmocka_unit_test(test_a_seed_repeats_the_samples),
        cmocka_unit_test(test_the_bits_are_those_of_every_machine),
        cmocka_unit_test(test_few_and_flat),
        cmocka_unit_test(test_time_of_many),
    };
    return cmocka_run_group_tests_name("sampling", tests, NULL, NULL);
}
