"""Tile sets: the reconstruction fact by fact, turning, and every way a file can be wrong."""

import os
import xml.etree.ElementTree as ET
from collections import Counter
from itertools import combinations, permutations, product
from pathlib import Path

import pytest

from experiments.tileset import inside_target, main, reconstruction, set_svg, shape, summary, to_toml
from tollero_env.games.tollero.pieces import BANK, CANAL_WIDTH, INK, LOT_RADIUS, lot_centre, tile_shapes
from tollero_env.games.tollero.tiles import (
    FOLDER,
    LOTS,
    MAX_BYTES,
    SIDES,
    CityTile,
    Face,
    TileSetError,
    load_tileset,
    parse_tileset,
    tileset_names,
    turned,
)
from tollero_env.scene import Polygon, Rect, Text, bounds, scale

SHIPPED = load_tileset("reconstruction")
CITY = [tile.face for tile in SHIPPED.city for _ in range(tile.copies)]
DOWNTOWN = [face for tile in SHIPPED.downtown for face in (tile.a, tile.b)]
TEXT = (FOLDER / "reconstruction.toml").read_text(encoding="utf-8")

# A fountain that points inside, written out by hand from M5's picture.
INSIDE = {
    ("NW", "E"): "NE",
    ("NW", "S"): "SW",
    ("NE", "S"): "SE",
    ("NE", "W"): "NW",
    ("SE", "W"): "SW",
    ("SE", "N"): "NE",
    ("SW", "N"): "NW",
    ("SW", "E"): "SE",
}


def fountains(faces):
    """(lot, direction) of every fountain, by name."""
    return [(LOTS[lot], SIDES[d]) for face in faces for lot, d in enumerate(face.fountains) if d != -1]


def least_turn(face):
    return min(turned(face, rot) for rot in range(4))


# ---------------------------------------------------------------- the reconstruction


def test_there_are_54_city_tiles_18_of_each_value():
    assert len(CITY) == 54
    assert Counter(face.value for face in CITY) == {2: 18, 3: 18, 4: 18}


@pytest.mark.parametrize("value", [2, 3, 4])
def test_shapes_of_each_value(value):
    shapes = Counter(shape(face) for face in CITY if face.value == value)
    assert shapes == {"straight": 4, "corner": 6, "T": 6, "crossing": 2}


@pytest.mark.parametrize("face", CITY + DOWNTOWN)
def test_value_is_the_number_of_foundations_and_all_other_lots_are_fountains(face):
    assert face.foundations.bit_count() == face.value
    for lot in range(4):
        assert (face.foundations >> lot & 1) != (face.fountains[lot] != -1)


@pytest.mark.parametrize("face", CITY + DOWNTOWN)
def test_fountains_that_point_inside_point_at_a_foundation(face):
    for lot, direction in fountains([face]):
        target = INSIDE.get((lot, direction))
        assert target is None or face.foundations >> LOTS.index(target) & 1


def test_inside_target_is_the_picture():
    found = {(LOTS[k], SIDES[d]): inside_target(k, d) for k in range(4) for d in range(4)}
    assert {key: LOTS[lot] for key, lot in found.items() if lot is not None} == INSIDE


def test_city_fountains_favour_no_corner_direction_or_side_of_the_border():
    all_fountains = fountains(CITY)
    assert len(all_fountains) == 54
    assert sorted(Counter(lot for lot, _ in all_fountains).values()) == [13, 13, 14, 14]
    assert sorted(Counter(d for _, d in all_fountains).values()) == [13, 13, 14, 14]
    assert sum(fountain in INSIDE for fountain in all_fountains) == 27


def test_city_fountains_are_even_for_each_corner_and_direction_together():
    assert sorted(Counter(fountains(CITY)).values()) == [3] * 10 + [4] * 6


