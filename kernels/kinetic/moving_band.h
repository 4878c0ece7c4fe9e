/* Finds the nodes in the band of a moving solid, anew in each step. It visits the samples' cells, and adds
 * each node once. Or it works with patches of samples, and then also sorts a patch's samples into runs of
 * one cell each. immersed_band.cu includes it, and has its defines. For a solid at rest it is empty. */
#ifndef KF_KERNELS_KINETIC_MOVING_BAND_H
#define KF_KERNELS_KINETIC_MOVING_BAND_H

#if KF_MOVING
/* Gives node k this place in the band. Returns 1 if the band has no such place. */
KF_FUNCTION int kf_give_place(const kf_module_arguments *a, kf_index k, int place) {
    const int fits = place < a->band.capacity;
    if (fits) ((kf_index *)a->band.node)[place] = k;
    a->band.of[k] = fits ? place : -1;
    return !fits;
}
/* Takes places back that the band does not have, and counts them as missing. */
KF_FUNCTION void kf_take_back(const kf_module_arguments *a, int over) {
    if (over == 0) return;
    kf_atomic_add_int(a->band.count, -over);
    kf_atomic_add_int(a->band.count + 1, over);
}
#endif

#if KF_MOVING && KF_CELLS && KF_PATCH
/* Returns the number of words of patch_band for a row of the box around the solid. */
#define KF_BOX_WORDS(a) (((a)->samples.box[0] + 32) / 32)

/* Marks the nodes in one of the four rows of a cell. */
KF_FUNCTION void kf_mark_row(const kf_module_arguments *a, const int *origin, const kf_sample_cell *cell,
                             int row) {
    const int x = kf_home(0, cell->x - origin[0], a->grid.nodes[0]),
              y = kf_home(1, cell->y - origin[1], a->grid.nodes[1]),
              z = kf_home(2, cell->z - origin[2], a->grid.nodes[2]);
    if (x < 0 || y < 0 || z < 0 || x >= a->samples.box[0] || y >= a->samples.box[1] || z >= a->samples.box[2])
        return;
    unsigned *const words =
        a->patches.band +
        (long long)KF_BOX_WORDS(a) * (y + (row & 1) + (a->samples.box[1] + 1) * (z + (row >> 1)));
    if (x % 32 < 31) {
        kf_atomic_set_bits(words + x / 32, 3U << x % 32);
    } else {
        kf_atomic_set_bits(words + x / 32, 1U << 31);
        kf_atomic_set_bits(words + x / 32 + 1, 1U);
    }
}

#if KF_OWN_POSE
/* Copies what a prescribed motion needs from the last pose, and computes the pose of the step that begins. */
KF_FUNCTION void kf_find_pose(const kf_pose *before, kf_pose *pose) {
    for (int i = 0; i < 3; i++) {
        pose->axis[i] = before->axis[i];
        pose->center_start[i] = before->center_start[i];
        pose->velocity[i] = before->velocity[i];
    }
    pose->angular_speed = before->angular_speed;
    pose->radius = before->radius;
    pose->step = before->step;
    kf_advance_prescribed(pose);
}
/* Stores the new pose behind the last one, from which all blocks begin. patch_collect then moves it to its
 * place. */
KF_FUNCTION void kf_leave_pose(kf_pose *all, const kf_pose *pose) {
    all[1] = all[0];
    for (int i = 0; i < 9; i++)
        all[1].rotation[i] = pose->rotation[i];
    for (int i = 0; i < 3; i++) {
        all[1].center[i] = pose->center[i];
        all[1].angular_velocity[i] = pose->angular_velocity[i];
        all[1].box_origin[i] = pose->box_origin[i];
    }
    all[1].step = pose->step;
}
#endif

/* Returns the lower corner of the box around the solid, or around several. */
#if KF_SOLIDS
#define KF_BOX_ORIGIN(a, pose) ((const kf_pose *)(a)->samples.pose)->box_origin
#else
#define KF_BOX_ORIGIN(a, pose) (pose)->box_origin
#endif

