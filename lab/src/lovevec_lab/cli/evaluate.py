"""`lovevec evaluate`: how good vectors are. A task is a function of `lovevec_lab.evaluate`, imported when it runs."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from lovevec.cli.shell import describe
from lovevec.cli.terminal import put
from lovevec.errors import LovevecError
from lovevec.progress import Progress
from lovevec_lab.methods.open_method import OURS, RIVALS

ABOUT = """How good are word vectors, and how robust? Models, vector files and rivals, side by side, on the paper's
tasks and on your own files. Tables go to standard output; -o FOLDER keeps them, all scores as JSON, and pictures."""
TASKS = {
    "similarity": "do pairs that people find alike have near vectors? Spearman on six sets",
    "clusters": "do words of a class come together? K-means purity on AP and BLESS",
    "typos": "is the right word near a real misspelling? Birkbeck, aspell, Holbrook, your own lists",
    "context": "misspellings in running text: found, corrected, right words broken; correctors side by side",
    "new-words": "what becomes of a word in a few sentences? Chimeras, definitions, words that were held back",
    "classify": "text classification by a CNN on frozen vectors, clean and damaged text",
    "tag": "entity recognition by a BiLSTM-CRF on frozen vectors, clean and damaged text",
    "texts": "vectors of whole texts, clean and damaged: STS-B pairs, mistyped queries, your own files",
    "search": "is what answers a query found first? love.index beside BM25, trigrams, encoders; clean and mistyped",
    "match": "records of two tables that are the same thing: autofj's 50 pairs of tables, your own files",
    "speed": "words a second",
}
EXAMPLES = """examples:
  lovevec evaluate similarity my-model other.vec --rivals all --target glove.txt
  lovevec evaluate clusters my-model
  lovevec evaluate typos misspellings.txt --methods my-model --target glove.txt
  lovevec evaluate context default --rivals symspell,aspell
  lovevec evaluate new-words my-model
  lovevec evaluate classify sst2 --vectors my.vec --impute my-model --noise 0,10,30,50,70,90
  lovevec evaluate tag conll03 --vectors my.vec --impute my-model
  lovevec evaluate texts default potion-base-8M --robust --speller symspell
  lovevec evaluate search index bm25 bm25,default --sets my-collection
  lovevec evaluate match default --rivals trigrams,rapidfuzz-wratio
  lovevec evaluate speed my-model my.bin

`lovevec evaluate TASK --help` says more."""
METHODS = "a model (folder, shipped name, hub id), a vector file, or a fastText .bin; NAME=… gives it a name"
DOWNSTREAM = """Rows: the vectors alone (unknown words have zeros), then with each --impute model behind them, then
rivals. Without --vectors, or with --generated, models make the vectors of all words, known ones too.

A model is trained on clean text at each learning rate; the best on the clean dev set is tested, on clean and on damaged
text. With -o, work that was stopped goes on where it was."""
DATA_HELP = "where the datasets are (default: $LOVEVEC_DATA, else ./data)"
NOT_OPTIONS = ("command", "task", "output", "quiet")
LARGEST = 2**62


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command and its tasks."""
    describe(parser, ABOUT, EXAMPLES)
    tasks = parser.add_subparsers(dest="task", metavar="task", required=True, title="tasks")
    add: dict[str, Callable[[argparse.ArgumentParser], None]] = {
        "similarity": add_similarity,
        "clusters": add_clusters,
        "typos": add_typos,
        "context": add_context,
        "new-words": add_new_words,
        "classify": add_classify,
        "tag": add_tag,
        "texts": add_texts,
        "search": add_search,
        "match": add_match,
        "speed": add_speed,
    }
    for name, help in TASKS.items():
        task = tasks.add_parser(name, help=help)
        add[name](task)
        if name not in ("texts", "new-words", "context", "search", "match"):
            add_rivals(task)
        add_common(task, reads_data=name not in ("speed", "match"))