def test_value_2_has_each_pair_of_fountain_corners_three_times():
    pairs = Counter(tuple(lot for lot, _ in fountains([face])) for face in CITY if face.value == 2)
    assert pairs == dict.fromkeys(combinations(LOTS, 2), 3)


def test_downtown_fountains_are_even():
    assert len(DOWNTOWN) == 8
    all_fountains = fountains(DOWNTOWN)
    assert Counter(lot for lot, _ in all_fountains) == dict.fromkeys(LOTS, 3)
    assert Counter(d for _, d in all_fountains) == dict.fromkeys(SIDES, 3)
    assert sum(fountain in INSIDE for fountain in all_fountains) == 6
    assert max(Counter(all_fountains).values()) == 1


def test_downtown_and_city_fountains_together_are_even():
    assert sorted(Counter(fountains(CITY + DOWNTOWN)).values()) == [4] * 14 + [5] * 2


def test_downtown_faces():
    assert [tile.id for tile in SHIPPED.downtown] == ["D1", "D2", "D3", "D4"]
    assert Counter((face.value, shape(face)) for face in DOWNTOWN) == {
        (2, "T"): 2,
        (2, "crossing"): 2,
        (3, "T"): 2,
        (3, "crossing"): 2,
    }


def test_printed_orientations_are_as_even_as_one_way_of_printing_value_4_allows():
    printed = Counter(face.canals for face in CITY)
    assert [printed[0b0101], printed[0b1010]] == [6, 6]
    assert sorted(printed[turned(Face(0, 0b0011, 0, (-1,) * 4), rot).canals] for rot in range(4)) == [4, 4, 4, 6]
    assert sorted(printed[turned(Face(0, 0b0111, 0, (-1,) * 4), rot).canals] for rot in range(4)) == [4, 4, 4, 6]
    missing = Counter(0b1111 ^ face.canals for face in DOWNTOWN if face.canals != 0b1111)
    assert missing == {0b0001: 1, 0b0010: 1, 0b0100: 1, 0b1000: 1}


def test_all_faces_differ_however_turned():
    faces = [tile.face for tile in SHIPPED.city] + DOWNTOWN
    assert len({least_turn(face) for face in faces}) == len(faces) == 48


def test_ids_and_copies():
    assert [tile.id for tile in SHIPPED.city] == [f"C{number:02}" for number in range(1, 41)]
    assert [tile.copies for tile in SHIPPED.city if tile.face.value < 4] == [1] * 36
    assert [(shape(t.face), t.copies) for t in SHIPPED.city if t.face.value == 4] == [
        ("straight", 4),
        ("corner", 6),
        ("T", 6),
        ("crossing", 2),
    ]


def test_contract():
    assert SHIPPED.contract == Face(0, 0b1111, 0, (-1, -1, -1, -1))
    assert SHIPPED.name == "reconstruction"


def test_make_gives_the_file_that_is_shipped(tmp_path, capsys):
    main(["make"])
    assert capsys.readouterr().out == TEXT
    main(["make", str(tmp_path / "made.toml")])
    assert (tmp_path / "made.toml").read_bytes() == (FOLDER / "reconstruction.toml").read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["made.toml"]


def test_writing_and_reading_are_inverse():
    assert parse_tileset(to_toml(reconstruction()), "made") == SHIPPED


# ---------------------------------------------------------------- turning


def test_a_quarter_turn_by_hand():
    # Canals N and E, foundation NW, fountain at SW pointing west; turned clockwise once.
    face = Face(1, 0b0011, 0b0001, (-1, -1, -1, 3))
    assert turned(face, 1) == Face(1, 0b0110, 0b0010, (0, -1, -1, -1))
    assert turned(face, 3) == Face(1, 0b1001, 0b1000, (-1, -1, 2, -1))


@pytest.mark.parametrize("face", [tile.face for tile in SHIPPED.city] + DOWNTOWN)
def test_turns_add_up(face):
    assert turned(face, 0) == turned(face, 4) == turned(turned(turned(turned(face, 1), 1), 1), 1) == face
    assert turned(turned(face, 1), 2) == turned(face, 3) == turned(face, -1)


