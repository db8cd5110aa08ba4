# The recipe of the shipped models; runs/shipped.sh trains with it.
RECIPE="--ngrams 15000 --factor 165 --negatives 15 --hard-negatives 7
  --swap .12 --drop .12 --insert .12 --keyboard .06 --sound .28 --twice .35 --synonym .1 --none .2
  --temperature .08 --dropout .1 --learning-rate .003 --epochs 40"
