"""A film as one HTML file that steps through it: buttons, keys, a slider, the captions beside. It loads nothing.

Elements come up in many frames, so each is written once and frames are lists of their numbers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from typing import Any

from tollero_env.render.svg import FONT, definitions, elements, view_box
from tollero_env.scene import Frame, Shape


def to_html(frames: Iterable[Frame], title: str) -> str:
    """A page that shows the frames, which all have the first one's size; #12 behind its address opens frame 12."""
    frames = list(frames)
    if not frames:
        raise ValueError("a film has at least one frame")
    numbers: dict[str, int] = {}
    lists = [[numbers.setdefault(part, len(numbers)) for part in elements(frame.scene)] for frame in frames]
    drawings: dict[Shape, None] = dict.fromkeys(shape for frame in frames for shape in frame.scene.shapes)
    film = {"elements": list(numbers), "frames": lists, "captions": [frame.caption for frame in frames]}
    return _PAGE.format(
        title=escape(title),
        font=FONT,
        view_box=view_box(frames[0].scene),
        definitions="".join(definitions(drawings)),
        first="".join(elements(frames[0].scene)),
        most=len(frames) - 1,
        film=_script_json(film),
        script=_SCRIPT,
    )


def _script_json(data: Any) -> str:
    """JSON that may stand in a script: it cannot end it, nor open a comment."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
* {{ box-sizing: border-box; }}
body {{ margin: 0; height: 100vh; display: flex; font-family: {font}; color: #16385a; background: #f7f4ec; }}
main {{ flex: 1; min-width: 0; display: flex; flex-direction: column; }}
svg {{ flex: 1; min-height: 0; width: 100%; }}
nav {{ display: flex; gap: 8px; align-items: center; padding: 8px 12px; border-top: 1px solid #d9d2c0; }}
nav input {{ flex: 1; min-width: 60px; }}
nav output {{ min-width: 5em; text-align: right; font-variant-numeric: tabular-nums; }}
button, select {{ font: inherit; padding: 4px 10px; }}
aside {{ width: 250px; display: flex; flex-direction: column; border-left: 1px solid #d9d2c0; background: #fff; }}
h1 {{ font-size: 1rem; margin: 0; padding: 12px; border-bottom: 1px solid #d9d2c0; }}
ol {{ flex: 1; overflow-y: auto; margin: 0; padding: 4px 0; list-style: none; font-size: 0.85rem; }}
li {{ padding: 3px 12px; cursor: pointer; }}
li:hover {{ background: #eef3f6; }}
li[aria-current] {{ background: #16385a; color: #fff; }}
@media (max-width: 800px) {{ body {{ flex-direction: column; }} aside {{ width: auto; height: 25vh; border: 0; }} }}
</style>
</head>
<body>
<main>
<svg xmlns="http://www.w3.org/2000/svg" viewBox="{view_box}"><defs>{definitions}</defs><g id="table">{first}</g></svg>
<nav>
<button id="first" title="First (Home)">|&lt;</button>
<button id="back" title="Back (left arrow)">&lt;</button>
<button id="play" title="Play and pause (space)">Play</button>
<button id="on" title="On (right arrow)">&gt;</button>
<button id="end" title="Last (End)">&gt;|</button>
<input id="at" type="range" min="0" max="{most}" value="0" aria-label="Step">
<select id="pace" aria-label="Speed">
<option value="2000">slow</option><option value="900" selected>normal</option><option value="250">fast</option>
</select>
<output id="count"></output>
</nav>
</main>
<aside><h1>{title}</h1><ol id="captions"></ol></aside>
<script type="application/json" id="film">{film}</script>
<script>{script}</script>
</body>
</html>
"""

_SCRIPT = """
"use strict";
const film = JSON.parse(document.getElementById("film").textContent);
const [table, list, slider, play, pace, count] =
  ["table", "captions", "at", "play", "pace", "count"].map(id => document.getElementById(id));
const most = film.frames.length - 1;
let at = 0, timer = null;

const lines = film.captions.map((caption, k) => {
  const line = document.createElement("li");
  line.textContent = caption;
  line.onclick = () => { pause(); show(k); };
  list.append(line);
  return line;
});

function show(k) {
  lines[at].removeAttribute("aria-current");
  at = Math.max(0, Math.min(most, k));
  table.innerHTML = film.frames[at].map(n => film.elements[n]).join("");
  slider.value = at;
  count.value = at + " / " + most;
  lines[at].setAttribute("aria-current", "step");
  lines[at].scrollIntoView({block: "nearest"});
}
function pause() { clearTimeout(timer); timer = null; play.textContent = "Play"; }
function tick() {
  if (at === most) { pause(); return; }
  show(at + 1);
  timer = setTimeout(tick, Number(pace.value));
}
function toggle() {
  if (timer !== null) { pause(); return; }
  if (at === most) show(0);
  play.textContent = "Pause";
  timer = setTimeout(tick, Number(pace.value));
}
const jumps = {
  first: () => 0, back: () => at - 1, on: () => at + 1, end: () => most,
  Home: () => 0, ArrowLeft: () => at - 1, ArrowRight: () => at + 1, End: () => most,
};
for (const id of ["first", "back", "on", "end"])
  document.getElementById(id).onclick = () => { pause(); show(jumps[id]()); };
play.onclick = () => { toggle(); play.blur(); };  // else space would press it once more
slider.oninput = () => { pause(); show(Number(slider.value)); };
document.addEventListener("keydown", event => {
  if (event.target === pace || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === " ") toggle();
  else if (event.key in jumps) { pause(); show(jumps[event.key]()); }
  else return;
  event.preventDefault();
});
show(Number(location.hash.slice(1)) || 0);
"""
