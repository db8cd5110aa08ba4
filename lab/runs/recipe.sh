# The recipes of the shipped models; lab/runs/shipped.sh trains with them.
#
# The default's: known words have rows of their own and misspellings are read as known words, so its encoder is there for
# new words. A teacher's vector of a rare word follows the teacher's pieces, so those of all-mpnet-base-v2 (BERT's)
# serve as units, whole: `--vocabulary` is theirs. Few typos, no look-alikes, large batches, a high temperature.
NEW_WORDS="--shrink top --keep 27000 --ngrams 21000 --negatives 0 --hard-negatives 0 --batch 1024
  --swap .02 --drop .02 --insert .02 --keyboard .01 --sound .03 --twice .1 --synonym 0 --none .8
  --temperature .11 --dropout 0 --learning-rate .003 --epochs 60"
# That of minilm-input, whose words are to be found again from their misspellings.
RECIPE="--ngrams 15000 --factor 165 --negatives 15 --hard-negatives 7
  --swap .12 --drop .12 --insert .12 --keyboard .06 --sound .28 --twice .35 --synonym .1 --none .2
  --temperature .08 --dropout .1 --learning-rate .003 --epochs 40"
# Those of other languages (languages.sh): few words and 15 MB, so few units, many rows of n-grams, much dropout.
LANGUAGE="--shrink top --keep 2000 --negatives 0 --hard-negatives 0 --batch 1024
  --swap .02 --drop .02 --insert .02 --keyboard .01 --sound .03 --twice .1 --synonym 0 --synonyms 0 --none .8
  --temperature .11 --dropout .4 --learning-rate .003"
