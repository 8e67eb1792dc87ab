"""Writes the files of this folder with fastavro 1.13 (pip install fastavro cramjam backports.zstd), and beside them what they say as NDJSON.

The NDJSON is made from the values that the writer is given, not read back: each value is a pair (what fastavro gets, its JSON text).
Run it in this folder: python fastavro.py (renamed, lest it imports itself: python - < fastavro.py).
"""
import base64 as b64
import datetime as dt
import decimal
import json
import random
import struct
import uuid

import fastavro

rnd = random.Random(5)
UTC = dt.timezone.utc
EPOCH = dt.datetime(1970, 1, 1)


def text(s):
    return json.dumps(s, ensure_ascii=False)


def base64(b):
    return text(b64.b64encode(b).decode())


def number(digits, exponent, negative):
    """A decimal of these digits, the point before the first and moved by the exponent, as ECMAScript prints it."""
    n = len(digits)
    if 0 < exponent <= 21:
        out = digits + "0" * (exponent - n) if n <= exponent else digits[:exponent] + "." + digits[exponent:]
    elif -6 < exponent <= 0:
        out = "0." + "0" * -exponent + digits
    else:
        e = exponent - 1
        out = digits[0] + ("." + digits[1:] if n > 1 else "") + "e" + ("+" if e > 0 else "-") + "%02d" % abs(e)
    return "-" + out if negative else out


def floating(v, shortest):
    if v != v:
        return '"NaN"'
    if v in (float("inf"), float("-inf")):
        return '"Infinity"' if v > 0 else '"-Infinity"'
    if v == 0:
        return "-0" if str(v).startswith("-") else "0"
    sign, digits, exponent = decimal.Decimal(shortest(v)).normalize().as_tuple()
    digits = "".join(map(str, digits))
    return number(digits, len(digits) + exponent, sign)


def short32(v):
    for precision in range(1, 10):
        s = "%.*g" % (precision, v)
        try:
            if struct.pack("<f", float(s)) == struct.pack("<f", v):
                return s
        except OverflowError:
            pass


def single(v):
    v = struct.unpack("<f", struct.pack("<f", v))[0]
    return v, floating(v, short32)


def double(v):
    return v, floating(v, repr)


def fraction(whole, digits):
    return whole + ("." + digits).rstrip("0").rstrip(".")


