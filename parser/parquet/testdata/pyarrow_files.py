"""Writes files/ with pyarrow, and beside each what its rows must look like as JSON.

The JSON is made here, from the Python values that the writer is given, by code that shares nothing with the reader under test.
Needs pyarrow 26 and numpy. Run: python3 pyarrow_files.py
"""
import base64, datetime as dt, decimal, json, os, random, uuid
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "files")
D = decimal.Decimal
UTC = dt.timezone.utc
random.seed(7)


class Number(str):
    """A number's text, which goes into the JSON as it is."""


def dumps(v):
    if isinstance(v, Number):
        return str(v)
    if isinstance(v, dict):
        return "{" + ",".join(json.dumps(k, ensure_ascii=False) + ":" + dumps(x) for k, x in v.items()) + "}"
    if isinstance(v, list):
        return "[" + ",".join(map(dumps, v)) + "]"
    return json.dumps(v, ensure_ascii=False)


def number(v):
    if isinstance(v, int):
        return Number(v)
    if v != v:
        return "NaN"
    if v in (float("inf"), float("-inf")):
        return "Infinity" if v > 0 else "-Infinity"
    return Number(str(v))


def fraction(text, digits):
    """Nanoseconds, micros or millis as decimals without zeros at the end."""
    text = text.rjust(digits, "0").rstrip("0")
    return "." + text if text else ""


def instant(value, per_second, zone):
    """An integer count since 1970."""
    seconds, rest = divmod(value, per_second)
    day = dt.datetime(1970, 1, 1) + dt.timedelta(seconds=seconds)
    return day.strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0") + fraction(str(rest), len(str(per_second)) - 1) + zone


