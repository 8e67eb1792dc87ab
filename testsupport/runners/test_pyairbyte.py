"""PyAirbyte itself reads three tables three times: everything, nothing, and only what changed."""

import json
import os
import subprocess
from pathlib import Path

import airbyte
import pytest
from airbyte.caches import DuckDBCache

COLUMNS = {"items": ["id", "name"], "prices": ["region", "code", "cents"], "remarks": ["line", "n"]}
KEYS = {"items": 1, "prices": 2, "remarks": 0}  # how many of the columns, from the left

# $n tells the cases apart.
CHANGES = {
    "items": "INSERT INTO items VALUES (20 + $n, 'new', now()); UPDATE items SET name = 'changed' WHERE id = $n; DELETE FROM items WHERE id = 10 + $n",
    "prices": "UPDATE prices SET cents = NULL WHERE code = 'c$n'",
    "remarks": "INSERT INTO remarks VALUES ('new', $n), ('new', $n)",
}
CHANGED_ROWS = {"items": 3, "prices": 1, "remarks": 2}


def sql(statement: str) -> list[list[str]]:
    out = subprocess.run(
        ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-F", "\t", "-P", "null=None", "-c", statement], capture_output=True, text=True, check=True
    )
    return [line.split("\t") for line in out.stdout.splitlines()]


def open_source(tables: list[str], slot: str):
    config = json.loads(Path(os.environ["CONNECTOR_CONFIG"]).read_text())
    source = airbyte.get_source(
        "source-postgres",
        local_executable=Path(os.environ["CONNECTOR_EXECUTABLE"]),
        config=config | {"advanced": {"slotName": slot}},
        install_if_missing=False,
    )
    source.check()
    assert sorted(source.get_available_streams()) == sorted(COLUMNS)
    source.select_streams(tables)
    return source


def rows(cache: DuckDBCache, table: str) -> list[list[str]]:
    """What a table amounts to: of each key the newest version, unless it is a deletion. Versions sort by their place in the log."""
    columns = ", ".join(f"CAST({c} AS VARCHAR)" for c in COLUMNS[table])
    versions = []
    for found in cache.run_sql_query(f"SELECT {columns}, CAST(_meta AS VARCHAR) FROM raw.{table}"):
        *values, meta = dict(found).values()
        versions.append((json.loads(meta), [str(v) for v in values]))
    versions.sort(key=lambda version: version[0]["source"]["loc"])
    newest = {}
    for i, (meta, values) in enumerate(versions):
        key = tuple(values[: KEYS[table]]) or i
        newest[key] = None if meta["op"] == "d" else values
    return sorted(v for v in newest.values() if v is not None)


def server(table: str) -> list[list[str]]:
    return sorted(sql(f"SELECT {', '.join(COLUMNS[table])} FROM {table}"))


# Left to itself, PyAirbyte merges by key, and appends to a stream that has a cursor only.
@pytest.mark.parametrize(("n", "strategy", "tables"), [(1, "append", ["items", "prices", "remarks"]), (2, "auto", ["items", "prices", "remarks"])])
def test_second_read_brings_only_what_changed(n, strategy, tables, tmp_path):
    source = open_source(tables, f"pyairbyte_{strategy}")
    cache = DuckDBCache(db_path=tmp_path / "cache.duckdb", schema_name="raw")

    def read() -> int:
        return source.read(cache=cache, write_strategy=strategy).processed_records

    assert read() == sum(len(server(table)) for table in tables)
    for table in tables:
        assert rows(cache, table) == server(table), table

    assert read() == 0

    for table in tables:
        sql(CHANGES[table].replace("$n", str(n)))
    assert read() == sum(CHANGED_ROWS[table] for table in tables)
    for table in tables:
        assert rows(cache, table) == server(table), table