def clock(seconds, nanos):
    return fraction("%02d:%02d:%02d" % (seconds // 3600, seconds // 60 % 60, seconds % 60), "%09d" % nanos)


def scaled(unscaled, scale):
    digits = str(abs(unscaled)).rjust(scale + 1, "0")
    out = digits[:len(digits) - scale] + ("." + digits[len(digits) - scale:] if scale else "")
    return '"' + ("-" if unscaled < 0 else "") + out + '"'


def dec(unscaled, scale):
    return decimal.Decimal(unscaled).scaleb(-scale, decimal.Context(prec=60)), scaled(unscaled, scale)


def stamp(d, nanos=0, zone="Z"):
    return '"' + d.strftime("%Y").rjust(4, "0") + d.strftime("-%m-%dT") + clock(d.hour * 3600 + d.minute * 60 + d.second, d.microsecond * 1000 + nanos) + zone + '"'


def duration(months, days, millis):
    out = "P" + ("%dM" % months if months else "") + ("%dD" % days if days else "")
    if millis or out == "P":
        out += "T" + fraction("%d" % (millis // 1000), "%03d" % (millis % 1000)) + "S"
    return struct.pack("<III", months, days, millis), '"%s"' % out


def moment(millis_only):
    d = dt.datetime(rnd.choice([1, 1600, 1969, 1970, 2020, 2024, 9999]), rnd.randint(1, 12), rnd.randint(1, 28), rnd.randint(0, 23), rnd.randint(0, 59), rnd.randint(0, 59))
    return d.replace(microsecond=rnd.choice([0, 500000, 7000, rnd.randint(0, 999) * 1000] if millis_only else [0, 1, 123456, 999999]))


STRINGS = ["", "a", "Bike \"7\"\\", "Zeile\nzwei\tDrei\r", "naïve €uro 😀", "\x00\x01\x1f", "<&>\u2028", "x" * 300, "ü" * 40]


def string():
    s = rnd.choice(STRINGS)
    return s, text(s)


def blob(n=None):
    b = rnd.randbytes(rnd.choice([0, 1, 2, 3, 50]) if n is None else n)
    return b, base64(b)


def integer(bits):
    v = rnd.choice([0, 1, -1, 63, -64, 64, 2 ** (bits - 1) - 1, -2 ** (bits - 1), rnd.randint(-2 ** (bits - 1), 2 ** (bits - 1) - 1)])
    return v, str(v)


def boolean():
    v = rnd.random() < .5
    return v, "true" if v else "false"


def nothing():
    return None, "null"


def a_double():
    return double(rnd.choice([0.0, -0.0, 0.1, -2.5, 1e21, 1e20, 123456789012345680000.0, 1e-6, 1e-7, 5e-324, 1.7976931348623157e308,
                              float("nan"), float("inf"), float("-inf"), rnd.gauss(0, 1e6)]))


def a_float():
    return single(rnd.choice([0.0, -0.0, 0.1, 3.4028235e38, 1e-45, 16777216.0, 1e21, float("nan"), float("inf"), float("-inf"), rnd.gauss(0, 100)]))


def array(make, n=None):
    items = [make() for _ in range(rnd.choice([0, 1, 3, 40]) if n is None else n)]
    return [v for v, _ in items], "[" + ",".join(t for _, t in items) + "]"


def mapping(make):
    items = [(k, make()) for k in rnd.sample(["", "a", "b c", "q\"", "é"], rnd.randint(0, 4))]
    return {k: v for k, (v, _) in items}, "{" + ",".join(text(k) + ":" + t for k, (_, t) in items) + "}"


def record(**fields):
    return {k: v for k, (v, _) in fields.items()}, "{" + ",".join(text(k) + ":" + t for k, (_, t) in fields.items()) + "}"


def station():
    return record(name=string(), place=record(lat=a_double(), lng=a_double()))


def node(depth):
    return record(value=integer(64), next=node(depth - 1) if depth else nothing(), children=array(lambda: node(depth - 1), 2 if 0 < depth < 3 else 0))


def symbol():
    s = rnd.choice(["classic", "electric", "docked"])
    return s, text(s)


def any_of():
    return rnd.choice([nothing, lambda: integer(32), string, station, lambda: array(lambda: integer(64))])()


PLAIN = {
    "type": "record", "name": "Plain", "namespace": "bike.share", "doc": "Everything without logical types.", "fields": [
        {"name": "nothing", "type": "null"},
        {"name": "truth", "type": "boolean"},
        {"name": "small", "type": "int"},
        {"name": "large", "type": "long", "doc": "Up to 64 bits."},
        {"name": "single", "type": "float"},
        {"name": "double", "type": "double"},
        {"name": "raw", "type": "bytes"},
        {"name": "text", "type": "string"},
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["classic", "electric", "docked"]}},
        {"name": "four", "type": {"type": "fixed", "name": "Four", "size": 4}},
        {"name": "station", "type": {"type": "record", "name": "Station", "fields": [
            {"name": "name", "type": "string"},
            {"name": "place", "type": {"type": "record", "name": "other.Place", "fields": [{"name": "lat", "type": "double"}, {"name": "lng", "type": "double"}]}}]}},
        {"name": "longs", "type": {"type": "array", "items": "long"}},
        {"name": "stations", "type": {"type": "array", "items": "Station"}},
        {"name": "texts", "type": {"type": "map", "values": "string"}},
        {"name": "maps", "type": {"type": "map", "values": {"type": "array", "items": {"type": "map", "values": "boolean"}}}},
        {"name": "maybe", "type": ["null", "string"], "default": None},
        {"name": "any", "type": ["null", "int", "string", "Station", {"type": "array", "items": "long"}]},
        {"name": "kinds", "type": ["null", "Kind"]},
        {"name": "tree", "type": {"type": "record", "name": "Node", "fields": [
            {"name": "value", "type": "long"}, {"name": "next", "type": ["null", "Node"]}, {"name": "children", "type": {"type": "array", "items": "Node"}}]}},
    ]}


def plain():
    return record(
        nothing=nothing(), truth=boolean(), small=integer(32), large=integer(64), single=a_float(), double=a_double(), raw=blob(), text=string(), kind=symbol(),
        four=blob(4), station=station(), longs=array(lambda: integer(64)), stations=array(station), texts=mapping(string),
        maps=mapping(lambda: array(lambda: mapping(boolean))), maybe=rnd.choice([nothing, string])(), any=any_of(), kinds=rnd.choice([nothing, symbol])(), tree=node(rnd.randint(0, 3)))


LOGICAL = {
    "type": "record", "name": "Logical", "fields": [
        {"name": "dec_bytes", "type": {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}},
        {"name": "dec_fixed", "type": {"type": "fixed", "name": "Dec", "size": 16, "logicalType": "decimal", "precision": 38, "scale": 9}},
        {"name": "dec_whole", "type": {"type": "bytes", "logicalType": "decimal", "precision": 50, "scale": 0}},
        {"name": "id", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "id_fixed", "type": {"type": "fixed", "name": "Id", "size": 16, "logicalType": "uuid"}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "time_ms", "type": {"type": "int", "logicalType": "time-millis"}},
        {"name": "time_us", "type": {"type": "long", "logicalType": "time-micros"}},
        {"name": "ts_ms", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "ts_us", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "ts_ns", "type": {"type": "long", "logicalType": "timestamp-nanos"}},
        {"name": "local_ms", "type": {"type": "long", "logicalType": "local-timestamp-millis"}},
        {"name": "local_us", "type": {"type": "long", "logicalType": "local-timestamp-micros"}},
        {"name": "local_ns", "type": {"type": "long", "logicalType": "local-timestamp-nanos"}},
        {"name": "lasts", "type": {"type": "fixed", "name": "Lasts", "size": 12, "logicalType": "duration"}},
        {"name": "odd", "type": {"type": "long", "logicalType": "phase-of-the-moon"}},
        {"name": "maybe", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}, {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 9}]},
        {"name": "days", "type": {"type": "array", "items": {"type": "int", "logicalType": "date"}}},
    ]}


