"""Pictures: what is on the table is in the picture, what is hidden is not, and every backend shows it."""

import json
import random
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter

import numpy as np
import pytest
from PIL import Image

from tests import tollero_tools as tools
from tollero_env.ansi import paint, strip
from tollero_env.film import film
from tollero_env.game import get_rules
from tollero_env.games.tollero.ansi import STYLES, to_ansi
from tollero_env.games.tollero.constants import BUILD, CELLS, EXPAND, FIRST_CITY
from tollero_env.games.tollero.draw import BOARD, HEIGHT, WIDTH, draw
from tollero_env.games.tollero.notation import SEATS, at_cell, tile_id, to_text
from tollero_env.games.tollero.pieces import INK, LAST, LEGAL, ROOFS, WATER, lot_centre, tile_back, tile_shapes
from tollero_env.games.tollero.tables import faces_of
from tollero_env.games.tollero.tiles import LOTS, SIDES, turned
from tollero_env.position import Position, new_game
from tollero_env.render import Window, save_gif, save_mp4, to_html, to_rgb, to_svg
from tollero_env.render.svg import elements
from tollero_env.scene import (
    Circle,
    Frame,
    Line,
    Polygon,
    Rect,
    Scene,
    Sprite,
    Text,
    bounds,
    centred_text,
    rotate,
    scale,
    translate,
)

SVG = "{http://www.w3.org/2000/svg}"
DIRECTIONS = ((0, -1), (1, 0), (0, 1), (-1, 0))


def play(players, seed, decisions, **options):
    """A position after so many random decisions, which like to build high; and the last move."""
    position, rng, last = new_game("tollero", players, seed, **options), random.Random(seed), None
    while not position.over and position.ply < decisions:
        moves = position.moves()
        heights = position.states["building"][0]
        higher = [m for m in moves if m >= BUILD and heights[divmod(m - BUILD, 4)]]
        last = rng.choice(higher if higher and rng.random() < 0.6 else moves)
        position.play(last)
    return position, last


POSITIONS = [(2, 1, 0), (2, 5, 33), (3, 1, 40), (3, 2, 999), (4, 4, 57), (4, 2, 999)]


@pytest.fixture(params=POSITIONS, ids=lambda param: "{}-{}-{}".format(*param))
def table(request):
    return play(*request.param)


def picture(position, **marks):
    return draw(position.rules, position.states, 0, **marks)


def sprites(scene):
    return [shape for shape in scene.shapes if isinstance(shape, Sprite)]


def words(scene):
    return [shape.text for shape in scene.shapes if isinstance(shape, Text)]


def facts(position):
    """(x, y, face, turned face, slot) of every tile."""
    state, faces = position.states[0], faces_of(position.rules.material)
    for slot in range(state["num_tiles"]):
        number, rotation = int(state["face"][slot]), int(state["rotation"][slot])
        yield *at_cell(state["cell"][slot]), number, turned(faces[number], rotation), slot


def buildings(position, slot):
    """(lot, seat, height) of what stands on a tile."""
    rows = enumerate(position.states[0]["building"][slot].tolist())
    return [(lot, stands >> 5, stands & 31) for lot, stands in rows if stands]


def leader(position, slot):
    """F2 from the buildings alone."""
    tallest, floors = Counter(), Counter()
    for _, seat, height in buildings(position, slot):
        tallest[seat] = max(tallest[seat], height)
        floors[seat] += height
    order = sorted(((tallest[seat], floors[seat], seat) for seat in tallest), reverse=True)
    if not order or slot == 0 or (len(order) > 1 and order[0][:2] == order[1][:2]):
        return None
    return order[0][2]