def run(given: argparse.Namespace) -> None:
    """Run the task; with -o its result goes into the folder. Then the table to stdout, which may be closed by now."""
    from lovevec_lab import evaluate

    options = {name: value for name, value in vars(given).items() if name not in NOT_OPTIONS}
    for flag, kind in (("thresholds", float), ("noise", float), ("typos_per_sentence", int), ("learning_rates", float)):
        if flag in options:
            options[flag] = numbers(f"--{flag.replace('_', '-')}", options[flag] or "", kind)
    if options.get("plot") and not given.output:
        raise LovevecError("--plot: name a folder for the picture with -o")
    with Progress(given.quiet) as progress:
        result = getattr(evaluate, given.task.replace("-", "_"))(**options, keep=given.output, progress=progress)
    if given.output:
        with Progress(given.quiet) as progress:
            for line in result.write(given.output):
                progress.say(line)
    put(result.markdown())


def add_similarity(parser: argparse.ArgumentParser) -> None:
    """Spearman's ρ on word pairs."""
    about = """Do pairs of words that people find alike have near vectors? Spearman's ρ of cosine and human score, with
bootstrap intervals, on all pairs, and on the covered ones where a method lacks words."""
    examples = """examples:
  lovevec evaluate similarity my-model
  lovevec evaluate similarity my-model other.vec --rivals all -o results
  lovevec evaluate similarity my-model glove=glove.txt --set RareWord my-pairs.tsv

An own set is a file of three columns, tabs between: word1, word2, score."""
    describe(parser, about, examples)
    add_methods_and_sets(parser, "RareWord, SimLex, MTurk, MEN, WordSim, SimVerb")
    parser.add_argument("--resamples", type=int, metavar="N", help="of the bootstrap (default 1000; --quick: 100)")


def add_clusters(parser: argparse.ArgumentParser) -> None:
    """K-means purity on classes of words."""
    about = """Do words of a class come together? K-means on unit-length vectors; purity: the share of words that are of
their cluster's most frequent class. The mean over several seeds, since K-means depends on where it starts."""
    examples = """examples:
  lovevec evaluate clusters my-model
  lovevec evaluate clusters my-model other.vec --rivals bos,kvq-fh -o results
  lovevec evaluate clusters my-model --set AP my-classes.tsv -k 30

An own set is a file of two columns, a tab between: word, class."""
    describe(parser, about, examples)
    add_methods_and_sets(parser, "AP, BLESS")
    parser.add_argument("-k", "--k", type=int, metavar="N", help="clusters (default: as many as classes)")
    parser.add_argument("--seeds", type=int, metavar="N", help="how many are averaged (default 10; --quick: 2)")
    parser.add_argument(
        "--restarts", type=int, metavar="N", help="starts of each seed, the best counts (default 10; --quick: 3)"
    )


def add_typos(parser: argparse.ArgumentParser) -> None:
    """Real misspellings, and whether the right word is near."""
    about = """Is the right word near a real misspelling? Each misspelling's vector is compared with those of all words
of the target: how often the right word's own is the nearest (top-1) or among the ten nearest (top-10), and how near it
is (cosine). A misspelling counts when its right word is in the target and it is not itself there; a word that a method
has no vector for is never recovered. A method of another space than the target's is brought there by a map learned from
the words that both know, and marked as mapped. Intervals (95 %) are of right words drawn anew."""
    rivals = "\n".join(f"  {name:<15}{help}" for name, help in RIVALS.items())
    examples = f"""files hold $right and then its misspellings, one a line, or two columns, right<TAB>misspelling;
birkbeck, aspell and holbrook are the sets of these names in the data folder.

rivals:
{rivals}

examples:
  lovevec evaluate typos --methods my-model --target glove.txt
  lovevec evaluate typos birkbeck my-list.tsv --methods my-model default --target glove.txt --rivals symspell
  lovevec evaluate typos --language de,fr --rivals symspell,aspell,hunspell,own-aspell,own-hunspell

With --language no vectors are needed: all methods have wordfreq's 80,000 words of the language for a dictionary, and
strings are slips at its keyboard, dropped accents, and what people wrote. own-aspell and own-hunspell have the
dictionaries that are installed."""
    describe(parser, about, examples)
    sets = "a list of misspellings, or a set (default: birkbeck aspell holbrook)"
    parser.add_argument("sets", nargs="*", metavar="FILE", help=sets)
    parser.add_argument("--methods", nargs="+", default=[], metavar="METHOD", help=METHODS)
    parser.add_argument(
        "--language", default="", metavar="CODES", help="score words alone in these languages: de, or de,fr,ru"
    )