/* Sorts the samples of a patch by cells, and marks these cells. The order within a run differs between
 * devices. A thread loads all its samples at once. Among the samples of a warp that are in one cell, the
 * first enters the cell for all. Cells are numbered as they are found, because there are few, and no loop
 * visits the whole table. The extent is KF_PATCH_THREADS for each patch. */
KF_BLOCK_KERNEL(patch_sort, kf_module_arguments) {
    (void)block_y;
    KF_SHARED int corners[KF_PATCH_TABLE], counts[KF_PATCH_TABLE], cells[KF_PATCH], sizes[KF_PATCH],
        cells_found;
#if KF_OWN_POSE
    KF_SHARED kf_pose own_pose;
    const kf_pose *pose = &own_pose;
#else
    const kf_pose *pose = KF_POSE_OF(a, block_x * KF_PATCH);
#endif
    kf_real4 packed[KF_SLOTS(KF_PATCH, KF_PATCH_THREADS)];
    int place[KF_SLOTS(KF_PATCH,
                       KF_PATCH_THREADS)]; /* place in the table; above 16 bits the position in the cell */
    int *runs = a->patches.runs + (long long)block_x * KF_PATCH_RUNS;
    KF_EACH_FULL_SLOT(i, slot, KF_PATCH, KF_PATCH_THREADS) {
        const int s = block_x * KF_PATCH + i;
        packed[slot] = kf_moving_sample(a, s < a->samples.count ? s : a->samples.count - 1);
    }
    KF_EACH_FULL_SLOT(i, slot, KF_PATCH_TABLE, KF_PATCH_THREADS) {
        (void)slot;
        corners[i] = KF_NO_CELL;
        counts[i] = 0;
    }
    KF_EACH_THREAD_SCALAR(t, KF_PATCH_THREADS) {
        if (t == 0) cells_found = 0;
#if KF_OWN_POSE
        if (t == 0) kf_find_pose((const kf_pose *)a->samples.pose, &own_pose);
        if (t == 0 && block_x == 0) {
            kf_leave_pose((kf_pose *)a->samples.pose, &own_pose);
            a->band.count[0] = a->band.count[2] = 0;
        }
#endif
    }
    KF_BARRIER;
    KF_EACH_FULL_SLOT(i, slot, KF_PATCH, KF_PATCH_THREADS) {
        const kf_sample sample = kf_place_sample(a, pose, packed[slot]);
        const int own = block_x * KF_PATCH + i < a->samples.count && kf_is_near(a, &sample);
        place[slot] = own ? (int)sample.corner : KF_NO_CELL;
        packed[slot].x = sample.cell.fx;
        packed[slot].y = sample.cell.fy;
        packed[slot].z = sample.cell.fz;
    }
    KF_EACH_FULL_SLOT(i, slot, KF_PATCH, KF_PATCH_THREADS) {
        (void)i;
        const int corner = place[slot];
        const kf_equals equals = kf_find_equals(corner);
        int entered = 0;
        if (equals.before == 0 && corner != KF_NO_CELL) {
            unsigned at = (unsigned)corner * 2654435769U >> 16;
            for (;; at++) {
                at %= KF_PATCH_TABLE;
                int known = kf_load_shared(corners + at);
                if (known == KF_NO_CELL) known = kf_atomic_compare_swap_int(corners + at, KF_NO_CELL, corner);
                if (known == KF_NO_CELL) cells[kf_atomic_add_int(&cells_found, 1)] = (int)at;
                if (known == KF_NO_CELL || known == corner) break;
            }
            entered = (int)at | kf_atomic_add_int(counts + at, equals.all) << 16;
        }
        entered = kf_from_lane(entered, equals.first);
        place[slot] = corner == KF_NO_CELL ? -1 : entered + (equals.before << 16);
    }
    KF_BARRIER;
    /* From here on: the number of the cell's samples, and above 16 bits its runs. */
    KF_EACH_OF(c, cells_found, KF_PATCH_THREADS) {
        const int count = counts[cells[c]];
        sizes[c] = count | KF_RUNS(count) << 16;
    }
    KF_BARRIER;
    KF_EACH_OF(c, cells_found, KF_PATCH_THREADS) {
        const int count = sizes[c] & 0xffff, corner = corners[cells[c]];
        int before = 0;
        KF_UNROLL_BY_8
        for (int i = 0; i < c; i++)
            before += sizes[i];
        const int first = before & 0xffff;
        counts[cells[c]] = first;
        int *run = runs + 2 + 2 * (before >> 16);
        for (int done = 0; done < count; done += KF_SEGMENT_LENGTH, run += 2) {
            const int left = count - done;
            run[0] = corner;
            run[1] = (first + done) | (left < KF_SEGMENT_LENGTH ? left : KF_SEGMENT_LENGTH) << 16;
        }
        if (c == cells_found - 1) runs[0] = (before + sizes[c]) >> 16;
    }
    KF_EACH_THREAD_SCALAR(t, KF_PATCH_THREADS) {
        if (t == 0 && cells_found == 0) runs[0] = 0;
    }
    KF_BARRIER;
    KF_EACH_FULL_SLOT(i, slot, KF_PATCH, KF_PATCH_THREADS) {
        (void)i;
        if (place[slot] < 0) continue;
        const int rank = counts[place[slot] & 0xffff] + (place[slot] >> 16);
        ((kf_real4 *)a->segments.samples)[(long long)block_x * KF_PATCH + rank] = packed[slot];
    }
    KF_EACH_OF(i, 4 * cells_found, KF_PATCH_THREADS) {
        const kf_sample corner = kf_corner_of(a, (kf_index)corners[cells[i / 4]]);
        kf_mark_row(a, KF_BOX_ORIGIN(a, pose), &corner.cell, i % 4);
    }
}

