/* What speaks for a word of its own (near/lexicon.py, near/novelty.py), and words that are run together (near/joined.py).
 * Included once for each kind of processor, by near.h. */
#include <stdlib.h>
#include <string.h>

#include "core.h"

#define BASE UINT64_C(0x9E3779B97F4A7C15)
#define MIX UINT64_C(0xD6E8FEB86659FD93)
#define SALT UINT64_C(0xC2B2AE3D27D4EB4F)

INLINE uint64_t mix_bits(uint64_t state) {
    state = (state ^ state >> 32) * MIX;
    state = (state ^ state >> 32) * MIX;
    return state ^ state >> 32;
}

/* The hash of a word: of each letter, BASE times what stands before it plus itself plus one. */
INLINE uint64_t hash_of(const uint32_t *codes, int64_t length) {
    uint64_t hash = 0;
    for (int64_t place = 0; place < length; place++) hash = hash * BASE + codes[place] + 1;
    return hash;
}

/* Whether the word with this hash is in the filter. */
INLINE int is_listed(const Index *index, uint64_t hash) {
    const uint64_t mixed = mix_bits(hash), first = mixed & 0xFFFFFFFFu, step = mixed >> 32 | 1, mask = index->filter_bits - 1;
#define IS_SET(probe) (index->filter[((first + step * (probe)) & mask) >> 3] >> ((first + step * (probe)) & 7) & 1)
    if (!(IS_SET(0) & IS_SET(1))) return 0; /* both at once: which is not set cannot be foretold */
    for (uint64_t probe = 2; probe < PROBES; probe++)
        if (!IS_SET(probe)) return 0;
#undef IS_SET
    return 1;
}

/* The hashes of the first letters of a string: [length + 1]. */
INLINE void hash_prefixes(const uint32_t *codes, int length, uint64_t *prefixes) {
    prefixes[0] = 0;
    for (int place = 0; place < length; place++) prefixes[place + 1] = prefixes[place] * BASE + codes[place] + 1;
}

/* The sum of the weights of a string's n-grams; `codes` [length + 2] begin with BEGIN and end with END. */
static int64_t likeness_of(const Index *index, const uint32_t *codes, int length) {
    int64_t total = 0;
    for (int start = 0; start < length + 2 - 1; start++) {
        uint64_t state = 0;
        for (int size = 1; size <= MAX_GRAM && start + size <= length + 2; size++) {
            state = state * BASE + codes[start + size - 1] + 1;
            if (size >= MIN_GRAM) total += index->grams[mix_bits(state + SALT * (uint64_t)size) >> (64 - GRAM_BITS)];
        }
    }
    return total;
}

/* The likeness of a string within its bounds, in nats. */
INLINE double bounded_likeness(const Index *index, const uint32_t *codes, int length) {
    const double odds = (double)likeness_of(index, codes, length) * index->gram_scale;
    return odds < MIN_LIKENESS ? MIN_LIKENESS : odds > MAX_LIKENESS ? MAX_LIKENESS : odds;
}

/* How many letters the longest word at the begin of a string has, and the longest at its end, neither of them the whole. */
INLINE void ends_of(const Index *index, const uint64_t *prefixes, int length, int *begin, int *end) {
    *begin = *end = 0;
    for (int size = length - 1; size >= 2 && !*begin; size--)
        if (is_listed(index, prefixes[size])) *begin = size;
    for (int size = length - 1; size >= 2 && !*end; size--)
        if (is_listed(index, prefixes[length] - prefixes[length - size] * index->powers[size])) *end = size;
}

/* How many letters of a string, the whole or what stands before a usual ending, begin a word with another usual ending. */
INLINE int sibling_of(const Index *index, const uint64_t *prefixes, int length) {
    for (int cut = 0; cut <= MAX_CUT && length - cut >= MIN_STEM; cut++) {
        const int stem = length - cut;
        const uint64_t own = prefixes[length] - prefixes[stem] * index->powers[cut];
        int is_ending = cut == 0;
        for (int ending = 0; ending < index->endings; ending++) is_ending |= own == index->ending_hashes[ending];
        if (!is_ending) continue;
        for (int ending = 0; ending < index->endings; ending++)
            if (own != index->ending_hashes[ending] &&
                is_listed(index, prefixes[stem] * index->ending_powers[ending] + index->ending_hashes[ending]))
                return stem;
    }
    return 0;
}

