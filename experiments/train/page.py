"""The report of a run as one HTML file that loads nothing: figures, curves, a game to step through."""

import json
from collections.abc import Sequence
from html import escape
from typing import Any

from experiments.study.games import LEFT, Course, course_width, draw_course, show_film
from experiments.tournament.report import FEW, span
from experiments.train.curves import draw_curves
from tollero_env.render.svg import FONT


def to_page(report: dict[str, Any], course: Course | None, commands: Sequence[tuple[str, str]]) -> str:
    """The whole page; `commands` are purposes and what to type."""
    config = report["config"]
    name = f"{report['title']}, {config['players']} players"
    parts = [
        _head(report, name),
        _section("Final games", _results(report)),
        _section("Curves", _curves(report)),
        "" if course is None else _section("One of its games", _game(report, course)),
        _section("What next", _commands(commands)),
        _section("What was trained", _facts(report)),
    ]
    return _PAGE.format(title=escape(f"{name}: {report['name']}"), font=FONT, body="\n".join(filter(None, parts)))


def clock(seconds: float) -> str:
    """Minutes and seconds, as people read them."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _section(title: str, body: str) -> str:
    return f"<section>\n<h2>{title}</h2>\n{body}\n</section>" if body else ""


def _head(report: dict[str, Any], name: str) -> str:
    config, begun = report["config"], "from scratch" if report["init"] is None else f"from {escape(report['init'])}"
    wins = " · ".join(
        f"<span><b>{row['share']['value']:.1%}</b> against {escape(row['against'])}</span>"
        for row in reversed(report["results"])
    )
    told = (
        f"Trained {begun} in {clock(report['seconds'])}: {report['done']:,} {escape(report['unit'])} of self-play, "
        f"family {escape(config['family'])}, seed {config['seed']}"
    )
    if options := ", ".join(f"{key} {value}" for key, value in config["options"].items()):
        told += f", {escape(options)}"
    return f"<header>\n<h1>{escape(name)}</h1>\n<p class=wins>wins {wins}</p>\n<p>{told}.</p>\n</header>"


# ---- the table


def _results(report: dict[str, Any]) -> str:
    players = report["config"]["players"]
    if not report["results"]:
        return ""
    rows = ["<tr><th>against<th>games<th>win share<th>95%<th>times fair<th class=wide></tr>"]
    for row in report["results"]:
        share = row["share"]
        cells = (
            f"{row['games']:,}", f"<b>{share['value']:.1%}</b>", span(share, "{:.1%}"),
            f"{row['times_fair']['value']:.2f}", _whisker(share, 1 / players),
        )  # fmt: skip
        rows.append(f"<tr><td>{escape(row['against'])}<td>{'<td>'.join(cells)}</tr>")
    note = (
        "Every deal is played from all seats, the others all held by the baseline. Intervals are 95%, by bootstrap "
        "over deals; ties are fractions of a win. The dotted line is a fair share."
    )
    if min(row["deals"] for row in report["results"]) < FEW:
        note += f" Intervals of fewer than {FEW} deals are rough."
    return f"<table>{''.join(rows)}</table>\n<p class=note>{note}</p>"


def _whisker(share: dict[str, float], fair: float) -> str:
    """The share and its interval on a line from none to all."""
    low, high, value = (100 * share[key] for key in ("low", "high", "value"))
    return (
        '<svg viewBox="-2 0 104 12" class="whisker" role="img" aria-label="interval">'
        '<line x1="0" y1="6" x2="100" y2="6" stroke="#e6e1d4" stroke-width="1.5"/>'
        f'<line x1="{100 * fair:.2f}" y1="1" x2="{100 * fair:.2f}" y2="11" stroke="#6b7684" stroke-width="0.6" '
        'stroke-dasharray="1 1"/>'
        f'<line x1="{low:.2f}" y1="6" x2="{high:.2f}" y2="6" stroke="#9cc3dc" stroke-width="4"/>'
        f'<circle cx="{value:.2f}" cy="6" r="1.1" fill="#16385a"/></svg>'
    )


# ---- curves, game


def _curves(report: dict[str, Any]) -> str:
    rows = report["curve"]
    if len(rows) < 2:
        return ""
    picture = draw_curves(rows, report["unit"], report["config"]["players"]).svg
    note = (
        f"Each point is a look of about {rows[-1]['games']} games against each baseline, always the same deals; bands "
        "are 95% intervals by Wilson's formula. The time is that of training and looks together, compilation included."
    )
    return f"<div class=picture>{picture}</div>\n<p class=note>{note}</p>"


def _game(report: dict[str, Any], course: Course) -> str:
    others, points = course.names[1:], course.points[-1]
    beaten = f"{len(others)} × {others[0]}" if len(others) > 1 else others[0]
    told = (
        f"The first deal of the final games, against {escape(beaten)}, the baseline that it finds hardest; "
        f"it has the first seat and ends with {points[0]} points to {', '.join(map(str, points[1:]))}. "
        "All that is hidden is shown here. Click a line or the chart; arrow keys and space work in the picture."
    )
    if course.judged is not None:
        told += " Percentages are what the net thought its chance to win was."
    course_data = {"left": LEFT, "width": course_width(course), "most": len(course.moves)}
    film = show_film(course, f"{report['title']}: {' – '.join(course.names)}").frame("game")
    return (
        f"<p>{told}</p>\n<div class=film>{film}</div>\n"
        f"<div class=course id=course>{draw_course(course).svg}<i id=cursor></i></div>\n"
        f"<script>const course = {json.dumps(course_data)};{_SCRIPT}</script>"
    )


# ---- words


def _commands(commands: Sequence[tuple[str, str]]) -> str:
    lines = [f"<dt>{escape(purpose)}<dd><code>{escape(text)}</code>" for purpose, text in commands]
    return f"<dl class=next>{''.join(lines)}</dl>\n<p class=note>To be typed in the root of the clone.</p>"


def _facts(report: dict[str, Any]) -> str:
    git = report["git"]
    commit = f"{git['commit'][:12]}{', with changes' if git['changed'] else ''}" if git else "unknown"
    packages = ", ".join(f"{name} {version}" for name, version in report["packages"].items() if version)
    rows = {
        "run": report["name"],
        "begun": report["begun"],
        "command": " ".join(report["command"]),
        "net": f"{report['parameters']:,} numbers",
        "git commit": commit,
        "Python": f"{report['python']} on {report['machine']}",
        "packages": packages,
        **{key: json.dumps(value) for key, value in report["config"].items()},
    }
    lines = [f"<tr><th>{escape(key)}<td>{escape(str(value))}</tr>" for key, value in rows.items()]
    return f"<table class=facts>{''.join(lines)}</table>"


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
* {{ box-sizing: border-box; }}
body {{ margin: 0; font: 16px/1.5 {font}; color: #16385a; background: #f7f4ec; }}
header, section {{ max-width: 1120px; margin: 0 auto; padding: 0 20px; }}
header {{ padding-top: 36px; }}
h1 {{ font-size: 2rem; line-height: 1.2; margin: 0 0 8px; }}
h2 {{ font-size: 1.2rem; margin: 40px 0 12px; }}
p {{ margin: 8px 0; max-width: 75ch; }}
.wins {{ font-size: 1.25rem; max-width: none; }}
.wins span {{ white-space: nowrap; }}
.note {{ font-size: 0.85rem; color: #6b7684; }}
table {{ border-collapse: collapse; background: #fff; border: 1px solid #d9d2c0; width: 100%; }}
th, td {{ padding: 8px 14px; text-align: right; font-variant-numeric: tabular-nums; border-top: 1px solid #eee9dc; }}
th {{ font-weight: normal; color: #6b7684; font-size: 0.85rem; }}
th:first-child, td:first-child, .facts td {{ text-align: left; }}
.wide {{ width: 38%; }}
.whisker {{ display: block; width: 100%; min-width: 160px; }}
.facts {{ font-size: 0.85rem; }}
.facts th, .facts td {{ padding: 4px 14px; vertical-align: top; overflow-wrap: anywhere; }}
.facts th {{ white-space: nowrap; width: 12em; }}
.picture, .course, .film {{ background: #fff; border: 1px solid #d9d2c0; }}
.picture {{ padding: 12px; }}
.picture svg, .course svg {{ display: block; width: 100%; height: auto; }}
.film iframe {{ display: block; }}
.course {{ position: relative; border-top: 0; cursor: pointer; }}
.course i {{ position: absolute; top: 0; bottom: 0; width: 2px; margin-left: -1px; background: #16385a88; }}
.next dt {{ margin-top: 12px; }}
.next dd {{ margin: 4px 0 0; }}
code {{ display: block; padding: 8px 14px; background: #fff; border: 1px solid #d9d2c0; font-size: 0.9rem;
  white-space: pre-wrap; overflow-wrap: anywhere; user-select: all; }}
footer {{ height: 60px; }}
@media (max-width: 700px) {{ .wide, .whisker {{ display: none; }} th, td {{ padding: 6px; }} }}
</style>
</head>
<body>
{body}
<footer></footer>
</body>
</html>
"""

# The chart under the game follows the film, and leads it where it is clicked.
_SCRIPT = """
(() => {
  const [frame, chart, cursor] = ["game", "course", "cursor"].map(id => document.getElementById(id));
  const lines = () => frame.contentDocument && frame.contentDocument.querySelectorAll("#captions li");
  function place() {
    const at = [...lines()].findIndex(line => line.hasAttribute("aria-current"));
    cursor.style.left = 100 * (course.left + course.width * at / course.most) + "%";
  }
  function follow() {
    new MutationObserver(place).observe(frame.contentDocument.getElementById("captions"),
      {subtree: true, attributes: true, attributeFilter: ["aria-current"]});
    place();
  }
  if (lines() && lines().length) follow();
  else frame.addEventListener("load", follow);
  chart.onclick = event => {
    const box = chart.getBoundingClientRect();
    const share = ((event.clientX - box.left) / box.width - course.left) / course.width;
    lines()[Math.max(0, Math.min(course.most, Math.round(share * course.most)))].click();
  };
})();
"""
