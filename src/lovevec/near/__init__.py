"""Readings of an unknown string: near (a damaged known word) or new. Candidates, the channel, what new words look like.

    symbols.py     characters as small numbers, and what a slip between two of them is called
    index.py       the known words that a string might be meant for, by buckets that survive damage
    alignment.py   the cheapest way from a word to a string, many pairs at once (numpy)
    novelty.py     how much a string looks like a word of its own: a character model of the known words
    exact.py       logarithm and exponential with the same bits on every processor
    channel.py     the learned numbers: what each kind of slip costs, what a word's rank counts, what speaks for new
    readings.py    the result: probabilities of known words and of new, and what is made from them
    reader.py      the reader, which puts all of this together
    forms.py       what comes before all of this: other ways to write a known word

The probability of a known word w for a string s, and of s being new, are a conditional logit over the candidates:

    u(w)   = - cost of the cheapest alignment of w with s - rank weight · log(rank of w + 30)
    u(new) = sum of what speaks for a word of its own
    p      = softmax(u)

Costs are whole numbers (1/32 of a nat), so that every way to compute them agrees; what is not
(novelty, probabilities) is computed by exactly rounded operations in one stated order.
"""
