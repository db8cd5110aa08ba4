/* The folded encoder (src/lovevec/engine/fold.py): code points -> units -> attention -> vector, one word after the other.
 * Included once for each kind of processor. */
#include <math.h>
#include <stdlib.h>

#include "core.h"
#include "lanes.h"

enum { TRIE_START = 0, TRIE_CONTINUE = 1, EMPTY = -1, UNK = 1, CLS = 2, SEP = 3, SUB = 4, NGRAM_BEGIN = 2, NGRAM_END = 3 };
enum { WIDTH = (MAX_UNITS + 7) / 8 * 8 }; /* of a row of scores: whole vectors */

/* The rows of the tables that a word is made of: its units, then its n-grams. */
typedef struct {
    int count, end;
    int64_t ids[MAX_UNITS + MAX_NGRAMS];
} Units;

struct FoldRoom {
    Units units[2];
    uint32_t letters[LONGEST + 2];
    int32_t characters[LONGEST];
    float weights[MAX_UNITS + MAX_NGRAMS], sums[WIDTH];
    float scores[MAX_UNITS * WIDTH];
    float *seen, *mixed, *keys, *values, *hidden; /* [MAX_UNITS, 2k], [MAX_UNITS, 2k], [k, WIDTH], [dim], [hidden] */
};

static FoldRoom *fold_room(const Fold *fold) {
    size_t both = (size_t)(2 * fold->key_width + 7) / 8 * 8;
    size_t floats = 2 * MAX_UNITS * both + (size_t)fold->key_width * WIDTH + (size_t)(fold->dim + fold->hidden);
    FoldRoom *room = calloc(1, sizeof *room + floats * sizeof(float));
    if (!room) return NULL;
    room->seen = (float *)(room + 1);
    room->mixed = room->seen + MAX_UNITS * both;
    room->keys = room->mixed + MAX_UNITS * both;
    room->values = room->keys + (size_t)fold->key_width * WIDTH;
    room->hidden = room->values + fold->dim;
    return room;
}

/* Greedy longest match through the trie (units/trie.py), or [UNK] alone; returns how many pieces, and how many characters
 * the longest has, 0 for [UNK]. */
INLINE int split(const Fold *fold, const int32_t *characters, int size, int64_t *ids, int *longest) {
    const int64_t mask = (INT64_C(1) << fold->trie_bits) - 1;
    int count = 0, at = 0;
    *longest = 0;
    int64_t node = TRIE_START;
    while (at < size) {
        int64_t best = EMPTY;
        int end = at;
        for (int place = at; place < size; place++) {
            int64_t key = node << 20 | characters[place];
            int64_t slot = (int64_t)((uint64_t)key * 0x9E3779B97F4A7C15u >> (64 - fold->trie_bits));
            while (fold->trie[slot].key != key && fold->trie[slot].key != EMPTY) slot = (slot + 1) & mask;
            if (fold->trie[slot].key == EMPTY) break;
            node = fold->trie[slot].node;
            if (fold->trie[slot].piece != EMPTY) best = fold->trie[slot].piece, end = place + 1;
        }
        if (best == EMPTY) {
            ids[0] = UNK;
            *longest = 0;
            return 1;
        }
        ids[count++] = best;
        *longest = end - at > *longest ? end - at : *longest;
        at = end;
        node = TRIE_CONTINUE;
    }
    return count;
}

/* units/ngrams.py: the rows of the n-grams of a word between its ends; returns how many. */
INLINE int hash_ngrams(const Fold *fold, const uint32_t *letters, int size, int64_t *ids) {
    int count = 0;
    for (int length = 3; length <= 4; length++)
        for (int low = 0; low + length <= size; low++) {
            uint64_t hashed = (uint64_t)length;
            for (int place = low; place < low + length; place++) hashed = hashed * 1099511628211u ^ letters[place];
            hashed = hashed * 0x9E3779B97F4A7C15u >> 33;
            ids[count++] = fold->unit_rows + (uint32_t)hashed % (uint32_t)fold->ngrams;
        }
    return count;
}

