/* The binding: Python's words and arrays, checked, for the kernels. Only functions of the limited API are used. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"

#if defined(_MSC_VER)
#include <intrin.h>
#define EXCHANGE(slot, value) _InterlockedExchangePointer(slot, value)
#else
#define EXCHANGE(slot, value) __atomic_exchange_n(slot, value, __ATOMIC_ACQ_REL)
#endif

enum { MAX_ARRAYS = 40, MAX_WORDS_WITH_GIL = 32 }; /* giving the GIL away may cost milliseconds until it comes back */

static const Kernels *kernels = &base_kernels;
static int has_wide_products; /* beside the kernels for AVX2: AVX-512 VNNI */

/* --- arrays --- */

/* Numbers of a buffer by their kind: i signed, u unsigned or bool, f floating. */
static char kind_of(const char *format) {
    static const char *kinds[] = {"ibhilq", "uBHILQ?", "fefd"};
    if (*format == '@' || *format == '=' || *format == '<') format++;
    for (int kind = 0; kind < 3; kind++)
        if (*format && !format[1] && strchr(kinds[kind] + 1, *format)) return kinds[kind][0];
    return 0;
}

/* Take a contiguous array of one type ("f4") and `count` numbers (any if negative). Returns 0, or -1 with an error. */
static int take_array(PyObject *object, const char *name, const char *type, int writable, Py_ssize_t count, Py_buffer *view) {
    int flags = PyBUF_FORMAT | PyBUF_C_CONTIGUOUS | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object, view, flags)) return -1;
    if (!view->format || kind_of(view->format) != type[0] || view->itemsize != type[1] - '0') {
        PyErr_Format(PyExc_TypeError, "%s holds %s, not %s", name, view->format ? view->format : "bytes", type);
    } else if (count >= 0 && view->len != count * view->itemsize) {
        PyErr_Format(PyExc_ValueError, "%s holds %zd numbers, not %zd", name, view->len / view->itemsize, count);
    } else {
        return 0;
    }
    PyBuffer_Release(view);
    return -1;
}

#define LENGTH(view) ((view).len / (view).itemsize)
#define REQUIRE(condition, text)                                 \
    do {                                                         \
        if (!(condition)) {                                      \
            PyErr_SetString(PyExc_ValueError, text);             \
            return -1;                                           \
        }                                                        \
    } while (0)

/* Whether all numbers lie from low to high - 1. */
#define DEFINE_WITHIN(name, Number)                                                      \
    static int name(const Number *numbers, int64_t count, int64_t low, int64_t high) {   \
        int good = 1;                                                                    \
        for (int64_t place = 0; place < count; place++)                                  \
            good &= (numbers[place] >= low) & (numbers[place] < high);                   \
        return good;                                                                     \
    }
DEFINE_WITHIN(bytes_within, uint8_t)
DEFINE_WITHIN(shorts_within, int16_t)
DEFINE_WITHIN(ints_within, int32_t)
DEFINE_WITHIN(longs_within, int64_t)

/* Whether all numbers are numbers and none is larger than that. */
static int floats_within(const float *numbers, int64_t count, float largest) {
    int good = 1;
    for (int64_t place = 0; place < count; place++) good &= (numbers[place] >= -largest) & (numbers[place] <= largest);
    return good;
}

/* Whether rows end where the next begins, the first at 0, the last at `total`, of `shortest` to `longest` numbers. */
static int are_offsets(const int64_t *offsets, int64_t rows, int64_t total, int64_t shortest, int64_t longest) {
    if (rows < 0 || offsets[0] != 0 || offsets[rows] != total) return 0;
    for (int64_t row = 0; row < rows; row++) {
        if (offsets[row] < 0 || offsets[row] > total || offsets[row + 1] < offsets[row]) return 0;
        if (offsets[row + 1] - offsets[row] < shortest || offsets[row + 1] - offsets[row] > longest) return 0;
    }
    return 1;
}

/* Whether the numbers from low to high - 1 rise. */
static int are_rising(const int32_t *numbers, int64_t low, int64_t high) {
    int good = 1;
    for (int64_t place = low + 1; place < high; place++) good &= numbers[place - 1] < numbers[place];
    return good;
}

/* --- objects: what a kernel needs, in arrays that stay as they are --- */

typedef struct {
    PyObject_HEAD
    union { Index index; Fold fold; Rows rows; Signatures signatures; WordMap map; Context context; Collection collection; } of;
    Py_buffer views[MAX_ARRAYS];
    int arrays;
    void *room;         /* working memory that no call holds now */
    PyObject *prepare;  /* word -> (as it is compared, how it is written), for words that are not plain */
    PyObject *table;    /* the Rows that a Context reads */
    int lowercase;
} Object;

typedef struct { const char *name, *type; size_t place; } Field;

/* Take the arrays that `fields` name from keyword arguments; each pointer goes to its place in the struct. */
static int take_fields(Object *self, PyObject *arrays, const Field *fields, int count) {
    for (int field = 0; field < count; field++) {
        PyObject *array = PyDict_GetItemString(arrays, fields[field].name);
        if (!array) {
            PyErr_Format(PyExc_TypeError, "%s is missing", fields[field].name);
            return -1;
        }
        if (take_array(array, fields[field].name, fields[field].type, 0, -1, &self->views[self->arrays])) return -1;
        *(const void **)((char *)&self->of + fields[field].place) = self->views[self->arrays++].buf;
    }
    return 0;
}

static Object *new_object(PyTypeObject *type) {
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    return (Object *)allocate(type, 0);
}