def add_context(parser: argparse.ArgumentParser) -> None:
    """Misspellings in running text."""
    about = """What does the sentence add? Strings that a model does not know, in texts with misspellings: how often (in
per cent) the right word is its first candidate, and one of ten, each string by itself and in its sentence. Then what
`love.correct` puts right of all words that are wrong, and what it breaks, at several thresholds; each model also
without its model of context. With 95 % intervals, and texts a second on one core. Thresholds of models were chosen on
lines 1, 3, 5, … (--part dev)."""
    examples = """rivals:
  symspell, symspell-compound              symspellpy: word by word, and its lookup_compound
  aspell, hunspell                         apt install aspell aspell-en hunspell
  pyspellchecker, autocorrect, textblob    pip install them
  jamspell:MODEL                           pip install jamspell (needs swig 3), with a model file that it has learned

The first four know the words of the first model, the others their own. Slow ones meet 100 texts of each set, or 1,000.

examples:
  lovevec evaluate context
  lovevec evaluate context my-model --rivals all -o results --plot
  lovevec evaluate context my-model --set mine.corrupt.txt --part all --thresholds 0.5,0.9

Of an own set mine.corrupt.txt holds the texts, one a line, and mine.correct.txt beside it what they should be, with as
many words in every line (docs/data.md)."""
    describe(parser, about, examples)
    parser.add_argument("models", nargs="*", metavar="MODEL", help="a folder, shipped name or hub id; NAME=… names it")
    parser.add_argument(
        "--set",
        dest="sets",
        nargs="+",
        action="extend",
        metavar="SET",
        help="wikidump, bookcorpus (both: the default) or own files; after the models",
    )
    parser.add_argument("--part", default="test", choices=("dev", "test", "all"), help="of the lines (default test)")
    parser.add_argument("--thresholds", metavar="P", help="of corrections, by commas (default 0.3,0.5,0.7,0.9)")
    parser.add_argument("--rivals", default="", metavar="NAMES", help="correctors to compare with, by commas, or all")
    parser.add_argument("--plot", action="store_true", help="draw precision over corrections, into -o FOLDER")
    parser.add_argument("--resamples", type=int, metavar="N", help="of the bootstrap (default 1000; --quick: 100)")


def add_new_words(parser: argparse.ArgumentParser) -> None:
    """Words from a few sentences."""
    about = """What do models make of a new word from a few sentences that it stands in? Models need a model of context
(`lovevec context`). Chimeras: words that nobody has seen, and how alike people find them to known ones. Definitions:
known words that the model does not get to see, and the rank of their own rows. With --target and --corpus also words
of a target that the model was trained without: how often the target's own vector is the nearest, by the spelling and by
1, 5 and 20 sentences."""
    examples = """examples:
  lovevec evaluate new-words my-model
  lovevec evaluate new-words my-model --a-la-carte text.txt
  lovevec evaluate new-words my-model --target glove.txt --corpus text.txt -o results"""
    describe(parser, about, examples)
    parser.add_argument("models", nargs="+", metavar="MODEL", help="a folder, shipped name or hub id; NAME=… names it")
    parser.add_argument("--target", metavar="FILE", help="vectors of words some of which the models do not know")
    parser.add_argument("--corpus", metavar="FILE", help="running text, a text a line, in which these words stand")
    parser.add_argument(
        "--a-la-carte", metavar="FILE", help="also à la carte, by a map that it learns from this text, a text a line"
    )


