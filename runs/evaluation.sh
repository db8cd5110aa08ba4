#!/usr/bin/env bash
# The numbers of docs/results/{intrinsic,extrinsic,robustness,ablation,shrink,temperature,augmentation,typos}.md.
#   runs/evaluation.sh cpu     what those pages hold now: cut to what two CPU cores do in an hour
#   runs/evaluation.sh gpu     all of it (OUT=folder, JOBS=processes at once)
# Parts are measured by processes of their own and kept in $OUT; the last commands only put tables together, so a run
# that was stopped goes on. On a GPU many small processes need CUDA's MPS to run side by side, which is started here
# where it is there: all but BC2GM took 5.5 minutes so on an H200 with 16 cores.
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

work() { # work DEVICE JOBS: the lines of standard input, so many at once
  # shellcheck disable=SC2016
  xargs -P "$2" -d '\n' -I{} bash -c '$PYTHON -m lovevec.cli reproduce -q -o "$OUT" --device '"$1"' ${1%%|*} "${1#*|}" > /dev/null || echo "failed: $1" >&2' _ {}
}

show() { $PYTHON -m lovevec.cli reproduce -o "$OUT" "$@"; }

misspellings() { # with the models that `intrinsic` trained; further ones as arguments
  $PYTHON -m lovevec.cli evaluate typos birkbeck aspell holbrook --target "$LOVEVEC_DATA/targets/glove840b-300d-34k.npz" \
    --methods LOVE="$OUT/models/love" MIMICK="$OUT/models/mimick" BoS="$OUT/models/bos" KVQ-FH="$OUT/models/kvq-fh" default "$@" \
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
  each intrinsic "" "${LEARNED[@]}" "$RECIPE" Target | work cuda "${JOBS:-12}"
  { each robustness "--tasks conll03 $FEW" "${PLUGGED[@]}" "Target + $RECIPE"
    each extrinsic "--tasks conll03,bc2gm $FEW" "${LEARNED[@]}" "$RECIPE" SymSpell Target 'Edit Distance' 'Target + LOVE'
    each extrinsic "--tasks sst2,mr" "${LEARNED[@]}" "$RECIPE" SymSpell Target 'Edit Distance' 'Target + LOVE'
    each robustness "--tasks sst2" "${PLUGGED[@]}" "Target + $RECIPE"
    $PYTHON -c '
from lovevec.reproduce import ablation, augmentation, shrink, temperature
for module in (ablation, shrink, temperature, augmentation):
    for variant in module.VARIANTS:
        print(module.__name__.split(".")[-1], "--methods|" + variant)'; } | work cuda "${JOBS:-12}"
  for name in intrinsic ablation shrink temperature augmentation clusters-figure attention-figure; do show "$name" --device cuda; done
  show extrinsic --device cuda --tasks sst2,mr
  misspellings RECIPE="$OUT/models/love-recipe"
  ;;
*)
  echo "usage: runs/evaluation.sh cpu|gpu" >&2
  exit 2
  ;;
esac