static void release_object(Object *self, void (*release)(Object *)) {
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    if (release) release(self);
    for (int array = 0; array < self->arrays; array++) PyBuffer_Release(&self->views[array]);
    Py_CLEAR(self->prepare);
    Py_CLEAR(self->table);
    free(self->room);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* --- words --- */

typedef struct {
    Words words;
    uint32_t *codes;
    int64_t *offsets;
    uint8_t *flags;
    int64_t capacity;
} Gathered;

static void free_words(Gathered *gathered) {
    free(gathered->codes), free(gathered->offsets), free(gathered->flags);
}

/* How a plain word is written: as a name, with a capital and not all in capitals; or as a few capitals. */
static int written_as(const uint32_t *codes, Py_ssize_t length) {
    int capitals = 0, lower = 0;
    for (Py_ssize_t place = 1; place < length; place++) {
        lower |= codes[place] >= 'a' && codes[place] <= 'z';
        capitals |= codes[place] >= 'A' && codes[place] <= 'Z';
    }
    const int is_capital = length && codes[0] >= 'A' && codes[0] <= 'Z', is_lower = length && codes[0] >= 'a' && codes[0] <= 'z';
    const int is_upper = (is_capital || capitals) && !lower && !is_lower;
    return (is_capital && !(capitals && !lower) ? IS_NAME : 0) | (is_upper && length <= MAX_CAPITALS ? IS_CAPITALS : 0);
}

static int is_plain(const uint32_t *codes, Py_ssize_t length) {
    uint32_t all = 0;
    for (Py_ssize_t place = 0; place < length; place++) all |= codes[place];
    return all < 128;
}

/* Add the code points of one word, which is `text` in the form in which it is compared. */
static int add_codes(Gathered *gathered, PyObject *text, Py_ssize_t length, int64_t start) {
    if (start + length > gathered->capacity) {
        int64_t capacity = 2 * gathered->capacity + LONGEST;
        uint32_t *codes = realloc(gathered->codes, (size_t)capacity * sizeof *codes);
        if (!codes) return PyErr_NoMemory(), -1;
        gathered->codes = codes, gathered->capacity = capacity;
    }
    return length && !PyUnicode_AsUCS4(text, gathered->codes + start, length, 0) ? -1 : 0;
}

/* The code points of all words. Plain ones are lower-cased here; for others Python is asked. */
static int gather_words(Object *self, PyObject *sequence, Gathered *gathered) {
    PyObject *words = PySequence_Tuple(sequence); /* which nobody can change meanwhile */
    if (!words) return -1;
    Py_ssize_t count = PyTuple_Size(words);
    *gathered = (Gathered){.capacity = 16 * count + LONGEST};
    gathered->codes = malloc((size_t)gathered->capacity * sizeof *gathered->codes);
    gathered->offsets = malloc((size_t)(count + 1) * sizeof *gathered->offsets);
    gathered->flags = malloc((size_t)count + 1);
    if (!gathered->codes || !gathered->offsets || !gathered->flags) {
        PyErr_NoMemory();
        goto failed;
    }
    int64_t start = 0;
    gathered->offsets[0] = 0;
    for (Py_ssize_t word = 0; word < count; word++) {
        PyObject *text = PyTuple_GetItem(words, word);
        if (!PyUnicode_Check(text)) {
            PyErr_Format(PyExc_TypeError, "word %zd is no string", word);
            goto failed;
        }
        Py_ssize_t length = PyUnicode_GetLength(text);
        uint8_t flags = length > MAX_STRETCHED ? IS_TOO_LONG : 0;
        if (length <= LONGEST && add_codes(gathered, text, length, start)) goto failed;
        uint32_t *codes = gathered->codes + start;
        if (length <= LONGEST && is_plain(codes, length)) {
            flags |= (uint8_t)written_as(codes, length);
            if (self->lowercase)
                for (Py_ssize_t place = 0; place < length; place++)
                    codes[place] += codes[place] >= 'A' && codes[place] <= 'Z' ? 32 : 0;
        } else {
            PyObject *prepared = PyObject_CallFunctionObjArgs(self->prepare, text, NULL), *plain;
            int written;
            if (!prepared) goto failed;
            if (!PyTuple_Check(prepared)) PyErr_SetString(PyExc_TypeError, "prepare gives no tuple");
            if (PyErr_Occurred() || !PyArg_ParseTuple(prepared, "Ui", &plain, &written)) {
                Py_DECREF(prepared);
                goto failed;
            }
            length = PyUnicode_GetLength(plain);
            if (length > LONGEST) PyErr_Format(PyExc_ValueError, "word %zd is too long", word);
            int is_bad = length > LONGEST || add_codes(gathered, plain, length, start);
            Py_DECREF(prepared);
            if (is_bad) goto failed;
            flags |= (uint8_t)(written & (IS_NAME | IS_CAPITALS));
        }
        gathered->flags[word] = flags;
        gathered->offsets[word + 1] = start += length;
    }
    Py_DECREF(words);
    gathered->words = (Words){count, gathered->codes, gathered->offsets, gathered->flags};
    return 0;
failed:
    Py_DECREF(words);
    free_words(gathered);
    return -1;
}

static int expect(Py_ssize_t count, Py_ssize_t wanted) {
    if (count == wanted) return 0;
    PyErr_Format(PyExc_TypeError, "%zd arguments, not %zd", count, wanted);
    return -1;
}

/* Take the arrays of a call; those that were taken are released where one is wrong. */
typedef struct { const char *name, *type; int writable; Py_ssize_t count; } Wanted;

static int take_arrays(PyObject *const *objects, const Wanted *wanted, int count, Py_buffer *views) {
    for (int array = 0; array < count; array++) {
        const Wanted *one = wanted + array;
        if (!take_array(objects[array], one->name, one->type, one->writable, one->count, views + array)) continue;
        while (array--) PyBuffer_Release(views + array);
        return -1;
    }
    return 0;
}

static void release_arrays(Py_buffer *views, int count) {
    while (count--) PyBuffer_Release(views + count);
}

/* A whole number among keyword arguments; -1 with an error where there is none. */
static int64_t number_of(PyObject *options, const char *name) {
    PyObject *number = PyDict_GetItemString(options, name);
    if (!number) return PyErr_Format(PyExc_TypeError, "%s is missing", name), -1;
    return PyLong_AsLongLong(number);
}

/* Options by which words are read: `prepare` and `lowercase`. */
static int take_word_options(Object *self, PyObject *options) {
    PyObject *prepare = PyDict_GetItemString(options, "prepare");
    self->lowercase = (int)number_of(options, "lowercase");
    if (PyErr_Occurred()) return -1;
    REQUIRE(prepare && PyCallable_Check(prepare), "prepare is no function");
    Py_INCREF(prepare);
    self->prepare = prepare;
    return 0;
}

#define FIELD(Struct, name, type) {#name, type, offsetof(Struct, name)}
#define TAKE_FIELDS(self, options, fields) take_fields(self, options, fields, (int)(sizeof fields / sizeof *fields))

/* A number among keyword arguments; -1 with an error where there is none. */
static double double_of(PyObject *options, const char *name) {
    PyObject *number = PyDict_GetItemString(options, name);
    if (!number) return PyErr_Format(PyExc_TypeError, "%s is missing", name), -1;
    return PyFloat_AsDouble(number);
}

/* Remember the last row of a table that readings may name. */
static void note_last_row(Index *index, const int32_t *rows, int64_t count) {
    for (int64_t place = 0; place < count; place++) index->last_row = rows[place] > index->last_row ? rows[place] : index->last_row;
}

/* --- Index: known words, a channel, a lexicon and forms, by which strings are read --- */

static int set_up_index(Object *self, PyObject *options) {
    enum { SYMBOL_OF, FOLDED, SOUND, CLASSES, IS_LETTER, IS_DIGIT, ONE, TWO, COSTS, SUBSTITUTION, RESPELLING, NEW_WEIGHTS,
           LETTERS, OFFSETS, RANK_BITS, RANK_COSTS, PART_COSTS, TABLE_ROWS, FILTER, GRAMS, ENDING_HASHES, ENDING_SIZES,
           JOINED_HASHES, JOINED_ROWS, JOINED_COSTS, FORM_HASHES, FORM_ROWS, FORM_PROBABILITIES, FORM_NEW, FORM_PARTS,
           FORM_PART_ROWS, FORM_PART_ENDS, FORM_EVIDENCE };
    static const Field fields[] = {
        FIELD(Index, symbol_of, "u1"), FIELD(Index, folded, "u1"), FIELD(Index, sound, "u1"), FIELD(Index, classes, "u1"),
        FIELD(Index, is_letter, "u1"), FIELD(Index, is_digit, "u1"), FIELD(Index, one, "u1"), FIELD(Index, two, "u1"),
        FIELD(Index, costs, "i2"), FIELD(Index, substitution, "i2"), FIELD(Index, respelling, "i2"),
        FIELD(Index, new_weights, "f8"), FIELD(Index, letters, "u1"), FIELD(Index, offsets, "i8"),
        FIELD(Index, rank_bits, "i4"), FIELD(Index, rank_costs, "i4"), FIELD(Index, part_costs, "i4"), FIELD(Index, table_rows, "i4"),
        FIELD(Index, filter, "u1"), FIELD(Index, grams, "i1"), FIELD(Index, ending_hashes, "u8"), FIELD(Index, ending_sizes, "i8"),
        FIELD(Index, joined_hashes, "u8"), FIELD(Index, joined_rows, "i4"), FIELD(Index, joined_costs, "i4"),
        {"form_hashes", "u8", offsetof(Index, forms.hashes)}, {"form_rows", "i4", offsetof(Index, forms.rows)},
        {"form_probabilities", "f8", offsetof(Index, forms.probabilities)}, {"form_new", "f8", offsetof(Index, forms.new_)},
        {"form_parts", "f8", offsetof(Index, forms.parts)}, {"form_part_rows", "i4", offsetof(Index, forms.part_rows)},
        {"form_part_ends", "i4", offsetof(Index, forms.part_ends)}, {"form_evidence", "f8", offsetof(Index, forms.evidence)},
    };
    Index *index = &self->of.index;
    Py_buffer *views = self->views;
    if (take_word_options(self, options) || TAKE_FIELDS(self, options, fields)) return -1;
    int64_t letter_e = number_of(options, "letter_e"), symbols = LENGTH(views[FOLDED]), spellings = 0;
    while (spellings * spellings < LENGTH(views[RESPELLING])) spellings++;
    index->symbols = symbols, index->spellings = spellings, index->words = LENGTH(views[OFFSETS]) - 1;
    index->letter_e = (uint8_t)letter_e;
    REQUIRE(symbols > 0 && symbols <= MAX_SYMBOLS && letter_e >= 0 && letter_e < symbols, "symbols: 1 to 256");
    for (int array = SOUND; array <= ONE; array++) REQUIRE(LENGTH(views[array]) == symbols, "a number for each symbol");
    REQUIRE(LENGTH(views[SYMBOL_OF]) == CODE_POINTS && bytes_within(index->symbol_of, CODE_POINTS, 0, symbols), "symbol_of");
    REQUIRE(bytes_within(index->folded, symbols, 0, symbols) && bytes_within(index->classes, symbols, 0, DIGIT_CLASS + 1), "folded, classes");
    REQUIRE(LENGTH(views[TWO]) == symbols * symbols && LENGTH(views[SUBSTITUTION]) == symbols * symbols, "pairs of symbols");
    REQUIRE(spellings > 0 && spellings <= 256 && spellings * spellings == LENGTH(views[RESPELLING]), "respelling");
    REQUIRE(bytes_within(index->one, symbols, 0, spellings) && bytes_within(index->two, symbols * symbols, 0, spellings), "one, two");
    REQUIRE(LENGTH(views[COSTS]) == KINDS + 1 && shorts_within(index->costs, KINDS, 0, 257), "costs: 0 to 256");
    REQUIRE(index->costs[KIND_DIGIT] == DIGIT_COST, "costs: the last is that of digits");
    REQUIRE(shorts_within(index->substitution, symbols * symbols, 0, DIGIT_COST + 1), "substitution: 0 to 512");
    REQUIRE(shorts_within(index->respelling, spellings * spellings, 0, FAR_COST + 1), "respelling: 0 to 12000");
    REQUIRE(LENGTH(views[NEW_WEIGHTS]) == FEATURES, "new_weights");
    REQUIRE(index->words >= 0 && index->words < (1 << 22) - 1, "offsets: of up to four million words");
    REQUIRE(are_offsets(index->offsets, index->words, LENGTH(views[LETTERS]), 2, MAX_WORD_LENGTH), "words of 2 to 32 letters");
    REQUIRE(bytes_within(index->letters, LENGTH(views[LETTERS]), 0, symbols), "letters");
    for (int array = RANK_BITS; array <= TABLE_ROWS; array++) REQUIRE(LENGTH(views[array]) == index->words, "a number for each word");
    REQUIRE(ints_within(index->rank_bits, index->words, 0, 256), "rank_bits: 0 to 255");
    REQUIRE(ints_within(index->rank_costs, index->words, 0, 1 << 20), "rank_costs");
    REQUIRE(ints_within(index->part_costs, index->words, 0, 1 << 20), "part_costs");
    REQUIRE(ints_within(index->table_rows, index->words, 0, INT32_MAX), "table_rows");
    const int64_t bytes = LENGTH(views[FILTER]), joined = LENGTH(views[JOINED_HASHES]), join_cost = number_of(options, "join_cost");
    index->gram_scale = double_of(options, "gram_scale"), index->joined_constant = double_of(options, "joined_constant");
    if (PyErr_Occurred()) return -1;
    REQUIRE(bytes >= 8 && bytes <= INT64_C(1) << 28 && (bytes & (bytes - 1)) == 0, "filter: a power of two of bytes");
    REQUIRE(LENGTH(views[GRAMS]) == 1 << GRAM_BITS, "grams");
    index->filter_bits = (uint64_t)bytes * 8;
    index->endings = LENGTH(views[ENDING_HASHES]);
    REQUIRE(index->endings <= MAX_ENDINGS && LENGTH(views[ENDING_SIZES]) == index->endings, "endings: 16 at most");
    REQUIRE(longs_within(index->ending_sizes, index->endings, 1, MAX_ENDING + 1), "ending_sizes: 1 to 4");
    REQUIRE(joined < INT64_C(1) << 22 && LENGTH(views[JOINED_ROWS]) == joined && LENGTH(views[JOINED_COSTS]) == joined, "joined words");
    REQUIRE(ints_within(index->joined_rows, joined, 0, INT32_MAX) && ints_within(index->joined_costs, joined, 0, 1 << 20), "joined words");
    REQUIRE(join_cost >= 0 && join_cost < 1 << 16, "join_cost");
    index->joined_words = joined, index->join_cost = (int32_t)join_cost;
    const int64_t forms = index->forms.count = LENGTH(views[FORM_HASHES]);
    REQUIRE(LENGTH(views[FORM_ROWS]) == forms * WORDS_PER_READING && LENGTH(views[FORM_PROBABILITIES]) == forms * WORDS_PER_READING, "forms");
    REQUIRE(LENGTH(views[FORM_PART_ROWS]) == forms * MAX_PARTS && LENGTH(views[FORM_PART_ENDS]) == forms * MAX_PARTS, "forms");
    REQUIRE(LENGTH(views[FORM_NEW]) == forms && LENGTH(views[FORM_PARTS]) == forms && LENGTH(views[FORM_EVIDENCE]) == forms, "forms");
    REQUIRE(ints_within(index->forms.rows, forms * WORDS_PER_READING, -1, INT32_MAX), "form_rows");
    REQUIRE(ints_within(index->forms.part_rows, forms * MAX_PARTS, -1, INT32_MAX), "form_part_rows");
    note_last_row(index, index->table_rows, index->words);
    note_last_row(index, index->joined_rows, joined);
    note_last_row(index, index->forms.rows, forms * WORDS_PER_READING);
    note_last_row(index, index->forms.part_rows, forms * MAX_PARTS);
    int failed;
    Py_BEGIN_ALLOW_THREADS
    failed = kernels->build_index(index);
    Py_END_ALLOW_THREADS
    return failed ? PyErr_NoMemory(), -1 : 0;
}

static void free_index(Object *self) {
    Index *index = &self->of.index;
    free(index->memory), free(index->bucket_places), free(index->joined), free(index->joined_bits);
}

/* What a call computes with: the words, and working memory. */
typedef struct { Gathered gathered; void *room; PyThreadState *thread; } Call;

static void *new_index_room(const Object *self) { return kernels->index_room(&self->of.index); }
static void *new_fold_room(const Object *self) { return kernels->fold_room(&self->of.fold); }

static int begin_call(Object *self, PyObject *words, void *(*new_room)(const Object *), Call *call) {
    if (gather_words(self, words, &call->gathered)) return -1;
    call->room = NULL;
    if (new_room && !(call->room = EXCHANGE(&self->room, NULL)) && !(call->room = new_room(self))) {
        free_words(&call->gathered);
        return PyErr_NoMemory(), -1;
    }
    return 0;
}

static void give_up_gil(Call *call, int64_t count) { call->thread = count > MAX_WORDS_WITH_GIL ? PyEval_SaveThread() : NULL; }

static void end_call(Object *self, Call *call) {
    free_words(&call->gathered);
    if (call->room) free(EXCHANGE(&self->room, call->room));
}

enum { READING_ARRAYS = 7 };

/* Take the arrays of readings: rows, probabilities, new, parts, part_rows, part_ends, evidence. */
static int take_readings(PyObject *const *objects, int writable, int64_t count, Py_buffer *views, Readings *readings) {
    const int64_t words = count * WORDS_PER_READING, parts = count * MAX_PARTS;
    const Wanted wanted[READING_ARRAYS] = {
        {"rows", "i4", writable, words}, {"probabilities", "f8", writable, words}, {"new", "f8", writable, count},
        {"parts", "f8", writable, count}, {"part_rows", "i4", writable, parts}, {"part_ends", "i4", writable, parts},
        {"evidence", "f8", writable, count},
    };
    if (take_arrays(objects, wanted, READING_ARRAYS, views)) return -1;
    *readings = (Readings){views[0].buf, views[1].buf, views[2].buf, views[3].buf, views[4].buf, views[5].buf, views[6].buf};
    return 0;
}

/* read(words, *readings, new_divisor) */
static PyObject *index_read(PyObject *object, PyObject *const *arguments, Py_ssize_t given) {
    enum { DIVISOR = 1 + READING_ARRAYS };
    Object *self = (Object *)object;
    Py_buffer views[READING_ARRAYS];
    Readings readings;
    Call call;
    const double new_divisor = given == DIVISOR + 1 ? PyFloat_AsDouble(arguments[DIVISOR]) : 1;
    if (expect(given, DIVISOR + 1) || PyErr_Occurred() || begin_call(self, arguments[0], new_index_room, &call)) return NULL;
    int64_t count = call.gathered.words.count;
    if (take_readings(arguments + 1, 1, count, views, &readings)) return end_call(self, &call), NULL;
    give_up_gil(&call, count);
    kernels->read(&self->of.index, &call.gathered.words, call.room, new_divisor, &readings);
    if (call.thread) PyEval_RestoreThread(call.thread);
    release_arrays(views, READING_ARRAYS);
    end_call(self, &call);
    Py_RETURN_NONE;
}

/* likeness(words, likeness) */
static PyObject *index_likeness(PyObject *object, PyObject *const *arguments, Py_ssize_t given) {
    Object *self = (Object *)object;
    Py_buffer view;
    Call call;
    if (expect(given, 2) || begin_call(self, arguments[0], NULL, &call)) return NULL;
    int64_t count = call.gathered.words.count;
    if (take_array(arguments[1], "likeness", "f8", 1, count, &view)) return end_call(self, &call), NULL;
    give_up_gil(&call, count);
    kernels->likeness(&self->of.index, &call.gathered.words, view.buf);
    if (call.thread) PyEval_RestoreThread(call.thread);
    PyBuffer_Release(&view);
    end_call(self, &call);
    Py_RETURN_NONE;
}

/* --- Fold: the folded encoder --- */

static int set_up_fold(Object *self, PyObject *options) {
    enum { CHARACTER, ROW_OF_UNIT, TRIE_KEYS, TRIE_VALUES, PIECE_AT, OUT_SCALE, FEATURES_SCALE, POSITIONS, SHARES, OUT, FEATURES_ };
    static const Field fields[] = {
        FIELD(Fold, character, "i4"), FIELD(Fold, row_of_unit, "i4"), FIELD(Fold, trie_keys, "i8"),
        FIELD(Fold, trie_values, "i4"), FIELD(Fold, piece_at, "i4"), FIELD(Fold, out_scale, "f4"),
        FIELD(Fold, features_scale, "f4"), FIELD(Fold, positions, "f4"), FIELD(Fold, shares, "f4"),
    };
    static const Field bytes[] = {FIELD(Fold, out, "i1"), FIELD(Fold, features, "i1")};
    static const Field floats[] = {FIELD(Fold, out, "f4"), FIELD(Fold, features, "f4")};
    static const Field head[] = {
        {"head_0", "f4", offsetof(Fold, head[0])}, {"head_1", "f4", offsetof(Fold, head[1])},
        {"head_2", "f4", offsetof(Fold, head[2])}, {"head_3", "f4", offsetof(Fold, head[3])},
    };
    Fold *fold = &self->of.fold;
    Py_buffer *views = self->views;
    fold->is_int8 = number_of(options, "is_int8") == 1;
    fold->with_characters = number_of(options, "with_characters") == 1;
    fold->with_pieces = number_of(options, "with_pieces") == 1;
    fold->is_mixed = number_of(options, "is_mixed") == 1;
    fold->dim = number_of(options, "dim"), fold->key_width = number_of(options, "key_width");
    fold->ngrams = number_of(options, "ngrams"), fold->hidden = number_of(options, "hidden");
    if (PyErr_Occurred() || take_word_options(self, options) || TAKE_FIELDS(self, options, fields)) return -1;
    if (fold->is_int8 ? TAKE_FIELDS(self, options, bytes) : TAKE_FIELDS(self, options, floats)) return -1;
    if (fold->hidden && TAKE_FIELDS(self, options, head)) return -1;
    fold->rows = LENGTH(views[OUT_SCALE]), fold->unit_rows = LENGTH(views[FEATURES_SCALE]);
    fold->units = LENGTH(views[ROW_OF_UNIT]), fold->nodes = LENGTH(views[PIECE_AT]);
    int64_t slots = LENGTH(views[TRIE_KEYS]), is_open = 0;
    while (fold->trie_bits < 40 && INT64_C(1) << fold->trie_bits < slots) fold->trie_bits++;
    REQUIRE(fold->dim > 0 && fold->dim <= 1 << 20 && fold->key_width > 0 && fold->key_width <= 1 << 16, "dim, key_width");
    REQUIRE(fold->hidden >= 0 && fold->hidden <= 1 << 20 && fold->ngrams >= 0 && fold->ngrams <= INT32_MAX, "hidden, ngrams");
    REQUIRE(fold->units > 4 && fold->units <= 1 << 20 && fold->unit_rows > 0, "units");
    REQUIRE(fold->ngrams <= fold->rows && fold->unit_rows + fold->ngrams == fold->rows, "rows of units and n-grams");
    REQUIRE(LENGTH(views[CHARACTER]) == CODE_POINTS && ints_within(fold->character, CODE_POINTS, 0, fold->units), "character");
    REQUIRE(ints_within(fold->row_of_unit, fold->units, 0, fold->unit_rows), "row_of_unit");
    REQUIRE(slots > 1 && INT64_C(1) << fold->trie_bits == slots && LENGTH(views[TRIE_VALUES]) == slots, "trie");
    for (int64_t slot = 0; slot < slots; slot++) {
        if (fold->trie_keys[slot] == -1) is_open = 1;
        else REQUIRE(fold->trie_values[slot] >= 0 && fold->trie_values[slot] < fold->nodes, "trie_values");
    }
    REQUIRE(is_open && fold->nodes > 1 && ints_within(fold->piece_at, fold->nodes, -1, fold->units), "piece_at");
    fold->trie = malloc((size_t)slots * sizeof *fold->trie);
    if (!fold->trie) return PyErr_NoMemory(), -1;
    for (int64_t slot = 0; slot < slots; slot++) {
        int32_t node = fold->trie_keys[slot] == -1 ? 0 : fold->trie_values[slot];
        fold->trie[slot] = (TrieSlot){fold->trie_keys[slot], node, fold->piece_at[node]};
    }
    REQUIRE(LENGTH(views[OUT]) == fold->rows * fold->dim, "out");
    REQUIRE(LENGTH(views[FEATURES_]) == fold->unit_rows * 2 * fold->key_width, "features");
    REQUIRE(LENGTH(views[POSITIONS]) == MAX_UNITS * MAX_UNITS && LENGTH(views[SHARES]) == (MAX_UNITS + 1) * MAX_UNITS, "positions");
    if (fold->hidden) {
        Py_buffer *first = views + FEATURES_ + 1;
        REQUIRE(LENGTH(first[0]) == fold->dim * fold->hidden && LENGTH(first[1]) == fold->hidden, "head");
        REQUIRE(LENGTH(first[2]) == fold->dim * fold->hidden && LENGTH(first[3]) == fold->dim, "head");
    }
    return 0;
}

static void free_fold(Object *self) { free(self->of.fold.trie); }

static PyObject *fold_embed(PyObject *object, PyObject *const *arguments, Py_ssize_t given) {
    Object *self = (Object *)object;
    Py_buffer views[2];
    Call call;
    if (expect(given, 3) || begin_call(self, arguments[0], new_fold_room, &call)) return NULL;
    int64_t count = call.gathered.words.count;
    const Wanted wanted[] = {{"vectors", "f4", 1, count * self->of.fold.dim}, {"norms", "f4", 1, count}};
    if (take_arrays(arguments + 1, wanted, 2, views)) return end_call(self, &call), NULL;
    give_up_gil(&call, count);
    kernels->embed(&self->of.fold, &call.gathered.words, call.room, views[0].buf, views[1].buf);
    if (call.thread) PyEval_RestoreThread(call.thread);
    release_arrays(views, 2);
    end_call(self, &call);
    Py_RETURN_NONE;
}

/* count(words, counts) */
static PyObject *fold_count(PyObject *object, PyObject *const *arguments, Py_ssize_t given) {
    Object *self = (Object *)object;
    Py_buffer view;
    Call call;
    if (expect(given, 2) || begin_call(self, arguments[0], new_fold_room, &call)) return NULL;
    if (take_array(arguments[1], "counts", "i8", 1, 4 * call.gathered.words.count, &view)) return end_call(self, &call), NULL;
    kernels->count_units(&self->of.fold, &call.gathered.words, call.room, view.buf);
    PyBuffer_Release(&view);
    end_call(self, &call);
    Py_RETURN_NONE;
}

/* --- Rows: vectors of known words, as a table holds them --- */

static int set_up_rows(Object *self, PyObject *options) {
    static const Field codes[] = {FIELD(Rows, codes, "f4"), FIELD(Rows, codes, "f2"), FIELD(Rows, codes, "i1"), FIELD(Rows, codes, "u1")};
    static const Field scale[] = {FIELD(Rows, scale, "f4")}, levels[] = {{"levels", "f4", offsetof(Rows, codes)}};
    Rows *rows = &self->of.rows;
    int64_t kind = number_of(options, "kind");
    rows->dim = number_of(options, "dim");
    if (PyErr_Occurred()) return -1;
    REQUIRE(kind >= ROWS_FLOAT32 && kind <= ROWS_INT4 && rows->dim > 0 && rows->dim <= 1 << 20, "kind, dim");
    rows->kind = (RowKind)kind;
    if (kind == ROWS_INT4) {
        if (TAKE_FIELDS(self, options, levels)) return -1;
        REQUIRE(LENGTH(self->views[0]) == 16, "levels");
        memcpy(rows->levels, self->views[0].buf, sizeof rows->levels);
    }
    if (take_fields(self, options, codes + kind, 1)) return -1;
    int64_t width = kind == ROWS_INT4 ? (rows->dim + 1) / 2 : rows->dim, numbers = LENGTH(self->views[self->arrays - 1]);
    rows->count = numbers / width;
    REQUIRE(rows->count * width == numbers, "codes");
    if (!PyDict_GetItemString(options, "scale")) return 0;
    if (TAKE_FIELDS(self, options, scale)) return -1;
    REQUIRE(LENGTH(self->views[self->arrays - 1]) == rows->count, "scale");
    return 0;
}

static PyObject *rows_take(PyObject *object, PyObject *const *arguments, Py_ssize_t given) {
    const Rows *table = &((Object *)object)->of.rows;
    Py_buffer rows, vectors;
    if (given == 2 && PyLong_Check(arguments[0])) { /* one row, quickly */
        int64_t row = PyLong_AsLongLong(arguments[0]);
        if (PyErr_Occurred() || take_array(arguments[1], "vector", "f4", 1, table->dim, &vectors)) return NULL;
        int good = row >= 0 && row < table->count;
        if (good) kernels->take(table, &row, 1, vectors.buf);
        PyBuffer_Release(&vectors);
        if (!good) return PyErr_SetString(PyExc_IndexError, "rows: no such row"), NULL;
        Py_RETURN_NONE;
    }
    if (expect(given, 2) || take_array(arguments[0], "rows", "i8", 0, -1, &rows)) return NULL;
    int64_t count = LENGTH(rows);
    if (take_array(arguments[1], "vectors", "f4", 1, count * table->dim, &vectors)) return PyBuffer_Release(&rows), NULL;
    int good = longs_within(rows.buf, count, 0, table->count);
    if (good) {
        PyThreadState *thread = count > MAX_WORDS_WITH_GIL ? PyEval_SaveThread() : NULL;
        kernels->take(table, rows.buf, count, vectors.buf);
        if (thread) PyEval_RestoreThread(thread);
    }
    PyBuffer_Release(&rows);
    PyBuffer_Release(&vectors);
    if (!good) return PyErr_SetString(PyExc_IndexError, "rows: no such row"), NULL;
    Py_RETURN_NONE;
}

/* mix(vectors, *readings, weights, new_weight or None, least) */
static PyObject *rows_mix(PyObject *object, PyObject *const *arguments, Py_ssize_t given) {
    enum { WEIGHTS = 1 + READING_ARRAYS };
    const Rows *table = &((Object *)object)->of.rows;
    Py_buffer views[READING_ARRAYS], vectors, weights;
    Readings readings;
    if (expect(given, WEIGHTS + 3)) return NULL;
    const Py_ssize_t count = PyObject_Size(arguments[3]);
    const double new_weight = arguments[WEIGHTS + 1] == Py_None ? -1 : PyFloat_AsDouble(arguments[WEIGHTS + 1]);
    const double least = PyFloat_AsDouble(arguments[WEIGHTS + 2]);
    if (PyErr_Occurred() || take_array(arguments[0], "vectors", "f4", 1, count * table->dim, &vectors)) return NULL;
    if (take_array(arguments[WEIGHTS], "weights", "f4", 0, table->count, &weights)) return PyBuffer_Release(&vectors), NULL;
    int good = !take_readings(arguments + 1, 0, count, views, &readings);
    if (good) {
        good = ints_within(readings.rows, count * WORDS_PER_READING, -1, table->count) &&
               ints_within(readings.part_rows, count * MAX_PARTS, -1, table->count);
        if (good) {
            PyThreadState *thread = count > MAX_WORDS_WITH_GIL ? PyEval_SaveThread() : NULL;
            kernels->mix(table, count, &readings, weights.buf, new_weight, least, vectors.buf);
            if (thread) PyEval_RestoreThread(thread);
        } else {
            PyErr_SetString(PyExc_IndexError, "rows: no such row");
        }
        release_arrays(views, READING_ARRAYS);
    }
    PyBuffer_Release(&vectors);
    PyBuffer_Release(&weights);
    if (!good) return NULL;
    Py_RETURN_NONE;
}

/* --- Signatures: random directions for the pairs of letters of words --- */

static int set_up_signatures(Object *self, PyObject *options) {
    static const Field fields[] = {FIELD(Signatures, directions, "i1")};
    if (take_word_options(self, options) || TAKE_FIELDS(self, options, fields)) return -1;
    self->of.signatures.dim = LENGTH(self->views[0]) >> PAIR_BITS;
    REQUIRE(self->of.signatures.dim > 0 && self->of.signatures.dim << PAIR_BITS == LENGTH(self->views[0]), "directions");
    return 0;
}

static void *new_signature_room(const Object *self) { return malloc((size_t)self->of.signatures.dim * sizeof(int16_t)); }

/* add(words, scales, vectors) */
static PyObject *signatures_add(PyObject *object, PyObject *const *arguments, Py_ssize_t given) {
    Object *self = (Object *)object;
    Py_buffer views[2];
    Call call;
    if (expect(given, 3) || begin_call(self, arguments[0], new_signature_room, &call)) return NULL;
    int64_t count = call.gathered.words.count;
    const Wanted wanted[] = {{"scales", "f4", 0, count}, {"vectors", "f4", 1, count * self->of.signatures.dim}};
    if (take_arrays(arguments + 1, wanted, 2, views)) return end_call(self, &call), NULL;
    give_up_gil(&call, count);
    kernels->add_signatures(&self->of.signatures, &call.gathered.words, call.room, views[0].buf, views[1].buf);
    if (call.thread) PyEval_RestoreThread(call.thread);
    release_arrays(views, 2);
    end_call(self, &call);
    Py_RETURN_NONE;
}

/* --- WordMap: words by their spelling --- */

static int set_up_map(Object *self, PyObject *options) {
    static const Field fields[] = {FIELD(WordMap, text, "u1"), FIELD(WordMap, offsets, "i8")};
    WordMap *map = &self->of.map;
    map->seed = (uint64_t)number_of(options, "seed");
    if (PyErr_Occurred() || TAKE_FIELDS(self, options, fields)) return -1;
    map->count = LENGTH(self->views[1]) - 1;
    REQUIRE(map->count < INT32_MAX && are_offsets(map->offsets, map->count, LENGTH(self->views[0]), 0, LENGTH(self->views[0])), "offsets");
    return kernels->build_map(map) ? PyErr_NoMemory(), -1 : 0;
}

static void free_map(Object *self) { free(self->of.map.slots); }

/* get(word, default): the row of a word, or the default. */
static PyObject *map_get(PyObject *object, PyObject *const *arguments, Py_ssize_t given) {
    enum { SHORT = 64 };
    uint32_t few[SHORT], *codes = few;
    if (given < 1 || given > 2) return expect(given, 2), NULL;
    int64_t row = -1;
    if (PyUnicode_Check(arguments[0])) {
        const Py_ssize_t length = PyUnicode_GetLength(arguments[0]);
        if (length > SHORT && !(codes = malloc((size_t)length * sizeof *codes))) return PyErr_NoMemory();
        const int failed = length && !PyUnicode_AsUCS4(arguments[0], codes, length, 0);
        if (!failed) row = kernels->find_word(&((Object *)object)->of.map, codes, length, 0);
        if (codes != few) free(codes);
        if (failed) return NULL;
    }
    if (row >= 0) return PyLong_FromLongLong(row);
    PyObject *none = given == 2 ? arguments[1] : Py_None;
    Py_INCREF(none);
    return none;
}

/* look_up(words, rows, lowercase): writes the row of each word, of plain letters and digits also in lower case, -1 where there
 * is none; returns the places of those words without a row that are more than plain letters and digits. */
static PyObject *map_look_up(PyObject *object, PyObject *const *arguments, Py_ssize_t given) {
    enum { SHORT = 64 };
    const WordMap *map = &((Object *)object)->of.map;
    Py_buffer rows;
    if (expect(given, 3)) return NULL;
    const int lowercase = PyObject_IsTrue(arguments[2]) == 1;
    PyObject *words = PySequence_Tuple(arguments[0]), *odd = words ? PyList_New(0) : NULL;
    if (!odd) return Py_XDECREF(words), NULL;
    const Py_ssize_t count = PyTuple_Size(words);
    int failed = take_array(arguments[1], "rows", "i8", 1, count, &rows), taken = !failed;
    for (Py_ssize_t word = 0; !failed && word < count; word++) {
        uint32_t few[SHORT], *codes = few;
        PyObject *text = PyTuple_GetItem(words, word);
        if (!PyUnicode_Check(text)) {
            PyErr_Format(PyExc_TypeError, "word %zd is no string", word);
            failed = 1;
            break;
        }
        const Py_ssize_t length = PyUnicode_GetLength(text);
        if (length > SHORT && !(codes = malloc((size_t)length * sizeof *codes))) {
            PyErr_NoMemory();
            failed = 1;
            break;
        }
        failed = length && !PyUnicode_AsUCS4(text, codes, length, 0);
        int64_t row = failed ? -1 : kernels->find_word(map, codes, length, 0);
        if (!failed && row < 0) {
            int is_plain = length > 0, is_lower = 1;
            for (Py_ssize_t place = 0; place < length && is_plain; place++) {
                const uint32_t code = codes[place], letter = lower(code);
                is_lower &= letter == code;
                is_plain = (letter >= 'a' && letter <= 'z') || (code >= '0' && code <= '9');
            }
            if (is_plain && lowercase && !is_lower) row = kernels->find_word(map, codes, length, 1);
            if (!is_plain) {
                PyObject *place = PyLong_FromSsize_t(word);
                failed = !place || PyList_Append(odd, place);
                Py_XDECREF(place);
            }
        }
        ((int64_t *)rows.buf)[word] = row;
        if (codes != few) free(codes);
    }
    if (taken) PyBuffer_Release(&rows);
    Py_DECREF(words);
    if (failed) Py_CLEAR(odd);
    return odd;
}

/* --- Context: what the rest of a sentence says of a word --- */

static PyTypeObject *index_type, *fold_type, *rows_type, *signatures_type, *map_type, *context_type, *collection_type;

static int has_shape(const Py_buffer *view, int64_t rows, int64_t columns) {
    return view->ndim == 2 && view->shape[0] == rows && view->shape[1] == columns;
}

static int has_size(const Py_buffer *view, int64_t size) { return view->ndim == 1 && view->shape[0] == size; }

/* Check the sizes and numbers of a model of context, as Context._check does (near/context.py). */
static int check_context(Context *context, const Py_buffer *views) {
    enum { PROJECTION, PROJECTION_SCALE, OWN, OWN_SCALE, OWN_BIAS, SIGNS, POSITION_BIAS, SCALES, GIVEN };
    const Py_buffer *layers = views + GIVEN;
#define LAYER_VIEW(layer, part) (&layers[3 * (layer) + (part)])
    REQUIRE(views[PROJECTION].ndim == 2 && views[POSITION_BIAS].ndim == 2, "projection, position_bias");
    const int64_t dim = context->dim = context->table->dim, width = context->width = views[PROJECTION].shape[1];
    const int64_t heads = context->heads = views[POSITION_BIAS].shape[0], hidden = context->hidden = LENGTH(*LAYER_VIEW(LAYER_FIRST, 1));
    const int64_t second = LENGTH(*LAYER_VIEW(LAYER_SECOND, 1)), frequent = context->frequent = LENGTH(views[OWN_BIAS]);
    REQUIRE(dim <= MAX_INPUTS && has_shape(&views[PROJECTION], dim, width), "projection: rows for those of the table");
    REQUIRE(width > 0 && width <= MAX_WIDTH && heads > 0 && heads <= MAX_HEADS, "projection, position_bias: up to 128 and 16");
    REQUIRE(frequent > 0 && frequent <= MAX_FREQUENT, "own_bias: up to 65536 words");
    REQUIRE(hidden > 0 && hidden <= MAX_INPUTS && second > 0 && second <= MAX_INPUTS, "layers of up to 4096 numbers");
    REQUIRE(LAYER_VIEW(LAYER_FIRST, 0)->ndim == 2, "first_weights");
    const int64_t near = LAYER_VIEW(LAYER_FIRST, 0)->shape[0], side = context->side = near / (2 * width);
    REQUIRE(side > 0 && side <= PLACES / 2, "first_weights: of one place to all on each side");
    const int64_t sizes[LAYER_PROJECTION][2] = {
        {2 * side * width, hidden}, {hidden, heads * width}, {hidden + heads * width, second}, {second, hidden},
        {hidden, dim}, {hidden, width}, {hidden, 1},
    };
    REQUIRE(has_size(&views[PROJECTION_SCALE], width) && has_size(&views[OWN_SCALE], width), "projection_scale, own_scale");
    REQUIRE(has_size(&views[OWN_BIAS], frequent) && has_shape(&views[OWN], frequent, width), "own, own_bias");
    REQUIRE(has_shape(&views[SIGNS], SIGN_ROWS, width), "signs");
    REQUIRE(has_shape(&views[POSITION_BIAS], heads, PLACES) && has_size(&views[SCALES], 4), "position_bias, scales");
    for (int layer = 0; layer < LAYER_PROJECTION; layer++) {
        Given *given = &context->given[layer];
        given->inputs = sizes[layer][0], given->outputs = sizes[layer][1];
        REQUIRE(given->inputs <= MAX_INPUTS && given->outputs <= MAX_INPUTS, "layers of up to 4096 numbers");
        REQUIRE(has_shape(LAYER_VIEW(layer, 0), given->inputs, given->outputs), "weights of layers that do not fit each other");
        for (int part = 1; part < 3; part++) {
            const Py_buffer *numbers = LAYER_VIEW(layer, part);
            REQUIRE(has_size(numbers, given->outputs), "scale and bias of layers");
            REQUIRE(floats_within(numbers->buf, LENGTH(*numbers), 1e6f), "numbers that no training gives");
        }
    }
#undef LAYER_VIEW
    static const int floats[] = {PROJECTION_SCALE, OWN_SCALE, OWN_BIAS, POSITION_BIAS, SCALES};
    for (int array = 0; array < 5; array++)
        REQUIRE(floats_within(views[floats[array]].buf, LENGTH(views[floats[array]]), 1e6f), "numbers that no training gives");
    REQUIRE(context->scales[3] >= 0 && context->scales[3] <= 100, "scales: the last from 0 to 100");
    REQUIRE(shorts_within(context->signs, SIGN_ROWS * width, -MOST, MOST + 1), "signs: -4095 to 4095");
    context->given[LAYER_PROJECTION].inputs = dim, context->given[LAYER_PROJECTION].outputs = width;
    context->common = frequent < context->table->count ? frequent : context->table->count;
    return 0;
}

static int set_up_context(Object *self, PyObject *options) {
#define LAYER_FIELDS(name, number)                                                                                             \
    {name "_weights", "i1", offsetof(Context, given[number].weights)}, {name "_scale", "f4", offsetof(Context, given[number].scale)}, \
    {name "_bias", "f4", offsetof(Context, given[number].bias)}
    static const Field fields[] = {
        {"projection", "i1", offsetof(Context, given[LAYER_PROJECTION].weights)},
        {"projection_scale", "f4", offsetof(Context, given[LAYER_PROJECTION].scale)},
        FIELD(Context, own, "i1"), FIELD(Context, own_scale, "f4"), FIELD(Context, own_bias, "f4"), FIELD(Context, signs, "i2"),
        FIELD(Context, position_bias, "f4"), FIELD(Context, scales, "f4"),
        LAYER_FIELDS("first", LAYER_FIRST), LAYER_FIELDS("query", LAYER_QUERY), LAYER_FIELDS("second", LAYER_SECOND),
        LAYER_FIELDS("third", LAYER_THIRD), LAYER_FIELDS("row", LAYER_ROW), LAYER_FIELDS("frequent", LAYER_FREQUENT),
        LAYER_FIELDS("new", LAYER_NEW),
    };
    Context *context = &self->of.context;
    PyObject *table = PyDict_GetItemString(options, "table");
    if (!table || Py_TYPE(table) != rows_type) return PyErr_SetString(PyExc_TypeError, "a Context takes Rows as its table"), -1;
    Py_INCREF(table);
    self->table = table;
    context->table = &((Object *)table)->of.rows;
    context->is_wide = has_wide_products;
    if (TAKE_FIELDS(self, options, fields) || check_context(context, self->views)) return -1;
    int failed;
    Py_BEGIN_ALLOW_THREADS
    failed = kernels->build_context(context);
    Py_END_ALLOW_THREADS
    return failed ? PyErr_NoMemory(), -1 : 0;
}

static void free_context(Object *self) { free(self->of.context.memory); }

/* Take working memory of a context, and windows, which must be [n, PLACES] of signs and rows of its table; the number of
 * windows, or -1 with an error. */
static int64_t take_windows(Object *self, PyObject *object, Py_buffer *windows, ContextRoom **room) {
    if (take_array(object, "windows", "i4", 0, -1, windows)) return -1;
    const int64_t count = windows->ndim == 2 ? windows->shape[0] : -1;
    *room = NULL;
    if (count < 0 || windows->shape[1] != PLACES) PyErr_Format(PyExc_ValueError, "windows of %d places are needed", PLACES);
    else if (!ints_within(windows->buf, count * PLACES, PAD, self->of.context.table->count))
        PyErr_SetString(PyExc_IndexError, "windows: no such row or sign");
    else if (!(*room = EXCHANGE(&self->room, NULL)) && !(*room = kernels->context_room(&self->of.context))) PyErr_NoMemory();
    if (*room) return count;
    PyBuffer_Release(windows);
    return -1;
}

static void release_windows(Object *self, Py_buffer *windows, ContextRoom *room) {
    PyBuffer_Release(windows);
    free(EXCHANGE(&self->room, room));
}

/* scores(windows, candidates, result): z of the candidates of each window, rows of the table or -1, and of a new word. */
static PyObject *context_scores(PyObject *object, PyObject *const *arguments, Py_ssize_t given) {
    static const Wanted wanted[] = {{"candidates", "i4", 0, -1}, {"result", "f8", 1, -1}};
    Object *self = (Object *)object;
    const Context *context = &self->of.context;
    Py_buffer windows, views[2];
    ContextRoom *room;
    if (expect(given, 3)) return NULL;
    const int64_t count = take_windows(self, arguments[0], &windows, &room);
    if (count < 0) return NULL;
    int good = !take_arrays(arguments + 1, wanted, 2, views);
    if (good) {
        const int64_t most = views[0].ndim == 2 ? views[0].shape[1] : 0;
        good = has_shape(&views[0], count, most) && has_shape(&views[1], count, most + 1);
        if (!good) PyErr_SetString(PyExc_ValueError, "windows, candidates and result do not fit each other");
        else if (!(good = ints_within(views[0].buf, count * most, -1, context->table->count)))
            PyErr_SetString(PyExc_IndexError, "candidates: no such row");
        if (good) {
            PyThreadState *thread = count > MAX_WORDS_WITH_GIL ? PyEval_SaveThread() : NULL;
            kernels->score_windows(context, windows.buf, views[0].buf, count, most, room, views[1].buf);
            if (thread) PyEval_RestoreThread(thread);
        }
        release_arrays(views, 2);
    }
    release_windows(self, &windows, room);
    if (!good) return NULL;
    Py_RETURN_NONE;
}

/* expected(windows, result): where the sentence expects a word among the vectors. */
static PyObject *context_expected(PyObject *object, PyObject *const *arguments, Py_ssize_t given) {
    Object *self = (Object *)object;
    const Context *context = &self->of.context;
    Py_buffer windows, result;
    ContextRoom *room;
    if (expect(given, 2)) return NULL;
    const int64_t count = take_windows(self, arguments[0], &windows, &room);
    if (count < 0) return NULL;
    int good = !take_array(arguments[1], "result", "f4", 1, count * context->dim, &result);
    if (good) {
        PyThreadState *thread = count > MAX_WORDS_WITH_GIL ? PyEval_SaveThread() : NULL;
        kernels->expect_vectors(context, windows.buf, count, room, result.buf);
        if (thread) PyEval_RestoreThread(thread);
        PyBuffer_Release(&result);
    }
    release_windows(self, &windows, room);
    if (!good) return NULL;
    Py_RETURN_NONE;
}

/* --- functions --- */

/* mean(index, fold, table, words, vectors, norms, *readings, least, new_divisor, weights, new_weight or None): the vectors of
 * unknown words, the mean over their readings; how long the imputed ones were; and the readings. Without a new weight they
 * are of unit length. One call does it all. */
static PyObject *core_mean(PyObject *module, PyObject *const *arguments, Py_ssize_t given) {
    enum { READINGS = 6, LEAST = READINGS + READING_ARRAYS, DIVISOR, WEIGHTS, NEW_WEIGHT, COUNT };
    enum { WORDS_AT_A_TIME = 1024 }; /* of which each table is used for some time, and stays in the cache */
    (void)module;
    if (expect(given, COUNT)) return NULL;
    Object *index = (Object *)arguments[0], *fold = (Object *)arguments[1];
    const Rows *table = &((Object *)arguments[2])->of.rows;
    if (Py_TYPE(arguments[0]) != index_type || Py_TYPE(arguments[1]) != fold_type || Py_TYPE(arguments[2]) != rows_type)
        return PyErr_SetString(PyExc_TypeError, "mean takes an Index, a Fold and Rows"), NULL;
    const double least = PyFloat_AsDouble(arguments[LEAST]), new_divisor = PyFloat_AsDouble(arguments[DIVISOR]);
    const int in_text = arguments[NEW_WEIGHT] != Py_None;
    const double new_weight = in_text ? PyFloat_AsDouble(arguments[NEW_WEIGHT]) : -1;
    const int64_t dim = fold->of.fold.dim, last_row = index->of.index.last_row;
    if (PyErr_Occurred()) return NULL;
    if (dim != table->dim || last_row >= table->count) return PyErr_SetString(PyExc_ValueError, "the table does not fit"), NULL;
    Call call, fold_call = {.room = NULL};
    Py_buffer views[2 + READING_ARRAYS], weights;
    Readings readings;
    if (take_array(arguments[WEIGHTS], "weights", "f4", 0, table->count, &weights)) return NULL;
    if (begin_call(index, arguments[3], new_index_room, &call)) return PyBuffer_Release(&weights), NULL;
    const int64_t count = call.gathered.words.count;
    const Wanted wanted[] = {{"vectors", "f4", 1, count * dim}, {"norms", "f4", 1, count}};
    int failed = !(fold_call.room = EXCHANGE(&fold->room, NULL)) && !(fold_call.room = new_fold_room(fold));
    if (failed) PyErr_NoMemory();
    failed = failed || take_arrays(arguments + 4, wanted, 2, views);
    if (!failed && take_readings(arguments + READINGS, 1, count, views + 2, &readings)) release_arrays(views, 2), failed = 1;
    if (!failed) {
        give_up_gil(&call, count);
        for (int64_t low = 0; low < count; low += WORDS_AT_A_TIME) {
            int64_t size = count - low < WORDS_AT_A_TIME ? count - low : WORDS_AT_A_TIME;
            Words words = {size, call.gathered.codes, call.gathered.offsets + low, call.gathered.flags + low};
            float *vectors = (float *)views[0].buf + low * dim;
            const Readings some = {
                readings.rows + low * WORDS_PER_READING, readings.probabilities + low * WORDS_PER_READING, readings.new_ + low,
                readings.parts + low, readings.part_rows + low * MAX_PARTS, readings.part_ends + low * MAX_PARTS, readings.evidence + low,
            };
            kernels->embed(&fold->of.fold, &words, fold_call.room, vectors, (float *)views[1].buf + low);
            kernels->read(&index->of.index, &words, call.room, new_divisor, &some);
            kernels->mix(table, size, &some, weights.buf, new_weight, least, vectors);
            if (!in_text) kernels->normalize(vectors, size, dim);
        }
        if (call.thread) PyEval_RestoreThread(call.thread);
        release_arrays(views, 2 + READING_ARRAYS);
    }
    PyBuffer_Release(&weights);
    end_call(index, &call);
    if (fold_call.room) free(EXCHANGE(&fold->room, fold_call.room));
    if (failed) return NULL;
    Py_RETURN_NONE;
}

/* The code points of all texts, one text after the other: codes and offsets, to be freed together with the codes. */
static int64_t *gather_texts(PyObject *texts, uint32_t **codes) {
    const Py_ssize_t count = PyTuple_Size(texts);
    int64_t total = 0, *offsets = malloc((size_t)(count + 1) * sizeof *offsets);
    for (Py_ssize_t text = 0; offsets && text < count; text++) {
        PyObject *one = PyTuple_GetItem(texts, text);
        if (!PyUnicode_Check(one)) return PyErr_Format(PyExc_TypeError, "text %zd is no string", text), free(offsets), NULL;
        offsets[text] = total;
        total += PyUnicode_GetLength(one);
    }
    *codes = offsets ? malloc((size_t)(total + 1) * sizeof **codes) : NULL;
    if (!*codes) return PyErr_NoMemory(), free(offsets), NULL;
    offsets[count] = total;
    for (Py_ssize_t text = 0; text < count; text++) {
        const int64_t length = offsets[text + 1] - offsets[text];
        if (length && !PyUnicode_AsUCS4(PyTuple_GetItem(texts, text), *codes + offsets[text], length, 0))
            return free(*codes), free(offsets), NULL;
    }
    return offsets;
}

/* Parts of texts: a list of strings, and as bytes the numbers (int64) of the texts that they stand in. */
static PyObject *chunks_as_python(PyObject *texts, const Chunks *left) {
    PyObject *strings = PyList_New(left->count), *owners = PyBytes_FromStringAndSize(NULL, left->count * (Py_ssize_t)sizeof(int64_t));
    for (int64_t place = 0; strings && owners && place < left->count; place++) {
        const Chunk chunk = left->chunks[place];
        PyObject *string = PyUnicode_Substring(PyTuple_GetItem(texts, chunk.text), chunk.start, chunk.end);
        if (!string || PyList_SetItem(strings, place, string)) Py_CLEAR(strings);
        else memcpy(PyBytes_AsString(owners) + place * (int64_t)sizeof(int64_t), &chunk.text, sizeof chunk.text);
    }
    PyObject *result = strings && owners ? PyTuple_Pack(2, strings, owners) : NULL;
    Py_XDECREF(strings), Py_XDECREF(owners);
    return result;
}

static PyObject *bytes_of(const void *numbers, int64_t count, size_t size) {
    return PyBytes_FromStringAndSize(count ? numbers : "", count * (Py_ssize_t)size);
}

/* sum_texts(map, table, signatures or None, weights, signature_length, lowercase, torn or None, texts, sums, totals[, lengths]):
 * the sums over the known words of each text, of their vectors and of their weights; returns what is left, words and chunks
 * (Left). `torn` are costs, and those of frequent and of rare words. With `lengths` lines are wanted, too, as bytes (int32). */
static PyObject *core_sum_texts(PyObject *module, PyObject *const *arguments, Py_ssize_t given) {
    enum { TEXTS = 7, LENGTHS = 10 };
    (void)module;
    const int with_lines = given > LENGTHS;
    if (expect(given, LENGTHS + with_lines)) return NULL;
    const int with_signatures = arguments[2] != Py_None;
    if (Py_TYPE(arguments[0]) != map_type || Py_TYPE(arguments[1]) != rows_type || (with_signatures && Py_TYPE(arguments[2]) != signatures_type))
        return PyErr_SetString(PyExc_TypeError, "sum_texts takes a WordMap, Rows and Signatures"), NULL;
    TextSource source = {
        .map = &((Object *)arguments[0])->of.map, .table = &((Object *)arguments[1])->of.rows,
        .signatures = with_signatures ? &((Object *)arguments[2])->of.signatures : NULL,
        .signature_length = (float)PyFloat_AsDouble(arguments[4]), .lowercase = PyObject_IsTrue(arguments[5]) == 1,
    };
    if (PyErr_Occurred()) return NULL;
    const int64_t dim = source.table->dim;
    if (source.map->count > source.table->count || (with_signatures && source.signatures->dim != dim))
        return PyErr_SetString(PyExc_ValueError, "words, rows and signatures do not fit each other"), NULL;
    PyObject *texts = PySequence_Tuple(arguments[TEXTS]), *result = NULL, *costs = NULL;
    Py_buffer torn = {0};
    if (!texts) return NULL;
    if (arguments[6] != Py_None) {
        if (!PyTuple_Check(arguments[6])) PyErr_SetString(PyExc_TypeError, "torn is neither a tuple nor None");
        if (PyErr_Occurred() || !PyArg_ParseTuple(arguments[6], "OLL", &costs, &source.frequent, &source.rare) ||
            take_array(costs, "costs", "i4", 0, source.map->count, &torn))
            return Py_DECREF(texts), NULL;
    }
    source.costs = torn.buf;
    uint32_t *codes = NULL;
    int64_t *offsets = gather_texts(texts, &codes), count = PyTuple_Size(texts);
    const Wanted wanted[] = {{"sums", "f4", 1, count * dim}, {"totals", "f8", 1, count}, {"lengths", "i8", 1, count}};
    Py_buffer views[3], weights;
    if (!offsets) {
        if (torn.obj) PyBuffer_Release(&torn);
        return Py_DECREF(texts), NULL;
    }
    if (!take_array(arguments[3], "weights", "f4", 0, source.table->count, &weights)) {
        if (!take_arrays(arguments + TEXTS + 1, wanted, 2 + with_lines, views)) {
            TextRoom *room = kernels->text_room(dim);
            Left left = {.lengths = with_lines ? views[2].buf : NULL};
            source.weights = weights.buf;
            PyThreadState *thread = offsets[count] > 16 * MAX_WORDS_WITH_GIL ? PyEval_SaveThread() : NULL;
            const int failed = !room || kernels->sum_texts(&source, codes, offsets, count, room, &left, views[0].buf, views[1].buf);
            if (thread) PyEval_RestoreThread(thread);
            PyObject *words = failed ? PyErr_NoMemory() : chunks_as_python(texts, &left.words);
            PyObject *chunks = words ? chunks_as_python(texts, &left.chunks) : NULL;
            PyObject *line = chunks && with_lines ? bytes_of(left.line.ids, left.line.count, sizeof *left.line.ids) : NULL;
            if (chunks && (line || !with_lines)) result = PyTuple_Pack(2 + with_lines, words, chunks, line);
            Py_XDECREF(words), Py_XDECREF(chunks), Py_XDECREF(line);
            free(room), free(left.words.chunks), free(left.chunks.chunks), free(left.line.ids);
            release_arrays(views, 2 + with_lines);
        }
        PyBuffer_Release(&weights);
    }
    if (torn.obj) PyBuffer_Release(&torn);
    free(codes), free(offsets);
    Py_DECREF(texts);
    return result;
}

/* How many ids of lines are so, and whether each of the others is a row or a sign. */
static int64_t count_ids(const int32_t *ids, int64_t count, int32_t wanted, int *good) {
    int64_t many = 0;
    for (int64_t place = 0; place < count; place++) many += ids[place] == wanted, *good &= ids[place] >= MAY_BE_TORN && ids[place] != PAD;
    return many;
}

/* Whether chunks hold nothing but rows, signs and the numbers of strings. */
static int are_parts(const int32_t *parts, int64_t count, int64_t strings) {
    int good = 1;
    for (int64_t place = 0; place < count; place++)
        good &= parts[place] > PAD || (parts[place] <= FIRST_STRING && (int64_t)FIRST_STRING - parts[place] < strings);
    return good;
}

/* What is counted of unknown words: each string once for all places where it is read alone, and those that were asked about.
 * Which of these each word is, and of these which string each is and which of the windows, -1 for none. */
typedef struct { int64_t *numbers, *strings, *windows, count; } Counted;

/* Returns 0, or -1 where memory ends. `counted.numbers` [3 words] is to be freed. */
static int count_words(const int64_t *words, int64_t count, int64_t strings, const Windows *windows, Counted *counted) {
    int64_t window = 0, *first = malloc(((size_t)strings + 1) * sizeof *first), *numbers = malloc((3 * (size_t)count + 1) * sizeof *numbers);
    *counted = (Counted){numbers, numbers + count, numbers + 2 * count, 0};
    if (!first || !numbers) return free(first), -1;
    for (int64_t string = 0; string < strings; string++) first[string] = -1;
    for (int64_t word = 0; word < count; word++) {
        while (window < windows->count && windows->asked[window].word < word) window++;
        const int is_asked = window < windows->count && windows->asked[window].word == word;
        if (is_asked || first[words[word]] < 0) {
            counted->strings[counted->count] = words[word];
            counted->windows[counted->count] = is_asked ? window : -1;
            if (!is_asked) first[words[word]] = counted->count;
            numbers[word] = counted->count++;
        } else {
            numbers[word] = first[words[word]];
        }
    }
    free(first);
    return 0;
}

/* windows(ids, lengths, words, chunks, starts, parts, signs, rows, probabilities, new, joined, certain, likely, odd): what
 * stands around the strings whose readings are not certain, as bytes (int32 [n, PLACES]), and where (Asked, int64 [n, 4]);
 * and what is counted of the unknown words (Counted, int64 [words], [counted], [counted]).
 * `signs` [strings] stand for those that are not likely one known word: at least so probable. */
static PyObject *core_windows(PyObject *module, PyObject *const *arguments, Py_ssize_t given) {
    enum { IDS, LENGTHS, WORDS, CHUNKS, STARTS, PARTS, SIGNS, ARRAYS, ROWS = ARRAYS, CHANCES, NEW, JOINED, ODD, TAKEN };
    enum { CERTAIN = 11, LIKELY, LAST };
    static const Wanted lines_wanted[] = {
        {"ids", "i4", 0, -1}, {"lengths", "i8", 0, -1}, {"words", "i8", 0, -1}, {"chunks", "i8", 0, -1}, {"starts", "i8", 0, -1},
        {"parts", "i4", 0, -1}, {"signs", "i4", 0, -1},
    };
    (void)module;
    if (expect(given, LAST + 1)) return NULL;
    const double certain = PyFloat_AsDouble(arguments[CERTAIN]), likely = PyFloat_AsDouble(arguments[LIKELY]);
    Py_buffer views[TAKEN];
    if (PyErr_Occurred() || take_arrays(arguments, lines_wanted, ARRAYS, views)) return NULL;
    const int64_t texts = LENGTH(views[LENGTHS]), strings = LENGTH(views[SIGNS]), count = LENGTH(views[IDS]), many = LENGTH(views[STARTS]) - 1;
    const Wanted readings_wanted[] = {{"rows", "i4", 0, strings * WORDS_PER_READING}, {"probabilities", "f8", 0, strings * WORDS_PER_READING},
                                      {"new", "f8", 0, strings}, {"joined", "f8", 0, strings}};
    const Wanted odd_wanted[] = {{"odd", "u1", 1, texts}};
    if (take_arrays(arguments + ROWS, readings_wanted, 4, views + ROWS)) return release_arrays(views, ARRAYS), NULL;
    if (take_arrays(arguments + LAST, odd_wanted, 1, views + ODD)) return release_arrays(views, ODD), NULL;
    const int32_t *ids = views[IDS].buf, *signs = views[SIGNS].buf, *rows = views[ROWS].buf;
    const int64_t *lengths = views[LENGTHS].buf;
    const double *chances = views[CHANCES].buf, *new_ = views[NEW].buf, *joined = views[JOINED].buf;
    int64_t total = 0;
    int good = many >= 0 && are_offsets(views[STARTS].buf, many, LENGTH(views[PARTS]), 0, LENGTH(views[PARTS]));
    for (int64_t text = 0; text < texts && good; text++) {
        good = lengths[text] >= 0 && lengths[text] <= count - total;
        total += good ? lengths[text] : 0;
    }
    good &= total == count;
    good &= count_ids(ids, count, UNKNOWN_WORD, &good) == LENGTH(views[WORDS]);
    good &= count_ids(ids, count, OTHER_CHUNK, &good) == LENGTH(views[CHUNKS]);
    good &= longs_within(views[WORDS].buf, LENGTH(views[WORDS]), 0, strings) && longs_within(views[CHUNKS].buf, LENGTH(views[CHUNKS]), 0, many);
    good &= are_parts(views[PARTS].buf, LENGTH(views[PARTS]), strings) && ints_within(signs, strings, PAD + 1, PAUSE);
    PyObject *result = NULL;
    if (!good) PyErr_SetString(PyExc_ValueError, "lines, chunks and strings do not fit each other");
    int32_t *meant = good ? malloc((size_t)strings * (sizeof *meant + 1) + 1) : NULL;
    if (meant) {
        uint8_t *asked = (uint8_t *)(meant + strings);
        for (int64_t string = 0; string < strings; string++) {
            const double first = chances[string * WORDS_PER_READING];
            const int32_t row = rows[string * WORDS_PER_READING];
            meant[string] = first >= likely && row >= 0 ? row : signs[string];
            asked[string] = first < certain && new_[string] < certain && joined[string] < certain;
        }
        const Lines lines = {
            texts, ids, lengths, views[WORDS].buf, views[CHUNKS].buf, views[STARTS].buf, views[PARTS].buf, meant, asked,
        };
        Windows windows = {0};
        PyThreadState *thread = count > 16 * MAX_WORDS_WITH_GIL ? PyEval_SaveThread() : NULL;
        Counted counted = {NULL, NULL, NULL, 0};
        const int64_t words = LENGTH(views[WORDS]);
        const int failed = kernels->find_windows(&lines, views[ODD].buf, &windows) ||
                           count_words(views[WORDS].buf, words, strings, &windows, &counted);
        if (thread) PyEval_RestoreThread(thread);
        if (failed) PyErr_NoMemory();
        else result = PyTuple_New(5);
        for (int item = 0; result && item < 5; item++) {
            PyObject *bytes = item == 0   ? bytes_of(windows.around, windows.count, PLACES * sizeof *windows.around)
                              : item == 1 ? bytes_of(windows.asked, windows.count, sizeof *windows.asked)
                              : item == 2 ? bytes_of(counted.numbers, words, sizeof *counted.numbers)
                                          : bytes_of(item == 3 ? counted.strings : counted.windows, counted.count, sizeof *counted.numbers);
            if (!bytes || PyTuple_SetItem(result, item, bytes)) Py_CLEAR(result);
        }
        free(windows.around), free(windows.asked), free(meant), free(counted.numbers);
    } else if (good) {
        PyErr_NoMemory();
    }
    release_arrays(views, TAKEN);
    return result;
}

/* weigh(*readings, weights, new_weight, result): how much strings that are read so weigh in a text. */
static PyObject *core_weigh(PyObject *module, PyObject *const *arguments, Py_ssize_t given) {
    enum { WEIGHTS = READING_ARRAYS, NEW_WEIGHT, RESULT, LAST };
    static const Wanted wanted[] = {{"weights", "f4", 0, -1}, {"result", "f4", 1, -1}};
    (void)module;
    if (expect(given, LAST)) return NULL;
    const double new_weight = PyFloat_AsDouble(arguments[NEW_WEIGHT]);
    Py_buffer weights, result, views[READING_ARRAYS];
    Readings readings;
    if (PyErr_Occurred() || take_arrays(arguments + WEIGHTS, wanted, 1, &weights)) return NULL;
    if (take_arrays(arguments + RESULT, wanted + 1, 1, &result)) return PyBuffer_Release(&weights), NULL;
    const int64_t count = LENGTH(result), rows = LENGTH(weights);
    int good = !take_readings(arguments, 0, count, views, &readings);
    if (good) {
        good = ints_within(readings.rows, count * WORDS_PER_READING, INT32_MIN, rows) && ints_within(readings.part_rows, count * MAX_PARTS, INT32_MIN, rows);
        if (good) kernels->weigh_readings(&readings, count, weights.buf, new_weight, result.buf);
        else PyErr_SetString(PyExc_IndexError, "a row that there is not");
        release_arrays(views, READING_ARRAYS);
    }
    PyBuffer_Release(&weights), PyBuffer_Release(&result);
    if (!good) return NULL;
    Py_RETURN_NONE;
}

/* in_context(*alone, strings, asked, scores, strength, *readings): the readings of some strings, by their numbers, in context. */
static PyObject *core_in_context(PyObject *module, PyObject *const *arguments, Py_ssize_t given) {
    enum { STRINGS = READING_ARRAYS, ASKED, SCORES, STRENGTH, RESULT, LAST = RESULT + READING_ARRAYS };
    static const Wanted wanted[] = {{"strings", "i8", 0, -1}, {"asked", "i8", 0, -1}, {"scores", "f8", 0, -1}, {"new", "f8", 0, -1}};
    (void)module;
    if (expect(given, LAST)) return NULL;
    const double strength = PyFloat_AsDouble(arguments[STRENGTH]);
    Py_buffer views[4], alone_views[READING_ARRAYS], result_views[READING_ARRAYS];
    Readings alone, result;
    if (PyErr_Occurred() || take_arrays(arguments + STRINGS, wanted, 3, views)) return NULL;
    if (take_arrays(arguments + 2, wanted + 3, 1, views + 3)) return release_arrays(views, 3), NULL;
    const int64_t count = LENGTH(views[0]), known = LENGTH(views[3]), scored = LENGTH(views[2]) / (WORDS_PER_READING + 1);
    int good = LENGTH(views[1]) == count && longs_within(views[0].buf, count, 0, known) && longs_within(views[1].buf, count, -1, scored);
    if (!good) PyErr_SetString(PyExc_IndexError, "a string or a score that there is not");
    good = good && !take_readings(arguments, 0, known, alone_views, &alone);
    if (good && take_readings(arguments + RESULT, 1, count, result_views, &result)) release_arrays(alone_views, READING_ARRAYS), good = 0;
    if (good) {
        kernels->read_in_context(&alone, views[0].buf, views[1].buf, count, views[2].buf, strength, &result);
        release_arrays(alone_views, READING_ARRAYS), release_arrays(result_views, READING_ARRAYS);
    }
    release_arrays(views, 4);
    if (!good) return NULL;
    Py_RETURN_NONE;
}

static PyObject *core_normalize(PyObject *module, PyObject *const *arguments, Py_ssize_t given) {
    Py_buffer vectors;
    (void)module;
    if (expect(given, 1) || take_array(arguments[0], "vectors", "f4", 1, -1, &vectors)) return NULL;
    int64_t dim = vectors.ndim ? vectors.shape[vectors.ndim - 1] : 0, count = dim ? LENGTH(vectors) / dim : 0;
    PyThreadState *thread = count > MAX_WORDS_WITH_GIL ? PyEval_SaveThread() : NULL;
    kernels->normalize(vectors.buf, count, dim);
    if (thread) PyEval_RestoreThread(thread);
    PyBuffer_Release(&vectors);
    Py_RETURN_NONE;
}

/* sum_rows(vectors, chosen, ends, result) */
static PyObject *core_sum_rows(PyObject *module, PyObject *const *arguments, Py_ssize_t given) {
    static const Wanted wanted[] = {{"vectors", "f4", 0, -1}, {"chosen", "i8", 0, -1}, {"ends", "i8", 0, -1}, {"result", "f4", 1, -1}};
    Py_buffer views[4];
    (void)module;
    if (expect(given, 4) || take_arrays(arguments, wanted, 4, views)) return NULL;
    int64_t count = LENGTH(views[2]) - 1, chosen = LENGTH(views[1]), dim = views[0].ndim == 2 ? views[0].shape[1] : 0;
    int good = dim > 0 && count >= 0 && LENGTH(views[3]) == count * dim;
    good = good && are_offsets(views[2].buf, count, chosen, 0, chosen) && longs_within(views[1].buf, chosen, 0, views[0].shape[0]);
    if (good) {
        PyThreadState *thread = chosen > 4 * MAX_WORDS_WITH_GIL ? PyEval_SaveThread() : NULL;
        kernels->sum_rows(views[0].buf, dim, views[1].buf, views[2].buf, count, views[3].buf);
        if (thread) PyEval_RestoreThread(thread);
    }
    release_arrays(views, 4);
    if (!good) return PyErr_SetString(PyExc_ValueError, "chosen rows, ends or result do not fit the vectors"), NULL;
    Py_RETURN_NONE;
}

/* join(offsets, records, weights, scales, keys, ends, rows, sums) */
static PyObject *core_join(PyObject *module, PyObject *const *arguments, Py_ssize_t given) {
    static const Wanted wanted[] = {{"offsets", "i8", 0, -1}, {"records", "i4", 0, -1}, {"weights", "i4", 0, -1}, {"scales", "f4", 0, -1},
                                    {"keys", "i4", 0, -1}, {"ends", "i8", 0, -1}, {"rows", "i4", 1, -1}, {"sums", "i4", 1, -1}};
    Py_buffer views[8];
    (void)module;
    if (expect(given, 8) || take_arrays(arguments, wanted, 8, views)) return NULL;
    Postings table = {.keys = LENGTH(views[2]), .records = LENGTH(views[3]), .offsets = views[0].buf, .rows = views[1].buf,
                      .weights = views[2].buf, .scales = views[3].buf};
    const int64_t postings = LENGTH(views[1]), keys = LENGTH(views[4]), count = LENGTH(views[5]) - 1;
    const int64_t most = count > 0 ? LENGTH(views[6]) / count : 0;
    int good = count >= 0 && LENGTH(views[0]) == table.keys + 1 && LENGTH(views[6]) == count * most && LENGTH(views[7]) == count * most;
    good = good && are_offsets(table.offsets, table.keys, postings, 0, postings) && are_offsets(views[5].buf, count, keys, 0, keys);
    good = good && ints_within(table.rows, postings, 0, table.records) && ints_within(views[4].buf, keys, 0, table.keys);
    good = good && ints_within(table.weights, table.keys, 1, MAX_JOIN_WEIGHT + 1);
    for (int64_t key = 0; good && key < table.keys; key++) /* a record twice would be counted twice */
        for (int64_t at = table.offsets[key] + 1; good && at < table.offsets[key + 1]; at++) good = table.rows[at - 1] < table.rows[at];
    const int64_t *ends = views[5].buf;
    for (int64_t query = 0; good && query < count; query++) good = ends[query + 1] - ends[query] <= MAX_JOIN_KEYS;
    int failed = 0;
    if (good) {
        Py_BEGIN_ALLOW_THREADS
        failed = kernels->join(&table, views[4].buf, ends, count, most, views[6].buf, views[7].buf);
        Py_END_ALLOW_THREADS
    }
    release_arrays(views, 8);
    if (!good) return PyErr_SetString(PyExc_ValueError, "records, keys or results do not fit each other"), NULL;
    if (failed) return PyErr_NoMemory();
    Py_RETURN_NONE;
}

/* search(queries, centres, codes, starts, keys, centre_shift, code_shift, probes) */
static PyObject *core_search(PyObject *module, PyObject *const *arguments, Py_ssize_t given) {
    static const Wanted wanted[] = {{"queries", "i2", 0, -1}, {"centres", "i1", 0, -1}, {"codes", "i1", 0, -1}, {"starts", "i8", 0, -1},
                                    {"keys", "i4", 1, -1}};
    Py_buffer views[5];
    (void)module;
    if (expect(given, 8)) return NULL;
    int64_t numbers[3];
    for (int number = 0; number < 3; number++) numbers[number] = PyLong_AsLongLong(arguments[5 + number]);
    if (PyErr_Occurred() || take_arrays(arguments, wanted, 5, views)) return NULL;
    int64_t width = views[0].ndim == 2 ? views[0].shape[1] : 0, count = width ? views[0].shape[0] : 0;
    int good = width > 0 && width % LANES == 0 && width <= 1 << 16;
    Clusters known = {.width = width, .centres = views[1].buf, .codes = views[2].buf, .starts = views[3].buf,
                      .centre_shift = (int)numbers[0], .code_shift = (int)numbers[1], .probes = numbers[2]};
    known.clusters = good ? LENGTH(views[1]) / width : 0, known.words = good ? LENGTH(views[2]) / width : 0;
    int64_t most = count ? LENGTH(views[4]) / count : 0;
    good = good && known.clusters > 0 && known.clusters <= 1 << PLACE_BITS && known.words <= 1 << PLACE_BITS;
    good = good && LENGTH(views[1]) == known.clusters * width && LENGTH(views[2]) == known.words * width;
    good = good && LENGTH(views[3]) == known.clusters + 1 && are_offsets(known.starts, known.clusters, known.words, 0, known.words);
    good = good && LENGTH(views[4]) == count * most && known.probes > 0;
    for (int number = 0; number < 2; number++) good = good && numbers[number] >= 0 && numbers[number] < 31;
    int failed = 0;
    if (good) {
        Py_BEGIN_ALLOW_THREADS
        failed = kernels->search(&known, views[0].buf, count, most, views[4].buf);
        Py_END_ALLOW_THREADS
    }
    release_arrays(views, 5);
    if (!good) return PyErr_SetString(PyExc_ValueError, "queries, clusters or keys do not fit each other"), NULL;
    if (failed) return PyErr_NoMemory();
    Py_RETURN_NONE;
}

/* --- search/signals.py --- */

static int set_up_collection(Object *self, PyObject *options) {
    enum { BAGS, BAG_ENDS, COUNTS, STEM_OF, IS_NUMBER, DAMPING, NORMS, MASSES, POSTING_TEXTS, POSTING_ENDS, POSTING_COUNTS, CODES, SCALE, SIGNS };
    static const Field fields[] = {
        FIELD(Collection, bags, "i4"), FIELD(Collection, bag_ends, "i8"), FIELD(Collection, counts, "f4"), FIELD(Collection, stem_of, "i4"),
        FIELD(Collection, is_number, "u1"), FIELD(Collection, damping, "f4"), FIELD(Collection, norms, "f4"), FIELD(Collection, masses, "f8"),
        FIELD(Collection, posting_texts, "i4"), FIELD(Collection, posting_ends, "i8"), FIELD(Collection, posting_counts, "f4"),
        FIELD(Collection, codes, "i1"), FIELD(Collection, scale, "f4"), FIELD(Collection, signs, "u8"),
    };
    Collection *collection = &self->of.collection;
    collection->dim = number_of(options, "dim");
    if (PyErr_Occurred() || TAKE_FIELDS(self, options, fields)) return -1;
    const Py_buffer *views = self->views;
    const int64_t texts = LENGTH(views[SCALE]), terms = LENGTH(views[STEM_OF]), bags = LENGTH(views[BAGS]);
    collection->texts = texts, collection->terms = terms;
    REQUIRE(collection->dim > 0 && collection->dim <= 8192 && LENGTH(views[CODES]) == texts * collection->dim, "codes");
    collection->sign_words = (collection->dim + 63) / 64;
    REQUIRE(LENGTH(views[SIGNS]) == texts * collection->sign_words, "signs");
    REQUIRE(LENGTH(views[BAG_ENDS]) == texts + 1 && are_offsets(collection->bag_ends, texts, bags, 0, bags), "bag_ends");
    REQUIRE(ints_within(collection->bags, bags, 0, terms) && LENGTH(views[COUNTS]) == bags, "bags");
    REQUIRE(LENGTH(views[IS_NUMBER]) == terms && LENGTH(views[POSTING_ENDS]) == terms + 1, "terms");
    REQUIRE(are_offsets(collection->posting_ends, terms, LENGTH(views[POSTING_TEXTS]), 0, LENGTH(views[POSTING_TEXTS])), "posting_ends");
    REQUIRE(ints_within(collection->posting_texts, LENGTH(views[POSTING_TEXTS]), 0, texts), "posting_texts");
    for (int64_t term = 0; term < terms; term++)
        REQUIRE(are_rising(collection->posting_texts, collection->posting_ends[term], collection->posting_ends[term + 1]), "posting_texts");
    REQUIRE(LENGTH(views[POSTING_COUNTS]) == LENGTH(views[POSTING_TEXTS]), "posting_counts");
    REQUIRE(LENGTH(views[DAMPING]) == texts && LENGTH(views[NORMS]) == texts && LENGTH(views[MASSES]) == texts, "texts");
    return 0;
}

/* best(terms, weights, by_norms, allowed, rows): how many of the rows were filled. */
static PyObject *collection_best(PyObject *object, PyObject *const *arguments, Py_ssize_t given) {
    const Collection *collection = &((Object *)object)->of.collection;
    static const Wanted wanted[] = {{"allowed", "u1", 0, -1}, {"rows", "i8", 1, -1}};
    Py_buffer terms, weights, views[2];
    if (expect(given, 5)) return NULL;
    const int by_norms = PyObject_IsTrue(arguments[2]) == 1;
    if (take_array(arguments[0], "terms", "i8", 0, -1, &terms)) return NULL;
    if (take_array(arguments[1], "weights", "f8", 0, LENGTH(terms), &weights)) return PyBuffer_Release(&terms), NULL;
    int64_t found = -2;
    if (!take_arrays(arguments + 3, wanted, 2, views)) {
        const int all = LENGTH(views[0]) == 0;
        if ((all || LENGTH(views[0]) == collection->texts) && longs_within(terms.buf, LENGTH(terms), 0, collection->terms)) {
            Py_BEGIN_ALLOW_THREADS
            found = kernels->best_texts(collection, terms.buf, weights.buf, LENGTH(terms), by_norms, all ? NULL : views[0].buf, LENGTH(views[1]), views[1].buf);
            Py_END_ALLOW_THREADS
        }
        release_arrays(views, 2);
    }
    PyBuffer_Release(&weights), PyBuffer_Release(&terms);
    if (PyErr_Occurred()) return NULL;
    if (found == -2) return PyErr_SetString(PyExc_ValueError, "terms or allowed do not fit the collection"), NULL;
    return found < 0 ? PyErr_NoMemory() : PyLong_FromLongLong(found);
}

/* nearest(query, scale, asked, allowed, low, high, kept, rows, cosines): how many of the rows were filled. */
static PyObject *collection_nearest(PyObject *object, PyObject *const *arguments, Py_ssize_t given) {
    const Collection *collection = &((Object *)object)->of.collection;
    static const Wanted wanted[] = {{"rows", "i8", 1, -1}, {"cosines", "f4", 1, -1}};
    Py_buffer query, asked, allowed, views[2];
    if (expect(given, 9)) return NULL;
    const float scale = (float)PyFloat_AsDouble(arguments[1]);
    const int64_t low = PyLong_AsLongLong(arguments[4]), high = PyLong_AsLongLong(arguments[5]), kept = PyLong_AsLongLong(arguments[6]);
    if (PyErr_Occurred() || take_array(arguments[0], "query", "i2", 0, collection->dim, &query)) return NULL;
    if (take_array(arguments[2], "asked", "u8", 0, 3 * collection->sign_words, &asked)) return PyBuffer_Release(&query), NULL;
    if (take_array(arguments[3], "allowed", "u1", 0, -1, &allowed)) return PyBuffer_Release(&asked), PyBuffer_Release(&query), NULL;
    int64_t found = -2;
    if (!take_arrays(arguments + 7, wanted, 2, views)) {
        const int all = LENGTH(allowed) == 0;
        const int good = low >= 0 && low <= high && high <= collection->texts && kept >= 0 && LENGTH(views[0]) == LENGTH(views[1]);
        if (good && (all || LENGTH(allowed) == collection->texts)) {
            Py_BEGIN_ALLOW_THREADS
            found = kernels->nearest_texts(collection, query.buf, scale, asked.buf, all ? NULL : allowed.buf, low, high, kept, LENGTH(views[0]),
                                           views[0].buf, views[1].buf);
            Py_END_ALLOW_THREADS
        }
        release_arrays(views, 2);
    }
    PyBuffer_Release(&allowed), PyBuffer_Release(&asked), PyBuffer_Release(&query);
    if (PyErr_Occurred()) return NULL;
    if (found == -2) return PyErr_SetString(PyExc_ValueError, "allowed, low, high, kept or rows do not fit the collection"), NULL;
    return found < 0 ? PyErr_NoMemory() : PyLong_FromLongLong(found);
}

/* judge(total, length, steepness, scale, rows, result, then the arrays of a TextQuery) */
static PyObject *collection_judge(PyObject *object, PyObject *const *arguments, Py_ssize_t given) {
    enum { NUMBERS = 4, ROWS = 0, RESULT, MASSES, IS_NUMBER, TERM_LIST, STEM_LIST, IS_ASKED, WEIGHTS, BEST, RARITY, TERM_ENDS, TERM_PLACES, TERM_SHARES,
           STEM_ENDS, STEM_PLACES, STEM_SHARES, PRODUCTS, CODES, ARRAYS };
    static const Wanted wanted[] = {
        {"rows", "i8", 0, -1}, {"result", "f4", 1, -1}, {"masses", "f8", 0, -1}, {"is_number", "u1", 0, -1}, {"term_list", "i8", 0, -1},
        {"stem_list", "i8", 0, -1}, {"is_asked_number", "u1", 0, -1}, {"weights", "f8", 0, -1}, {"best", "f8", 0, -1}, {"rarity", "f8", 0, -1},
        {"term_ends", "i8", 0, -1}, {"term_places", "i8", 0, -1}, {"term_shares", "f8", 0, -1}, {"stem_ends", "i8", 0, -1},
        {"stem_places", "i8", 0, -1}, {"stem_shares", "f8", 0, -1}, {"products", "f4", 0, -1}, {"codes", "i2", 0, -1},
    };
    const Collection *collection = &((Object *)object)->of.collection;
    Py_buffer views[ARRAYS];
    if (expect(given, NUMBERS + ARRAYS)) return NULL;
    double numbers[NUMBERS];
    for (int number = 0; number < NUMBERS; number++) numbers[number] = PyFloat_AsDouble(arguments[number]);
    if (PyErr_Occurred() || take_arrays(arguments + NUMBERS, wanted, ARRAYS, views)) return NULL;
    const TextQuery query = {
        .words = LENGTH(views[MASSES]), .terms = LENGTH(views[TERM_LIST]), .stems = LENGTH(views[STEM_LIST]), .masses = views[MASSES].buf,
        .is_number = views[IS_NUMBER].buf, .term_list = views[TERM_LIST].buf, .stem_list = views[STEM_LIST].buf,
        .is_asked_number = views[IS_ASKED].buf, .weights = views[WEIGHTS].buf, .best = views[BEST].buf, .rarity = views[RARITY].buf,
        .term_ends = views[TERM_ENDS].buf, .term_places = views[TERM_PLACES].buf, .stem_ends = views[STEM_ENDS].buf,
        .stem_places = views[STEM_PLACES].buf, .term_shares = views[TERM_SHARES].buf, .stem_shares = views[STEM_SHARES].buf,
        .products = views[PRODUCTS].buf, .codes = views[CODES].buf, .total = numbers[0], .length = numbers[1], .steepness = numbers[2],
        .scale = (float)numbers[3],
    };
    const int64_t count = LENGTH(views[ROWS]), term_entries = LENGTH(views[TERM_PLACES]), stem_entries = LENGTH(views[STEM_PLACES]);
    int good = LENGTH(views[RESULT]) == count * TEXT_FEATURES && longs_within(views[ROWS].buf, count, 0, collection->texts);
    good = good && LENGTH(views[IS_NUMBER]) == query.words && LENGTH(views[IS_ASKED]) == query.terms && LENGTH(views[CODES]) == collection->dim;
    good = good && LENGTH(views[WEIGHTS]) == query.stems && LENGTH(views[BEST]) == query.stems && LENGTH(views[RARITY]) == query.stems;
    good = good && LENGTH(views[TERM_ENDS]) == query.words + 1 && are_offsets(query.term_ends, query.words, term_entries, 0, term_entries);
    good = good && LENGTH(views[STEM_ENDS]) == query.words + 1 && are_offsets(query.stem_ends, query.words, stem_entries, 0, stem_entries);
    good = good && LENGTH(views[TERM_SHARES]) == term_entries && longs_within(query.term_places, term_entries, 0, query.terms);
    good = good && LENGTH(views[STEM_SHARES]) == stem_entries && longs_within(query.stem_places, stem_entries, 0, query.stems);
    good = good && LENGTH(views[PRODUCTS]) == collection->terms && query.terms < 1 << 30 && query.stems < 1 << 30;
    good = good && longs_within(query.term_list, query.terms, 0, INT32_MAX) && longs_within(query.stem_list, query.stems, 0, INT32_MAX);
    int failed = 0;
    if (good) {
        Py_BEGIN_ALLOW_THREADS
        failed = kernels->judge_texts(collection, &query, views[ROWS].buf, count, views[RESULT].buf);
        Py_END_ALLOW_THREADS
    }
    release_arrays(views, ARRAYS);
    if (!good) return PyErr_SetString(PyExc_ValueError, "the arrays of the query do not fit each other or the collection"), NULL;
    if (failed) return PyErr_NoMemory();
    Py_RETURN_NONE;
}

/* --- the module --- */

#define DEFINE_TYPE(name, Name, set_up, release, methods_of)                                              \
    static PyObject *name##_new(PyTypeObject *type, PyObject *arguments, PyObject *options) {             \
        (void)arguments;                                                                                  \
        Object *self = new_object(type);                                                                  \
        if (!self) return NULL;                                                                           \
        if (!options) PyErr_SetString(PyExc_TypeError, "arguments go by their names");                    \
        else if (!set_up(self, options)) return (PyObject *)self;                                         \
        Py_DECREF(self);                                                                                  \
        return NULL;                                                                                      \
    }                                                                                                     \
    static void name##_dealloc(PyObject *self) { release_object((Object *)self, release); }               \
    static PyType_Slot name##_slots[] = {                                                                 \
        {Py_tp_new, name##_new}, {Py_tp_dealloc, name##_dealloc}, {Py_tp_methods, methods_of}, {0, NULL}, \
    };                                                                                                    \
    static PyType_Spec name##_spec = {"lovevec._core." Name, sizeof(Object), 0, Py_TPFLAGS_DEFAULT, name##_slots};