def add_classify(parser: argparse.ArgumentParser) -> None:
    """Text classification on frozen vectors."""
    about = """How well are texts told apart by a CNN that reads your vectors, and how well when words are damaged?
Accuracy on the test set."""
    examples = """examples:
  lovevec evaluate classify sst2 --vectors my.vec --impute my-model --noise 0,10,30,50,70,90 -o results
  lovevec evaluate classify sst2 --vectors my.vec --impute my-model --rivals unk,symspell --char-cnn
  lovevec evaluate classify mr --vectors my.vec --impute my-model --typos-per-sentence 0,1,2,3
  lovevec evaluate classify my-folder --impute my-model --quick"""
    describe(parser, about, f"{DOWNSTREAM}\n\n{examples}")
    add_downstream(parser, "sst2, mr, or a folder with train.tsv, dev.tsv and test.tsv (sentence, label; docs/data.md)")


def add_tag(parser: argparse.ArgumentParser) -> None:
    """Entity recognition on frozen vectors."""
    about = """How well are names found in text by a BiLSTM-CRF that reads your vectors, and how well when words are
damaged? Entity F1 (conlleval) on the test set."""
    examples = """examples:
  lovevec evaluate tag conll03 --vectors my.vec --impute my-model --noise 0,10,30,50,70,90 -o results
  lovevec evaluate tag bc2gm --vectors my.vec --impute my-model --rivals unk,edit-distance --char-cnn
  lovevec evaluate tag my-folder --impute my-model --quick"""
    describe(parser, about, f"{DOWNSTREAM}\n\n{examples}")
    add_downstream(parser, "conll03, bc2gm, or a folder with train, dev and test (.txt or .tsv; docs/data.md)")


def add_texts(parser: argparse.ArgumentParser) -> None:
    """Vectors of whole texts."""
    about = """How good are vectors of whole texts, and how good when words are mistyped? Pairs of sentences: Spearman's
ρ (x 100) of cosine and human score. Queries: how often (in per cent) the nearest clean text of a mistyped query is its
own. With bootstrap intervals, texts a second on this machine, and the size of the encoder's files."""
    examples = """encoders:
  default, my-model        a LOVE: shipped, a folder, a hub id
  glove.npz                a vector file, with the default LOVE for the words that it lacks
  potion-base-8M           a model2vec folder or hub id (pip install 'lovevec[model2vec]')
  all-MiniLM-L6-v2         a sentence-transformers folder or hub id (pip install sentence-transformers)
  NAME+robust              the last two with LOVE inside; --robust adds that row for each
  symspell+NAME            behind a speller that knows the 80,000 words of the shipped default; also aspell+NAME;
                           --speller adds that row for each
  mine=NAME                the same, called mine in the tables

noises:
  clean                    texts as they are
  typo:30                  a typo in 30 % of the words of five letters or more
  typo                     the set's own, real typos where it has them (marco), else typo:30
  ocr:30                   30 % of all words damaged; also scan, keyboard, swap, drop, insert, sound

examples:
  lovevec evaluate texts default
  lovevec evaluate texts default potion-base-8M all-MiniLM-L6-v2 --robust --speller symspell -o results --plot
  lovevec evaluate texts default glove.npz --sets stsb my-pairs.csv my-queries.txt --noise clean typo:10 ocr:30

An own set is a .csv or .tsv file of three columns, sentence1, sentence2, score; or a file with any other ending and a
text a line, which is damaged and looked for (docs/data.md)."""
    describe(parser, about, examples)
    parser.add_argument("encoders", nargs="*", metavar="encoder", help="models and files as below; NAME=… gives a name")
    parser.add_argument(
        "--sets",
        nargs="+",
        action="extend",
        metavar="SET",
        help="stsb, marco (both: the default), stsb-train, or own files; after the encoders",
    )
    parser.add_argument(
        "--noise",
        dest="noises",
        nargs="+",
        action="extend",
        metavar="NOISE",
        help="for all sets (default: clean and typo for pairs, typo for queries); after the encoders",
    )
    parser.add_argument("--speller", default="", metavar="NAME", help="also each behind this one: symspell, aspell")
    parser.add_argument("--robust", action="store_true", help="also each with LOVE inside, where it can have it")
    parser.add_argument("--plot", action="store_true", help="draw scores over the share of typos, into -o FOLDER")
    parser.add_argument("--resamples", type=int, metavar="N", help="of the bootstrap (default 1000; --quick: 100)")
    add_device(parser, "where transformers run")


