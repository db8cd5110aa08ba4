/* A collection of texts that is searched (src/lovevec/search/signals.py): the texts with the highest sums over terms, the
 * nearest ones in meaning, and the features of texts that were found. Sums are in double precision, one after the other as
 * numpy adds them, so that both have the same bits. Included once for each kind of processor. */
#include <stdlib.h>
#include <string.h>

#include "core.h"

/* The best texts so far, the worst of them on top. Of equal scores the first rows are better. */
typedef struct { double score; int64_t row; } Found;
typedef struct { Found *found; int64_t count, most; } Best;

INLINE int is_worse(Found one, Found other) { return one.score < other.score || (one.score == other.score && one.row > other.row); }

static void offer(Best *best, Found one) {
    Found *heap = best->found;
    int64_t place;
    if (best->count < best->most) {
        for (place = best->count++; place && is_worse(one, heap[(place - 1) / 2]); place = (place - 1) / 2) heap[place] = heap[(place - 1) / 2];
    } else {
        if (!best->most || !is_worse(heap[0], one)) return;
        for (place = 0;;) {
            int64_t child = 2 * place + 1;
            if (child >= best->count) break;
            if (child + 1 < best->count && is_worse(heap[child + 1], heap[child])) child++;
            if (!is_worse(heap[child], one)) break;
            heap[place] = heap[child], place = child;
        }
    }
    heap[place] = one;
}

/* The rows of the texts with the highest sums over terms of weight * count / (count + damping), or with `by_norms` of
 * weight * count / norm. `allowed` [texts] or NULL. Texts come in blocks whose sums stay in the cache: those of a term are in
 * order. Returns how many were found, or -1 where memory ends. */
enum { TEXTS_PER_BLOCK = 1 << 15 };
static int64_t best_texts(const Collection *collection, const int64_t *terms, const double *weights, int64_t count, int by_norms,
                          const uint8_t *allowed, int64_t most, int64_t *rows) {
    const int64_t size = collection->texts < TEXTS_PER_BLOCK ? collection->texts : TEXTS_PER_BLOCK;
    double *scores = calloc((size_t)size + 1, sizeof *scores);
    int32_t *texts = malloc(((size_t)size + 1) * sizeof *texts);
    int64_t *places = malloc(((size_t)count + 1) * sizeof *places);
    Best best = {malloc(((size_t)most + 1) * sizeof(Found)), 0, most};
    if (scores && texts && places && best.found) {
        for (int64_t term = 0; term < count; term++) places[term] = collection->posting_ends[terms[term]];
        for (int64_t low = 0; low < collection->texts; low += size) {
            int64_t touched = 0;
            for (int64_t term = 0; term < count; term++) {
                const double weight = weights[term];
                const int64_t end = collection->posting_ends[terms[term] + 1];
                int64_t place = places[term];
                for (; place < end && collection->posting_texts[place] < low + size; place++) {
                    const int32_t text = collection->posting_texts[place];
                    if (allowed && !allowed[text]) continue;
                    const float many = collection->posting_counts[place];
                    const float below = by_norms ? collection->norms[text] : many + collection->damping[text];
                    double *score = scores + (text - low);
                    if (*score == 0) texts[touched++] = text;
                    *score += weight * many / below;
                }
                places[term] = place;
            }
            for (int64_t place = 0; place < touched; place++) {
                double *score = scores + (texts[place] - low);
                offer(&best, (Found){*score, texts[place]});
                *score = 0;
            }
        }
        for (int64_t place = 0; place < best.count; place++) rows[place] = best.found[place].row;
    } else {
        best.count = -1;
    }
    free(scores), free(texts), free(places), free(best.found);
    return best.count;
}

/* The product of a text's codes with a query's. */
INLINE int32_t code_product(const int8_t *codes, const int16_t *query, int64_t dim) {
    int32_t sum = 0;
    int64_t place = 0;
#if defined(LOVEVEC_AVX2)
    __m256i sums = _mm256_setzero_si256();
    for (; place + 16 <= dim; place += 16) {
        const __m256i wide = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(codes + place)));
        sums = _mm256_add_epi32(sums, _mm256_madd_epi16(wide, _mm256_loadu_si256((const __m256i *)(query + place))));
    }
    int32_t lanes[8];
    _mm256_storeu_si256((__m256i *)lanes, sums);
    for (int lane = 0; lane < 8; lane++) sum += lanes[lane];
#endif
    for (; place < dim; place++) sum += (int32_t)codes[place] * query[place];
    return sum;
}

