/* Records that have keys in common (src/lovevec/search/blocking.py): which of a table share most with each of some others.
 * Included once for each kind of processor. */
#include <stdlib.h>
#include <string.h>

#include "core.h"

/* For each query, a row of keys, the `most` records with the highest share: the sum of the weights of the keys in common times
 * the record's scale; of equal ones the first. `rows` and `sums` are [count, most], -1 and 0 where fewer have any.
 * Returns 0, or -1 where memory ends. */
static int join_records(const Postings *table, const int32_t *keys, const int64_t *ends, int64_t count, int64_t most, int32_t *rows,
                        int32_t *sums) {
    int32_t *total = calloc((size_t)table->records + 1, sizeof *total);
    int32_t *touched = malloc(((size_t)table->records + 1) * sizeof *touched);
    double *shares = malloc(((size_t)most + 1) * sizeof *shares);
    const int failed = !total || !touched || !shares;
    for (int64_t query = 0; query < count && !failed; query++, rows += most, sums += most) {
        int64_t many = 0, best = 0;
        for (int64_t place = ends[query]; place < ends[query + 1]; place++) {
            const int32_t key = keys[place], weight = table->weights[key];
            for (int64_t at = table->offsets[key]; at < table->offsets[key + 1]; at++) {
                const int32_t record = table->rows[at];
                if (!total[record]) touched[many++] = record;
                total[record] += weight;
            }
        }
        for (int64_t place = 0; place < most; place++) rows[place] = -1, sums[place] = 0;
        for (int64_t place = 0; place < many; place++) {
            const int32_t record = touched[place], sum = total[record];
            const double share = (double)sum * (double)table->scales[record];
            total[record] = 0;
            if (best == most && (!most || share < shares[most - 1])) continue;
            int64_t at = best < most ? best++ : most - 1; /* of the best so far the last one makes room */
            if (at == most - 1 && rows[at] >= 0 && share == shares[at] && record > rows[at]) continue;
            for (; at > 0 && (shares[at - 1] < share || (shares[at - 1] == share && rows[at - 1] > record)); at--)
                shares[at] = shares[at - 1], rows[at] = rows[at - 1], sums[at] = sums[at - 1];
            shares[at] = share, rows[at] = record, sums[at] = sum;
        }
    }
    free(total), free(touched), free(shares);
    return failed ? -1 : 0;
}
