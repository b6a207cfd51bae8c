"""python -m experiments.train"""

from experiments.train.cli import main

main()