@pytest.mark.parametrize("rot", range(4))
def test_turning_keeps_what_a_fountain_points_at(rot):
    for face in CITY:
        for lot, direction in enumerate(face.fountains):
            if direction != -1:
                target = inside_target(lot, direction)
                turned_lot = (lot + rot) % 4
                expected = None if target is None else (target + rot) % 4
                assert inside_target(turned_lot, turned(face, rot).fountains[turned_lot]) == expected


# ---------------------------------------------------------------- reading


def test_names():
    assert tileset_names() == sorted(path.stem for path in FOLDER.glob("*.toml"))
    assert "reconstruction" in tileset_names()
    for name in tileset_names():
        assert load_tileset(name).name == name


def test_load_by_name_and_by_path(tmp_path, monkeypatch):
    custom = TEXT.replace('name = "reconstruction"', 'name = "mine"')
    (tmp_path / "mine.toml").write_text(custom)
    (tmp_path / "bare").write_text(custom)
    (tmp_path / "reconstruction").write_text(custom)
    monkeypatch.chdir(tmp_path)
    for path in (tmp_path / "mine.toml", str(tmp_path / "mine.toml"), "mine.toml", "bare", "./reconstruction"):
        assert load_tileset(path).name == "mine"
    assert load_tileset(Path("reconstruction")).name == "mine"  # a Path is a path
    assert load_tileset("reconstruction").name == "reconstruction"  # a name goes first


def test_what_may_be_left_out_and_what_a_custom_set_may_hold():
    text = edit('canals = "NESW"\nlots = {}', 'canals = "WN"', count=1).replace("value = 0\n", "", 1)
    text = edit("copies = 4\n", "copies = 3\n", text=text)
    text += '\n[[city]]\nid = "Ä-1"\nvalue = 9\ncanals = ""\nlots = { SE = "fountain:W" }\n'
    tileset = parse_tileset(text, "custom")
    assert tileset.contract == Face(0, 0b1001, 0, (-1, -1, -1, -1))
    assert tileset.city[-1] == CityTile("Ä-1", 1, Face(9, 0, 0, (-1, -1, 3, -1)))


def test_a_byte_order_mark_and_windows_line_ends_are_read(tmp_path):
    path = tmp_path / "windows.toml"
    path.write_bytes(b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode())
    assert load_tileset(path) == SHIPPED


# ---------------------------------------------------------------- errors


def edit(old, new, text=TEXT, count=1):
    """The shipped file with its first `old` replaced."""
    assert old in text
    return text.replace(old, new, count)


NO_CITY = TEXT.partition("[[city]]")[0]
NO_DOWNTOWN = TEXT.partition("[[downtown]]")[0] + "[[city]]" + TEXT.partition("[[city]]")[2]
CONTRACT = '[contract]\nvalue = 0\ncanals = "NESW"\nlots = {}\n'
D1 = "[[downtown]]" + TEXT.split("[[downtown]]")[1]
D1_A, D1_B = D1.splitlines()[2:4]
DRY_D1 = D1.replace(D1_A, 'a = { value = 2, canals = "", lots = {} }').replace(D1_B, D1_B.replace("NESW", ""))
WET_D1 = D1.replace('"NES"', '"NESW"')
C03 = TEXT.split("[[city]]")[3]
C03_VALUE, C03_CANALS, C03_LOTS = C03.strip().splitlines()[1:]
ID = 'id = "C03"'
NAME = 'name = "reconstruction"'


def c03(line, new):
    """The shipped file with one line of tile C03 replaced."""
    return edit(C03, edit(line, new, C03))


def lots(text):
    return c03(C03_LOTS, f"lots = {{ {text} }}")