#define METHOD(name, function) {name, (PyCFunction)(void (*)(void))function, METH_FASTCALL, NULL}

static PyMethodDef index_methods[] = {METHOD("read", index_read), METHOD("likeness", index_likeness), {NULL, NULL, 0, NULL}};
static PyMethodDef fold_methods[] = {METHOD("embed", fold_embed), METHOD("count", fold_count), {NULL, NULL, 0, NULL}};
static PyMethodDef rows_methods[] = {METHOD("take", rows_take), METHOD("mix", rows_mix), {NULL, NULL, 0, NULL}};
static PyMethodDef signatures_methods[] = {METHOD("add", signatures_add), {NULL, NULL, 0, NULL}};
static PyMethodDef map_methods[] = {METHOD("get", map_get), METHOD("look_up", map_look_up), {NULL, NULL, 0, NULL}};
static PyMethodDef context_methods[] = {METHOD("scores", context_scores), METHOD("expected", context_expected), {NULL, NULL, 0, NULL}};
static PyMethodDef collection_methods[] = {METHOD("best", collection_best), METHOD("nearest", collection_nearest), METHOD("judge", collection_judge),
                                           {NULL, NULL, 0, NULL}};
static PyMethodDef functions[] = {
    METHOD("mean", core_mean), METHOD("sum_texts", core_sum_texts), METHOD("windows", core_windows),
    METHOD("in_context", core_in_context), METHOD("weigh", core_weigh), METHOD("normalize", core_normalize), METHOD("sum_rows", core_sum_rows),
    METHOD("join", core_join), METHOD("search", core_search), {NULL, NULL, 0, NULL},
};