TINY = {"type": "record", "name": "T", "fields": [{"name": "v", "type": "long"}, {"name": "w", "type": ["null", "string"]}]}


def day():
    d = dt.date(rnd.choice([1, 1582, 1969, 1970, 2000, 2034, 9999]), rnd.randint(1, 12), rnd.randint(1, 28))
    return d, '"%04d-%02d-%02d"' % (d.year, d.month, d.day)


def time_of_day(millis_only):
    d = moment(millis_only).time()
    return d, '"' + clock(d.hour * 3600 + d.minute * 60 + d.second, d.microsecond * 1000) + '"'


def timestamp(millis_only, zone):
    d = moment(millis_only)
    return (d.replace(tzinfo=UTC) if zone else d), stamp(d, 0, zone)


def nanoseconds(zone):
    d = moment(False).replace(year=rnd.choice([1700, 1969, 1970, 2024, 2200]))
    nanos = rnd.choice([0, 1, 100, 999])
    since = d - EPOCH
    return ((since.days * 86400 + since.seconds) * 10 ** 6 + since.microseconds) * 1000 + nanos, stamp(d, nanos, zone)


def a_uuid():
    u = uuid.UUID(bytes=rnd.randbytes(16))
    return u, '"%s"' % u


def uuid_bytes():
    u = uuid.UUID(bytes=rnd.randbytes(16))
    return u.bytes, '"%s"' % u


def any_decimal(digits, scale):
    return dec(rnd.choice([0, 1, -1, 1234, -1234, 10 ** digits - 1, 1 - 10 ** digits, 128, -128, 127, 255, 256, rnd.randint(-10 ** digits, 10 ** digits)]), scale)


def logical():
    return record(
        dec_bytes=any_decimal(12, 2), dec_fixed=any_decimal(38, 9), dec_whole=any_decimal(50, 0), id=a_uuid(), id_fixed=uuid_bytes(), day=day(), time_ms=time_of_day(True),
        time_us=time_of_day(False), ts_ms=timestamp(True, "Z"), ts_us=timestamp(False, "Z"), ts_ns=nanoseconds("Z"), local_ms=timestamp(True, ""),
        local_us=timestamp(False, ""), local_ns=nanoseconds(""),
        lasts=duration(rnd.choice([0, 6, 2 ** 32 - 1]), rnd.choice([0, 14]), rnd.choice([0, 20500, 1, 1000, 2 ** 32 - 1])), odd=integer(64),
        maybe=rnd.choice([nothing, lambda: timestamp(True, "Z"), lambda: dec(rnd.randint(-10 ** 9 + 1, 10 ** 9 - 1), 9)])(), days=array(day))


def write(name, schema, records, codec, sync_interval):
    with open(name + ".avro", "wb") as f:
        fastavro.writer(f, fastavro.parse_schema(schema, named_schemas={}), [v for v, _ in records], codec=codec, sync_interval=sync_interval, sync_marker=b"0123456789abcdef")
    with open(name + ".ndjson", "w", newline="\n") as f:
        f.writelines(t + "\n" for _, t in records)


for codec in ["null", "deflate", "snappy", "bzip2", "xz", "zstandard"]:
    write("plain-" + codec, PLAIN, [plain() for _ in range(12)], codec, 3000)
    write("logical-" + codec, LOGICAL, [logical() for _ in range(12)], codec, 1000)
    write("tiny-" + codec, TINY, [record(v=integer(64), w=string()) for _ in range(2)], codec, 10)
write("empty", LOGICAL, [], "deflate", 1000)