# What is wrong, the text of the file, then what the message must say: tile and field, and what is allowed.
ERRORS = [
    ("unknown lot", lots('NN = "foundation"'), "city tile C03: lots.'NN'", "NW NE SE SW"),
    ("small lot", lots('nw = "foundation"'), "city tile C03: lots.'nw'", "NW NE SE SW"),
    ("unknown content", lots('NW = "tower"'), "city tile C03: lots.NW: 'tower'", '"foundation" or "fountain:N"'),
    ("foundation and more", lots('NW = "foundation:N"'), "city tile C03: lots.NW: 'foundation:N'", '"foundation" or'),
    ("content a number", lots("NW = 1"), "city tile C03: lots.NW: 1 ", '"foundation" or "fountain:N"'),
    ("unknown direction", lots('NE = "fountain:X"'), "city tile C03: lots.NE: direction 'X'", "N E S W"),
    ("small direction", lots('NE = "fountain:n"'), "city tile C03: lots.NE: direction 'n'", "N E S W"),
    ("two directions", lots('NE = "fountain:NE"'), "city tile C03: lots.NE: direction 'NE'", "N E S W"),
    ("no direction", lots('NE = "fountain"'), "city tile C03: lots.NE: direction ''", "N E S W"),
    ("empty direction", lots('NE = "fountain:"'), "city tile C03: lots.NE: direction ''", "N E S W"),
    ("lots a number", c03(C03_LOTS, "lots = 4"), "city tile C03: lots: 4 ", "table"),
    ("side a direction", edit(D1_A, D1_A.replace("fountain:", "fountain:Q")), "downtown tile D1 side a: lots.", "N E"),
    ("contract lot", edit("lots = {}", "lots = { N = 1 }"), "contract: lots.'N'", "NW NE SE SW"),
    ("canals repeated", c03(C03_CANALS, 'canals = "NSN"'), "city tile C03: canals: 'NSN'", "each at most once"),
    ("unknown canal", c03(C03_CANALS, 'canals = "NX"'), "city tile C03: canals: 'NX'", "N E S W"),
    ("small canals", c03(C03_CANALS, 'canals = "ns"'), "city tile C03: canals: 'ns'", "N E S W"),
    ("canals a list", c03(C03_CANALS, 'canals = ["N"]'), "city tile C03: canals: ['N']", "N E S W"),
    ("contract canals", edit(CONTRACT, CONTRACT.replace("NESW", "NN")), "contract: canals: 'NN'", "N E S W"),
    ("canals of side a", edit(D1_A, D1_A.replace("NES", "NEE")), "downtown tile D1 side a: canals: 'NEE'", "N E S W"),
    ("canals of side b", edit(D1_B, D1_B.replace("NESW", "X")), "downtown tile D1 side b: canals: 'X'", "N E S W"),
    ("value too large", c03(C03_VALUE, "value = 10"), "city tile C03: value: 10 ", "whole number from 0 to 9"),
    ("value negative", c03(C03_VALUE, "value = -1"), "city tile C03: value: -1 ", "whole number from 0 to 9"),
    ("value a bool", c03(C03_VALUE, "value = true"), "city tile C03: value: True ", "whole number from 0 to 9"),
    ("value a float", c03(C03_VALUE, "value = 2.0"), "city tile C03: value: 2.0 ", "whole number from 0 to 9"),
    ("value a string", c03(C03_VALUE, 'value = "2"'), "city tile C03: value: '2' ", "whole number from 0 to 9"),
    ("value huge", c03(C03_VALUE, "value = 0x1" + "0" * 5000), "city tile C03: value: a huge", "from 0 to 9"),
    ("contract value", edit("value = 0", "value = 0.5"), "contract: value: 0.5 ", "whole number from 0 to 9"),
    ("downtown value", edit(D1_A, D1_A.replace("3", "11")), "downtown tile D1 side a: value: 11 ", "from 0 to 9"),
    ("too few city tiles", edit("copies = 6", "copies = 5"), "city: 53 City tiles", "54"),
    ("too many city tiles", edit("copies = 6", "copies = 8"), "city: 56 City tiles", "54"),
    ("no city tiles", edit(NAME, f"{NAME}\ncity = []", NO_CITY), "city: 0 City tiles", "54"),
    ("no copies", edit("copies = 6", "copies = 0"), "city tile C38: copies: 0 ", "whole number from 1 to 54"),
    ("copies a bool", edit("copies = 6", "copies = true"), "city tile C38: copies: True ", "whole number from 1 to 54"),
    ("copies a float", edit("copies = 6", "copies = 6.0"), "city tile C38: copies: 6.0 ", "whole number from 1 to 54"),
    ("copies a string", edit("copies = 6", 'copies = "6"'), "city tile C38: copies: '6' ", "from 1 to 54"),
    ("3 downtown tiles", edit(D1, ""), "downtown: 3 Downtown tiles", "must be 4"),
    ("5 downtown tiles", edit(D1, D1 + D1.replace("D1", "D9")), "downtown: 5 Downtown tiles", "must be 4"),
    ("city id twice", edit(ID, 'id = "C02"'), "city tile C02: id: already used", "must all differ"),
    ("downtown id twice", edit('"D3"', '"D1"'), "downtown tile D1: id: already used", "must all differ"),
    ("id in city and downtown", edit(ID, 'id = "D1"'), "city tile D1: id: already used", "must all differ"),
    ("id missing", edit(ID, ""), "city tile number 3: id: missing", "needs one"),
    ("downtown id missing", edit('id = "D2"', ""), "downtown tile number 2: id: missing", "needs one"),
    ("id empty", edit(ID, 'id = ""'), "city tile number 3: id: ''", "one or more printable"),
    ("id a number", edit(ID, "id = 3"), "city tile number 3: id: 3 ", "string"),
    ("id with a blank", edit(ID, 'id = "C 3"'), "city tile number 3: id: 'C 3'", "without blanks and colons"),
    ("id with a tab", edit(ID, r'id = "C\t3"'), r"city tile number 3: id: 'C\t3'", "printable"),
    ("id with a bell", edit(ID, r'id = "C\u00073"'), r"city tile number 3: id: 'C\x073'", "printable"),
    ("id with a colon", edit('"D3"', '"D:3"'), "downtown tile number 3: id: 'D:3'", "without blanks and colons"),
    ("city value missing", c03(C03_VALUE, ""), "city tile C03: value: missing", "id value canals"),
    ("city canals missing", c03(C03_CANALS, ""), "city tile C03: canals: missing", "id value canals"),
    ("city key unknown", c03("value", "worth"), "city tile C03: 'worth': unknown", "id value canals lots copies"),
    ("side missing", edit(D1_B, ""), "downtown tile D1: b: missing", "id a b"),
    ("side c", edit(D1_B, D1_B + "\nc = 1"), "downtown tile D1: 'c': unknown", "id a b"),
    ("side a number", edit(D1_B, "b = 1"), "downtown tile D1: b: 1 ", "table"),
    ("side, no value", edit("a = { value = 3, ", "a = { "), "downtown tile D1 side a: value: missing", "canals"),
    ("side with more", edit("a = { ", "a = { top = 1, "), "downtown tile D1 side a: 'top': unknown", "canals lots"),
    ("contract canals missing", edit('canals = "NESW"\n', ""), "contract: canals: missing", "canals"),
    ("contract key unknown", edit(CONTRACT, CONTRACT + "id = 1\n"), "contract: 'id': unknown", "canals value lots"),
    ("contract missing", edit(CONTRACT, ""), "contract: missing", "name contract downtown city"),
    ("contract a number", edit(CONTRACT, "contract = 1\n"), "contract: 1 ", "table"),
    ("top key unknown", "tiles = 54\n" + TEXT, "'tiles': unknown", "name contract downtown city"),
    ("city missing", NO_CITY, "city: missing", "name contract downtown city"),
    ("downtown missing", NO_DOWNTOWN, "downtown: missing", "name contract downtown city"),
    ("city a number", edit(NAME, f"{NAME}\ncity = 54", NO_CITY), "city: 54 ", "[[city]]"),
    ("city a table", NO_CITY + '[city]\nid = "C01"\n', "city: {'id': 'C01'}", "[[city]]"),
    ("city of numbers", edit(NAME, f"{NAME}\ncity = [1]", NO_CITY), "city tile number 1: tile: 1 ", "table"),
    ("downtown a string", edit(NAME, f'{NAME}\ndowntown = ""', NO_DOWNTOWN), "downtown: ''", "[[downtown]]"),
    ("name missing", edit(NAME, ""), "name: missing", "name contract downtown city"),
    ("name empty", edit(NAME, 'name = ""'), "name: ''", "one or more printable"),
    ("name blank", edit(NAME, 'name = " "'), "name: ' '", "one or more printable"),
    ("name a number", edit(NAME, "name = 1"), "name: 1 ", "string"),
    ("name of two lines", edit(NAME, r'name = "a\nb"'), r"name: 'a\nb'", "printable"),
    ("not TOML", "\nname = ?\n", "not TOML", "line 2"),
    ("key twice", edit("value = 0", "value = 0\nvalue = 0"), "not TOML", "line"),
    ("nested too deep", "name = " + "[" * 100_000, "not TOML", "recursion"),
    ("number too long", "name = " + "9" * 5000, "not TOML", "digits"),
    ("no canals to lay", edit(D1, DRY_D1), "downtown tile D1: canals: cannot be laid", "0 sides of the contract"),
    ("only canals to lay", edit(CONTRACT, '[contract]\ncanals = ""\n', edit(D1, WET_D1)),
     "downtown tile D1: canals: cannot be laid", "0 sides of the contract"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "place", "allowed"), [case[1:] for case in ERRORS], ids=[case[0] for case in ERRORS])