def clock(value, per_second):
    seconds, rest = divmod(value, per_second)
    return "%02d:%02d:%02d" % (seconds // 3600, seconds // 60 % 60, seconds % 60) + fraction(str(rest), len(str(per_second)) - 1)


def plain(v):
    """Values that JSON knows."""
    if isinstance(v, (bool, str)) or v is None:
        return v
    if isinstance(v, (int, float)):
        return number(v)
    if isinstance(v, D):
        return format(v, "f")
    if isinstance(v, bytes):
        return base64.b64encode(v).decode()
    if isinstance(v, list):
        return [plain(x) for x in v]
    if isinstance(v, dict):
        return {k: plain(x) for k, x in v.items()}
    if isinstance(v, np.generic):
        return number(v) if isinstance(v, np.floating) else plain(v.item())
    raise TypeError(type(v))


def save(name, columns, rows_json=None, **options):
    """columns: name → (type, values, converter). Writes name.parquet and what is expected of it."""
    fields, arrays = [], []
    for column, (kind, values, _) in columns.items():
        arrays.append(values if isinstance(values, (pa.Array, pa.ExtensionArray)) else pa.array(values, kind))
        fields.append(pa.field(column, arrays[-1].type, nullable=any(v is None for v in values) if not isinstance(values, pa.Array) else True))
    table = pa.Table.from_arrays(arrays, schema=pa.schema(fields))
    pq.write_table(table, os.path.join(HERE, name + ".parquet"), **options)
    return rows_json if rows_json is not None else rows(columns)


def rows(columns):
    out, n = [], max((len(v) for _, v, _ in columns.values()), default=0)
    for i in range(n):
        row = {}
        for column, (_, values, convert) in columns.items():
            v = values[i]
            v = v.as_py() if isinstance(v, pa.Scalar) else v
            row[column] = None if v is None else convert(v)
        out.append(dumps(row))
    return out


def expect(name, lines):
    with open(os.path.join(HERE, name + ".ndjson"), "w", encoding="utf-8") as f:
        f.writelines(line + "\n" for line in lines)


MANIFEST = []


def files(group, columns, variants):
    """One set of rows in many files."""
    lines = None
    for suffix, options in variants.items():
        name = group + suffix
        lines = save(name, columns, lines, **options)
        MANIFEST.append("%s.parquet %s.ndjson %d" % (name, group, len(lines)))
    expect(group, lines)


def with_nulls(values, every=5):
    return [None if i % every == every - 1 else v for i, v in enumerate(values)]


N = 40
ints = lambda low, high: [low, high, 0, 1] + [random.randint(low, high) for _ in range(N - 4)]
words = ["", "a", "plain", 'say "hi"', "back\\slash", "tab\there", "line\nfeed", "naïve €uro 😀", "\u0000\u001f\u007f", "\u2028<&>"]
texts = [words[i % len(words)] + ("" if i < len(words) else str(i)) for i in range(N)]
floats = [0.0, -0.0, 1.1, -2.5, 1e-7, 1e21, 1.7976931348623157e308, 5e-324, float("nan"), float("inf"), float("-inf"), 0.1 + 0.2, 123456.789, 52.520008]
doubles = [floats[i] if i < len(floats) else random.uniform(-1e6, 1e6) for i in range(N)]
singles = [np.float32(v) if abs(v) < 3e38 or v != v or abs(v) == float("inf") else np.float32(3.4e38) for v in doubles]
halves = [np.float16(v) if abs(v) < 60000 or v != v or abs(v) == float("inf") else np.float16(6e4) for v in doubles]


def half(v):
    return number(v)


def decimals(precision, scale):
    top = 10**precision - 1
    return [D(u).scaleb(-scale, decimal.Context(prec=80)) for u in [0, 1, -1, 1230, -1230, top, -top] + [random.randint(-top, top) for _ in range(N - 7)]]


def decimal_text(scale):
    return lambda v: format(v.quantize(D(1).scaleb(-scale), context=decimal.Context(prec=80)), "f")


stamps = [0, 1, -1, 1607483647123456789, -86400000000000, 951782400000000000] + [random.randint(-9_000_000_000, 9_000_000_000) * 10**9 // 7 for _ in range(N - 6)]
days = [0, -1, 1, 11016, -719162, 2932896] + [random.randint(-700000, 2900000) for _ in range(N - 6)]
uuids = [uuid.UUID(int=random.getrandbits(128)) for _ in range(N)]
blobs = [bytes(random.randrange(256) for _ in range(i % 9)) for i in range(N)]

types = {
    "bool": (pa.bool_(), with_nulls([i % 3 == 0 for i in range(N)]), plain),
    "int8": (pa.int8(), ints(-128, 127), plain),
    "int16": (pa.int16(), with_nulls(ints(-(2**15), 2**15 - 1)), plain),
    "int32": (pa.int32(), ints(-(2**31), 2**31 - 1), plain),
    "int64": (pa.int64(), with_nulls(ints(-(2**63), 2**63 - 1)), plain),
    "uint8": (pa.uint8(), ints(0, 255), plain),
    "uint16": (pa.uint16(), ints(0, 65535), plain),
    "uint32": (pa.uint32(), with_nulls(ints(0, 2**32 - 1)), plain),
    "uint64": (pa.uint64(), ints(0, 2**64 - 1), plain),
    "float16": (pa.float16(), halves, half),
    "float": (pa.float32(), singles, plain),
    "double": (pa.float64(), with_nulls(doubles), plain),
    "text": (pa.string(), with_nulls(texts), plain),
    "bytes": (pa.binary(), with_nulls(blobs), plain),
    "fixed": (pa.binary(4), [b"%04d" % i for i in range(N)], plain),
    "dec9_2": (pa.decimal128(9, 2), decimals(9, 2), decimal_text(2)),
    "dec18_4": (pa.decimal128(18, 4), with_nulls(decimals(18, 4)), decimal_text(4)),
    "dec38_9": (pa.decimal128(38, 9), decimals(38, 9), decimal_text(9)),
    "dec76_0": (pa.decimal256(76, 0), with_nulls(decimals(76, 0)), decimal_text(0)),
    "dec5_5": (pa.decimal128(5, 5), decimals(5, 5), decimal_text(5)),
    "date": (pa.date32(), with_nulls(days), lambda v: (dt.date(1970, 1, 1) + dt.timedelta(days=v)).isoformat()),
    "ts_ms": (pa.timestamp("ms"), [s // 10**6 for s in stamps], lambda v: instant(v, 1000, "")),
    "ts_us": (pa.timestamp("us"), with_nulls([s // 1000 for s in stamps]), lambda v: instant(v, 10**6, "")),
    "ts_ns": (pa.timestamp("ns"), stamps, lambda v: instant(v, 10**9, "")),
    "utc_ms": (pa.timestamp("ms", "UTC"), [s // 10**6 for s in stamps], lambda v: instant(v, 1000, "Z")),
    "utc_us": (pa.timestamp("us", "Europe/Berlin"), [s // 1000 for s in stamps], lambda v: instant(v, 10**6, "Z")),
    "utc_ns": (pa.timestamp("ns", "UTC"), with_nulls(stamps), lambda v: instant(v, 10**9, "Z")),
    "time_ms": (pa.time32("ms"), [abs(s) // 10**6 % 86400000 for s in stamps], lambda v: clock(v, 1000)),
    "time_us": (pa.time64("us"), with_nulls([abs(s) // 1000 % 86400000000 for s in stamps]), lambda v: clock(v, 10**6)),
    "time_ns": (pa.time64("ns"), [abs(s) % 86400000000000 for s in stamps], lambda v: clock(v, 10**9)),
    "null": (pa.null(), [None] * N, plain),
    "uuid": (pa.uuid(), pa.array([u.bytes for u in uuids], pa.uuid()), str),
    "json": (pa.json_(), pa.array(['{"a" : [1, 2.50, "x\\ny"]}', "null", " 7 ", '"t"'] * (N // 4), pa.json_()), lambda v: Number(json_compact(v))),
    "duration": (pa.duration("us"), [i * 1000 for i in range(N)], plain),
    "category": (pa.dictionary(pa.int32(), pa.string()), pa.array(["red", "green", None, "blue"] * (N // 4)).dictionary_encode(), plain),
}


def json_compact(text):
    """Without white space outside strings; numbers stay as they are written."""
    out, inside, escaped = "", False, False
    for c in text:
        if inside or c not in " \n\r\t":
            out += c
        if escaped:
            escaped = False
        elif inside and c == "\\":
            escaped = True
        elif c == '"':
            inside = not inside
    return out


codecs = ["NONE", "SNAPPY", "GZIP", "ZSTD", "LZ4", "BROTLI"]
files("types", types, {
    "-%s-v%s" % (codec.lower(), version[0]): dict(compression=codec, data_page_version=version, use_dictionary=(codec != "GZIP"), write_page_checksum=codec == "ZSTD")
    for codec in codecs for version in ("1.0", "2.0")
})

# Decimals in integers; timestamps as Impala had them; lengths of time of the old format.
files("decimals-int", {k: v for k, v in types.items() if k.startswith("dec") and k != "dec76_0"}, {"": dict(store_decimal_as_integer=True)})
recent = [s for s in stamps if abs(s) < 9 * 10**18]
files("int96", {"at": (pa.timestamp("ns"), with_nulls(recent, 4), lambda v: instant(v, 10**9, "Z"))}, {"": dict(use_deprecated_int96_timestamps=True)})
files("old-format", {k: types[k] for k in ("uint32", "ts_ms", "ts_us", "time_ms", "text", "date")}, {"": dict(version="1.0", coerce_timestamps=None)})

# Encodings, over many small pages and more than one row group.
M = 1200
walk, at = [], 0
for i in range(M):
    at += random.choice([-3, 0, 0, 1, 2, 1000])
    walk.append(at)
wild = [random.choice([-(2**63), 2**63 - 1, 0, random.getrandbits(62)]) for _ in range(M)]
narrow = [random.choice([-(2**31), 2**31 - 1, 0, random.getrandbits(30)]) for _ in range(M)]
keys = sorted("key/%06d/%s" % (random.randrange(10**6), "x" * random.randrange(20)) for _ in range(M))
encoded = {
    "walk": (pa.int64(), walk, plain, ["PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"]),
    "wild": (pa.int64(), with_nulls(wild, 7), plain, ["PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"]),
    "narrow": (pa.int32(), narrow, plain, ["PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"]),
    "same": (pa.int32(), [42] * M, plain, ["PLAIN", "DELTA_BINARY_PACKED", "PLAIN"]),
    "keys": (pa.string(), keys, plain, ["PLAIN", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"]),
    "bytes": (pa.binary(), with_nulls([k.encode() for k in reversed(keys)], 11), plain, ["PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"]),
    "fixed": (pa.binary(5), [k[4:9].encode() for k in keys], plain, ["PLAIN", "DELTA_BYTE_ARRAY", "BYTE_STREAM_SPLIT"]),
    "double": (pa.float64(), with_nulls([v / 8 for v in walk], 13), plain, ["PLAIN", "BYTE_STREAM_SPLIT", "BYTE_STREAM_SPLIT"]),
    "float": (pa.float32(), [np.float32(v / 4) for v in walk], plain, ["PLAIN", "BYTE_STREAM_SPLIT", "BYTE_STREAM_SPLIT"]),
    "half": (pa.float16(), [np.float16(v % 100) for v in walk], half, ["PLAIN", "BYTE_STREAM_SPLIT", "PLAIN"]),
    "bool": (pa.bool_(), with_nulls([v % 5 > 1 or i < 400 for i, v in enumerate(walk)], 17), plain, ["PLAIN", "RLE", "RLE"]),
}
columns = {k: v[:3] for k, v in encoded.items()}
variants = {}
for i, label in enumerate(["plain", "delta", "split"]):
    for version in ("1.0", "2.0"):
        variants["-%s-v%s" % (label, version[0])] = dict(
            compression="ZSTD", data_page_version=version, use_dictionary=False, column_encoding={k: v[3][i] for k, v in encoded.items()},
            data_page_size=1024, row_group_size=700, write_batch_size=64)
for version in ("1.0", "2.0"):
    variants["-dictionary-v" + version[0]] = dict(compression="ZSTD", data_page_version=version, use_dictionary=True, data_page_size=1024, row_group_size=700, write_batch_size=64)
    variants["-overflow-v" + version[0]] = dict(
        compression="ZSTD", data_page_version=version, use_dictionary=True, dictionary_pagesize_limit=4096, data_page_size=1024, write_batch_size=64)
files("encodings", columns, variants)

# Nested values.
person = pa.struct([("name", pa.string()), ("tags", pa.list_(pa.string())), ("at", pa.struct([("x", pa.int32()), ("y", pa.int32())]))])
K = 120


def some(i, deep=True):
    v = {"name": [None, "Ann", "Bob"][i % 3], "tags": [None, [], ["a", None, "b"], ["c"] * (i % 40)][i % 4], "at": [None, {"x": i, "y": None}, {"x": None, "y": -i}][i % 3]}
    return None if i % 11 == 0 and deep else v


def pairs_of(v):
    return [{"key": plain(k), "value": plain(x)} for k, x in v]


nested = {
    "id": (pa.int64(), list(range(K)), plain),
    "numbers": (pa.list_(pa.int32()), [[None, [], [1, None, 3], list(range(i))][i % 4] for i in range(K)], plain),
    "prices": (pa.list_(pa.decimal128(9, 2)), [[D(i).scaleb(-2), None] if i % 3 else [] for i in range(K)], lambda v: [None if x is None else decimal_text(2)(x) for x in v]),
    "lists": (pa.list_(pa.list_(pa.string())), [[None, [], [None, [], ["a", None]], [["x"] * (i % 7)] * (i % 5)][i % 4] for i in range(K)], plain),
    "person": (person, [some(i) for i in range(K)], plain),
    "people": (pa.list_(person), [[None, [], [some(i), None, some(i + 1)]][i % 3] for i in range(K)], plain),
    "map": (pa.map_(pa.string(), pa.int64()), [[None, [], [("a", i), ("b c", None), ('"', -i)]][i % 3] for i in range(K)], lambda v: {k: plain(x) for k, x in v}),
    "coded": (pa.map_(pa.int32(), pa.string()), [[None, [], [(i, "x"), (-i, None)]][i % 3] for i in range(K)], pairs_of),
    "deep": (pa.map_(pa.string(), pa.list_(pa.struct([("k", pa.map_(pa.int8(), pa.bool_()))]))),
             [[("p", [{"k": [(1, True), (2, None)]}, None, {"k": None}]), ("q", []), ("r", None)][: i % 4] for i in range(K)],
             lambda v: {k: x if x is None else [e if e is None else {"k": None if e["k"] is None else pairs_of(e["k"])} for e in x] for k, x in v}),
    "large": (pa.large_list(pa.large_string()), [["é" * (i % 3)] * (i % 4) for i in range(K)], plain),
    "triple": (pa.list_(pa.float64(), 3), [None if i % 5 == 0 else [i / 4, None, -0.5] for i in range(K)], plain),
}
variants = {}
for version in ("1.0", "2.0"):
    variants["-v" + version[0]] = dict(compression="SNAPPY", data_page_version=version, data_page_size=256, row_group_size=70, write_batch_size=16)
    variants["-delta-v" + version[0]] = dict(
        compression="NONE", data_page_version=version, data_page_size=512, write_batch_size=16, use_dictionary=False, use_compliant_nested_type=False,
        column_encoding={"numbers.list.item": "DELTA_BINARY_PACKED", "lists.list.item.list.item": "DELTA_BYTE_ARRAY"})
files("nested", nested, variants)

# Names, empty groups, no rows, no columns.
files("names", {n: (pa.int32(), [1, None, 3], plain) for n in ("a", "A", "Bike ID", "x.y", "naïve", 'q"q', "", "列")}, {"": {}})
files("no-rows", {"a": (pa.int32(), [], plain), "b": (pa.list_(pa.string()), [], plain)}, {"": {}})
schema = pa.schema([("a", pa.int32()), ("l", pa.list_(pa.string()))])
with pq.ParquetWriter(os.path.join(HERE, "empty-groups.parquet"), schema) as w:
    for values in ([], [1, 2], [], [], [3], []):
        w.write_table(pa.table({"a": values, "l": [["x"]] * len(values)}, schema=schema))
expect("empty-groups", ['{"a":%d,"l":["x"]}' % i for i in (1, 2, 3)])
MANIFEST.append("empty-groups.parquet empty-groups.ndjson 3")
pq.write_table(pa.table({"a": [1, 2, 3]}).select([]), os.path.join(HERE, "no-columns.parquet"))
expect("no-columns", ["{}"] * pq.ParquetFile(os.path.join(HERE, "no-columns.parquet")).metadata.num_rows)
MANIFEST.append("no-columns.parquet no-columns.ndjson %d" % pq.ParquetFile(os.path.join(HERE, "no-columns.parquet")).metadata.num_rows)

# Rows that one page cannot hold a batch of, runs of nulls, a large value.
L = 3000
long = {
    "nulls": (pa.string(), [None if i % 1500 < 1400 else "v%d" % i for i in range(L)], plain),
    "runs": (pa.int64(), [i // 1000 for i in range(L)], plain),
    "text": (pa.string(), ["x" * 9000 if i == 2600 else "t%d" % (i % 50) for i in range(L)], plain),
}
files("long", long, {"-v1": dict(compression="ZSTD", data_page_version="1.0"), "-v2": dict(compression="ZSTD", data_page_version="2.0", use_dictionary=False)})

# What readers may pass over: bloom filters, page indexes, checksums; types that are stored like others.
indexed = {
    "id": (pa.int64(), list(range(1000, 1300)), plain),
    "name": (pa.string(), with_nulls(["n%d" % (i * i % 97) for i in range(300)]), plain),
    "price": (pa.decimal128(9, 2), [D(i * 7 - 500).scaleb(-2) for i in range(300)], decimal_text(2)),
    "tags": (pa.list_(pa.string()), [["t%d" % k for k in range(i % 3)] or None for i in range(300)], plain),
}
files("indexed", indexed, {
    "-v" + version[0]: dict(
        compression="SNAPPY", data_page_version=version, data_page_size=256, write_batch_size=16, row_group_size=170, write_page_index=True, write_page_checksum=True,
        bloom_filter_options={"id": {"ndv": 300}, "name": True}, sorting_columns=[pq.SortingColumn(0)])
    for version in ("1.0", "2.0")
})
files("kin", {
    "date64": (pa.date64(), with_nulls([v * 86400000 for v in days]), lambda v: (dt.date(1970, 1, 1) + dt.timedelta(days=v // 86400000)).isoformat()),
    "dec32": (pa.decimal32(9, 2), decimals(9, 2), decimal_text(2)),
    "dec64": (pa.decimal64(18, 4), with_nulls(decimals(18, 4)), decimal_text(4)),
    "ts_s": (pa.timestamp("s"), [s // 10**9 for s in stamps], lambda v: instant(v, 1, "")),
    "time_s": (pa.time32("s"), [abs(s) // 10**9 % 86400 for s in stamps], lambda v: clock(v, 1)),
    "large_bytes": (pa.large_binary(), with_nulls(blobs), plain),
    "text_view": (pa.string_view(), with_nulls(texts), plain),
    "bytes_view": (pa.binary_view(), blobs, plain),
    "fixed_list": (pa.list_(pa.struct([("d", pa.date32())]), 2), [[{"d": d}, None] for d in days], lambda v: [x and {"d": (dt.date(1970, 1, 1) + dt.timedelta(days=x["d"])).isoformat()} for x in v]),
}, {"": {}})

# Encryption: of the footer, of a column under a plain footer.
try:
    import pyarrow.parquet.encryption as pe

    class Client(pe.KmsClient):
        def wrap_key(self, key_bytes, _):
            return base64.b64encode(key_bytes).decode()

        def unwrap_key(self, wrapped, _):
            return base64.b64decode(wrapped)

    factory = pe.CryptoFactory(lambda _: Client())
    for name, plaintext in (("encrypted-footer", False), ("encrypted-column", True)):
        config = pe.EncryptionConfiguration(footer_key="f", column_keys={"c": ["b"]}, plaintext_footer=plaintext)
        table = pa.table({"a": [1, 2], "b": ["x", "y"]})
        properties = factory.file_encryption_properties(pe.KmsConnectionConfig(), config)
        with pq.ParquetWriter(os.path.join(HERE, name + ".parquet"), table.schema, encryption_properties=properties) as w:
            w.write_table(table)
except ImportError:
    print("no encryption in this pyarrow")

with open(os.path.join(HERE, "pyarrow.txt"), "w") as f:
    f.writelines(line + "\n" for line in MANIFEST)