DEFINE_TYPE(index, "Index", set_up_index, free_index, index_methods)
DEFINE_TYPE(fold, "Fold", set_up_fold, free_fold, fold_methods)
DEFINE_TYPE(rows, "Rows", set_up_rows, NULL, rows_methods)
DEFINE_TYPE(signatures, "Signatures", set_up_signatures, NULL, signatures_methods)
DEFINE_TYPE(map, "WordMap", set_up_map, free_map, map_methods)
DEFINE_TYPE(context, "Context", set_up_context, free_context, context_methods)
DEFINE_TYPE(collection, "Collection", set_up_collection, NULL, collection_methods)

/* The numbers that Python states, too: tests compare them. */
static const struct { const char *name; long number; } constants[] = {
#define CONSTANT(name) {#name, name}
    CONSTANT(LONGEST), CONSTANT(MAX_WORD_LENGTH), CONSTANT(MAX_STRETCHED), CONSTANT(PREFIX), CONSTANT(SOUND_LENGTH),
    CONSTANT(KEYS_PER_WORD), CONSTANT(BUCKET_BITS), CONSTANT(WORDS_PER_BUCKET), CONSTANT(MAX_CANDIDATES), CONSTANT(MAX_QUICK_GAP),
    CONSTANT(MAX_QUICK_SCORE), CONSTANT(LETTER_BITS), CONSTANT(WORDS_PER_READING), CONSTANT(MAX_COST_GAP), CONSTANT(UNIT),
    CONSTANT(FAR_COST), CONSTANT(DIGIT_COST), CONSTANT(FEATURES), CONSTANT(MIN_LIKENESS), CONSTANT(MAX_LIKENESS), CONSTANT(MAX_CAPITALS),
    CONSTANT(PROBES), CONSTANT(GRAM_BITS), CONSTANT(MIN_GRAM), CONSTANT(MAX_GRAM), CONSTANT(BEGIN), CONSTANT(END), CONSTANT(MAX_CUT),
    CONSTANT(MIN_STEM), CONSTANT(MAX_ENDINGS), CONSTANT(MAX_ENDING), CONSTANT(MIN_JOINED_LENGTH), CONSTANT(MAX_PARTS), CONSTANT(MAX_PART),
    CONSTANT(MIN_DAMAGED_LENGTH), CONSTANT(MIN_DAMAGED_PART), CONSTANT(BEGINNINGS), CONSTANT(MIN_SHARE), CONSTANT(MAX_COST_PER_LETTER), CONSTANT(MULTIPLE), CONSTANT(FAR_CUT),
    CONSTANT(MIN_TORN_LENGTH), CONSTANT(MIN_UNKNOWN_LENGTH), CONSTANT(MIN_UNKNOWN_PART), CONSTANT(LEAST_GAIN), CONSTANT(IS_NAME), CONSTANT(IS_CAPITALS), CONSTANT(DIGIT_CLASS), CONSTANT(MAX_UNITS), CONSTANT(PLACE_BITS), CONSTANT(MAX_JOIN_WEIGHT), CONSTANT(MAX_JOIN_KEYS), CONSTANT(PAIR_BITS), CONSTANT(LANES),
    CONSTANT(KINDS), CONSTANT(KIND_LOST_TWIN), CONSTANT(KIND_EXTRA_TWIN), CONSTANT(KIND_SWAP), CONSTANT(KIND_FIRST), CONSTANT(KIND_LAST),
};

