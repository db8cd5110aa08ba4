/* All kernels for one kind of processor: a file that includes this says which, and gives the table its NAME. */
#include "rows.h"
#include "fold.h"
#include "near.h"
#include "texts.h"
#include "sentence.h"
#include "context.h"
#include "collection.h"
#include "join.h"

const Kernels NAME = {
    LABEL, build_index, index_room, read_words, likeness, fold_room, embed, count_units, take, mix, normalize, sum_rows,
    add_signatures, build_map, find_word, text_room, sum_texts, find_windows, read_in_context, weigh_readings, join_records, search,
    best_texts, nearest_texts, judge_texts, build_context, context_room, score_windows, expect_vectors,
};