INLINE float cosine_of(const Collection *collection, int64_t text, const int16_t *query, float scale) {
    return (float)code_product(collection->codes + text * collection->dim, query, collection->dim) * collection->scale[text] * scale;
}

#if defined(__GNUC__)
#define ONES(bits) __builtin_popcountll(bits)
#else
INLINE int ones_of(uint64_t bits) {
    bits -= bits >> 1 & 0x5555555555555555u;
    bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
    return (int)(((bits + (bits >> 4)) & 0x0F0F0F0F0F0F0F0Fu) * 0x0101010101010101u >> 56);
}
#define ONES(bits) ones_of(bits)
#endif

/* By how much texts differ from a query: the sum over bits of signs that differ of how much they count (search/meaning.py); and
 * how many texts differ by so much. What is not allowed differs by more than anything can. */
INLINE void count_gaps(const Collection *collection, const uint64_t *asked, int64_t words, const uint8_t *allowed, int64_t low, int64_t high,
                       uint16_t *gaps, int64_t *texts_of_gap) {
    for (int64_t text = low; text < high; text++) {
        const uint64_t *own = collection->signs + text * words;
        int gap = 0;
        for (int64_t word = 0; word < words; word++) {
            const uint64_t differ = own[word] ^ asked[word];
            gap += ONES(differ & asked[words + word]) + 2 * ONES(differ & asked[2 * words + word]);
        }
        if (allowed && !allowed[text]) gap = 3 * 64 * (int)words + 1;
        gaps[text - low] = (uint16_t)gap, texts_of_gap[gap]++;
    }
}

/* Of the texts from low to high - 1 those nearest to a query, with their cosines, all above 0: of the `kept` ones whose signs
 * differ least from what is `asked`, of equal ones the first. Returns how many, or -1 where memory ends. */
static int64_t nearest_texts(const Collection *collection, const int16_t *query, float scale, const uint64_t *asked, const uint8_t *allowed,
                             int64_t low, int64_t high, int64_t kept, int64_t most, int64_t *rows, float *cosines) {
    const int64_t count = high - low, words = collection->sign_words, largest = 3 * 64 * words;
    if (kept > count) kept = count;
    uint16_t *gaps = malloc(((size_t)count + 1) * sizeof *gaps);
    int64_t *texts_of_gap = calloc((size_t)largest + 2, sizeof *texts_of_gap), *chosen = malloc(((size_t)kept + 1) * sizeof *chosen);
    Best best = {malloc(((size_t)most + 1) * sizeof(Found)), 0, most};
    if (gaps && texts_of_gap && chosen && best.found) {
        if (words == 5) count_gaps(collection, asked, 5, allowed, low, high, gaps, texts_of_gap); /* vectors of 300 numbers */
        else count_gaps(collection, asked, words, allowed, low, high, gaps, texts_of_gap);
        int64_t limit = 0, left = kept, found = 0; /* all that differ by less than the limit, and so many that differ by it */
        while (limit <= largest && texts_of_gap[limit] <= left) left -= texts_of_gap[limit++];
        if (limit > largest) left = 0;
        for (int64_t place = 0; place < count; place++)
            if (gaps[place] < limit || (gaps[place] == limit && left-- > 0)) chosen[found++] = low + place;
        for (int64_t place = 0; place < found; place++) {
            if (place + 8 < found)
                for (int64_t at = 0; at < collection->dim; at += 64) PREFETCH(collection->codes + chosen[place + 8] * collection->dim + at);
            const float cosine = cosine_of(collection, chosen[place], query, scale);
            if (cosine > 0) offer(&best, (Found){cosine, chosen[place]});
        }
        for (int64_t place = 0; place < best.count; place++) rows[place] = best.found[place].row, cosines[place] = (float)best.found[place].score;
    } else {
        best.count = -1;
    }
    free(gaps), free(texts_of_gap), free(chosen), free(best.found);
    return best.count;
}

/* Numbers by their places in a list: a table with open addressing. */
typedef struct { int64_t *keys, mask; int32_t *places; } Places;

INLINE int32_t place_of(const Places *places, int64_t key) {
    for (int64_t slot = (int64_t)((uint64_t)key * 0x9E3779B97F4A7C15u >> 40) & places->mask;; slot = (slot + 1) & places->mask) {
        if (places->keys[slot] == key) return places->places[slot];
        if (places->keys[slot] < 0) return -1;
    }
}

