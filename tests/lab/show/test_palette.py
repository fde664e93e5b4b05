"""Colours: contrast on both schemes, and distance under colour-vision deficiencies."""

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from regatta.show.palette import DESIGN_STYLES, SCHEMES
from regatta.teach.lab.state import LabSetting

Colour = NDArray[np.float64]
SIGHTS = {
    "usual": np.eye(3),
    "without red": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "without green": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "without blue": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
"""What becomes of linear red, green and blue (Machado and others, 2009)."""
LMS = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
]
OKLAB = [
    [0.2104542553, 0.7936177850, -0.0040720468],
    [1.9779984951, -2.4285922050, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.8086757660],
]
LUMINANCE = [0.2126, 0.7152, 0.0722]
LEAST_CONTRAST = 3.0
APART = {"usual": 17.0, "without red": 11.0, "without green": 11.0, "without blue": 11.0}
"""In hundredths of the way from black to white in Oklab; a difference of 2 can just be seen."""


def linear(colour: str) -> Colour:
    parts = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def seen(colour: str, sight: str) -> Colour:
    """In Oklab, where distances are those that people see."""
    return OKLAB @ np.cbrt(LMS @ np.clip(SIGHTS[sight] @ linear(colour), 0, 1))


def contrast(colour: str, paper: str) -> float:
    light = sorted(float(LUMINANCE @ linear(shade)) + 0.05 for shade in (colour, paper))
    return light[1] / light[0]


@pytest.mark.parametrize("design", DESIGN_STYLES)
def test_colours_have_contrast_on_both_schemes(design: str) -> None:
    for scheme in SCHEMES:
        assert contrast(DESIGN_STYLES[design].colour, scheme.paper) >= LEAST_CONTRAST


@pytest.mark.parametrize("sight", SIGHTS)
def test_lab_designs_are_distinguishable_with_colour_vision_deficiency(sight: str) -> None:
    for design, other in combinations(LabSetting().designs, 2):
        colours = (DESIGN_STYLES[name].colour for name in (design, other))
        first, second = (seen(colour, sight) for colour in colours)
        assert 100 * np.linalg.norm(first - second) >= APART[sight], (design, other)


def test_every_design_has_a_unique_style() -> None:
    looks = [(style.colour, style.shape) for style in DESIGN_STYLES.values()]
    assert len(set(looks)) == len({colour for colour, _ in looks}) == len(looks)