def test_a_wrong_file_gets_one_line_that_names_file_tile_and_field(text, place, allowed):
    with pytest.raises(TileSetError) as caught:
        parse_tileset(text, "some/file.toml")
    message = str(caught.value)
    assert message.startswith(f"some/file.toml: {place}")
    assert allowed in message.removeprefix(f"some/file.toml: {place}")
    assert message.isprintable()
    assert len(message) < 250


def can_be_laid(contract, tiles):
    """S2 word by word: some order, side and rotation of the tiles in which each touching pair of sides matches."""
    for order in permutations(tiles):
        fits = [
            any(
                turned(face, rot).canals >> (side + 2) % 4 & 1 == contract >> side & 1
                for face in tile
                for rot in range(4)
            )
            for side, tile in enumerate(order)
        ]
        if all(fits):
            return True
    return False


@pytest.mark.parametrize("contract", ["", "N", "ES", "NS", "NEW", "NESW"])
def test_layable_is_what_trying_everything_says(contract):
    outcomes = set()
    for sides in product([("", ""), ("NESW", "NESW"), ("", "NESW"), ("N", "N")], repeat=4):
        tiles = [[Face(0, 0b1111 if s == "NESW" else len(s), 0, (-1,) * 4) for s in pair] for pair in sides]
        text = f'name = "x"\n[contract]\ncanals = "{contract}"\n'
        text += '[[city]]\nid = "C"\ncopies = 54\nvalue = 1\ncanals = "N"\nlots = {}\n'
        for number, pair in enumerate(sides):
            text += f'[[downtown]]\nid = "D{number}"\n'
            for key, canals in zip("ab", pair):
                text += f'{key} = {{ value = 1, canals = "{canals}", lots = {{}} }}\n'
        expected = can_be_laid(sum(1 << SIDES.index(s) for s in contract), tiles)
        outcomes.add(expected)
        if expected:
            parse_tileset(text, "x.toml")
        else:
            with pytest.raises(TileSetError, match=r"x.toml: downtown tile D.*: canals: cannot be laid"):
                parse_tileset(text, "x.toml")
    assert outcomes == {True, False}


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "latin.toml").write_bytes(b'name = "\xe4"')
    (tmp_path / "large.toml").write_bytes(b"#" * (MAX_BYTES + 1))
    (tmp_path / "folder.toml").mkdir()
    problems = {"latin": "UTF-8", "large": "too large", "folder": "directory", "absent": "No such file", "a\0b": "null"}
    for name, problem in problems.items():
        path = f"{tmp_path}/{name}.toml"
        with pytest.raises(TileSetError) as caught:
            load_tileset(path)
        assert str(caught.value).startswith(path.replace("\0", "?") + ": file: ")
        assert problem in str(caught.value)