def add_search(parser: argparse.ArgumentParser) -> None:
    """Search in collections of texts."""
    about = """Is what answers a query found first, and when words are mistyped? nDCG@10, how often the first is
relevant, and the mean of 1 / rank, by clean queries and with a misspelling in 30 % of the longer words."""
    examples = """methods:
  index                    love.index of the shipped default; index:FOLDER of another model
  bm25, bm25-trigrams      BM25 of words, of runs of three letters (pip install bm25s)
  trigrams, rapidfuzz      the cosine of tf-idf of trigrams; the ratio of edits
  default, potion-base-8M, all-MiniLM-L6-v2 …
                           the cosine of an encoder's vectors, as `lovevec evaluate texts --help` names them
  A,B                      several of them: a text has the sum of 1 / (60 + its rank)
  mine=A                   the same, called mine in the tables

sets:
  autofj                   names of PyPI's autofj, sets M to Z; autofj-dev: A to L, which the index was chosen on
  FOLDER                   corpus.jsonl (_id, title, text), queries.jsonl (_id, text), qrels.tsv (query, text, gain)

examples:
  lovevec evaluate search index bm25 trigrams bm25,default
  lovevec evaluate search index all-MiniLM-L6-v2 --sets scifact my-collection -o results"""
    describe(parser, about, examples)
    parser.add_argument("methods", nargs="*", metavar="method", help="as below (default: index, bm25, trigrams)")
    parser.add_argument("--sets", nargs="+", action="extend", metavar="SET", help="as below; after the methods")


def add_speed(parser: argparse.ArgumentParser) -> None:
    """Words a second."""
    about = """How many words a second a method has vectors for, on all cores. The words are damaged copies of the
target's own (or of those that the first method knows), so that they have to be imputed; with --words FILE running text
is measured too. After a warm-up the median of five passes counts."""
    examples = """examples:
  lovevec evaluate speed my-model my.bin
  lovevec evaluate speed default --target glove.txt --rivals edit-distance,symspell --words book.txt"""
    describe(parser, about, examples)
    parser.add_argument("methods", nargs="*", metavar="METHOD", help=METHODS)
    parser.add_argument("--words", metavar="FILE", help="a text file: measure its words too, as they come")
    parser.add_argument("--count", type=int, metavar="N", help="at most so many words (default 200,000)")


def add_methods_and_sets(parser: argparse.ArgumentParser, sets: str) -> None:
    """For the tasks on words alone."""
    parser.add_argument("methods", nargs="*", metavar="method", help=METHODS)
    parser.add_argument(
        "--set",
        dest="sets",
        nargs="+",
        action="extend",
        metavar="SET",
        help=f"names ({sets}: the default) or own files; after the methods",
    )


def add_downstream(parser: argparse.ArgumentParser, sets: str) -> None:
    """For the tasks that train a model on frozen vectors."""
    parser.add_argument("dataset", metavar="set", help=sets)
    parser.add_argument("--vectors", metavar="FILE", help="the vectors of known words")
    parser.add_argument(
        "--impute",
        metavar="MODEL",
        action="append",
        default=[],
        help="a model for the words that the vectors lack; may be given several times",
    )
    parser.add_argument("--generated", action="store_true", help="models make the vectors of known words too")
    parser.add_argument(
        "--in-sentences", action="store_true", help="also each model with words read in their sentences"
    )
    parser.add_argument("--char-cnn", action="store_true", help="also the vectors with a CharCNN, trained in the task")
    parser.add_argument(
        "--noise", metavar="PERCENTS", help="shares of words to damage, by commas (default 0,70; 0 is clean text)"
    )
    kinds = "ocr (default), scan, keyboard, swap, drop, insert, sound, typo (default for --typos-per-sentence)"
    parser.add_argument("--kind", metavar="KIND", help=kinds)
    parser.add_argument(
        "--typos-per-sentence", metavar="COUNTS", help="numbers of words to damage in each sentence, by commas"
    )
    parser.add_argument("--learning-rates", metavar="RATES", help="by commas (default: the paper's five)")
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help="runs at each rate (default 1)")
    parser.add_argument("--epochs", type=int, metavar="N", help="passes over the training text")


