/* The hash of a scene of stable_fluids: all that changes the result changes it. Faults: two scenes with other
 * results count as one. */
#include "tests/unit/fluid_texts.h"

static void numbers_are_hashed(kf_fluid *f, const char *hash) {
    double *const numbers[] = {&f->viscosity,
                               &f->confinement,
                               &f->accuracy,
                               &f->shake,
                               &f->start_velocity[0],
                               &f->start_velocity[1],
                               &f->start_velocity[2],
                               &f->start_amplitude,
                               &f->body_amplitude,
                               &f->dyes[0].dissipation,
                               &f->dyes[0].lift,
                               &f->motion.center[0],
                               &f->motion.center[1],
                               &f->motion.center[2],
                               &f->motion.velocity[0],
                               &f->motion.velocity[1],
                               &f->motion.velocity[2],
                               &f->motion.axis[0],
                               &f->motion.axis[1],
                               &f->motion.axis[2],
                               &f->motion.spin,
                               &f->drag,
                               &f->rebound,
                               &f->impulses[0].vector[0],
                               &f->impulses[0].vector[1],
                               &f->impulses[0].vector[2],
                               &f->sources[0].center[0],
                               &f->sources[0].center[1],
                               &f->sources[0].center[2],
                               &f->sources[0].radius,
                               &f->sources[0].velocity[0],
                               &f->sources[0].velocity[1],
                               &f->sources[0].velocity[2],
                               &f->sources[0].pull,
                               &f->sources[0].acceleration[0],
                               &f->sources[0].acceleration[1],
                               &f->sources[0].acceleration[2],
                               &f->sources[0].dye[0],
                               &f->sources[0].dye[1],
                               &f->sources[0].dye[2]};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const double was = *numbers[i];
        *numbers[i] = was + 0.125;
        kf_fluid_finish(f);
        if (strcmp(f->hash, hash) == 0) fail_msg("number %zu is not in the hash", i);
        *numbers[i] = was;
    }
}

static void integers_are_hashed(kf_fluid *f, const char *hash) {
    int *const whole[] = {&f->cells[0],
                          &f->cells[1],
                          &f->simulations,
                          &f->start_mode,
                          &f->body_mode,
                          &f->impulses[0].cell[0],
                          &f->impulses[0].cell[1],
                          &f->impulses[0].cell[2],
                          &f->impulses[0].reach};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        const int was = *whole[i];
        *whole[i] = was - (i < 2); /* the mask has as many cells */
        *whole[i] += i >= 2;
        kf_fluid_finish(f);
        if (strcmp(f->hash, hash) == 0) fail_msg("integer %zu is not in the hash", i);
        *whole[i] = was;
    }
}

static void flags_are_hashed(kf_fluid *f, const char *hash) {
    bool *const flags[] = {&f->walls[0],   &f->walls[1],    &f->walls[2],         &f->midpoint,
                           &f->reflection, &f->exponential, &f->particle_midpoint};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        *flags[i] = !*flags[i];
        kf_fluid_finish(f);
        if (strcmp(f->hash, hash) == 0) fail_msg("flag %zu is not in the hash", i);
        *flags[i] = !*flags[i];
    }
}

static void the_rest_is_hashed(kf_fluid *f, const char *hash) {
    f->mask[0] += 0.5F;
    kf_fluid_finish(f);
    assert_string_not_equal(f->hash, hash);
    f->mask[0] -= 0.5F;
    f->impulses[0].step++;
    kf_fluid_finish(f);
    assert_string_not_equal(f->hash, hash);
    f->impulses[0].step--;
    f->sources[0].last--;
    kf_fluid_finish(f);
    assert_string_not_equal(f->hash, hash);
    f->sources[0].last++;
    f->seed++;
    kf_fluid_finish(f);
    assert_string_not_equal(f->hash, hash);
    f->seed--;
}

/* Everything that changes the result changes the hash; a copy has the same. */
static void what_changes_the_result_changes_the_hash(void **state) {
    (void)state;
    static const char text[] =
        "{" PLAIN ", \"dyes\": [{\"name\": \"ink\"}], \"sources\": [{\"center\": [1, 2], "
        "\"radius\": 0.5}], \"pushes\": {\"reach\": 2, \"list\": [{\"step\": 7, \"at\": "
        "[3.9, 0.1], \"velocity\": [2, 3]}]}, \"solid\": {\"shape\": \"disc\", "
        "\"center\": [2, 1.25], \"radius\": 0.6}}";
    kf_fluid *f = open_text(text);
    char hash[KF_HASH_HEX];
    memcpy(hash, f->hash, sizeof hash);
    kf_fluid *copy = kf_fluid_copy(f);
    kf_fluid_finish(copy);
    assert_string_equal(copy->hash, hash);
    kf_fluid_free(copy);
    numbers_are_hashed(f, hash);
    integers_are_hashed(f, hash);
    flags_are_hashed(f, hash);
    the_rest_is_hashed(f, hash);
    kf_fluid_finish(f);
    assert_string_equal(f->hash, hash);
    kf_fluid_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_changes_the_result_changes_the_hash),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