def test_a_file_of_exactly_the_limit_is_read(tmp_path):
    path = tmp_path / "full.toml"
    path.write_bytes(TEXT.encode() + b"#" * (MAX_BYTES - len(TEXT.encode())))
    assert load_tileset(path) == SHIPPED


@pytest.mark.parametrize("name", ["nope", "", "Reconstruction", "a\nb"])
def test_an_unknown_name_lists_those_that_are_shipped(name):
    with pytest.raises(TileSetError, match="reconstruction") as caught:
        load_tileset(name)
    assert repr(name) in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


# ---------------------------------------------------------------- pictures and the command line


def test_lot_centres_are_in_their_corners_and_lots_do_not_touch():
    assert [lot_centre(lot) for lot in range(4)] == [(23.5, 23.5), (76.5, 23.5), (76.5, 76.5), (23.5, 76.5)]
    assert lot_centre(1, 200) == (153.0, 47.0)
    assert LOT_RADIUS < 23.5 < 50 - LOT_RADIUS


# Where an arrow in a lot's centre points: the tip, by direction.
TIPS = {(0, -11): 0, (11, 0): 1, (0, 11): 2, (-11, 0): 3}
# The band of a canal on a tile 100 wide, by side.
BANDS = {(42.5, 0, 15, 50): 0, (50, 42.5, 50, 15): 1, (42.5, 50, 15, 50): 2, (0, 42.5, 50, 15): 3}


