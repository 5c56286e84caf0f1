"""Writes parquet-values.parquet (and variants) and parquet-values.json: what pandas prints for each value.

Run: python test/golden/parquet-values.py, with pyarrow and pandas; their versions stand in the JSON.
"""

import base64
import datetime as dt
import io
import json
import uuid
from decimal import Decimal as D

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

UTC = dt.timezone.utc
NAIVE = [dt.datetime(1999, 1, 2), dt.datetime(1969, 12, 31, 23, 59, 59, 1), dt.datetime(2020, 2, 29, 12, 0, 0, 123000)]
COLUMNS = {
    "int64": pa.array([9007199254740993, -(2**63), 7], pa.int64()),
    "uint64": pa.array([2**64 - 1, 2**63, 0], pa.uint64()),
    "uint32": pa.array([2**32 - 1, 0, 5], pa.uint32()),
    "uint8": pa.array([255, 0, 5], pa.uint8()),
    "int8": pa.array([-128, 0, 127], pa.int8()),
    "decimal128": pa.array([D("12345678901234567890.12"), D("3.10"), D("-0.30")], pa.decimal128(38, 2)),
    "decimal_0": pa.array([D("12345678901234567890"), D("3"), D("-1")], pa.decimal128(20, 0)),
    "decimal_small": pa.array([D("1.50"), D("-0.05"), D("0.00")], pa.decimal128(5, 2)),
    "decimal256": pa.array([D("1" * 50 + ".12345"), D("-7.10000"), D("0.00001")], pa.decimal256(60, 5)),
    "float16": pa.array([np.float16(0.1), np.float16(65504), np.float16(-2.5)], pa.float16()),
    "float32": pa.array([0.1, 16777216.0, 1e-7], pa.float32()),
    "float64": pa.array([0.1, 1.0, 1e22], pa.float64()),
    "date32": pa.array([dt.date(1999, 1, 2), dt.date(1, 1, 1), dt.date(9999, 12, 31)], pa.date32()),
    "time32_ms": pa.array([dt.time(3, 4, 5), dt.time(0, 0, 0, 120000), dt.time(23, 59, 59, 999000)], pa.time32("ms")),
    "time64_us": pa.array([dt.time(3, 4, 5), dt.time(0, 0, 0, 1), dt.time(23, 59, 59, 999999)], pa.time64("us")),
    "timestamp_ms": pa.array(NAIVE, pa.timestamp("ms")),
    "timestamp_us": pa.array(NAIVE, pa.timestamp("us")),
    "timestamp_ns": pa.array([1_000_000_000_123_456_789, -1, 0], pa.timestamp("ns")),
    "timestamp_utc": pa.array(NAIVE, pa.timestamp("us", tz="UTC")),
    "large_string": pa.array(["Müller", "", "日本"], pa.large_string()),
    "dictionary": pa.array(["a", "b", "a"]).dictionary_encode(),
    "bool": pa.array([True, False, True]),
    "uuid": pa.array([uuid.UUID(int=i).bytes for i in (1, 2, 3)], pa.uuid()),
    "list_decimal": pa.array([[D("1.10"), D("2.00")], [], [D("3.30")]], pa.list_(pa.decimal128(9, 2))),
    "large_list": pa.array([["a"], [], ["b", "c"]], pa.large_list(pa.string())),
    "fixed_list": pa.array([[1, 2], [3, 4], [2**53 + 1, 6]], pa.list_(pa.int64(), 2)),
    "list_list": pa.array([[["a"], []], [], [["b", "c"]]], pa.list_(pa.list_(pa.string()))),
    "struct": pa.array([{"d": D("0.10"), "l": [dt.date(1999, 1, 2)]}] * 3),
    "list_struct": pa.array([[{"d": D("0.10"), "n": 2**60}], [], [{"d": D("2.00"), "n": 1}]]),
    "map": pa.array([[("k", D("1.10"))], [], [("x", D("2.00")), ("y", D("0.50"))]], pa.map_(pa.string(), pa.decimal128(5, 2))),
}
TEXTS = {  # pandas shows bytes and NumPy scalars in lists by repr; here the text of each value alone.
    "uuid": lambda value: str(value if isinstance(value, uuid.UUID) else uuid.UUID(bytes=value)),
    "bool": lambda value: bool(value),
}


def printed(value, name):
    if isinstance(value, dict):
        return {key: printed(item, name) for key, item in value.items() if item is not None}
    if isinstance(value, list) and name == "map":
        return {key: printed(item, "") for key, item in value}
    if isinstance(value, (list, np.ndarray)):
        return [printed(item, name) for item in value]
    return TEXTS.get(name, str)(value)


def shown(table):
    frame = table.to_pandas(date_as_object=True)
    return {name: [printed(value, name) for value in values(frame[name])] for name in frame}


def values(column):
    """A series of float32 gives floats of 64 bits: here the shortest decimal of its own size, as Python prints it."""
    return [float(str(value)) for value in column.to_numpy()] if column.dtype.kind == "f" else column


def written(table, **options):
    buffer = io.BytesIO()
    pq.write_table(table, buffer, **options)
    return base64.b64encode(buffer.getvalue()).decode()


table = pa.table(COLUMNS)
naive = pa.table({"int96": pa.array(NAIVE, pa.timestamp("ns")), "decimal": COLUMNS["decimal128"]})
files = [
    ("as pyarrow writes it", table, {}),
    ("without dictionaries, format 1.0, uncompressed", table.drop_columns(["timestamp_ns"]), {"use_dictionary": False, "version": "1.0", "compression": "none"}),
    ("data pages 2.0, zstd, one row a group", table, {"data_page_version": "2.0", "compression": "zstd", "row_group_size": 1}),
    ("decimals as integers", table, {"store_decimal_as_integer": True}),
    ("INT96 timestamps", naive, {"use_deprecated_int96_timestamps": True}),
]
result = {
    "tool": f"pyarrow {pa.__version__}, pandas {pd.__version__}, numpy {np.__version__}",
    "script": "test/golden/parquet-values.py",
    "files": [
        {"name": name, "columns": shown(each), "parquet": written(each, **options)}
        for name, each, options in files
    ],
}
with open(__file__.replace(".py", ".json"), "w") as out:
    json.dump(result, out, ensure_ascii=False, indent=1)
    out.write("\n")
