"""python -m experiments.tournament"""

from experiments.tournament.cli import main

main()