static int fill_places(Places *places, const int64_t *keys, int64_t count) {
    int64_t size = 4;
    while (size < 4 * count) size *= 2;
    *places = (Places){malloc((size_t)size * sizeof *places->keys), size - 1, malloc((size_t)size * sizeof *places->places)};
    if (!places->keys || !places->places) return -1;
    memset(places->keys, 255, (size_t)size * sizeof *places->keys);
    for (int64_t place = 0; place < count; place++) {
        int64_t slot = (int64_t)((uint64_t)keys[place] * 0x9E3779B97F4A7C15u >> 40) & places->mask;
        while (places->keys[slot] >= 0) slot = (slot + 1) & places->mask;
        places->keys[slot] = keys[place], places->places[slot] = (int32_t)place;
    }
    return 0;
}

/* Of each word the greatest share among its entries that a text has, times the word's mass, added up; and of numbers alone,
 * without mass. `there` [places] says what the text has. */
INLINE double covered_by(const TextQuery *query, const int64_t *ends, const int64_t *places, const double *shares, const double *there,
                         double *numbers) {
    double covered = 0, met_numbers = 0;
    for (int64_t word = 0; word < query->words; word++) {
        double met = 0;
        for (int64_t entry = ends[word]; entry < ends[word + 1]; entry++)
            if (there[places[entry]] > 0 && shares[entry] > met) met = shares[entry];
        covered += met * query->masses[word];
        if (query->is_number[word]) met_numbers += met;
    }
    *numbers = met_numbers;
    return covered;
}

/* The features of texts: [count, TEXT_FEATURES]. Returns 0, or -1 where memory ends. */
static int judge_texts(const Collection *collection, const TextQuery *query, const int64_t *rows, int64_t count, float *result) {
    Places terms = {0}, stems = {0};
    double *of_terms = malloc(((size_t)query->terms + 1) * sizeof *of_terms), *of_stems = malloc(((size_t)query->stems + 1) * sizeof *of_stems);
    int failed = fill_places(&terms, query->term_list, query->terms) | fill_places(&stems, query->stem_list, query->stems);
    failed = failed || !of_terms || !of_stems ? -1 : 0;
    double asked_numbers = 0;
    for (int64_t word = 0; word < query->words; word++) asked_numbers += query->is_number[word] != 0;
    for (int64_t one = 0; one < count && !failed; one++) {
        const int64_t text = rows[one];
        double letters = 0, present = 0, have = 0, shared = 0, words = 0, backward = 0, numbers, ignored;
        memset(of_terms, 0, (size_t)query->terms * sizeof *of_terms), memset(of_stems, 0, (size_t)query->stems * sizeof *of_stems);
        for (int64_t place = collection->bag_ends[text]; place < collection->bag_ends[text + 1]; place++) {
            const int32_t term = collection->bags[place];
            const float many = collection->counts[place], product = query->products[term], all = product * many;
            letters += all, present += product;
            const int32_t asked = place_of(&terms, term), stem = place_of(&stems, collection->stem_of[term]);
            if (asked >= 0) of_terms[asked] += many;
            if (stem >= 0) of_stems[stem] += many;
            if (collection->is_number[term]) have += 1, shared += asked >= 0 && query->is_asked_number[asked];
        }
        for (int64_t stem = 0; stem < query->stems; stem++) {
            if (of_stems[stem] == 0) continue;
            words += query->weights[stem] * (of_stems[stem] / (of_stems[stem] + collection->damping[text]) * query->steepness);
            backward += query->best[stem] * query->rarity[stem];
        }
        float *features = result + one * TEXT_FEATURES;
        const double mass = collection->masses[text], norm = collection->norms[text] * query->length, square = query->length * query->length;
        const double part = present / (square > 1e-9 ? square : 1e-9);
        features[0] = (float)(words / query->total);
        features[1] = (float)(covered_by(query, query->stem_ends, query->stem_places, query->stem_shares, of_stems, &ignored) / query->total);
        features[2] = (float)(backward / (mass > 1e-9 ? mass : 1e-9));
        features[3] = (float)(covered_by(query, query->term_ends, query->term_places, query->term_shares, of_terms, &numbers) / query->total);
        features[4] = (float)(letters / (norm > 1e-9 ? norm : 1e-9));
        features[5] = (float)(part < 1 ? part : 1);
        features[6] = cosine_of(collection, text, query->codes, query->scale);
        features[7] = asked_numbers > 0 ? (float)(numbers / asked_numbers) : 1;
        features[8] = have > 0 ? (float)(shared / have) : 1;
    }
    free(terms.keys), free(terms.places), free(stems.keys), free(stems.places), free(of_terms), free(of_stems);
    return failed;
}
