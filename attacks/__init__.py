"""Attacks on lovevec itself: hostile files of every format that it reads, and of every file of a model folder.

    python -m attacks --seconds 3600 --seed 1      # `make attack`; tests/test_attacks.py runs a fixed share

A case is a folder with a file, or several, and a door: the function of lovevec that is given them. Cases by hand stand
in hostile.py; the others are drawn (mutate.py) from good files (good.py), by seed and number, so that any of them can
be made again: `python -m attacks --seed 1 --case 4711 --keep folder`. Hashes and checksums are made right again
behind a mutation, so that it gets past them.

What is asked of each case, in a process whose memory is limited (worker.py):

    a result that is right by its own account (finite vectors, words that are strings), or one of our own errors,
    in one line of at most 1,000 characters; no other exception, no crash
    at most 2 seconds of the processor, and no wait
    at most 3 times the file's size in memory, and a fixed 48 MB
    nothing executed, no file opened outside the folder, nothing written, no network
"""
