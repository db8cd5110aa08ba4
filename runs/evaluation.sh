#!/usr/bin/env bash
# The numbers of docs/results/{intrinsic,extrinsic,robustness,ablation,typos}.md.
#   runs/evaluation.sh gpu     all of it (OUT=folder, JOBS=processes at once)
#   runs/evaluation.sh cpu     cut to what two CPU cores do in an hour
# From gpu are: intrinsic, robustness and extrinsic but for what those pages name; from cpu: the models of typos but for
# the recipe, the figures of clusters and attention, the augmentation heatmap, Target + LOVE on CoNLL-03. The columns of
# SST2 of ablation, shrink, temperature and augmentation are still to be run (gpu).
# Parts are measured by processes of their own and kept in $OUT; the last commands only put tables together, so a run
# that was stopped goes on. On a GPU many small processes need CUDA's MPS to run side by side, which is started here
# where it is there. On an H200 with 16 cores and JOBS=16: 1.5 minutes for a rate of CoNLL-03, 2.5 for one of BC2GM,
# half a minute for five rates of SST2, 1 for LOVE, 1.7 for the recipe, each beside fifteen others.
set -euo pipefail
cd "$(dirname "$0")/.."
export LOVEVEC_DATA=${LOVEVEC_DATA:-../shared/data} OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONPATH=src
export OUT=${OUT:-results} PYTHON=${PYTHON:-.venv/bin/python}
FEW="--learning-rates 3e-3,1e-3,5e-4" ONE="--learning-rates 3e-3"

each() { # each NAME "FLAGS" METHOD…: a line for each method
  local name=$1 flags=$2 method
  shift 2
  for method in "$@"; do echo "$name $flags --methods|$method"; done
}

rates() { # rates NAME TASK METHOD…: a line for each method and each of the rates FEW, which are kept one by one
  local name=$1 task=$2 rate
  shift 2
  for rate in 3e-3 1e-3 5e-4; do each "$name" "--tasks $task --learning-rates $rate" "$@"; done
}

work() { # work DEVICE JOBS: the lines of standard input, so many at once
  # shellcheck disable=SC2016
  xargs -P "$2" -d '\n' -I{} bash -c '$PYTHON -m lovevec.cli reproduce -q -o "$OUT" --device '"$1"' ${1%%|*} "${1#*|}" > /dev/null || echo "failed: $1" >&2' _ {}
}

show() { $PYTHON -m lovevec.cli reproduce -o "$OUT" "$@"; }

show_in() { # show_in FOLDER …: the same in a folder of $OUT, with its parts and models
  local folder=$1
  shift
  mkdir -p "$OUT/$folder"
  ln -sfn ../cache "$OUT/$folder/cache"
  ln -sfn ../models "$OUT/$folder/models"
  $PYTHON -m lovevec.cli reproduce -o "$OUT/$folder" "$@"
}

misspellings() { # with the models that `intrinsic` trained; further ones as arguments
  $PYTHON -m lovevec.cli evaluate typos birkbeck aspell holbrook --target "$LOVEVEC_DATA/targets/glove840b-300d-34k.npz" \
    --methods LOVE="$OUT/models/love" MIMICK="$OUT/models/mimick" BoS="$OUT/models/bos" KVQ-FH="$OUT/models/kvq-fh" PBoS="$OUT/models/pbos" default "$@" \
    --rivals edit-distance,symspell,backed-off -o "$OUT"
}

LEARNED=(LOVE KVQ-FH MIMICK BoS PBoS)
PLUGGED=('Target' 'Target + LOVE' 'Edit Distance' 'UNK' 'Random' 'CharCNN')
RECIPE='LOVE (our recipe)' # 40 epochs with 7 hard negatives: half an hour on two cores

case ${1:-} in
cpu)
  { each intrinsic "" "${LEARNED[@]}" Target
    each robustness "--tasks sst2 $FEW" "${PLUGGED[@]}"
    each robustness "--tasks conll03 $ONE" Target 'Target + LOVE'
    each extrinsic "--tasks sst2 $FEW" "${LEARNED[@]}" SymSpell
    each extrinsic "--tasks mr --learning-rates 1e-3" LOVE Target 'Edit Distance' SymSpell; } | work cpu "${JOBS:-2}"
  $PYTHON -m lovevec.cli reproduce augmentation --quick --tasks none -o "$OUT/quick"
  show intrinsic --methods "$(IFS=,; echo "Target,${LEARNED[*]}")"
  show clusters-figure
  show attention-figure
  misspellings
  ;;
gpu)
  if command -v nvidia-cuda-mps-control > /dev/null; then
    CUDA_MPS_PIPE_DIRECTORY=$(mktemp -d) CUDA_MPS_LOG_DIRECTORY=$(mktemp -d)
    export CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
    nvidia-cuda-mps-control -d
  fi
  each intrinsic "" "$RECIPE" "${LEARNED[@]}" | work cuda "${JOBS:-12}"
  { each robustness "--tasks sst2" "${PLUGGED[@]}" "Target + $RECIPE"
    rates robustness conll03 "${PLUGGED[@]}" "Target + $RECIPE"
    each extrinsic "--tasks sst2,mr" "${LEARNED[@]}" "$RECIPE" SymSpell
    each extrinsic "--tasks mr" Target 'Edit Distance' 'Target + LOVE'
    rates extrinsic conll03 "${LEARNED[@]}" "$RECIPE" SymSpell
    # a name with a comma cannot be asked for by --methods: the last command trains that one
    $PYTHON -c '
from lovevec.reproduce import ablation, augmentation, shrink, temperature
for module in (ablation, shrink, temperature, augmentation):
    for variant in module.VARIANTS:
        if "," not in variant:
            print(module.__name__.split(".")[-1], "--methods|" + variant)'
    rates extrinsic bc2gm "${LEARNED[@]}" "$RECIPE" SymSpell Target 'Edit Distance' 'Target + LOVE'; } | work cuda "${JOBS:-12}"
  for name in intrinsic ablation shrink temperature augmentation clusters-figure attention-figure; do show "$name" --device cuda; done
  show_in robustness-sst2 robustness --device cuda --tasks sst2
  # shellcheck disable=SC2086
  show_in robustness-conll03 robustness --device cuda --tasks conll03 $FEW
  show_in extrinsic-texts extrinsic --device cuda --tasks sst2,mr
  # shellcheck disable=SC2086
  show_in extrinsic-tags extrinsic --device cuda --tasks conll03,bc2gm $FEW
  misspellings "$RECIPE=$OUT/models/love-recipe"
  ;;
*)
  echo "usage: runs/evaluation.sh cpu|gpu" >&2
  exit 2
  ;;
esac
