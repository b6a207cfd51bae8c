"""What the games of a run say: figures with intervals, as data and as a page."""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.pages import markdown_table
from experiments.tournament.pictures import BOUNDS, draw_report
from experiments.tournament.plan import Config, Seats, rotations
from experiments.tournament.play import Result
from experiments.tournament.statistics import (
    Estimate,
    comparisons,
    estimate_means,
    estimate_ratings,
    estimate_share,
    interval,
    resampled_sums,
    running_ladder,
)
from experiments.tournament.store import RunError, read_config, read_results
from tollero_env.files import write_beside
from tollero_env.game import Array, get_game

FEW = 20  # deals, too few to resample
Deals = dict[int, list[Result]]  # a line-up's games by deal


def write_report(out: Path, anchor: str | None = None) -> dict[str, Any]:
    """Report on the games that a run has so far: report.json, report.md and report.svg in its folder."""
    config = read_config(out)
    report = make_report(config, read_results(out), anchor)
    with write_beside(out / "report.json") as file:
        file.write(json.dumps(report, indent=1, allow_nan=False) + "\n")
    with write_beside(out / "report.md") as file:
        file.write(to_markdown(report))
    draw_report(report, out / "report.svg")
    return report


def make_report(config: Config, results: Sequence[Result], anchor: str | None = None) -> dict[str, Any]:
    """All figures of a run; deals that were not played in all their seatings are left out."""
    anchor = config.agents[0] if anchor is None else anchor
    check_anchor(config, anchor)
    whole = whole_deals(results)
    if not whole:
        raise RunError("no deal has been played in all its seatings yet: there is nothing to report")
    used = [result for deals in whole.values() for games in deals.values() for result in games]
    deals, strata = by_deal(whole)
    return {
        "config": config.model_dump(mode="json"),
        "games": len(used),
        "unused": len(results) - len(used),
        "deals": len(deals),
        "anchor": anchor,
        "ratings": _ratings(deals, strata, config.agents, anchor),
        "matches": [row for lineup in whole for row in _matches(lineup, whole[lineup])],
        "head_to_head": _head_to_head(whole, config),
        "seats": [_seats(deals, strata, config.players, name) for name in (None, *config.agents)],
        "times": [_times(used, name) for name in config.agents],
    }


def check_anchor(config: Config, anchor: str) -> None:
    """Refuse an anchor that does not play."""
    if anchor not in config.agents:
        raise RunError(f"--anchor {anchor!r} does not play here; there is {', '.join(config.agents)}")


def whole_deals(results: Sequence[Result]) -> dict[Seats, Deals]:
    """For each line-up (its agents in alphabetical order) the deals that were played in all seatings."""
    found: dict[Seats, Deals] = defaultdict(lambda: defaultdict(list))
    for result in results:
        found[tuple(sorted(result.seats))][result.deal].append(result)
    whole = {
        lineup: {deal: games for deal, games in sorted(deals.items()) if len(games) == len(rotations(games[0].seats))}
        for lineup, deals in found.items()
    }
    return {lineup: deals for lineup, deals in whole.items() if deals}


def by_deal(whole: dict[Seats, Deals]) -> tuple[list[list[Result]], Array]:
    """All games of each deal, and its stratum: deals on which the same line-ups met are alike."""
    numbers = sorted({deal for deals in whole.values() for deal in deals})
    kinds: dict[tuple[Seats, ...], int] = {}
    games, strata = [], []
    for number in numbers:
        lineups = tuple(lineup for lineup, deals in whole.items() if number in deals)
        strata.append(kinds.setdefault(lineups, len(kinds)))
        games.append([result for lineup in lineups for result in whole[lineup][number]])
    return games, np.array(strata)


def _ratings(deals: list[list[Result]], strata: Array, agents: Sequence[str], anchor: str) -> list[dict[str, Any]]:
    """Strongest first."""
    wins = np.array([comparisons(games, agents) for games in deals])
    estimates = estimate_ratings(wins, strata, list(agents).index(anchor))
    skills = running_ladder([result for games in deals for result in games], agents)
    total = wins.sum(axis=0)
    rows = []
    for number, (name, estimate) in enumerate(zip(agents, estimates)):
        lost, won = total[:, number].sum(), total[number].sum()
        bound = "none" if (lost and won) or name == anchor else "lower" if won else "upper"
        rows.append({"agent": name, "rating": estimate._asdict(), "bound": bound, "openskill": skills[name]})
    return sorted(rows, key=lambda row: -row["rating"]["value"])