/* units/mixed_input.py: [CLS] characters [SUB] pieces [SEP], then the n-grams. Their rows are fetched from memory. */
INLINE void make_units(const Fold *fold, const uint32_t *codes, int size, FoldRoom *room, Units *units) {
    int64_t *ids = units->ids;
    int count = 0, longest;
    for (int place = 0; place < size; place++) {
        room->letters[1 + place] = codes[place];
        room->characters[place] = fold->character[codes[place]];
    }
    ids[count++] = CLS;
    if (fold->with_characters)
        for (int place = 0; place < size; place++) ids[count++] = room->characters[place];
    if (fold->is_mixed) ids[count++] = SUB;
    if (fold->with_pieces) count += split(fold, room->characters, size, ids + count, &longest);
    ids[count++] = SEP;
    for (int place = 0; place < count; place++) ids[place] = fold->row_of_unit[ids[place]];
    units->count = units->end = count;
    if (fold->ngrams) {
        room->letters[0] = NGRAM_BEGIN;
        room->letters[size + 1] = NGRAM_END;
        units->end += hash_ngrams(fold, room->letters, size + 2, ids + count);
    }
    const int64_t bytes = fold->dim * (fold->is_int8 ? 1 : 4), seen = 2 * fold->key_width * (fold->is_int8 ? 1 : 4);
    for (int place = 0; place < units->end; place++)
        for (int64_t line = 0; line < bytes; line += 64) PREFETCH((const char *)fold->out + ids[place] * bytes + line);
    for (int place = 0; place < count; place++) PREFETCH((const char *)fold->features + ids[place] * seen);
}

/* units/mixed_input.py: of each word how many characters it has, how many of them are [UNK], how many pieces, and the
 * characters of the longest. */
static void count_units(const Fold *fold, const Words *words, FoldRoom *room, int64_t *counts) {
    for (int64_t word = 0; word < words->count; word++, counts += 4) {
        const uint32_t *codes = words->codes + words->offsets[word];
        const int size = (int)(words->offsets[word + 1] - words->offsets[word]);
        int unread = 0, longest = 0;
        for (int place = 0; place < size; place++) unread += (room->characters[place] = fold->character[codes[place]]) == UNK;
        counts[2] = fold->with_pieces ? split(fold, room->characters, size, room->units[0].ids, &longest) : 0;
        counts[0] = size, counts[1] = unread, counts[3] = longest;
    }
}

/* Q Kᵀ into room->scores, but for the shares, which alone depend on how many units there are: what attention sees of
 * each unit, mixed by the constant attention of positions, is [Q | K]. */
INLINE void compare(const Fold *fold, const Units *units, FoldRoom *room) {
    const int64_t k = fold->key_width, both = (2 * k + 7) / 8 * 8;
    const int count = units->count, wide = (count + 7) / 8 * 8;
    for (int place = 0; place < count; place++) {
        const int64_t row = units->ids[place] * 2 * k;
        const float scale = fold->features_scale[units->ids[place]];
        float *seen = room->seen + place * both;
        if (fold->is_int8)
            for (int64_t column = 0; column < 2 * k; column++) seen[column] = scale * (float)((const int8_t *)fold->features)[row + column];
        else
            for (int64_t column = 0; column < 2 * k; column++) seen[column] = scale * ((const float *)fold->features)[row + column];
    }
    product(fold->positions, MAX_UNITS, room->seen, both, count, count, both, room->mixed, both);
    for (int place = 0; place < wide; place++)
        for (int64_t column = 0; column < k; column++)
            room->keys[column * WIDTH + place] = place < count ? room->mixed[place * both + k + column] : 0;
    product(room->mixed, both, room->keys, WIDTH, count, k, wide, room->scores, WIDTH);
}

/* exp(x) in place for x <= 0, eight at a time: 2^k times a polynomial, relative error 1e-7, with the coefficients of
 * Cephes' expf. The library's exp takes one number at a time, and is another on each machine. */
INLINE void exponentials(float *x, int count) {
    static const float polynomial[] = {1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f,
                                       4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f};
    for (int start = 0; start < count; start += 8, x += 8) {
        Floats bounded = at_least(floats_at(x), -87.0f), p = all_floats(polynomial[0]);
        Floats k = whole_of(plus(times(bounded, all_floats(1.44269504f)), all_floats(-0.5f))); /* the nearest: x <= 0 */
        Floats r = plus(plus(bounded, times(k, all_floats(-0.693359375f))), times(k, all_floats(2.12194440e-4f)));
        for (int place = 1; place < 6; place++) p = plus(times(p, r), all_floats(polynomial[place]));
        put_floats(x, times(plus(plus(times(times(p, r), r), r), all_floats(1)), two_to_the(k)));
    }
}

