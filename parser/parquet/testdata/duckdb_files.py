"""Writes files/ with DuckDB. Each column is a list of SQL literals with the JSON that they must come back as, written by hand or made from the same Python value.

Needs duckdb 2.0. Run: python3 duckdb_files.py
"""
import datetime as dt, json, os, random
import duckdb

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "files")
random.seed(11)
db = duckdb.connect()
db.execute("SET threads=1")
db.execute("SET TimeZone='UTC'")


def q(text):
    return "'" + text.replace("'", "''") + "'"


def strings(values):
    return [(q(v), json.dumps(v, ensure_ascii=False)) for v in values]


def same(values):
    return [(str(v), str(v)) for v in values]


def quoted(values):
    return [(q(v), '"%s"' % v) for v in values]


NULL = ("NULL", "null")
types = {
    "flag": ("BOOLEAN", [("true", "true"), ("false", "false"), NULL]),
    "tiny": ("TINYINT", same([-128, 127, 0]) + [NULL]),
    "small": ("SMALLINT", same([-32768, 32767])),
    "whole": ("INTEGER", same([-2147483648, 2147483647, 7]) + [NULL]),
    "big": ("BIGINT", same([-9223372036854775808, 9223372036854775807])),
    "utiny": ("UTINYINT", same([0, 255])),
    "usmall": ("USMALLINT", same([0, 65535])),
    "uint": ("UINTEGER", same([0, 4294967295]) + [NULL]),
    "ubig": ("UBIGINT", same([0, 18446744073709551615])),
    "single": ("FLOAT", [("1.1", "1.1"), ("'NaN'", '"NaN"'), ("'-Infinity'", '"-Infinity"'), NULL]),
    "double": ("DOUBLE", [("0.1", "0.1"), ("1e300", "1e300"), ("'Infinity'", '"Infinity"'), ("-2.5", "-2.5")]),
    "dec4": ("DECIMAL(4,2)", [("12.30", '"12.30"'), ("-0.05", '"-0.05"'), ("0", '"0.00"'), NULL]),
    "dec9": ("DECIMAL(9,3)", [("123456.789", '"123456.789"'), ("-999999.999", '"-999999.999"')]),
    "dec18": ("DECIMAL(18,6)", [("999999999999.999999", '"999999999999.999999"'), ("-1", '"-1.000000"')]),
    "dec38": ("DECIMAL(38,10)", [("1234567890123456789012345678.0123456789", '"1234567890123456789012345678.0123456789"'), ("-0.0000000001", '"-0.0000000001"'), NULL]),
    "text": ("VARCHAR", strings(["", "plain", 'say "hi"', "naïve €uro 😀", "line\nfeed"]) + [NULL]),
    "blob": ("BLOB", [("'\\xFF\\x00a'::BLOB", '"/wBh"'), ("''::BLOB", '""'), NULL]),
    "day": ("DATE", quoted(["1970-01-01", "0001-01-01", "9999-12-31", "2024-02-29"]) + [NULL]),
    "clock": ("TIME", [("'07:46:40'", '"07:46:40"'), ("'23:59:59.123456'", '"23:59:59.123456"')]),
    "at": ("TIMESTAMP", [("'2020-12-09 03:14:07.5'", '"2020-12-09T03:14:07.5"'), ("'1969-12-31 23:59:59.999999'", '"1969-12-31T23:59:59.999999"'), NULL]),
    "at_ms": ("TIMESTAMP_MS", [("'2020-12-09 03:14:07.123'", '"2020-12-09T03:14:07.123"')]),
    "at_ns": ("TIMESTAMP_NS", [("'2020-12-09 03:14:07.123456789'", '"2020-12-09T03:14:07.123456789"')]),
    "zoned": ("TIMESTAMPTZ", [("'2020-12-09 03:14:07+02'", '"2020-12-09T01:14:07Z"'), NULL]),
    "span": ("INTERVAL", [("INTERVAL '6 months 14 days 20.5 seconds'", '"P6M14DT20.5S"'), ("INTERVAL '0 days'", '"PT0S"'), NULL]),
    "id": ("UUID", quoted(["123e4567-e89b-12d3-a456-426614174000", "00000000-0000-0000-0000-000000000000"]) + [NULL]),
    "mood": ("ENUM('happy','sad')", quoted(["happy", "sad"]) + [NULL]),
    "doc": ("JSON", [("'{\"a\": [1, 2.50]}'", '{"a":[1,2.50]}'), NULL]),
    "list": ("INTEGER[]", [("[1,NULL,3]", "[1,null,3]"), ("[]", "[]"), NULL]),
    "nested": ("VARCHAR[][]", [("[['a'],[],NULL]", '[["a"],[],null]'), NULL]),
    "pair": ("STRUCT(x INTEGER, y DECIMAL(5,1))", [("{'x': 1, 'y': 2.5}", '{"x":1,"y":"2.5"}'), ("{'x': NULL, 'y': NULL}", '{"x":null,"y":null}'), NULL]),
    "map": ("MAP(VARCHAR, INTEGER)", [("MAP {'a': 1, 'b c': NULL}", '{"a":1,"b c":null}'), ("MAP {}", "{}"), NULL]),
    "coded": ("MAP(INTEGER, DATE)", [("MAP {7: DATE '2020-01-02'}", '[{"key":7,"value":"2020-01-02"}]'), NULL]),
    "Bike ID": ("INTEGER", same([1, 2])),
}


