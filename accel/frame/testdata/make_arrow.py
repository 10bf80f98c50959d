"""Writes files/*.arrow and *.feather with the table of make_files.py, for the tests of this package.

pip install pyarrow==26.0.1; python make_arrow.py
"""

import datetime
import decimal
import pathlib

import pyarrow as pa
import pyarrow.feather

folder = pathlib.Path(__file__).parent / "files"
day = datetime.date(2024, 2, 29)
moment = datetime.datetime(2024, 2, 29, 13, 14, 15, 500000)
amounts = [decimal.Decimal("-1.10"), None, decimal.Decimal("12345678901234567.25")]
table = pa.table({
    "i8": pa.array([-128, None, 127], pa.int8()),
    "i64": pa.array([-(2**63), 0, 2**63 - 1], pa.int64()),
    "u32": pa.array([0, None, 2**32 - 1], pa.uint32()),
    "u64": pa.array([0, 1, 2**63 - 1], pa.uint64()),
    "f32": pa.array([0.5, None, -1.25], pa.float32()),
    "f64": pa.array([0.1, None, float("inf")], pa.float64()),
    "b": pa.array([True, None, False]),
    "s": pa.array(["é", None, ""]),
    "category": pa.array(["x", None, "x"]).dictionary_encode(),
    "day": pa.array([day, None, datetime.date(1969, 12, 31)]),
    "ms": pa.array([moment, None, moment], pa.timestamp("ms")),
    "us": pa.array([moment, None, moment], pa.timestamp("us", tz="UTC")),
    "ns": pa.array([moment, None, datetime.datetime(1960, 1, 1)], pa.timestamp("ns")),
    "decimal": pa.array(amounts, pa.decimal128(38, 2)),
    # Types that Parquet files do not have.
    "i16": pa.array([-(2**15), None, 2**15 - 1], pa.int16()),
    "u8": pa.array([0, None, 255], pa.uint8()),
    "u16": pa.array([0, None, 65535], pa.uint16()),
    "f16": pa.array([2**-24, None, -65504.0], pa.float16()),
    "large": pa.array(["a longer text than views contain", None, ""], pa.large_string()),
    "view": pa.array(["a longer text than views contain", None, "twelve bytes"], pa.string_view()),
    "number": pa.array([2.5, None, 2.5]).dictionary_encode(),
    "date64": pa.array([day, None, datetime.date(1969, 12, 31)], pa.date64()),
    "sec": pa.array([datetime.datetime(2024, 2, 29, 13, 14, 15), None, datetime.datetime(1960, 1, 1)], pa.timestamp("s", tz="Europe/Berlin")),
    "decimal256": pa.array(amounts, pa.decimal256(40, 2)),
    "null": pa.nulls(3),
})


def write(name, new, table, rows, **options):
    with new(str(folder / name), table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=rows)


write("file.arrow", pa.ipc.new_file, table, 2)
write("lz4.arrow", pa.ipc.new_file, table, 3, compression="lz4")
write("zstd.arrow", pa.ipc.new_file, table, 2, compression="zstd")
write("stream.arrow", pa.ipc.new_stream, table, 2)
write("legacy.arrow", pa.ipc.new_stream, table.drop_columns("view"), 3, use_legacy_format=True, metadata_version=pa.ipc.MetadataVersion.V4)
pyarrow.feather.write_feather(table, str(folder / "v2.feather"))

# Dictionaries that grow, and that are replaced.
words = pa.chunked_array([pa.array(["a", "b", "a"]).dictionary_encode(), pa.array(["a", "b", "c", None]).dictionary_encode()])
write("delta.arrow", pa.ipc.new_stream, pa.table({"word": words}), 4, emit_dictionary_deltas=True)
words = pa.chunked_array([pa.array(["a", "b", "a"]).dictionary_encode(), pa.array(["c", None, "a"]).dictionary_encode()])
write("replaced.arrow", pa.ipc.new_stream, pa.table({"word": words}), 4)

# Columns of other types between others.
strange = pa.table({
    "n": pa.array([1, 2**64 - 1], pa.uint64()),
    "binary": [b"x", b"y"],
    "duration": pa.array([1, 2], pa.duration("s")),
    "lists": [[1], [2, 3]],
    "fixed": pa.array([[1, 2], [3, 4]], pa.list_(pa.int8(), 2)),
    "struct": [{"a": 1, "b": "x"}, {"a": 2, "b": None}],
    "map": pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int64())),
    "dense": pa.UnionArray.from_dense(pa.array([0, 1], pa.int8()), pa.array([0, 0], pa.int32()), [pa.array([1]), pa.array(["x"])]),
    "sparse": pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["x", "y"])]),
    "runs": pa.RunEndEncodedArray.from_arrays([1, 2], ["x", "y"]),
    "views": pa.array([b"a longer value than a view contains", b"y"], pa.binary_view()),
    "listviews": pa.array([[1], [2]], pa.list_view(pa.int8())),
    "interval": pa.array([(1, 2, 3), (4, 5, 6)], pa.month_day_nano_interval()),
    "ok": ["last", "column"],
})
write("strange.arrow", pa.ipc.new_file, strange, 2)
write("empty.arrow", pa.ipc.new_file, table.slice(0, 0), 2)
pa.ipc.new_file(str(folder / "none.arrow"), pa.schema([("a", pa.int8()), ("s", pa.string())])).close()
