"""Estimates and their intervals. What is drawn again in a bootstrap are whole deals, never single games."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import choix
import numpy as np
from openskill.models import PlackettLuce

from experiments.tournament.play import Result
from tollero_env.game import Array

RESAMPLES = 2000
LEVEL = 0.95
SEED = 1  # of the resampling: the same games give the same report
CHUNK = 4_000_000  # numbers drawn at a time
ELO = 400 / math.log(10)


class Estimate(NamedTuple):
    """A figure with its 95% interval."""

    value: float
    low: float
    high: float

    def scaled(self, factor: float) -> "Estimate":
        """The same in another unit."""
        return Estimate(*(factor * number for number in self))


def resampled_sums(values: Array, strata: Array | None = None, resamples: int = RESAMPLES) -> Array:
    """Sums over rows drawn with replacement, as (resamples, columns): a row is a deal.

    Rows are drawn anew within each stratum, so that every resample has as many of each kind as there were.
    """
    strata = np.zeros(len(values), np.int64) if strata is None else strata
    rng = np.random.default_rng(SEED)
    total = np.zeros((resamples, values.shape[1]))
    for stratum in np.unique(strata):
        rows = values[strata == stratum].astype(np.float64)
        step = max(1, CHUNK // len(rows))
        for first in range(0, resamples, step):
            part = total[first : first + step]
            part += _counts(rng, len(part), len(rows)) @ rows
    return total


def _counts(rng: np.random.Generator, resamples: int, rows: int) -> Array:
    """How often each row is drawn in each resample."""
    drawn = rng.integers(0, rows, (resamples, rows)) + rows * np.arange(resamples)[:, None]
    counts: Array = np.bincount(drawn.ravel(), minlength=resamples * rows).reshape(resamples, rows)
    return counts.astype(np.float64)


def interval(samples: Array) -> tuple[float, float]:
    """The middle 95% of what resampling gave."""
    low, high = np.nanquantile(samples, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def estimate_means(values: Array) -> list[Estimate]:
    """The mean of each column over deals."""
    samples = resampled_sums(values) / len(values)
    return [Estimate(float(mean), *interval(column)) for mean, column in zip(values.mean(axis=0), samples.T)]


def estimate_share(value: Estimate, deals: int) -> Estimate:
    """A share of wins. Where every deal was won whole, or lost, resampling says nothing: the exact bound stands in."""
    worst = ((1 - LEVEL) / 2) ** (1 / deals)  # all of so many deals are won with 2.5% chance at this share
    if value.low == value.high == 1:
        return Estimate(1, worst, 1)
    if value.low == value.high == 0:
        return Estimate(0, 0, 1 - worst)
    return value


# ---- ratings


def comparisons(results: Sequence[Result], agents: Sequence[str]) -> Array:
    """[a, b]: how often a won where b sat at the table, ties as fractions, counted for every pair of seats.

    In Luce's model (an agent wins in proportion to its weight, at a table of any size) the ratio of [a, b] to [b, a]
    is that of the weights, whoever else plays; with two players it is Bradley and Terry's.
    """
    index = {name: number for number, name in enumerate(agents)}
    wins = np.zeros((len(agents), len(agents)))
    for result in results:
        for seat, share in enumerate(result.outcome):
            for other in result.seats[:seat] + result.seats[seat + 1 :]:
                wins[index[result.seats[seat]], index[other]] += share
    np.fill_diagonal(wins, 0)
    return wins


def rate(wins: Array, start: Array | None = None) -> Array:
    """Ratings in Elo's unit, mean 0; one drawn game is added for every pair, so that a perfect record has a rating."""
    drawn = 0.5 * (1 - np.eye(len(wins)))
    initial = None if start is None else start / ELO
    found = choix.ilsr_pairwise_dense(wins + drawn, initial_params=initial, max_iter=10_000, tol=1e-6)
    ratings: Array = ELO * found
    return ratings


def estimate_ratings(by_deal: Array, strata: Array, anchor: int, resamples: int = RESAMPLES // 2) -> list[Estimate]:
    """Ratings above the anchor's, from comparisons of shape (deals, agents, agents)."""
    number = by_deal.shape[1]
    point = rate(by_deal.sum(axis=0))
    sums = resampled_sums(by_deal.reshape(len(by_deal), -1), strata, resamples).reshape(-1, number, number)
    samples = np.array([rate(wins, point) for wins in sums])
    point, samples = point - point[anchor], samples - samples[:, anchor : anchor + 1]
    return [Estimate(float(value), *interval(column)) for value, column in zip(point, samples.T)]


def running_ladder(results: Sequence[Result], agents: Sequence[str]) -> dict[str, Any]:
    """openskill's ratings after all games in order; of several seats at one table an agent takes the mean."""
    model = PlackettLuce()
    ratings = {name: model.rating(name=name) for name in agents}
    for result in results:
        if len(set(result.seats)) == 1:
            continue
        teams = [[model.rating(mu=ratings[name].mu, sigma=ratings[name].sigma)] for name in result.seats]
        rated = model.rate(teams, scores=list(result.outcome))
        for name in set(result.seats):
            own = [team[0] for team, seat in zip(rated, result.seats) if seat == name]
            ratings[name].mu = sum(rating.mu for rating in own) / len(own)
            ratings[name].sigma = sum(rating.sigma for rating in own) / len(own)
    return {
        name: {"mu": rating.mu, "sigma": rating.sigma, "ordinal": rating.ordinal()} for name, rating in ratings.items()
    }
