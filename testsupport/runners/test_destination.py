"""PyAirbyte writes into materialize-postgres, straight from a source and from its own cache, and keeps the states that come back."""

import json
import os
import subprocess
from pathlib import Path

import airbyte
import pytest
from airbyte.caches import DuckDBCache

# What is read; each test has a schema of its own, in a database that the other files' tests do not see.
TABLES = """
CREATE SCHEMA {schema};
CREATE TABLE {schema}.parts (id int PRIMARY KEY, name text, price numeric(10,2), tags text[], info jsonb, made timestamptz NOT NULL);
INSERT INTO {schema}.parts SELECT i, 'part ' || i, i + 0.25, ARRAY['a', 'b"c'], jsonb_build_object('n', i), '2026-03-01 12:00:00+00' FROM generate_series(1, 20) i;
CREATE TABLE {schema}.visits (place text, n int);
ALTER TABLE {schema}.visits REPLICA IDENTITY FULL;
INSERT INTO {schema}.visits SELECT 'place ' || i % 3, i FROM generate_series(1, 20) i;
"""
CHANGES = """
INSERT INTO {schema}.parts VALUES (21, 'new', NULL, NULL, NULL, now());
UPDATE {schema}.parts SET name = 'changed', info = NULL WHERE id = 1;
DELETE FROM {schema}.parts WHERE id = 2;
INSERT INTO {schema}.visits VALUES ('new', 21);
"""
PARTS = "SELECT id, name, price, made FROM {schema}.parts ORDER BY id"
VISITS = "SELECT place, n FROM {schema}.visits ORDER BY n"


def run(database: str, statement: str) -> list[str]:
    out = subprocess.run(["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-d", database, "-c", statement], capture_output=True, text=True, check=False)
    assert out.returncode == 0, out.stderr
    return out.stdout.splitlines()


def shop(statement: str) -> list[str]:
    return run("shop", statement)


def lake(statement: str) -> list[str]:
    return run("lake", statement)


@pytest.fixture(scope="module", autouse=True)
def _databases():
    for name in ["shop", "lake"]:
        run("postgres", f"CREATE DATABASE {name}")


def config_of(database: str) -> dict:
    return json.loads(Path(os.environ["CONNECTOR_CONFIG"]).read_text()) | {"database": database}


def open_destination():
    destination = airbyte.get_destination(
        "materialize-postgres", local_executable=Path(os.environ["DESTINATION_EXECUTABLE"]), config=config_of("lake") | {"hardDelete": True}, install_if_missing=False
    )
    destination.check()
    return destination


def open_source(schema: str, tables: list[str]):
    source = airbyte.get_source(
        "source-postgres",
        local_executable=Path(os.environ["CONNECTOR_EXECUTABLE"]),
        config=config_of("shop") | {"advanced": {"slotName": schema}},
        install_if_missing=False,
    )
    shop(TABLES.format(schema=schema))
    source.check()
    source.select_streams([f"{schema}.{table}" for table in tables])
    return source


def equal(schema: str, query: str) -> None:
    assert lake(query.format(schema=schema)) == shop(query.format(schema=schema))


def test_destination_refuses_a_wrong_password():
    destination = open_destination()
    destination.set_config(destination.get_config() | {"password": "not-the-password"})
    with pytest.raises(Exception, match="password"):
        destination.check()


def test_direct_by_key(tmp_path):
    source, destination = open_source("direct_keys", ["parts"]), open_destination()
    states = DuckDBCache(db_path=tmp_path / "states.duckdb")

    def write() -> int:
        return destination.write(source, cache=False, state_cache=states, write_strategy="auto").processed_records

    assert write() == 20
    equal("direct_keys", PARTS)
    # The states that came back were kept, so nothing is read again; what changed is.
    assert write() == 0
    shop(CHANGES.format(schema="direct_keys"))
    assert write() == 3
    equal("direct_keys", PARTS)


def test_direct_append(tmp_path):
    source, destination = open_source("direct_rows", ["visits"]), open_destination()
    states = DuckDBCache(db_path=tmp_path / "states.duckdb")

    def write() -> int:
        return destination.write(source, cache=False, state_cache=states, write_strategy="append").processed_records

    assert write() == 20
    equal("direct_rows", VISITS)
    shop(CHANGES.format(schema="direct_rows"))
    assert write() == 1
    equal("direct_rows", VISITS)


def test_from_the_cache(tmp_path):
    source, destination = open_source("cached", ["parts", "visits"]), open_destination()
    cache = DuckDBCache(db_path=tmp_path / "cache.duckdb", schema_name="raw")
    read = source.read(cache=cache, write_strategy="append")
    destination.write(read, write_strategy="append")
    assert lake("SELECT count(*), count(DISTINCT n) FROM cached.visits") == ["20|20"]
    equal("cached", VISITS)
    equal("cached", PARTS)


def test_foreign_source_replaces(tmp_path):
    """A source that is not ours either: what it holds replaces what is there."""
    holds = tmp_path / "holds.json"

    def hold(word: str, last: int):
        schema = {"type": "object", "properties": {"id": {"type": "integer"}, "word": {"type": ["null", "string"]}, "rate": {"type": "number"}}}
        records = [{"id": i, "word": f"{word} {i}", "rate": i / 4} for i in range(1, last + 1)]
        holds.write_text(json.dumps({"streams": [{"name": "rates", "namespace": "foreign_rates", "key": [["id"]], "json_schema": schema, "records": records}]}))

    hold("first", 9)
    source = airbyte.get_source(
        "source-foreign", local_executable=Path(os.environ["FOREIGN_SOURCE"]), config={"holds": str(holds)}, install_if_missing=False
    )
    source.check()
    source.select_all_streams()
    destination = open_destination()
    for word, last in [("first", 9), ("second", 4)]:
        hold(word, last)
        destination.write(source, cache=False, state_cache=False, write_strategy="replace")
        assert lake("SELECT id, word, rate FROM foreign_rates.rates ORDER BY id") == [f"{i}|{word} {i}|{i / 4:g}" for i in range(1, last + 1)]
