#!/usr/bin/env python3
"""An Airbyte source that is not ours: Python's standard library, and what the protocol says.

It holds what a file says, and talks as sources and runners are seen to: every optional key is there and null, counts are floats, lines that are no messages
stand in between. A stream that is "passed_on" looks as PyAirbyte hands a cached one to a destination: records without namespace, times in seconds, fields of its
own in the data, and a key twice in STATEs.

The file is {"streams":[{"name","namespace","key":[["id"]],"cursor":"version","statuses":true,"passed_on":false,"json_schema":{…},"records":[{…}]}]}, records in the
order of their cursor, an integer; without one a stream is always read whole.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
import time

SPECIFICATION = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "title": "Foreign source",
    "required": ["holds"],
    "additionalProperties": True,
    "properties": {
        "holds": {"type": "string", "title": "File with the streams and their records", "order": 0},
        "state_every": {"type": "integer", "title": "Records between two STATEs", "default": 3, "order": 1},
        "pause": {"type": "number", "title": "Seconds to wait after each STATE", "default": 0, "order": 2},
        "token": {"type": "string", "title": "A secret that nobody needs", "airbyte_secret": True, "order": 3},
    },
}
BODIES = ["log", "spec", "connectionStatus", "catalog", "record", "state", "trace", "control", "destination_catalog"]


class Output:
    """Lines on stdout, each written at once."""

    def __init__(self):
        self.lines = 0

    def line(self, text: str) -> None:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
        self.lines += 1

    def message(self, kind: str, **body) -> None:
        self.line(json.dumps({"type": kind} | dict.fromkeys(BODIES) | body, ensure_ascii=False))


def milliseconds() -> float:
    return float(int(time.time() * 1000))


class ReadError(Exception):
    """What a user is told."""


class Stream:
    """A stream of the file while it is read."""

    def __init__(self, held: dict, config: dict, out: Output):
        self.held, self.out = held, out
        self.every, self.pause = config.get("state_every") or 3, config.get("pause") or 0
        self.passed_on, self.counted = held.get("passed_on", False), 0
        self.descriptor = {"name": held["name"], "namespace": held.get("namespace")}
        self.own_name = self.descriptor | ({"namespace": None} if self.passed_on else {})  # what PyAirbyte leaves of it

    def status(self, status: str) -> None:
        if self.held.get("statuses", True):
            told = {"stream_descriptor": self.own_name, "status": status, "reasons": None}
            trace = {"type": "STREAM_STATUS", "emitted_at": milliseconds(), "stream_status": told, "error": None, "estimate": None, "analytics": None}
            self.out.message("TRACE", trace=trace)

    def record(self, data: dict) -> None:
        emitted = int(milliseconds())
        if self.passed_on:
            emitted //= 1000
            data = data | {"_airbyte_raw_id": f"01J{self.out.lines}", "_airbyte_extracted_at": "2026-03-01T00:00:00", "_airbyte_meta": {}}
        record = {"namespace": self.own_name["namespace"], "stream": self.held["name"], "data": data, "emitted_at": emitted, "meta": None, "file_reference": None}
        self.out.message("RECORD", record=record)
        self.counted += 1

    def state(self, position: dict) -> None:
        state = {
            "type": "STREAM", "stream": {"stream_descriptor": self.descriptor, "stream_state": position}, "global": None, "data": None,
            "sourceStats": {"recordCount": float(self.counted), "rejectedRecordCount": None}, "destinationStats": None,
        }
        text = json.dumps({"type": "STATE"} | dict.fromkeys(BODIES) | {"state": state}, ensure_ascii=False)
        if self.passed_on:
            text = text.replace('"global": null', '"global_": null, "global_": null')
        self.counted = 0
        self.out.line(text)
        time.sleep(self.pause)

    def read(self, incremental: bool, given: dict | None) -> None:
        cursor = self.held.get("cursor") if incremental else None
        position = (given or {}) if cursor else {}
        after = position.get("after", -1)
        records = [r for r in self.held["records"] if not cursor or r[cursor] > after]
        self.status("STARTED")
        for i, data in enumerate(records):
            if i == 0:
                self.status("RUNNING")
            if i % 5 == 1:
                self.out.line("WARNING: this is a line that some library prints, and no message")
            if i % 7 == 2:
                self.out.line('{"level": "info", "text": "an object that is no message, either"}')
            self.record(data)
            if cursor and (i + 1) % self.every == 0:
                position = {"after": data[cursor]}
                self.state(position)
        if cursor:
            position = {"after": max([after] + [r[cursor] for r in records])}
        self.state(position or {"done": True})
        self.status("COMPLETE")


def load(path: str):
    try:
        return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as e:
        raise ReadError(f"{path} cannot be read: {e}") from e


def catalog(held: list[dict]) -> dict:
    return {"streams": [
        {
            "name": s["name"], "namespace": s.get("namespace"), "json_schema": s["json_schema"],
            "supported_sync_modes": ["full_refresh", "incremental"] if s.get("cursor") else ["full_refresh"],
            "source_defined_cursor": True if s.get("cursor") else None, "default_cursor_field": [s["cursor"]] if s.get("cursor") else None,
            "source_defined_primary_key": s.get("key"), "is_resumable": None, "is_file_based": None,
        }
        for s in held
    ]}


def given_states(path: str | None) -> dict:
    """What a runner kept, by stream. It may be nothing, in several spellings."""
    text = pathlib.Path(path).read_text(encoding="utf-8").strip() if path else ""
    states = {}
    for message in (json.loads(text) if text else None) or []:
        stream = message["stream"]
        name = stream["stream_descriptor"]
        states[name["name"], name.get("namespace")] = stream.get("stream_state")
    return states


def read(args, config: dict, held: list[dict], out: Output) -> int:
    states = given_states(args.state)
    streams = {(s["name"], s.get("namespace")): s for s in held}
    out.message("LOG", log={"level": "INFO", "message": f"reading, state: {json.dumps(sorted(n for n, _ in states))}", "stack_trace": None})
    missing = False
    for configured in load(args.catalog)["streams"]:
        name = configured["stream"]["name"], configured["stream"].get("namespace")
        if name not in streams:
            missing = True
            error = {"message": f"There is no stream {name[0]}.", "internal_message": None, "stack_trace": None, "failure_type": "config_error", "stream_descriptor": None}
            out.message("TRACE", trace={"type": "ERROR", "emitted_at": milliseconds(), "error": error, "stream_status": None, "estimate": None, "analytics": None})
            continue
        Stream(streams[name], config, out).read(configured["sync_mode"] == "incremental", states.get(name))
    return 1 if missing else 0


def main() -> int:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("command", choices=["spec", "check", "discover", "read"])
    for flag in ["--config", "--catalog", "--state"]:
        parser.add_argument(flag)
    args, _ = parser.parse_known_args()
    sys.stdout.reconfigure(encoding="utf-8")
    out = Output()
    if args.command == "spec":
        out.message("SPEC", spec={
            "connectionSpecification": SPECIFICATION, "documentationUrl": None, "changelogUrl": None, "supportsIncremental": True,
            "supportsNormalization": False, "supportsDBT": False, "supported_destination_sync_modes": None, "authSpecification": None,
            "advanced_auth": None, "protocol_version": None,
        })
        return 0
    try:
        config = load(args.config)
        if "holds" not in config:
            raise ReadError("The config names no file: set holds.")
        held = load(config["holds"])["streams"]
        if args.command == "read":
            return read(args, config, held, out)
    except ReadError as e:
        if args.command == "check":
            out.message("CONNECTION_STATUS", connectionStatus={"status": "FAILED", "message": str(e)})
            return 0
        error = {"message": str(e), "internal_message": None, "stack_trace": None, "failure_type": "config_error", "stream_descriptor": None}
        out.message("TRACE", trace={"type": "ERROR", "emitted_at": milliseconds(), "error": error})
        return 1
    if args.command == "check":
        out.message("CONNECTION_STATUS", connectionStatus={"status": "SUCCEEDED", "message": None})
    else:
        out.message("CATALOG", catalog=catalog(held))
    return 0


if __name__ == "__main__":
    sys.exit(main())
