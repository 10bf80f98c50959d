"""Writes transforms.json: what torchvision 0.29 makes of a small image, without random numbers.

	pip install torch==2.15.0 torchvision==0.29.2
	python make_transforms.py
"""

import json
import pathlib

import torch
from torchvision.transforms.v2 import InterpolationMode
from torchvision.transforms.v2 import functional as F

torch.manual_seed(1)
image = torch.rand(3, 6, 7)
cases = {}


def case(name, result):
    cases[name] = {"shape": list(result.shape), "values": [round(v, 8) for v in result.flatten().tolist()]}


for angle in (0, 30, -45, 90, 171.5):
    case(f"rotate {angle}", F.rotate(image, angle, interpolation=InterpolationMode.BILINEAR))
for top, left, height, width, to in ((1, 2, 4, 3, (6, 7)), (0, 0, 6, 7, (6, 7)), (2, 1, 3, 5, (9, 4)), (5, 6, 1, 1, (2, 3))):
    case(f"crop {top} {left} {height} {width} to {to[0]} {to[1]}", F.resized_crop(image, top, left, height, width, list(to), antialias=False))
for factor in (0, 0.4, 1, 1.7):
    case(f"brightness {factor}", F.adjust_brightness(image, factor))
    case(f"contrast {factor}", F.adjust_contrast(image, factor))
    case(f"saturation {factor}", F.adjust_saturation(image, factor))
for shift in (-0.5, -0.1, 0, 0.3, 0.5):
    case(f"hue {shift}", F.adjust_hue(image, shift))
case("normalize", F.normalize(image, [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]))
case("flip", F.horizontal_flip(image))
case("vertical", F.vertical_flip(image))
case("gray", F.rgb_to_grayscale(image))
for size in ((6, 7), (3, 4), (1, 1), (12, 15), (4, 11), (2, 7)):
    case(f"resize {size[0]} {size[1]}", F.resize(image, list(size), interpolation=InterpolationMode.BILINEAR, antialias=True))
for size in ((4, 4), (3, 2), (6, 7), (1, 1), (9, 8), (4, 11), (5, 7)):
    case(f"center {size[0]} {size[1]}", F.center_crop(image, list(size)))
for size, deviation in ((1, 1.0), (3, 0.5), (5, 2.0), (11, 1.5), (3, 0.01)):
    case(f"blur {size} {deviation}", F.gaussian_blur(image, [size, size], [deviation, deviation]))
for angle, right, down, scale, shear in ((0, 0, 0, 1, 0), (30, 0, 0, 1, 0), (0, 2, -1, 1, 0), (0, 0, 0, 1.3, 0), (0, 0, 0, 1, 20), (-40, 1, 2, 0.7, -15)):
    case(f"affine {angle} {right} {down} {scale} {shear}", F.affine(image, angle, [right, down], scale, [shear, 0.0], interpolation=InterpolationMode.BILINEAR))

out = {"shape": list(image.shape), "image": [round(v, 8) for v in image.flatten().tolist()], "cases": cases}
pathlib.Path(__file__).with_name("transforms.json").write_text(json.dumps(out) + "\n")
