/* Tests the places of names beside points that are close together. Faults: a name over another name, a
 * point or a line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "plots/label_places.h"

static bool apart(const kf_label_box *a, const kf_label_box *b) {
    return a->left >= b->left + b->width || b->left >= a->left + a->width ||
           a->bottom >= b->bottom + b->height || b->bottom >= a->bottom + a->height;
}

/* A dozen points within 40 by 20 points of the picture, as kernels of one kind lie in a roofline. */
static void test_close_points(void **state) {
    (void)state;
    enum { POINTS = 12 };
    static kf_label_places places;
    places = (kf_label_places){.width = 783, .height = 424};
    kf_label_box names[POINTS];
    double x[POINTS], y[POINTS];
    for (int i = 0; i < POINTS; i++) {
        x[i] = 400 + 40 * fmod(0.618 * i, 1);
        y[i] = 200 + 20 * fmod(0.414 * i, 1);
        kf_label_take(&places, (kf_label_box){x[i] - 6, y[i] - 6, 12, 12});
    }
    bool any_led = false;
    for (int i = 0; i < POINTS; i++)
        any_led |= kf_label_find(&places, x[i], y[i], 60, 11, &names[i]);
    assert_true(any_led);
    for (int i = 0; i < POINTS; i++) {
        for (int k = 0; k < i; k++)
            assert_true(apart(&names[i], &names[k]));
        for (int k = 0; k < POINTS; k++)
            assert_true(apart(&names[i], &(kf_label_box){x[k] - 6, y[k] - 6, 12, 12}));
    }
}

static void test_a_name_stays_inside_the_picture(void **state) {
    (void)state;
    static kf_label_places places;
    places = (kf_label_places){.width = 200, .height = 100};
    kf_label_box name;
    assert_false(kf_label_find(&places, 50, 50, 60, 10, &name));
    assert_true(name.left > 50 && name.bottom == 45);
    /* At the right edge the name goes to the left, and around a line. */
    assert_false(kf_label_find(&places, 190, 20, 60, 10, &name));
    assert_true(name.left >= 0 && name.left + name.width < 190);
    kf_label_take_line(&places, 0, 80, 200, 80);
    (void)kf_label_find(&places, 50, 80, 60, 10, &name);
    assert_true(name.bottom > 80 || name.bottom + name.height < 80);
}

/* Where no place is free, the name is there nevertheless. */
static void test_a_crowded_name_is_still_drawn(void **state) {
    (void)state;
    static kf_label_places places;
    places = (kf_label_places){.width = 200, .height = 100};
    for (int i = 0; i < KF_LABEL_BOXES + 2; i++)
        kf_label_take(&places, (kf_label_box){0, 0, 200, 100});
    kf_label_box name;
    assert_false(kf_label_find(&places, 50, 50, 60, 10, &name));
    assert_true(name.left > 50);
    assert_int_equal(places.count, KF_LABEL_BOXES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_close_points),
        cmocka_unit_test(test_a_name_stays_inside_the_picture),
        cmocka_unit_test(test_a_crowded_name_is_still_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
