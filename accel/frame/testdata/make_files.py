"""Writes files/*.parquet with the same table, for the tests of this package.

pip install pyarrow==26.0.1; python make_files.py
"""

import datetime
import decimal
import pathlib

import pyarrow as pa
import pyarrow.parquet as pq

folder = pathlib.Path(__file__).parent / "files"
folder.mkdir(exist_ok=True)
day = datetime.date(2024, 2, 29)
moment = datetime.datetime(2024, 2, 29, 13, 14, 15, 500000)
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
})
decimals = pa.array([decimal.Decimal("-1.10"), None, decimal.Decimal("12345678901234567.25")], pa.decimal128(38, 2))
for compression in ["none", "snappy", "gzip", "zstd", "lz4", "brotli"]:
    pq.write_table(table.append_column("decimal", decimals), folder / f"{compression}.parquet", compression=compression, row_group_size=2)
pq.write_table(table, folder / "plain.parquet", use_dictionary=False, data_page_version="2.0", use_deprecated_int96_timestamps=True)
lists = pa.table({"a": [[1], [2, 3]], "n": pa.array([1, 2**64 - 1], pa.uint64()), "ok": [1, 2]})
pq.write_table(lists, folder / "lists.parquet")
nulls = pa.table({"i": [1, 2, 3], "none": pa.nulls(3), "group": [{"none": None}] * 3})
pq.write_table(nulls, folder / "nulls.parquet", row_group_size=2)