def add_rivals(parser: argparse.ArgumentParser) -> None:
    """For the tasks on vectors of words."""
    names = ", ".join([*RIVALS, *OURS])
    rivals = parser.add_argument(
        "--rivals", default="", metavar="NAMES", help=f"compare with these: all, or some of {names}"
    )
    rivals.suggestions = ("all", *RIVALS, *OURS)  # type: ignore[attr-defined]  # for `lovevec completion`
    parser.add_argument(
        "--target", metavar="FILE", help="the vectors that rivals learn from (default: the first vector file named)"
    )
    add_device(parser, "where to train")


def add_device(parser: argparse.ArgumentParser, what: str) -> None:
    """For torch."""
    parser.add_argument("--device", default="auto", metavar="NAME", help=f"{what}: auto, cpu, cuda … (default auto)")


def add_match(parser: argparse.ArgumentParser) -> None:
    """Records of two tables that are the same thing."""
    about = """Which records of two tables are the same thing? `love.match` on autofj's 50 pairs of tables of names,
clean and with misspelled words, or on your own: how often the right record is first; precision and recall of what is
kept when a precision is asked for; how far probabilities are off (calibration). Thresholds of rivals are chosen on the
sets A to L, pooled; `best recall` is what the best threshold for each very table would give."""
    examples = """rivals:
  trigrams, rapidfuzz-wratio, rapidfuzz-token-sort, encode, encode-fitted, autofj; all but the last by `all`

The tables need `pip install --no-deps autofj`, trigrams scikit-learn.

examples:
  lovevec evaluate match
  lovevec evaluate match default --rivals all --beside all-MiniLM-L6-v2 potion-base-8M -o results
  lovevec evaluate match my-model --tables a.csv b.csv name right_name"""
    describe(parser, about, examples)
    parser.add_argument("models", nargs="*", metavar="MODEL", help="a folder, shipped name or hub id; NAME=… names it")
    parser.add_argument("--part", default="test", choices=("dev", "test", "all"), help="of the sets (default test)")
    parser.add_argument("--rivals", default="", metavar="LIST", help="see below")
    parser.add_argument("--beside", nargs="+", metavar="NAME", help="encoders of texts, as `evaluate texts` has them")
    tables = ("LEFT", "RIGHT", "COLUMN", "TRUTH")
    parser.add_argument("--tables", nargs=4, metavar=tables, help="CSV files; TRUTH: the column of right names")
    parser.add_argument(
        "--asked", type=float, default=0.95, metavar="P", help="precision that is asked for (default 0.95)"
    )


def add_common(parser: argparse.ArgumentParser, reads_data: bool) -> None:
    """What every task has."""
    parser.add_argument(
        "-o", "--output", metavar="FOLDER", help="keep the results there: JSON, table, pictures; goes on where it was"
    )
    if reads_data:
        parser.add_argument("--data", metavar="FOLDER", help=DATA_HELP)
    parser.add_argument("--seed", type=count, default=0, metavar="N", help="decides every random draw (default 0)")
    parser.add_argument(
        "--quick", action="store_true", help="less of everything: to see whether it works, not how well"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")


def count(text: str) -> int:
    """A whole number from 0 up, as numpy and torch take it for a seed (with room for further ones behind it)."""
    if not text.isdecimal() or int(text) > LARGEST:
        raise argparse.ArgumentTypeError(f"a whole number from 0 to {LARGEST} expected, not {text!r:.40}")
    return int(text)


def numbers(flag: str, text: str, kind: Callable[[str], Any]) -> list[Any]:
    """0,70 -> [0, 70]."""
    try:
        listed = [kind(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise LovevecError(f"{flag} {text}: numbers expected, with commas between") from None
    if text and not listed:
        raise LovevecError(f"{flag} {text}: no number")
    return listed
