"""Writes examples.tfrecord and examples.tfrecord.gz for the tests.

pip install tfrecord==1.14.6 pillow; python make_tfrecord.py
"""

import gzip
import io
import pathlib

import tfrecord
from PIL import Image

folder = pathlib.Path(__file__).parent
path = folder / "examples.tfrecord"


def png(color):
    """Returns an image of 2 × 2 pixels of one color."""
    out = io.BytesIO()
    Image.new("RGB", (2, 2), color).save(out, "png")
    return out.getvalue()


writer = tfrecord.TFRecordWriter(str(path))
for i, (name, color) in enumerate([("é", (255, 0, 0)), ("", (0, 255, 0)), ("b", (0, 0, 255))]):
    record = {
        "id": (2**62 * (i - 1), "int"),
        "weight": (0.5 * i, "float"),
        "name": (name.encode(), "byte"),
        "image": (png(color), "byte"),
        "point": ([0.25, -1.5 * i], "float"),
        "tokens": (list(range(i + 1)), "int"),
    }
    if i == 1:
        del record["weight"]
    writer.write(record)
writer.close()
(folder / "examples.tfrecord.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