def table(name, columns, n):
    db.execute("CREATE OR REPLACE TABLE %s (%s)" % (name, ", ".join('"%s" %s' % (c, t) for c, (t, _) in columns.items())))
    lines = []
    for i in range(n):
        cells = {c: values[i % len(values)] for c, (_, values) in columns.items()}
        db.execute("INSERT INTO %s VALUES (%s)" % (name, ", ".join(v[0] for v in cells.values())))
        lines.append("{" + ",".join(json.dumps(c) + ":" + v[1] for c, v in cells.items()) + "}")
    return lines


MANIFEST = []


def files(group, query, lines, variants):
    with open(os.path.join(HERE, group + ".ndjson"), "w", encoding="utf-8") as f:
        f.writelines(line + "\n" for line in lines)
    for suffix, options in variants.items():
        path = os.path.join(HERE, group + suffix + ".parquet")
        db.execute("COPY (%s) TO '%s' (FORMAT parquet, %s)" % (query, path, options))
        MANIFEST.append("%s%s.parquet %s.ndjson %d" % (group, suffix, group, len(lines)))


lines = table("types", types, 12)
files("duckdb-types", "FROM types", lines, {
    "-%s-%s" % (codec, version.lower()): "COMPRESSION %s, PARQUET_VERSION %s" % (codec, version)
    for codec in ("uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4_raw") for version in ("V1", "V2")
})

# Many rows: dictionaries, deltas, split streams and several row groups by its own choice.
many, expected = {"n": [], "word": [], "name": [], "v": [], "f": []}, []
for i in range(2500):
    row = (i * 3 - 1000, ["alpha", "beta", None][i % 3], "name-%07d" % random.randrange(10**7), random.randrange(-(10**6), 10**6) / 64, i % 2 == 0)
    expected.append('{"n":%d,"word":%s,"name":"%s","v":%r,"f":%s}' % (row[0], json.dumps(row[1]), row[2], row[3], json.dumps(row[4])))
    for column, value in zip(many.values(), row):
        column.append(value)
import pyarrow as pa

source = pa.table(many)
db.register("source", source)
files("duckdb-many", "FROM source", expected, {
    "-" + version.lower(): "COMPRESSION zstd, PARQUET_VERSION %s, ROW_GROUP_SIZE 2048" % version for version in ("V1", "V2")
})

files("duckdb-empty", "SELECT 1 AS a WHERE false", [], {"": "COMPRESSION snappy"})

for name, query in (("variant", "SELECT 1 AS id, {'a': 1}::VARIANT AS v"),):
    db.execute("COPY (%s) TO '%s' (FORMAT parquet)" % (query, os.path.join(HERE, "duckdb-%s.parquet" % name)))

with open(os.path.join(HERE, "duckdb.txt"), "w") as f:
    f.writelines(line + "\n" for line in MANIFEST)