/* --- joined.py --- */

/* Chains of words that stand side by side in a string: the least cost of covering its first letters with so many words, where
 * the last of these begins, and its row. */
typedef struct {
    int32_t cost[MAX_PARTS + 1][MAX_WORD_LENGTH + 1], row[MAX_PARTS + 1][MAX_WORD_LENGTH + 1];
    uint8_t start[MAX_PARTS + 1][MAX_WORD_LENGTH + 1], words[MAX_WORD_LENGTH + 1]; /* of the cheapest; 0 for none */
} Chains;

/* The words that stand in a string, by where they begin and end: what each costs, FAR for no word, and its row. */
typedef struct {
    int32_t cost[MAX_WORD_LENGTH][MAX_WORD_LENGTH + 1], row[MAX_WORD_LENGTH][MAX_WORD_LENGTH + 1];
} Segments;

/* A cut of a string: its words' rows, and where each ends. */
typedef struct { int32_t cost, count, rows[MAX_PARTS], ends[MAX_PARTS]; } Cut;

/* Of words with the same hash the first is kept. Returns 0, or -1 where memory ends. */
static int build_joined(Index *index) {
    index->joined_slots = 4;
    while (index->joined_slots < 3 * index->joined_words / 2) index->joined_slots *= 2;
    index->joined = malloc((size_t)index->joined_slots * sizeof *index->joined);
    if (!index->joined) return -1;
    index->joined_bits = calloc((size_t)1 << (JOINED_BITS - 3), 1);
    if (!index->joined_bits) return -1;
    memset(index->joined, 255, (size_t)index->joined_slots * sizeof *index->joined);
    const uint64_t mask = (uint64_t)index->joined_slots - 1;
    for (int64_t word = 0; word < index->joined_words; word++) {
        const uint64_t mixed = mix_bits(index->joined_hashes[word]);
        uint64_t slot = mixed & mask;
        while (index->joined[slot].word >= 0 && index->joined_hashes[index->joined[slot].word] != index->joined_hashes[word])
            slot = (slot + 1) & mask;
        if (index->joined[slot].word < 0) index->joined[slot] = (JoinedSlot){(uint32_t)(mixed >> 32), (int32_t)word};
        index->joined_bits[mixed >> (64 - JOINED_BITS) >> 3] |= (uint8_t)(1 << (mixed >> (64 - JOINED_BITS) & 7));
    }
    return 0;
}

/* Whether there may be a word with this hash among those that others are run together with: of others one in seven. */
INLINE int may_be_joined(const Index *index, uint64_t mixed) {
    return index->joined_bits[mixed >> (64 - JOINED_BITS) >> 3] >> (mixed >> (64 - JOINED_BITS) & 7) & 1;
}

/* The words that stand in a string, but for the whole. All places are sent for before the first is looked at. */
static void find_segments(const Index *index, const uint32_t *codes, int size, Segments *segments) {
    struct { uint64_t hash, mixed; uint8_t start, end; } likely[MAX_WORD_LENGTH * MAX_PART];
    const uint64_t mask = (uint64_t)index->joined_slots - 1;
    int many = 0;
    for (int start = 0; start < size; start++) {
        uint64_t hash = 0;
        for (int end = start + 1; end <= size; end++) {
            segments->cost[start][end] = FAR_CUT;
            if (end - start > MAX_PART || end - start == size) continue;
            hash = hash * BASE + codes[end - 1] + 1;
            const uint64_t mixed = mix_bits(hash);
            likely[many].hash = hash, likely[many].mixed = mixed;
            likely[many].start = (uint8_t)start, likely[many].end = (uint8_t)end;
            many += may_be_joined(index, mixed);
        }
    }
    for (int one = 0; one < many; one++) PREFETCH(index->joined + (likely[one].mixed & mask));
    for (int one = 0; one < many; one++) {
        for (uint64_t slot = likely[one].mixed & mask; index->joined[slot].word >= 0; slot = (slot + 1) & mask) {
            const int32_t word = index->joined[slot].word;
            if (index->joined[slot].mark != (uint32_t)(likely[one].mixed >> 32) || index->joined_hashes[word] != likely[one].hash) continue;
            segments->cost[likely[one].start][likely[one].end] = index->joined_costs[word];
            segments->row[likely[one].start][likely[one].end] = index->joined_rows[word];
            break;
        }
    }
}

