"""Configs that are shipped can be run, and the quick one says what happens without any."""

from pathlib import Path

import pytest
import yaml

from experiments.train.config import TurnsConfig, read_config

CONFIGS = Path(__file__).parents[1] / "configs"
QUICK = CONFIGS / "tollero-2p-quick.yaml"
TRAINED = sorted(path for path in CONFIGS.glob("*.yaml") if not path.stem.endswith("-ladder"))


def test_the_quick_config_is_what_happens_without_one():
    assert read_config(QUICK) == read_config(None)
    assert set(yaml.safe_load(QUICK.read_text(encoding="utf-8"))) == set(TurnsConfig.model_fields)


@pytest.mark.parametrize("path", TRAINED, ids=lambda path: path.stem)
def test_shipped_configs_are_right(path):
    config = read_config(path)
    assert config.rules().game.name == path.stem.partition("-")[0]
