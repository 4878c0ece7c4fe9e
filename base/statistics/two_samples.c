/* Compares two samples without assuming a distribution. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics/detector.h"
#include "base/statistics/statistics.h"
#include "base/util/memory.h"

/* Computes twice the ranks of all values, first a's, then b's. Doubled ranks of equal values are whole
 * numbers. */
static void double_ranks(const double *a, size_t a_count, const double *b, size_t b_count, int *ranks) {
    size_t count = a_count + b_count;
    for (size_t i = 0; i < count; i++) {
        double value = i < a_count ? a[i] : b[i - a_count];
        int below = 0, equal = 0;
        for (size_t k = 0; k < count; k++) {
            double other = k < a_count ? a[k] : b[k - a_count];
            below += other < value;
            equal += other == value;
        }
        ranks[i] = 2 * below + equal + 1;
    }
}

/* Returns the probability by the normal distribution. observed is twice the sum of a's ranks. */
static double by_normal(const int *ranks, size_t a_count, size_t b_count, double observed) {
    const size_t count = a_count + b_count;
    const double n = (double)count, m = (double)a_count * (double)b_count;
    double squares = 0.0;
    for (size_t i = 0; i < count; i++)
        squares += 0.25 * ranks[i] * ranks[i];
    /* This is the variance of the sum of a_count ranks drawn without replacement. */
    const double variance = m / (n * (n - 1.0)) * (squares - n * (n + 1.0) * (n + 1.0) / 4.0);
    const double off = fabs(0.5 * observed - (double)a_count * (n + 1.0) / 2.0) - 0.5;
    if (!(variance > 0.0)) return 1.0;
    return erfc(fmax(off, 0.0) / sqrt(2.0 * variance));
}

double kf_share_below(const double *a, size_t a_count, const double *b, size_t b_count) {
    if (a_count == 0 || b_count == 0) return 0.5;
    size_t halves = 0;
    for (size_t i = 0; i < a_count; i++)
        for (size_t k = 0; k < b_count; k++)
            halves += a[i] < b[k] ? 2 : a[i] == b[k];
    return 0.5 * (double)halves / ((double)a_count * (double)b_count);
}

/* Returns the two-sided probability of Mann and Whitney's test. By dynamic programming ways[chosen][sum]
 * counts in how many ways so many of the ranks add up to sum. */
double kf_mann_whitney(const double *a, size_t a_count, const double *b, size_t b_count) {
    if (a_count == 0 || b_count == 0) return 1.0;
    int total = 0, observed = 0;
    size_t count = a_count + b_count;
    int *ranks = kf_allocate(count * sizeof *ranks);
    double_ranks(a, a_count, b, b_count, ranks);
    for (size_t i = 0; i < count; i++) {
        total += ranks[i];
        if (i < a_count) observed += ranks[i];
    }
    if (a_count > KF_SAMPLE_LIMIT || b_count > KF_SAMPLE_LIMIT) {
        const double probability = by_normal(ranks, a_count, b_count, observed);
        free(ranks);
        return probability;
    }
    size_t sums = (size_t)total + 1;
    double *ways = kf_allocate_zeroed((a_count + 1) * sums, sizeof *ways);
    ways[0] = 1.0;
    for (size_t i = 0; i < count; i++)
        for (size_t chosen = a_count; chosen >= 1; chosen--)
            for (size_t sum = (size_t)ranks[i]; sum < sums; sum++)
                ways[chosen * sums + sum] += ways[(chosen - 1) * sums + sum - (size_t)ranks[i]];
    double expected = (double)a_count * total / (double)count, all = 0.0, uneven = 0.0;
    for (size_t sum = 0; sum < sums; sum++) {
        double number = ways[a_count * sums + sum];
        all += number;
        if (fabs((double)sum - expected) >= fabs(observed - expected) - 1e-9) uneven += number;
    }
    free(ways);
    free(ranks);
    return uneven / all;
}

void kf_holm(double *probabilities, size_t count) {
    size_t *order = kf_allocate((count + 1) * sizeof *order);
    for (size_t i = 0; i < count; i++) {
        size_t place = i;
        for (; place > 0 && probabilities[order[place - 1]] > probabilities[i]; place--)
            order[place] = order[place - 1];
        order[place] = i;
    }
    double most = 0.0;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, fmin(1.0, (double)(count - i) * probabilities[order[i]]));
        probabilities[order[i]] = most;
    }
    free(order);
}

/* Returns how many of the ordered differences may be cut off at each end to leave at least 95 %. It uses the
 * distribution of the number of pairs in which b is larger than a, without ties. */
static size_t interval_cut(size_t a_count, size_t b_count) {
    size_t pairs = a_count * b_count;
    double *ways = kf_allocate_zeroed((a_count + 1) * (pairs + 1), sizeof *ways);
    ways[0] = 1.0;
    /* Counts the choices of a's ranks one rank at a time. The i-th rank adds i minus those chosen before. */
    for (size_t rank = 0; rank < a_count + b_count; rank++)
        for (size_t chosen = a_count; chosen >= 1; chosen--) {
            if (rank + 1 < chosen) continue;
            size_t adds = rank + 1 - chosen;
            for (size_t sum = adds; sum <= pairs; sum++)
                ways[chosen * (pairs + 1) + sum] += ways[(chosen - 1) * (pairs + 1) + sum - adds];
        }
    double all = 0.0, tail = 0.0;
    const double *of_a = ways + a_count * (pairs + 1);
    for (size_t sum = 0; sum <= pairs; sum++)
        all += of_a[sum];
    size_t cut = 0;
    while (cut <= pairs && (tail += of_a[cut]) <= 0.025 * all)
        cut++;
    free(ways);
    return cut;
}

/* Compares two samples: the shift of Hodges and Lehmann (the median of all differences) with its interval,
 * and the probability of Mann and Whitney. */
kf_comparison kf_compare(const double *a, size_t a_count, const double *b, size_t b_count) {
    kf_comparison result = {(double)NAN, (double)NAN, (double)NAN, 1.0};
    if (a_count == 0 || b_count == 0) return result;
    size_t pairs = a_count * b_count;
    double *differences = kf_allocate(pairs * sizeof *differences);
    for (size_t i = 0; i < a_count; i++)
        for (size_t k = 0; k < b_count; k++)
            differences[i * b_count + k] = b[k] - a[i];
    qsort(differences, pairs, sizeof *differences, kf_ascending);
    /* Cutting off c - 1 differences at each end leaves the c-th of both sides. */
    size_t cut = interval_cut(a_count, b_count), first = cut > 0 ? cut - 1 : 0;
    result.shift = kf_median(differences, pairs);
    result.low = differences[first];
    result.high = differences[pairs - 1 - first];
    result.probability = kf_mann_whitney(a, a_count, b, b_count);
    free(differences);
    return result;
}

void kf_false_discovery(const double *probabilities, int count, double rate, bool *accepted) {
    /* All probabilities up to the largest one below its share of the rate count as small. */
    double limit = -1.0;
    for (int i = 0; i < count; i++) {
        int rank = 0;
        for (int k = 0; k < count; k++)
            rank += probabilities[k] <= probabilities[i];
        if (probabilities[i] <= rate * rank / count) limit = fmax(limit, probabilities[i]);
    }
    for (int i = 0; i < count; i++)
        accepted[i] = probabilities[i] <= limit;
}