/* Gives the marked nodes places in the band, in the order of a block's words, so that neighbours along x
 * are neighbours in the band. The entries of the map for other nodes have no meaning. The extent is
 * KF_PATCH_THREADS for each KF_PATCH_WORDS words of patch_band. A thread has a bit, and a warp the bits of
 * a word. */
#define KF_PATCH_WORDS 32
KF_BLOCK_KERNEL(patch_collect, kf_module_arguments) {
    (void)block_y;
    KF_SHARED unsigned words[KF_PATCH_WORDS];
    KF_SHARED int counts[KF_PATCH_WORDS], before[KF_PATCH_WORDS], starts[KF_PATCH_WORDS], all, first;
    KF_SHARED kf_index rows[KF_PATCH_WORDS];
    const kf_pose *pose = (const kf_pose *)a->samples.pose + KF_OWN_POSE;
    const int row_words = KF_BOX_WORDS(a),
              count = row_words * (a->samples.box[1] + 1) * (a->samples.box[2] + 1);
    KF_EACH_OF(w, KF_PATCH_WORDS, KF_PATCH_THREADS) {
        const int word = block_x * KF_PATCH_WORDS + w;
        words[w] = word < count ? a->patches.band[word] : 0;
        counts[w] = kf_count_bits(words[w]);
        if (words[w] != 0) a->patches.band[word] = 0;
    }
#if KF_OWN_POSE
    KF_EACH_THREAD_SCALAR(t, KF_PATCH_THREADS) {
        if (t == KF_PATCH_THREADS - 1 && block_x == 0) *(kf_pose *)a->samples.pose = *pose;
    }
#endif
    KF_BARRIER;
    KF_EACH_OF(w, KF_PATCH_WORDS, KF_PATCH_THREADS) {
        const int word = block_x * KF_PATCH_WORDS + w, row = word / row_words, *origin = pose->box_origin;
        int sum = 0;
        KF_UNROLL_BY_8
        for (int i = 0; i < w; i++)
            sum += counts[i];
        before[w] = sum;
        if (w == KF_PATCH_WORDS - 1) {
            all = sum + counts[w];
            if (all > 0) first = kf_atomic_add_int(a->band.count, all);
        }
        starts[w] = origin[0] + 32 * (word - row * row_words);
        rows[w] = kf_node(a, 0, kf_sample_row(a, origin[1] + row % (a->samples.box[1] + 1)),
                          kf_home(2, origin[2] + row / (a->samples.box[1] + 1), a->grid.nodes[2]));
    }
    KF_BARRIER;
    if (all == 0) return;
    KF_EACH_OF(i, 32 * KF_PATCH_WORDS, KF_PATCH_THREADS) {
        const int w = i / 32;
        const unsigned bit = 1U << i % 32;
        if ((words[w] & bit) == 0) continue;
        const kf_index k = rows[w] + kf_home(0, starts[w] + i % 32, a->grid.nodes[0]);
        kf_take_back(a, kf_give_place(a, k, first + before[w] + kf_count_bits(words[w] & (bit - 1))));
    }
}
#elif KF_MOVING
/* Removes the nodes of the old band from the map. The extent is band_capacity. */
KF_SCALAR_KERNEL(band_release, kf_module_arguments) {
    (void)y, (void)z;
    if (x >= a->band.count[0]) return;
    const kf_index k = ((const kf_index *)a->band.node)[x];
    a->band.of[k] = -1;
#if KF_CELLS
    a->patches.cell_count[k] = 0;
#endif
}