def fountains(position):
    """M5 from the faces alone: how many fountains point at each (x, y, lot)."""
    found = Counter()
    for x, y, _, face, _ in facts(position):
        for lot, direction in enumerate(face.fountains):
            if direction >= 0:
                dx, dy = DIRECTIONS[direction]
                column, row = 2 * x + (lot in (1, 2)) + dx, 2 * y + (lot in (2, 3)) + dy
                found[column // 2, row // 2, {(0, 0): 0, (1, 0): 1, (1, 1): 2, (0, 1): 3}[column % 2, row % 2]] += 1
    return found


def cells(scene):
    """Where cells lie, by the tile that is drawn at (0, 0)."""
    (middle,) = [sprite for sprite in sprites(scene) if sprite.title.startswith("contract at (0,0)")]
    size = 100 * middle.scale
    return lambda x, y: (middle.x + size * x, middle.y + size * y), size


# ---------------------------------------------------------------- the table


def uses(svg):
    """(title, x, y, definition) of every drawing in an SVG."""
    root = ET.fromstring(svg)
    definitions = {group.get("id"): group for group in root.iter(f"{SVG}g")}
    found = []
    for use in root.iter(f"{SVG}use"):
        x, y = re.match(r"translate\((\S+) (\S+)\)", use.get("transform")).groups()
        found.append((use.findtext(f"{SVG}title"), float(x), float(y), definitions[use.get("href")[1:]]))
    return found


def test_every_tile_is_in_the_svg_where_it_lies(table):
    position, _ = table
    scene = picture(position)
    at, _ = cells(scene)
    shown = {title: (x, y, drawing) for title, x, y, drawing in uses(to_svg(scene)) if title}
    for x, y, number, face, slot in facts(position):
        name = f"{tile_id(position.rules, number) or 'contract'} at ({x},{y}), turned "
        name += str(position.states[0]["rotation"][slot])
        seat = leader(position, slot)
        left, top, drawing = shown[name if seat is None else f"{name}, {SEATS[seat]} leads for {face.value}"]
        assert (left, top) == pytest.approx(at(x, y), abs=0.01)
        arrows = [polygon for polygon in drawing.iter(f"{SVG}polygon") if polygon.get("fill") == INK]
        assert len(arrows) == sum(direction >= 0 for direction in face.fountains)
        assert [text.text for text in drawing.iter(f"{SVG}text")] == [str(face.value)] * (face.value > 0)
        frames = [rect for rect in drawing.iter(f"{SVG}rect") if rect.get("stroke") in ROOFS]
        assert [rect.get("stroke") for rect in frames] == ([] if seat is None else [ROOFS[seat]])


def test_every_building_is_in_the_svg_with_its_height(table):
    position, _ = table
    scene, jets = picture(position), fountains(position)
    at, size = cells(scene)
    shown = {title: (x, y, drawing) for title, x, y, drawing in uses(to_svg(scene)) if title}
    count = 0
    for x, y, _, _, slot in facts(position):
        for lot, seat, height in buildings(position, slot):
            stars = height * jets[x, y, lot]
            left, top, drawing = shown[f"{SEATS[seat]} {height} at ({x},{y}) {LOTS[lot]}, {stars} by fountains"]
            assert (left, top) == pytest.approx(np.add(at(x, y), lot_centre(lot, size)), abs=0.01)
            assert [text.text for text in drawing.iter(f"{SVG}text")] == [SEATS[seat], str(height)]
            assert len(list(drawing.iter(f"{SVG}line"))) == height - 1  # the joints between Floors
            count += 1
    assert count == sum(" by fountains" in title for title in shown)


def test_what_fountains_give_is_shown_on_every_lot_that_can_be_built_on(table):
    position, _ = table
    scene, jets = picture(position), fountains(position)
    at, size = cells(scene)
    expected = Counter()
    for x, y, _, face, _ in facts(position):
        for lot in range(4):
            if face.foundations >> lot & 1 and jets[x, y, lot]:
                place = np.add(at(x, y), lot_centre(lot, size)).round(3)
                expected[f"+{jets[x, y, lot]} a Floor", *place] += 1
    assert Counter((s.title, *np.round(s[:2], 3)) for s in sprites(scene) if s.title.endswith("a Floor")) == expected
    assert expected or position.ply == 0


def test_a_tall_building_covers_what_is_behind_it_not_what_is_before_it():
    position, _ = play(4, 2, 999)
    rows = [sprite.y for sprite in sprites(picture(position)) if " by fountains" in sprite.title]
    assert rows == sorted(rows)
    assert len(set(rows)) > 5


def test_downtown_is_led_by_nobody_where_it_does_not_score():
    led = [f" at ({x},{y})" for x, y in DIRECTIONS]
    for scores in (True, False):
        position, _ = play(2, 5, 33, downtown_scores=scores)
        titles = [sprite.title for sprite in sprites(picture(position)) if "leads" in sprite.title]
        assert any(place in title for title in titles for place in led) == scores


def test_the_panel_says_how_things_stand(table):
    position, last = table
    scene = picture(position, last=last)
    texts, state = words(scene), position.states[0]
    drawn = [shape.text for sprite in sprites(scene) for shape in sprite.shapes if isinstance(shape, Text)]
    for seat, points in enumerate(position.scores()):
        assert str(points) in texts
        floors = int(state["floors_left"][seat])
        assert f"{floors} Floor{'' if floors == 1 else 's'} left" in drawn
    assert f"{state['num_pile']} in the pile" in texts
    assert (f"last: {position.text(last)}" in texts) if last is not None else not any("last" in t for t in texts)
    if position.over:
        assert any(text.startswith("Over: ") for text in texts)
    else:
        assert any(text.startswith(f"player {position.player} ({SEATS[position.player]}) is to ") for text in texts)


def test_the_parts_of_the_score_add_up(table):
    position, _ = table
    lines = [re.fullmatch(r"(\d+) start \+ (\d+) tiles \+ (\d+) fountains", text) for text in words(picture(position))]
    parts = [tuple(map(int, line.groups())) for line in lines if line]
    assert [sum(part) for part in parts] == position.scores()
    won = Counter()
    for _, _, _, face, slot in facts(position):
        if leader(position, slot) is not None:
            won[leader(position, slot)] += face.value
    assert [part[1] for part in parts] == [won[seat] for seat in range(position.rules.players)]


def test_the_end_names_the_winner_or_all_who_share():
    position, _ = play(3, 2, 999)
    (winner,) = np.flatnonzero(position.outcome())
    assert f"Over: player {winner} ({SEATS[winner]}) wins" in words(picture(position))
    position.states["stars"][0] += max(position.scores()) - np.array(position.scores() + [0])
    assert position.outcome() == pytest.approx([1 / 3] * 3)
    assert "Over: A, B and C share the win" in words(picture(position))


def test_tiles_that_left_the_game_are_shown():
    position, _ = play(2, 1, 0)
    position.states["gone"][0][:8], position.states["num_gone"][0] = range(FIRST_CITY, FIRST_CITY + 8), 8
    scene = picture(position, viewer=1)
    gone = [sprite.title for sprite in sprites(scene) if "left the game" in sprite.title]
    assert gone == [f"C{k:02} left the game" for k in range(3, 9)]  # the latest six
    assert "8 left the game:" in words(scene)


def test_the_last_move_is_marked():
    laid, built = 0, 0
    for decisions in (31, 32, 33):
        position, last = play(2, 5, decisions)
        scene = picture(position, last=last)
        at, size = cells(scene)
        (mark,) = [sprite for sprite in sprites(scene) if sprite.title.startswith("just ")]
        assert any(shape.stroke == LAST for shape in mark.shapes)
        if last < BUILD:
            place, laid = at(*at_cell(last % CELLS)), laid + 1
        else:
            slot, lot = divmod(last - BUILD, 4)
            x, y = at_cell(position.states[0]["cell"][slot])
            place, built = np.add(at(x, y), lot_centre(lot, size)), built + 1
        assert mark[:2] == pytest.approx(tuple(place))
    assert (laid, built) == (1, 2)
    assert not [sprite for sprite in sprites(picture(position)) if sprite.title.startswith("just ")]


def test_legal_places_are_marked_on_request():
    for decisions in (30, 31, 32, 36, 37):
        position, _ = play(2, 5, decisions)
        scene = picture(position, legal=position.moves())
        at, size = cells(scene)
        marks = [sprite for sprite in sprites(scene) if any(getattr(s, "stroke", "") == LEGAL for s in sprite.shapes)]
        expected = {}
        for move in position.moves():
            if move < BUILD:
                place = at(*at_cell(move % CELLS))
                expected[tuple(np.round(place, 3))] = expected.get(tuple(np.round(place, 3)), ()) + (move // CELLS,)
            else:
                slot, lot = divmod(move - BUILD, 4)
                place = np.add(at(*at_cell(position.states[0]["cell"][slot])), lot_centre(lot, size))
                expected[tuple(np.round(place, 3))] = "legal"
        assert {tuple(np.round(mark[:2], 3)) for mark in marks} == set(expected)
        ruled = bounds([shape for shape in scene.shapes if isinstance(shape, Line)])
        assert all(
            ruled[0] <= mark.x < ruled[2] - size / 2 and ruled[1] <= mark.y < ruled[3] - size / 2 for mark in marks
        )
        for mark in marks:
            turns = expected[tuple(np.round(mark[:2], 3))]
            assert mark.title == (turns if turns == "legal" else f"fits turned {' '.join(map(str, sorted(turns)))}")
        assert not [sprite for sprite in sprites(picture(position)) if sprite.title in ("legal", marks[0].title)]


def test_everything_lies_inside_the_picture(table):
    position, last = table
    scene = picture(position, last=last, legal=position.moves())
    board = [shape for shape in scene.shapes if shape[0] != BOARD and bounds([shape])[0] < BOARD]
    for left, top, right, bottom in (bounds([shape]) for shape in board if not isinstance(shape, Text)):
        assert min(left, top) >= 0
        assert right <= BOARD
        assert bottom <= HEIGHT
    assert (scene.width, scene.height) == (WIDTH, HEIGHT)


def test_pictures_with_room_line_up():
    end, _ = play(4, 2, 999)
    places = {cells(picture(play(4, 2, n)[0], room=end.states))[0](0, 0) for n in (0, 20, 70, 999)}
    assert places == {cells(picture(end))[0](0, 0)}
    assert cells(picture(play(4, 2, 0)[0]))[1] > cells(picture(end))[1]


# ---------------------------------------------------------------- what is hidden


def test_a_seat_sees_no_more_than_it_may_know():
    """Draw anew what the seat cannot know: its picture stays the same, text and pixels; the whole truth's changes."""
    changed = 0
    for players, seed, decisions in ((2, 5, 33), (3, 1, 41), (4, 4, 57), (4, 4, 58)):
        position, last = play(players, seed, decisions)
        for viewer in range(players):
            other = position.hidden_from(viewer, seed=7)
            marks = [{"viewer": viewer, "last": last, "legal": one.moves()} for one in (position, other)]
            assert picture(position, **marks[0]) == picture(other, **marks[1])
            texts = [to_ansi(one.rules, one.states, 0, **mark) for one, mark in zip((position, other), marks)]
            assert texts[0] == texts[1]
            changed += picture(position) != picture(other)
    assert changed == 2 + 3 + 4 + 4  # every one of them


@pytest.fixture
def laying():
    """Three players with a tile each, player 0 to lay."""
    position, _ = play(3, 1, 0)
    while position.ply < 20 or position.player or position.states["stage"][0] != EXPAND:
        moves = position.moves()
        position.play(moves[position.ply % len(moves)])
    assert (position.states["hand"][0][:3] >= FIRST_CITY).all()
    return position


def test_a_seat_sees_its_own_hand_and_nobody_elses(laying):
    position = laying
    other = position.copy()
    for seat in range(3):
        other.states["hand"][0] = position.states["hand"][0]
        other.states["hand"][0][seat] = FIRST_CITY + (position.states["hand"][0][seat] == FIRST_CITY)
        for viewer in range(3):
            assert (picture(position, viewer=viewer) != picture(other, viewer=viewer)) == (viewer == seat)
        assert picture(position) != picture(other)


def test_hands_are_tiles_or_their_backs(laying):
    position = laying
    faces = faces_of(position.rules.material)
    hands = [tile_shapes(faces[face]) for face in position.states["hand"][0][:3]]
    for viewer, shown in ((None, hands), (1, [tile_back(), hands[1], tile_back()])):
        held = [sprite for sprite in sprites(picture(position, viewer=viewer)) if " has " in sprite.title]
        assert [sprite.title[0] for sprite in held] == ["A", "B", "C"]
        assert [sprite.shapes for sprite in held] == shown


def test_legal_cells_would_tell_the_tile_so_only_its_owner_sees_them(laying):
    def has(title, viewer):
        return any(title in s.title for s in sprites(picture(laying, viewer=viewer, legal=laying.moves())))

    assert [has("fits", viewer) for viewer in (None, 0, 1, 2)] == [True, True, False, False]
    laying.play(laying.moves()[0])
    assert [has("legal", viewer) for viewer in (None, 0, 1, 2)] == [True] * 4  # the tile lies open


# ---------------------------------------------------------------- shapes


SHAPES = (
    Rect(1, 2, 3, 4, "#102030", "#405060", 2, 1),
    Circle(5, 6, 2, "#102030"),
    Line(0, 0, 4, 1, "#102030", 2),
    Polygon(((0, 0), (2, 0), (2, 1)), None, "#102030"),
    Text(1, 2, "word", 10, "#102030"),
    Sprite(1, 2, 3, (Circle(1, 0, 1, "#102030"),), "name"),
)


def test_shapes_move_grow_and_turn():
    assert bounds(translate(SHAPES[:4], 10, 20)) == tuple(np.add(bounds(SHAPES[:4]), (10, 20, 10, 20)))
    for shape in (*SHAPES[:4], SHAPES[5]):
        assert bounds(scale([shape], 2)) == tuple(2 * edge for edge in bounds([shape]))
        left, top, right, bottom = bounds([shape])
        if not isinstance(shape, Sprite):
            assert bounds(rotate([shape], 1)) == (-bottom, left, -top, right)
            assert bounds(rotate([shape], 2)) == (-right, -bottom, -left, -top)
        assert bounds(rotate([shape], 4)) == (left, top, right, bottom)
    assert scale([SHAPES[4]], 3) == [Text(3, 6, "word", 30, "#102030")]
    assert rotate([SHAPES[5]], 1) == [SHAPES[5]._replace(x=-2, y=1)]
    assert bounds([SHAPES[5]]) == (1, -1, 7, 5)
    assert bounds([]) == (0, 0, 0, 0)
    assert centred_text(5, 5, "A", 100, "#102030").y == 41


def test_svg_of_every_shape():
    root = ET.fromstring(to_svg(Scene(10, 20, "#ffffff", SHAPES), width=5))
    assert (root.get("width"), root.get("height"), root.get("viewBox")) == ("5", "10", "0 0 10 20")
    defs, paper, *rest = root
    assert [element.tag.removeprefix(SVG) for element in rest] == ["rect", "circle", "line", "polygon", "text", "use"]
    assert (paper.get("width"), paper.get("fill")) == ("10", "#ffffff")
    assert rest[5].get("href") == f"#{defs[0].get('id')}"
    assert rest[3].get("points") == "0,0 2,0 2,1"
    assert (rest[3].get("fill"), rest[0].get("stroke-width")) == ("none", "2")


def test_svg_escapes_what_xml_cannot_hold():
    odd = '<a&b>"\x07\ud800'
    scene = Scene(9, 9, "#ffffff", [Text(0, 0, odd, 1, "#000000"), Sprite(0, 0, 1, (), odd)])
    root = ET.fromstring(to_svg(scene).encode())
    assert root.findtext(f"{SVG}text") == root.find(f"{SVG}use").findtext(f"{SVG}title") == '<a&b>"\ufffd\ufffd'


def test_svg_of_translucent_colours_and_odd_numbers():
    (shape,) = ET.fromstring(to_svg(Scene(9, 9, "#ffffff", [Circle(-0.001, 1 / 3, 12345.678, "#10203080")])))[2:]
    assert (shape.get("fill"), shape.get("fill-opacity")) == ("#102030", "0.5")
    assert (shape.get("cx"), shape.get("cy"), shape.get("r")) == ("0", "0.33", "12345.68")


def test_sprites_are_defined_once_and_by_content():
    one, two = (Circle(0, 0, 1, "#102030"),), (Circle(0, 0, 2, "#102030"),)
    ids = []
    for drawings in ((one, two, one), (two,)):
        scene = Scene(9, 9, "#ffffff", [Sprite(k, 0, 1, drawing) for k, drawing in enumerate(drawings)])
        ids.append([group.get("id") for group in ET.fromstring(to_svg(scene))[0]])
    assert len(ids[0]) == len(set(ids[0])) == 2
    assert ids[1] == ids[0][1:]  # pictures on one page may share definitions


# ---------------------------------------------------------------- pixels


def hexed(pixel):
    return "#{:02x}{:02x}{:02x}".format(*pixel)


def test_pixels_have_the_size_that_is_asked_for():
    scene = picture(play(2, 5, 33)[0])
    for size, shape in (((), (900, 1200)), ((600,), (450, 600)), ((None, 300), (300, 400)), ((640, 640), (640, 640))):
        pixels = to_rgb(scene, *size)
        assert pixels.shape == (*shape, 3)
        assert pixels.dtype == np.uint8
        assert pixels.flags.writeable
        assert len(np.unique(pixels @ [1, 256, 65536])) > 100  # colours
    assert hexed(pixels[0, 320]) == hexed(pixels[-1, 320]) == scene.background  # 640 × 480 in the middle


def test_pixels_show_canals_that_run_on_from_tile_to_tile(table):
    """Water on both sides of every joint, at a size at which cells are no whole number of pixels."""
    position, _ = table
    scene = picture(position)
    (at, size), pixels, factor = cells(scene), to_rgb(scene, 1001), 1001 / WIDTH
    canals = {(x, y): face.canals for x, y, _, face, _ in facts(position)}
    joints = 0
    for (x, y), sides in canals.items():
        for side in (1, 2):
            dx, dy = DIRECTIONS[side]
            if (x + dx, y + dy) in canals and sides >> side & 1:
                left, top = at(x, y)
                px, py = (left + size * (0.5 + dx / 2)) * factor, (top + size * (0.5 + dy / 2)) * factor
                for step in (-1.5, -0.5, 0.5, 1.5):
                    seen = pixels[int(py + dy * step), int(px + dx * step)]
                    assert hexed(seen) == WATER, (x, y, SIDES[side], step)
                joints += 1
    assert joints >= 4


def test_pixels_show_who_leads_each_tile(table):
    position, _ = table
    scene = picture(position)
    (at, size), pixels = cells(scene), to_rgb(scene)
    for x, y, _, face, slot in facts(position):
        left, top = at(x, y)
        seat = leader(position, slot)
        beside = pixels[round(top + 0.5 * size), round(left + 0.395 * size)]  # on the disc, beside the number
        if seat is not None:
            assert hexed(beside) == ROOFS[seat]
        elif face.value:
            assert hexed(beside) not in ROOFS


def test_pixels_change_with_every_move():
    position, _ = play(2, 5, 30)
    before = to_rgb(picture(position), 400)
    for _ in range(6):
        position.play(position.moves()[0])
        after = to_rgb(picture(position), 400)
        assert (before != after).any()
        before = after


def test_pixels_of_shapes_are_where_they_belong():
    shapes = [
        Rect(10, 10, 20, 20, "#ff0000"),
        Sprite(60, 20, 2, (Circle(0, 0, 5, "#0000ff"),)),
        Polygon(((10, 60), (30, 60), (30, 80), (10, 80)), "#00ff00"),
        Line(50, 70, 90, 70, "#000000", 4),
        Rect(15, 0, 10, 100, "#00000080"),
        Sprite(80, 0, 1, (Rect(0, 0, 9, 9, "#ff0000"), Rect(0, 0, 20, 5, "#00000080"))),
    ]
    pixels = to_rgb(Scene(100, 100, "#ffffff", shapes))
    expected = {(12, 12): "#ff0000", (29, 29): "#ff0000", (31, 31): "#ffffff", (60, 20): "#0000ff", (68, 20): "#0000ff"}
    expected |= {(70, 31): "#ffffff", (11, 61): "#00ff00", (70, 70): "#000000", (70, 74): "#ffffff", (9, 9): "#ffffff"}
    assert {place: hexed(pixels[place[::-1]]) for place in expected} == expected
    assert pixels[20, 20].tolist() == pytest.approx([127, 0, 0], abs=1)  # translucent
    assert pixels[5, 20].tolist() == pixels[2, 95].tolist() == pytest.approx([127] * 3, abs=1)
    assert pixels[2, 82].tolist() == pytest.approx([127, 0, 0], abs=1)


def test_edges_are_smooth_and_words_are_written():
    pixels = to_rgb(Scene(40, 40, "#ffffff", [Circle(20, 20, 15, "#000000")]))
    assert len(np.unique(pixels)) > 3
    word = Text(30, 20, "Word", 20, "#000000")
    plain, bold = (to_rgb(Scene(60, 30, "#ffffff", [text])) for text in (word, word._replace(bold=True)))
    assert plain.mean() < 250
    assert bold.mean() < plain.mean()


EXTRAS = [("PIL.Image", "render"), ("pygame", "render"), ("imageio_ffmpeg", "video")]


@pytest.mark.parametrize(("module", "extra"), EXTRAS)
def test_a_missing_package_is_named_with_its_extra(module, extra, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, module, None)
    frame = Frame(Scene(10, 10, "#ffffff", []), "")
    calls = {
        "PIL.Image": lambda: to_rgb(frame.scene),
        "pygame": lambda: Window("Tollero"),
        "imageio_ffmpeg": lambda: save_mp4(tmp_path / "film.mp4", [frame]),
    }
    with pytest.raises(ImportError, match=rf"{module.split('.')[0]} is not installed.*tollero-env\[{extra}\]"):
        calls[module]()
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------- films


@pytest.fixture(scope="module")
def short():
    """A short game: rules, start, moves."""
    position, _ = play(2, 3, 999, floors=3)
    assert position.over
    replay = position.to_replay()
    start = Position.new(position.rules, 3)
    assert len(replay["moves"]) == len(position.history()) > 6
    return position.rules, start.states, position.history()


def test_a_film_has_the_deal_and_every_move(short):
    rules, start, moves = short
    frames = list(film(rules, start, moves))
    assert len(frames) == len(moves) + 1
    position = Position(rules, start)
    for number, frame in enumerate(frames):
        if number:
            assert frame.caption == f"{number}. player {position.player}: {position.text(moves[number - 1])}"
            position.play(moves[number - 1])
        assert words(frame.scene)[-8:] == words(picture(position, last=moves[number - 1] if number else None))[-8:]
    assert len({cells(frame.scene)[0](0, 0) for frame in frames}) == 1
    assert frames[-1].scene == picture(position, last=moves[-1])


def test_a_film_for_a_seat_hides_the_other_hands(short):
    rules, start, moves = short
    seen = Counter()
    for viewer in (1, None):
        for frame in film(rules, start, moves, viewer=viewer, legal=True):
            titles = [sprite.title for sprite in sprites(frame.scene)]
            seen[viewer, next(title for title in titles if title.startswith("A has "))] += 1
            seen[viewer, "fits"] += any("fits" in title for title in titles)
    hands = {title for viewer, title in seen if viewer == 1 and title != "fits"}
    assert hands == {"A has a hidden tile", "A has no tile"}
    assert sum("A has C" in title for _, title in seen) > 1
    assert 0 < seen[1, "fits"] < seen[None, "fits"]


def read_page(page):
    """What the page's script reads."""
    (film,) = re.findall(r'<script type="application/json" id="film">(.*?)</script>', page, re.DOTALL)
    return json.loads(film)


def test_a_page_holds_every_frame(short):
    frames = list(film(*short))
    page = to_html(frames, "A <game>")
    data = read_page(page)
    assert data["captions"] == [frame.caption for frame in frames]
    for numbers, frame in zip(data["frames"], frames, strict=True):
        assert [data["elements"][number] for number in numbers] == elements(frame.scene)
    ids = set(re.findall(r'<g id="(s[0-9a-f]+)">', page))
    assert set(re.findall(r'href=\\?"#(\w+)', page)) == ids
    assert f'max="{len(frames) - 1}"' in page
    assert "<title>A &lt;game&gt;</title>" in page


def test_a_page_is_small_and_loads_nothing():
    position, _ = play(4, 2, 999)
    page = to_html(film(position.rules, Position.new(position.rules, 2).states, position.history()), "Tollero")
    assert len(read_page(page)["frames"]) == position.ply + 1 > 100
    assert len(page.encode()) < 1_000_000
    assert set(re.findall(r"https?://[^\"\\ ]*", page)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<(link|img|iframe)|@import|url\(|src=", page)


def test_captions_cannot_break_a_page():
    odd = "</script><script>alert(1)</script><!-- \u2028"
    page = to_html([Frame(Scene(9, 9, "#ffffff", [Text(0, 0, odd, 1, "#000000")]), odd)], odd)
    assert read_page(page)["captions"] == [odd]
    assert page.count("</script>") == 2
    assert "<!-- " not in page.split("<body>")[1]
    with pytest.raises(ValueError, match="at least one frame"):
        to_html([], "Tollero")


def test_a_gif_has_as_many_frames_as_the_film(short, tmp_path):
    frames = list(film(*short))
    save_gif(tmp_path / "film.gif", frames, seconds=0.5, size=(400, 300))
    assert [path.name for path in tmp_path.iterdir()] == ["film.gif"]
    with Image.open(tmp_path / "film.gif") as image:
        assert (image.n_frames, image.size) == (len(frames), (400, 300))
        times, pixels = [], []
        for number in range(len(frames)):
            image.seek(number)
            times.append(image.info["duration"])
            pixels.append(np.asarray(image.convert("RGB")))
    assert times == [500] * (len(frames) - 1) + [2000]
    wanted = [to_rgb(frame.scene, 400, 300) for frame in frames]
    for number, shown in enumerate(pixels):
        distances = [np.abs(shown.astype(int) - one).mean() for one in wanted]
        assert distances[number] == min(distances) < 3  # what a palette costs


def test_films_that_cannot_be_written_leave_nothing(short, tmp_path):
    frames = list(film(*short))[:1]
    (tmp_path / "folder.gif").mkdir()
    for path, problem in ((tmp_path / "folder.gif", "not a regular"), (tmp_path / "absent" / "film.gif", "No such")):
        with pytest.raises(OSError, match=rf"{path.name}: .*{problem} file"):
            save_gif(path, frames, size=(40, 30))
    with pytest.raises(ValueError, match="at least one frame"):
        save_gif(tmp_path / "film.gif", [])
    assert [path.name for path in tmp_path.iterdir()] == ["folder.gif"]


class FakeFfmpeg:
    """Takes frames as imageio_ffmpeg does, and writes them one behind the other."""

    def write_frames(self, path, size, **options):
        self.size, self.options = size, options
        with open(path, "wb") as file:
            while True:
                try:
                    file.write((yield))
                except GeneratorExit:
                    return


def test_an_mp4_is_given_every_frame_in_even_lengths(short, tmp_path, monkeypatch):
    writer = FakeFfmpeg()
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", writer)
    frames = list(film(*short))
    save_mp4(tmp_path / "film.mp4", frames, seconds=0.5, size=(201, 151))
    pixels = np.frombuffer((tmp_path / "film.mp4").read_bytes(), np.uint8).reshape(-1, 150, 200, 3)
    assert (writer.size, writer.options["fps"]) == ((200, 150), 2)
    assert len(pixels) == len(frames) + 3  # the last stays
    for shown, frame in zip(pixels, frames):
        assert (shown == to_rgb(frame.scene, 200, 150)).all()
    assert (pixels[-3:] == pixels[-4]).all()
    assert [path.name for path in tmp_path.iterdir()] == ["film.mp4"]


def test_an_mp4_that_goes_wrong_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", FakeFfmpeg())
    scenes = Scene(10, 10, "#ffffff", []), Scene(10, 10, "#ffffff", [Circle(5, 5, 1, "no colour")])
    with pytest.raises(ValueError, match="no colour"):
        save_mp4(tmp_path / "film.mp4", [Frame(scene, "") for scene in scenes])
    assert not list(tmp_path.iterdir())


def test_an_mp4_can_be_read_again(short, tmp_path):
    reader = pytest.importorskip("imageio_ffmpeg")
    frames = list(film(*short))
    save_mp4(tmp_path / "film.mp4", frames, seconds=0.5, size=(400, 300))
    number, seconds = reader.count_frames_and_secs(str(tmp_path / "film.mp4"))
    assert seconds == pytest.approx((len(frames) + 3) / 2, abs=0.3)
    assert number == pytest.approx(10 * seconds, abs=2)


# ---------------------------------------------------------------- the window


@pytest.fixture
def pygame(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    module = pytest.importorskip("pygame")
    yield module
    module.quit()


def test_a_window_shows_the_picture(pygame):
    window = Window("Tollero", (400, 300))
    scene = picture(play(2, 5, 33)[0])
    assert window.show(scene)
    shown = pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)
    assert (shown == to_rgb(scene, 400, 300)).all()
    assert pygame.display.get_caption()[0] == "Tollero"
    window.close()


def test_a_window_that_is_closed_stays_closed(pygame):
    window = Window("Tollero", (80, 60))
    scene = Scene(80, 60, "#ffffff", [])
    assert window.show(scene, fps=1000)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    assert not window.show(scene)
    assert not window.is_open
    assert not window.handle_events()
    window.close()
    again = Window("Tollero", (80, 60))
    assert again.show(scene)
    again.close()
    assert not pygame.display.get_init()


def test_importing_the_library_brings_no_heavy_package():
    code = "import sys, tollero_env.render; print(*sorted({'pygame', 'PIL', 'imageio_ffmpeg'} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == ""


# ---------------------------------------------------------------- the terminal


def coloured(position, **marks):
    return to_ansi(position.rules, position.states, 0, **marks)


def painted(text, style):
    """How often something is painted in that style."""
    return text.count(paint("\0", **STYLES[style]).split("\0")[0])


def test_colours_change_no_letter(table):
    position, last = table
    for viewer in (None, 0, 1):
        plain = to_text(position.rules, position.states, 0, viewer)
        lines = strip(coloured(position, viewer=viewer, last=last)).split("\n")
        assert [line.rstrip() for line in lines] == plain.split("\n")


def test_colours_tell_players_water_and_fountains(table):
    position, _ = table
    text = coloured(position)
    for seat in range(position.rules.players):
        stands = sum(owner == seat for *_, slot in facts(position) for _, owner, _ in buildings(position, slot))
        leads = sum(leader(position, slot) == seat for *_, slot in facts(position))
        assert painted(text, SEATS[seat]) == stands + leads + 1  # and the player's name
    assert painted(text, "fountain") == sum(d >= 0 for _, _, _, face, _ in facts(position) for d in face.fountains)
    assert painted(text, "water") == 2 * sum(face.canals.bit_count() for _, _, _, face, _ in facts(position))
    assert painted(text, "last") == painted(text, "legal") == 0


def test_colours_mark_the_last_move_and_legal_places():
    for decisions in (30, 31, 32):
        position, last = play(2, 5, decisions)
        legal = position.moves()
        text = coloured(position, last=last, legal=legal)
        assert painted(text, "legal") == len({move % CELLS if move < BUILD else move for move in legal})
        assert painted(text, "last") >= 1
        if legal[0] < BUILD:
            turns = re.findall(r"r([0-3]{1,4})\x1b", text)
            assert sum(map(len, turns)) == len(legal)
    slot, lot = divmod(last - BUILD, 4)
    (stands,) = [f"{SEATS[seat]}{height}" for at, seat, height in buildings(position, slot) if at == lot]
    assert re.findall(re.escape(paint("\0", **STYLES["last"])).replace("\0", "(..)"), text) == [stands]


def test_every_line_ends_its_colours(table):
    position, last = table
    for line in coloured(position, last=last, legal=position.moves()).split("\n"):
        codes = re.findall(r"\x1b\[[0-9;]*m", line)
        assert codes[1::2] == ["\x1b[0m"] * (len(codes) // 2)
        assert len(codes) % 2 == 0


def test_paint():
    assert paint("a") == "a"
    assert paint("", 3) == ""
    assert paint("a", 3, 4, bold=True) == "\x1b[1;38;5;3;48;5;4ma\x1b[0m"
    assert strip(paint("a", 3) + "b") == "ab"


def test_a_custom_set_can_be_drawn(tmp_path):
    """Values 0, a contract with lots and a value, plain lots, tiles without canals."""
    face, lot = tools.face, tools.F
    contract, filler = face("NESW", 5, SE=lot), face("NS", 4, NE=lot)
    data = tools.make_set((face("NESW", 0, NW=lot), 20), (face("", 9), 4), filler=filler, contract=contract)
    (tmp_path / "custom.toml").write_text(tools.to_toml(data))
    rules = get_rules("tollero", 2, tileset=str(tmp_path / "custom.toml"))
    position = Position.new(rules, 1)
    while not position.over and position.ply < 30:
        position.play(position.moves()[-1])
    scene = picture(position, legal=position.moves())
    titles = [title or "" for title, *_ in uses(to_svg(scene))]
    assert sum(", turned" in title for title in titles) == position.states["num_tiles"][0]
    assert to_rgb(scene, 300).shape == (225, 300, 3)
    assert strip(coloured(position)).count("y=") >= 3