def _matches(lineup: Seats, deals: Deals) -> list[dict[str, Any]]:
    """A row for each agent of a line-up: its share of the wins and its margin, for one seat of it."""
    names = list(dict.fromkeys(lineup))
    means = np.array([[_deal_means(games, name) for name in names] for games in deals.values()])
    estimates = estimate_means(means.reshape(len(deals), -1))
    rows = []
    for number, name in enumerate(names):
        share = estimate_share(estimates[2 * number], len(deals))
        others = list(lineup)
        others.remove(name)
        rows.append(
            {
                "agent": name,
                "against": others,
                "games": sum(map(len, deals.values())),
                "deals": len(deals),
                "share": share._asdict(),
                "times_fair": share.scaled(len(lineup))._asdict(),
                "margin": estimates[2 * number + 1]._asdict(),
            }
        )
    return rows


def _deal_means(games: Sequence[Result], name: str) -> tuple[float, float]:
    """Mean share and mean margin (own score less the mean of the others') of a seat of that agent."""
    shares, margins = [], []
    for result in games:
        for seat, own in enumerate(result.seats):
            if own == name:
                others = result.scores[:seat] + result.scores[seat + 1 :]
                shares.append(result.outcome[seat])
                margins.append(result.scores[seat] - sum(others) / len(others))
    return float(np.mean(shares)), float(np.mean(margins))


def _head_to_head(whole: dict[Seats, Deals], config: Config) -> list[list[float | None]]:
    """[a][b]: the win share of one a against nobody but b, where that was played."""

    def share(one: str, other: str) -> float | None:
        lineup = tuple(sorted((one, *[other] * (config.players - 1))))
        if one == other or lineup not in whole:
            return None
        return float(np.mean([_deal_means(games, one)[0] for games in whole[lineup].values()]))

    return [[share(one, other) for other in config.agents] for one in config.agents]


def _seats(deals: list[list[Result]], strata: Array, players: int, name: str | None) -> dict[str, Any]:
    """Win share by seat, of one agent or of all."""
    sums = np.zeros((len(deals), 2, players))  # wins, games
    for row, games in zip(sums, deals):
        for result in games:
            for seat, own in enumerate(result.seats):
                if name in (None, own):
                    row[:, seat] += result.outcome[seat], 1
    samples = resampled_sums(sums.reshape(len(deals), -1), strata).reshape(-1, 2, players)
    wins, counts = sums.sum(axis=0)
    with np.errstate(invalid="ignore"):  # a resample may have no game of a rare agent
        drawn = samples[:, 0] / samples[:, 1]
    played = int(np.count_nonzero(sums[:, 1, 0]))  # deals
    estimates = [Estimate(float(wins[seat] / counts[seat]), *interval(drawn[:, seat])) for seat in range(players)]
    shares = [estimate_share(estimate, played)._asdict() for estimate in estimates]
    return {"agent": name, "games": int(counts[0]), "shares": shares}


def _times(results: Sequence[Result], name: str) -> dict[str, Any]:
    """How long an agent thinks about a decision, and how many it makes in a game from one seat."""
    held = [(result, seat) for result in results for seat, own in enumerate(result.seats) if own == name]
    decisions = sum(result.decisions[seat] for result, seat in held)
    seconds = sum(result.seconds[seat] for result, seat in held)
    return {
        "agent": name,
        "decisions": decisions,
        "decisions_a_game": decisions / len(held) if held else 0.0,
        "mean_ms": 1e3 * seconds / decisions if decisions else 0.0,
        "max_ms": 1e3 * max((result.slowest[seat] for result, seat in held), default=0.0),
    }


# ---- the page


def to_markdown(report: dict[str, Any]) -> str:
    """The report as a page."""
    config, players = report["config"], report["config"]["players"]
    title = get_game(config["game"]).title
    facts = (
        f"{report['games']:,} games on {report['deals']:,} deals, seed {config['seed']}, version {config['version']}"
    )
    if options := ", ".join(f"{key}={value}" for key, value in config["options"].items()):
        facts += f", {options}"
    parts = [f"# {title}, {players} players", f"{facts}.", _method(report)]
    for heading, table in (
        ("Ratings", rating_cells(report)),
        ("Matches", match_cells(report)),
        ("Head to head", _head_cells(report)),
        ("Seats", _seat_cells(report)),
        ("Time", _time_cells(report)),
    ):
        parts += [f"## {heading}", markdown_table(table)]
    parts.append("![Head to head and ratings](report.svg)")
    return "\n\n".join(parts) + "\n"