/* Adds every node of a sample's cell to the band once. -2 marks a node that another item is adding. All
 * corners are loaded, then claimed, then given places. Done corner by corner, each would wait for the one
 * before. */
KF_FUNCTION void kf_mark_cell(const kf_module_arguments *a, const kf_sample *sample) {
    int known[8], claimed[8], count = 0, over = 0;
    KF_UNROLL
    for (int corner = 0; corner < 8; corner++)
        known[corner] = a->band.of[KF_CELL_NODE(*sample, corner & 1, corner >> 1 & 1, corner >> 2)];
    KF_UNROLL
    for (int corner = 0; corner < 8; corner++) {
        int *const of = a->band.of + KF_CELL_NODE(*sample, corner & 1, corner >> 1 & 1, corner >> 2);
        claimed[corner] = known[corner] == -1 && kf_atomic_compare_swap_int(of, -1, -2) == -1;
    }
    KF_UNROLL
    for (int corner = 0; corner < 8; corner++)
        count += claimed[corner];
    if (count == 0) return;
    int place = kf_atomic_add_int(a->band.count, count);
    KF_UNROLL
    for (int corner = 0; corner < 8; corner++) {
        const kf_index k = KF_CELL_NODE(*sample, corner & 1, corner >> 1 & 1, corner >> 2);
        if (!claimed[corner]) continue;
        over += kf_give_place(a, k, place++);
    }
    kf_take_back(a, over);
}
#if KF_CELLS
/* Marks each cell by its first sample. Which sample is first differs between runs, so only sums of
 * integers over a cell are reproducible. */
KF_SCALAR_KERNEL(cell_mark, kf_module_arguments) {
    (void)y, (void)z;
    const kf_sample sample = kf_load_sample(a, x, 0);
    if (!kf_is_near(a, &sample)) return;
    const int rank = kf_atomic_count(a->patches.cell_count + sample.corner);
    a->patches.sample_rank[x] = rank;
    if (rank == 0) kf_mark_cell(a, &sample);
}

/* Collects the samples of each cell. Samples that find no room in their cell go to a list. */
KF_SCALAR_KERNEL(cell_fill, kf_module_arguments) {
    (void)y, (void)z;
    const kf_sample sample = kf_load_sample(a, x, 0);
    if (!kf_is_near(a, &sample)) return;
    const int rank = a->patches.sample_rank[x], row = rank / KF_SEGMENT_LENGTH,
              place = a->band.of[sample.corner];
    if (row >= a->patches.cell_rows || place < 0) {
        a->patches.crowded[kf_atomic_add_int(a->band.count + 2, 1)] = x;
        return;
    }
    kf_real4 packed;
    packed.x = sample.cell.fx;
    packed.y = sample.cell.fy;
    packed.z = sample.cell.fz;
    packed.w = sample.area;
    const long long segment = (long long)row * a->band.capacity + place;
    ((kf_real4 *)a->segments.samples)[segment * KF_SEGMENT_LENGTH + rank % KF_SEGMENT_LENGTH] = packed;
}
#else
KF_SCALAR_KERNEL(band_mark, kf_module_arguments) {
    (void)y, (void)z;
    const kf_sample sample = kf_load_sample(a, x, 0);
    if (!kf_is_near(a, &sample)) return;
    kf_mark_cell(a, &sample);
}
#endif
#endif

#endif