def arrows(shapes):
    """(lot, direction) of each arrow."""
    found = []
    for x, y in [one.points[0] for one in shapes if isinstance(one, Polygon) and one.fill == INK]:
        from_lots = [(x - cx, y - cy) for cx, cy in map(lot_centre, range(4))]
        found += [(lot, TIPS[tip]) for lot, tip in enumerate(from_lots) if tip in TIPS]
    return found


@pytest.mark.parametrize("face", [Face(0, 0, 0, (-1,) * 4), Face(9, 15, 15, (-1,) * 4), *DOWNTOWN])
def test_a_tile_shows_its_canals_value_and_fountains(face):
    shapes = tile_shapes(face)
    assert [one.text for one in shapes if isinstance(one, Text)] == ([str(face.value)] if face.value else [])
    rects = [one for one in shapes if isinstance(one, Rect)]
    bands = [BANDS[rect[:4]] for rect in rects if rect.fill == BANK and CANAL_WIDTH in rect[2:4]]
    assert bands == [d for d in range(4) if face.canals >> d & 1]
    assert arrows(shapes) == [(lot, d) for lot, d in enumerate(face.fountains) if d != -1]
    slabs = [rect for rect in rects if rect.w == 2 * LOT_RADIUS and not rect.stroke]
    centres = [(slab.x + LOT_RADIUS, slab.y + LOT_RADIUS) for slab in slabs]
    assert centres == [lot_centre(lot) for lot in range(4) if face.foundations >> lot & 1]