/* `backward`: from the end of the string, words from the last on. */
static void find_chains(const Index *index, const Segments *segments, int size, int backward, Chains *chains) {
    for (int count = 0; count <= MAX_PARTS; count++)
        for (int end = 0; end <= size; end++) chains->cost[count][end] = FAR_CUT;
    chains->cost[0][0] = 0;
    for (int start = 0; start < size; start++) {
        int reached[MAX_PARTS], many = 0;
        for (int count = 0; count < MAX_PARTS; count++)
            if (chains->cost[count][start] < FAR_CUT) reached[many++] = count;
        for (int end = start + 1; many && end <= size; end++) {
            const int from = backward ? size - end : start, to = backward ? size - start : end;
            const int32_t cost = segments->cost[from][to];
            if (cost >= FAR_CUT) continue;
            for (int place = 0; place < many; place++) {
                const int count = reached[place];
                const int32_t total = chains->cost[count][start] + cost + (count ? index->join_cost : 0);
                if (total >= chains->cost[count + 1][end]) continue;
                chains->cost[count + 1][end] = total;
                chains->start[count + 1][end] = (uint8_t)start;
                chains->row[count + 1][end] = segments->row[from][to];
            }
        }
    }
    for (int end = 1; end <= size; end++) {
        int best = 1;
        for (int count = 2; count <= MAX_PARTS; count++)
            if (chains->cost[count][end] < chains->cost[best][end]) best = count;
        chains->words[end] = chains->cost[best][end] < FAR_CUT ? (uint8_t)best : 0;
    }
}

/* Add the words of a chain of so many letters behind those of a cut; of a backward one as they stand in the string. */
static void add_chain(const Chains *chains, int length, int size, int backward, Cut *cut) {
    const int words = chains->words[length], first = cut->count;
    for (int count = words, end = length; count; count--) {
        const int at = backward ? first + words - count : first + count - 1;
        cut->rows[at] = chains->row[count][end];
        const int start = chains->start[count][end];
        cut->ends[at] = backward ? size - start : end;
        end = start;
    }
    cut->count += words;
}

INLINE int32_t chain_cost(const Chains *chains, int length) { return chains->cost[chains->words[length]][length]; }

/* The lengths whose chains cost least a letter; returns how many. */
static int cheapest_lengths(const Chains *chains, int size, int *lengths) {
    int64_t costs[BEGINNINGS];
    int many = 0;
    for (int length = 1; length <= size - MIN_DAMAGED_PART; length++) {
        if (!chains->words[length] || length * MIN_SHARE < size || chain_cost(chains, length) > length * MAX_COST_PER_LETTER) continue;
        const int64_t cost = (int64_t)chain_cost(chains, length) * MULTIPLE / length;
        int at = many < BEGINNINGS ? many : BEGINNINGS;
        for (; at > 0 && costs[at - 1] >= cost; at--) /* of equal ones the longer comes first */
            if (at < BEGINNINGS) costs[at] = costs[at - 1], lengths[at] = lengths[at - 1];
        if (at < BEGINNINGS) costs[at] = cost, lengths[at] = length;
        if (many < BEGINNINGS) many++;
    }
    return many;
}
