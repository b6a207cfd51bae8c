"""python -m experiments.bench"""

from experiments.bench import main

main()