def _method(report: dict[str, Any]) -> str:
    """How to read the figures."""
    players = report["config"]["players"]
    text = (
        "Each deal is played in all seatings. Intervals are 95%, by bootstrap over deals; ties are fractions of a win. "
        f"Ratings are in Elo's unit above `{report['anchor']}`: 400 points are ten times the weight in "
        f"{'Bradley and Terry' if players == 2 else 'Luce'}'s model of who wins, with one drawn game added for every "
        "pair; a rating with ≥ or ≤ is of an agent that won or lost everything, so it is only a bound. "
        "The margin is the own score less the mean of the others'. Head to head is the win share of one (row) against "
        f"{'the column' if players == 2 else f'{players - 1} of the column'}."
    )
    if min(row["deals"] for row in report["matches"]) < FEW:
        text += f" Intervals of matches with fewer than {FEW} deals are rough."
    if report["unused"]:
        text += f" {report['unused']} games of deals that are not finished do not count."
    return text


def rating_cells(report: dict[str, Any]) -> list[list[str]]:
    """Headings, then one row an agent."""
    rows = [["agent", "rating", "95%", "openskill μ", "σ", "ordinal"]]
    for row in report["ratings"]:
        skill = [f"{row['openskill'][key]:.1f}" for key in ("mu", "sigma", "ordinal")]
        rows.append([f"`{row['agent']}`", rating_text(row), rating_span(row), *skill])
    return rows


def rating_text(row: dict[str, Any]) -> str:
    """A rating, marked where it is only a bound."""
    return f"{BOUNDS[row['bound']][1]}{row['rating']['value']:.0f}"


def rating_span(row: dict[str, Any]) -> str:
    """The interval of a rating; that of a bound has one end."""
    low, high = (f"{row['rating'][end]:.0f}" for end in ("low", "high"))
    return {"none": f"{low} to {high}", "lower": f"{low} or more", "upper": f"{high} or less"}[row["bound"]]


def match_cells(report: dict[str, Any]) -> list[list[str]]:
    """Headings, then one row a pairing, seen from whoever sits alone (of two, from the better one)."""
    rows = [["agent", "against", "games", "win share", "95%", "times fair", "95%", "margin", "95%"]]
    for row in shown_matches(report):
        cells = [f"`{row['agent']}`", against_text(row["against"]), str(row["games"])]
        cells += [f"{row['share']['value']:.1%}", span(row["share"], "{:.1%}")]
        cells += [f"{row['times_fair']['value']:.2f}", span(row["times_fair"], "{:.2f}")]
        rows.append([*cells, f"{row['margin']['value']:+.1f}", span(row["margin"], "{:+.1f}")])
    return rows


def shown_matches(report: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of `matches` that say something the others do not."""
    by_lineup: dict[Seats, list[dict[str, Any]]] = defaultdict(list)
    for row in report["matches"]:
        by_lineup[tuple(sorted((row["agent"], *row["against"])))].append(row)
    shown = []
    for rows in by_lineup.values():
        alone = [row for row in rows if row["agent"] not in row["against"]] or rows
        if report["config"]["players"] == 2:
            alone = [max(alone, key=lambda row: row["share"]["value"])]
        shown += alone
    return shown


def against_text(names: Sequence[str]) -> str:
    """Several seats of one agent as 2 × `name`."""
    return ", ".join(f"{count} × `{name}`" if count > 1 else f"`{name}`" for name, count in Counter(names).items())


def _head_cells(report: dict[str, Any]) -> list[list[str]]:
    agents = report["config"]["agents"]
    rows = [["", *(f"`{name}`" for name in agents)]]
    for name, shares in zip(agents, report["head_to_head"]):
        rows.append([f"`{name}`", *("" if share is None else f"{share:.1%}" for share in shares)])
    return rows


def _seat_cells(report: dict[str, Any]) -> list[list[str]]:
    rows = [["agent", *(f"seat {seat}" for seat in range(report["config"]["players"]))]]
    for row in report["seats"]:
        name = "all" if row["agent"] is None else f"`{row['agent']}`"
        rows.append([name, *(f"{share['value']:.1%} ({span(share, '{:.1%}')})" for share in row["shares"])])
    return rows


def _time_cells(report: dict[str, Any]) -> list[list[str]]:
    rows = [["agent", "ms a decision", "longest", "decisions", "a game"]]
    for row in report["times"]:
        times = [f"{row['mean_ms']:.3g}", f"{row['max_ms']:.3g}"]
        rows.append([f"`{row['agent']}`", *times, f"{row['decisions']:,}", f"{row['decisions_a_game']:.1f}"])
    return rows


def span(estimate: dict[str, float], form: str) -> str:
    """Both ends of an interval."""
    return f"{form.format(estimate['low'])} to {form.format(estimate['high'])}"