/* w = 1ᵀ softmax(Q Kᵀ) A into room->weights. */
INLINE void attend(const Fold *fold, int count, FoldRoom *room) {
    const float *share = fold->shares + count * MAX_UNITS;
    const int wide = (count + 7) / 8 * 8;
    for (int other = 0; other < wide; other++) room->sums[other] = 0;
    for (int place = 0; place < count; place++) {
        float *row = room->scores + place * WIDTH, most = -INFINITY;
        for (int other = 0; other < count; other++) row[other] = row[other] * (share[place] * share[other]);
        for (int other = 0; other < count; other++) most = row[other] > most ? row[other] : most;
        for (int other = 0; other < count; other++) row[other] -= most;
        for (int other = count; other < wide; other++) row[other] = 0;
        exponentials(row, wide);
        for (int other = count; other < wide; other++) row[other] = 0;
        Floats total = all_floats(0);
        for (int other = 0; other < wide; other += 8) total = plus(total, floats_at(row + other));
        const float scale = 1.0f / total_of(total);
        for (int other = 0; other < wide; other++) room->sums[other] += scale * row[other];
    }
    for (int other = 0; other < count; other++) room->weights[other] = 0;
    for (int place = 0; place < count; place++) {
        const float scale = room->sums[place] * share[place], *row = fold->positions + place * MAX_UNITS;
        for (int other = 0; other < count; other++) room->weights[other] += scale * row[other];
    }
}

INLINE void weighted(const Fold *fold, const int64_t *ids, const float *weights, int count, float *vector) {
    if (fold->is_int8) weighted_bytes(fold->out, fold->dim, ids, weights, count, vector);
    else weighted_floats(fold->out, fold->dim, ids, weights, count, vector);
}

/* result [columns] = vector [k] · matrix [k, columns]. */
INLINE void times_matrix(const float *vector, int64_t k, const float *matrix, int64_t columns, float *result) {
    for (int64_t column = 0; column < columns; column++) result[column] = 0;
    for (int64_t place = 0; place < k; place++)
        for (int64_t column = 0; column < columns; column++) result[column] += vector[place] * matrix[place * columns + column];
}

static const float MIN_LENGTH = 1e-15f; /* as in engine/with_numpy.py: a shorter vector stays short */

/* The word-level MLP, in place: vector += second(relu(first(vector / |vector|))). */
static void through_head(const Fold *fold, FoldRoom *room, float *vector) {
    const float length = length_of(vector, fold->dim), scale = 1.0f / (length > MIN_LENGTH ? length : MIN_LENGTH);
    for (int64_t column = 0; column < fold->dim; column++) room->values[column] = scale * vector[column];
    times_matrix(room->values, fold->dim, fold->head[0], fold->hidden, room->hidden);
    for (int64_t node = 0; node < fold->hidden; node++) {
        float sum = room->hidden[node] + fold->head[1][node];
        room->hidden[node] = sum > 0 ? sum : 0;
    }
    times_matrix(room->hidden, fold->hidden, fold->head[2], fold->dim, room->values);
    for (int64_t column = 0; column < fold->dim; column++) vector[column] += room->values[column] + fold->head[3][column];
}

/* Vectors [words, dim] of unit length, and how long each was before. */
static void embed(const Fold *fold, const Words *words, FoldRoom *room, float *vectors, float *norms) {
    for (int64_t word = 0; word <= words->count; word++) { /* the next word's rows are fetched while one is computed */
        if (word < words->count) {
            const int64_t start = words->offsets[word];
            make_units(fold, words->codes + start, (int)(words->offsets[word + 1] - start), room, &room->units[word & 1]);
        }
        if (!word) continue;
        const Units *units = &room->units[~word & 1];
        float *vector = vectors + (word - 1) * fold->dim, *weights = room->weights;
        compare(fold, units, room);
        attend(fold, units->count, room);
        for (int place = units->count; place < units->end; place++) weights[place] = 1;
        for (int place = 0; place < units->end; place++) weights[place] *= fold->out_scale[units->ids[place]];
        if (fold->hidden) {
            weighted(fold, units->ids, weights, units->count, vector);
            through_head(fold, room, vector);
            weighted(fold, units->ids + units->count, weights + units->count, units->end - units->count, room->values);
            for (int64_t column = 0; column < fold->dim; column++) vector[column] += room->values[column];
        } else {
            weighted(fold, units->ids, weights, units->end, vector);
        }
        const float length = length_of(vector, fold->dim);
        scale_by(vector, fold->dim, 1.0f / (length > MIN_LENGTH ? length : MIN_LENGTH));
        norms[word - 1] = length;
    }
}
