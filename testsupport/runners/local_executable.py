"""Lets airbyte-cdk's standard tests drive any executable that speaks the Airbyte protocol.

Their only way to a connector is entrypoint_wrapper._run_command, which runs a Python object in the test's own process. Here it runs a process instead.
"""

import json
import os
import subprocess

import pytest
from airbyte_cdk.test import entrypoint_wrapper
from airbyte_cdk.test.standard_tests.source_base import SourceTestSuiteBase

TIMEOUT_SECONDS = 120


class Executable:
    """Stands for the connector. The test kit takes whatever has an attribute named spec."""

    path = os.environ["CONNECTOR_EXECUTABLE"]

    def spec(self, logger):
        raise AssertionError("the connector is a process, nobody calls it")


def is_error(message: dict) -> bool:
    return message["type"] == "TRACE" and message["trace"]["type"] == "ERROR"


def run_process(source, args, expecting_exception=None, *, expected_outcome=None):
    """Runs a command. A failure must show twice, as a TRACE ERROR and as the exit code."""
    ended = subprocess.run(
        [source.path, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False
    )
    lines = ended.stdout.splitlines()
    errors = [line for line in lines if is_error(json.loads(line))]
    if bool(errors) != (ended.returncode != 0):
        pytest.fail(f"{args[0]}: exit code {ended.returncode} with {len(errors)} TRACE ERRORs; stderr: {ended.stderr[-2000:]}")
    return entrypoint_wrapper.EntrypointOutput(messages=lines)


class ExecutableSourceTests(SourceTestSuiteBase):
    """The standard tests of a source. A subclass lies beside an acceptance-test-config.yml."""

    @pytest.fixture(autouse=True)
    def _processes(self, monkeypatch):
        monkeypatch.setattr(entrypoint_wrapper, "_run_command", run_process)

    @classmethod
    def create_connector(cls, scenario):
        return Executable()
