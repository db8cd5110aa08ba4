#!/usr/bin/env bash
# The numbers of docs/results/training.md. Usage: lab/runs/training.sh [cpu|cost|ablation]
#   cpu       the default model on this machine's CPU, scored
#   cost      cost against words and dimension (needs glove6b.npz, see lab/runs/glove6b.py)
#   ablation  one change at a time; pass a device as second argument (cuda: minutes, cpu: hours)
set -euo pipefail
cd "$(dirname "$0")/../.."
data=${LOVEVEC_DATA:-../shared/data}
target=$data/targets/glove840b-300d-34k.npz
out=${OUT:-models}
python=${PYTHON:-.venv/bin/python}
mkdir -p "$out"

case ${1:-cpu} in
cpu)
  $python -m lovevec.cli train "$target" -o "$out/glove-34k" --device cpu --overwrite
  $python lab/runs/score.py "$out/glove-34k" --target "$target"
  ;;
cost)
  $python lab/runs/cost.py "$target" dim 50 100 200 300 768
  $python lab/runs/cost.py "$out/glove6b.npz" words 10000 34000 100000 340000
  ;;
ablation)
  device=${2:-cuda}
  runs="
seed-1: --seed 1
seed-2: --seed 2
encoder-authors: --encoder authors
encoder-attention: --encoder attention
encoder-cnn: --encoder cnn
encoder-rnn: --encoder rnn
encoder-sum: --encoder sum
head-300: --head 300
loss-mse: --loss mse
loss-alignment: --loss alignment
input-chars: --input chars
input-pieces: --input pieces
shrink-none: --shrink none
shrink-top: --shrink top
shrink-hash: --shrink hash
shrink-factor: --shrink factor
bert-vocabulary: --vocabulary $data/words/bert_uncased_vocab_30522.txt
hard-negatives-0: --hard-negatives 0
hard-negatives-1: --hard-negatives 1
hard-negatives-7: --hard-negatives 7
no-augmentation: --swap 0 --drop 0 --insert 0 --keyboard 0 --synonym 0 --none 1
no-augmentation-no-hard-negatives: --swap 0 --drop 0 --insert 0 --keyboard 0 --synonym 0 --none 1 --hard-negatives 0
no-synonyms: --synonym 0 --none .72
typo-share-.72: --swap .18 --drop .18 --insert .18 --keyboard .18 --synonym .14 --none .14
temperature-.03: --temperature .03
temperature-.05: --temperature .05
temperature-.1: --temperature .1
temperature-.15: --temperature .15
temperature-.2: --temperature .2
temperature-.5: --temperature .5
dropout-0: --dropout 0
dropout-.1: --dropout .1
dropout-.4: --dropout .4
position-power-.5: --position-power .5
batch-16: --batch 16
batch-64: --batch 64
batch-1024: --batch 1024
constant: --schedule constant
epochs-5: --epochs 5
epochs-10: --epochs 10
epochs-40: --epochs 40
rate-.0005: --learning-rate .0005
rate-.001: --learning-rate .001
rate-.004: --learning-rate .004
rate-.01: --learning-rate .01
bfloat16: --precision bfloat16"
  while IFS=: read -r name flags; do
    [ -n "$name" ] || continue
    # shellcheck disable=SC2086
    $python -m lovevec.cli train "$target" -o "$out/ablation/$name" --device "$device" --overwrite -q $flags
    $python lab/runs/score.py "$out/ablation/$name" --target "$target"
  done <<<"$runs"
  ;;
*)
  echo "unknown part: $1" >&2
  exit 2
  ;;
esac