static void choose_kernels(void) {
#if defined(__GNUC__) && defined(__x86_64__)
    const char *asked = getenv("LOVEVEC_PROCESSOR"); /* `base` and `avx2` play older ones */
    const int is_base = asked && !strcmp(asked, "base"), is_avx2 = asked && !strcmp(asked, "avx2");
    __builtin_cpu_init();
    if (!is_base && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt"))
        kernels = &avx2_kernels;
    has_wide_products = kernels != &base_kernels && !is_avx2 && __builtin_cpu_supports("avx512vnni") &&
                        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#endif
}

static int fill_module(PyObject *module) {
    PyType_Spec *specs[] = {&index_spec, &fold_spec, &rows_spec, &signatures_spec, &map_spec, &context_spec, &collection_spec};
    PyTypeObject **types[] = {&index_type, &fold_type, &rows_type, &signatures_type, &map_type, &context_type, &collection_type};
    choose_kernels();
    for (size_t type = 0; type < sizeof specs / sizeof *specs; type++) {
        *types[type] = (PyTypeObject *)PyType_FromModuleAndSpec(module, specs[type], NULL); /* kept for good */
        if (!*types[type] || PyModule_AddType(module, *types[type])) return -1;
    }
    PyObject *numbers = PyDict_New();
    if (!numbers) return -1;
    for (size_t constant = 0; constant < sizeof constants / sizeof *constants; constant++) {
        PyObject *number = PyLong_FromLong(constants[constant].number);
        int failed = !number || PyDict_SetItemString(numbers, constants[constant].name, number);
        Py_XDECREF(number);
        if (failed) return Py_DECREF(numbers), -1;
    }
    int failed = PyModule_AddObjectRef(module, "CONSTANTS", numbers);
    Py_DECREF(numbers);
    return failed ? -1 : PyModule_AddStringConstant(module, "PROCESSOR", kernels->name);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, fill_module},
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "lovevec._core", .m_doc = "The compiled core: see native/core.h.", .m_methods = functions, .m_slots = slots,
};

PyMODINIT_FUNC PyInit__core(void) { return PyModuleDef_Init(&definition); }