def test_a_tile_is_drawn_in_any_size():
    face = DOWNTOWN[0]
    assert list(tile_shapes(face, 50)) == scale(tile_shapes(face), 0.5)
    assert bounds(tile_shapes(face, 50)) == (0, 0, 50, 50)


def test_the_picture_of_a_set_shows_every_tile_once():
    root = ET.fromstring(set_svg(SHIPPED))
    svg = "{http://www.w3.org/2000/svg}"
    titles = [title.text for title in root.iter(f"{svg}title")]
    downtown = [tile.id for tile in SHIPPED.downtown for _ in "AB"]
    assert titles == ["Contract", *downtown, *(tile.id for tile in SHIPPED.city)]
    words = [text.text for text in root.iter(f"{svg}text")]
    assert {"D1 A", "D4 B", "C01", "C36", "C37 × 4", "C38 × 6", "C40 × 2"} <= set(words)


def test_ids_are_escaped_in_the_picture():
    odd = SHIPPED._replace(name="a<b", city=(CityTile("<&>", 1, CITY[0]),))
    assert "<&>" in [text.text for text in ET.fromstring(set_svg(odd)).iter("{http://www.w3.org/2000/svg}text")]


def test_draw_writes_the_picture(tmp_path):
    main(["draw", "reconstruction", str(tmp_path / "set.svg")])
    assert (tmp_path / "set.svg").read_text(encoding="utf-8") == set_svg(SHIPPED)
    assert len(list(tmp_path.iterdir())) == 1


def test_check_counts_what_is_there(capsys):
    main(["check", "reconstruction"])
    out = capsys.readouterr().out
    assert out == summary(SHIPPED) + "\n"
    rows = [line.split() for line in out.splitlines()]
    assert ["value", "2", "18", "0", "0", "4", "6", "6", "2", "36", "36"] in rows
    assert ["City", "54", "0", "0", "12", "18", "18", "6", "162", "54"] in rows
    assert ["Downtown", "faces", "8", "0", "0", "0", "0", "4", "4", "20", "12"] in rows
    corners, directions = (Counter(names) for names in zip(*fountains(CITY)))
    counts = [f"{name} {corners[name]}" for name in LOTS] + [f"{name} {directions[name]}" for name in SIDES]
    (line,) = (line for line in out.splitlines() if line.startswith("City fountains"))
    assert all(count in line for count in counts)
    assert line.endswith("inside 27  outside 27")


@pytest.mark.parametrize("command", [["check", "{}/bad.toml"], ["draw", "{}/bad.toml", "{}/out.svg"]])
def test_a_wrong_file_ends_with_one_line_and_exit_1(command, tmp_path):
    (tmp_path / "bad.toml").write_text(edit('id = "C03"', 'id = "C02"'))
    with pytest.raises(SystemExit) as caught:
        main([word.format(tmp_path) for word in command])
    assert str(caught.value.code).startswith(f"error: {tmp_path}/bad.toml: city tile C02: id: already used")
    assert not (tmp_path / "out.svg").exists()


def test_a_place_that_cannot_be_written_ends_with_one_line_and_leaves_nothing(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(SystemExit, match=r"error: .*folder"):
        main(["make", str(tmp_path / "folder")])
    with pytest.raises(SystemExit, match=r"error: .*absent"):
        main(["make", str(tmp_path / "absent" / "out.toml")])
    with pytest.raises(SystemExit, match=r"error: .*null: not a regular file"):
        main(["make", os.devnull])
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_lot_that_is_not_named_is_plain():
    named = parse_tileset(lots('NW = "foundation", NE = "plain"'), "file")
    unnamed = parse_tileset(lots('NW = "foundation"'), "file")
    assert named == unnamed
    assert parse_tileset(c03(C03_LOTS, ""), "file").city[2].face[2:] == (0, (-1, -1, -1, -1))
