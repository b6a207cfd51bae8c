"""python -m experiments.play"""

from experiments.play import main

main()
