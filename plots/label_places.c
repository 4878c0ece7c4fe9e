#include "plots/label_places.h"

#include <math.h>

enum { RINGS = 7, DIRECTIONS = 8 };

void kf_label_take(kf_label_places *places, kf_label_box box) {
    if (places->count < KF_LABEL_BOXES) places->boxes[places->count++] = box;
}

void kf_label_take_line(kf_label_places *places, double x, double y, double to_x, double to_y) {
    const double step = 8;
    const int pieces = 1 + (int)fmin(hypot(to_x - x, to_y - y) / step, 512);
    for (int i = 0; i <= pieces; i++) {
        const double part = (double)i / pieces;
        kf_label_take(places, (kf_label_box){x + part * (to_x - x) - 1, y + part * (to_y - y) - 1, 2, 2});
    }
}

static bool overlap(const kf_label_box *a, const kf_label_box *b) {
    return a->left < b->left + b->width && b->left < a->left + a->width &&
           a->bottom < b->bottom + b->height && b->bottom < a->bottom + a->height;
}

static bool is_free(const kf_label_places *places, const kf_label_box *box) {
    if (box->left < 0 || box->bottom < 0 || box->left + box->width > places->width ||
        box->bottom + box->height > places->height)
        return false;
    for (int i = 0; i < places->count; i++)
        if (overlap(box, &places->boxes[i])) return false;
    return true;
}

bool kf_label_find(kf_label_places *places, double x, double y, double width, double height,
                   kf_label_box *found) {
    /* The right side comes first, because names are expected there; then left, below, above and the corners.
     */
    static const int across[DIRECTIONS] = {1, 1, 1, 0, 0, -1, -1, -1};
    static const int up[DIRECTIONS] = {0, -1, 1, -1, 1, 0, -1, 1};
    const double beside = 9, ring = 11;
    for (int far = 0; far < RINGS; far++)
        for (int d = 0; d < DIRECTIONS; d++) {
            const double gap = beside + ring * far;
            const double middle_x = x + across[d] * (gap + width / 2);
            const double middle_y = y + up[d] * (gap + (across[d] == 0 ? height / 2 : 0));
            *found = (kf_label_box){middle_x - width / 2, middle_y - height / 2, width, height};
            if (!is_free(places, found)) continue;
            kf_label_take(places, *found);
            return far > 0;
        }
    *found = (kf_label_box){x + beside, y - height / 2, width, height};
    kf_label_take(places, *found);
    return false;
}
