#!/usr/bin/env bash
# run.sh: our sources and materializations under PyAirbyte, and sources under airbyte-cdk's standard tests, against a private PostgreSQL. Needs Python 3.11
# or newer; its packages come from PyPI, at exact versions, into $CONNECTORS_CACHE.
set -euo pipefail
umask 022

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
cache=${CONNECTORS_CACHE:-/var/cache/estuary-connectors}

install_packages() {
	local wanted venv=$1
	wanted=$(sha256sum <"$here/requirements.txt" | cut -c1-16)
	if [ -e "$venv/.complete-$wanted" ]; then return; fi
	rm -rf "$venv"
	python3 -m venv "$venv" || { echo "run.sh: no Python environment: apt-get install python3-venv" >&2; exit 1; }
	"$venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$here/requirements.txt"
	touch "$venv/.complete-$wanted"
}

# run_tests runs beside the server, which libpq's variables name.
run_tests() {
	local venv=$1 work=$2 binary=$3 destination=$4
	cp "$here"/*.py "$work"
	cp -r "$here/source-postgres" "$work"
	python3 - "$work/source-postgres" <<-'PYTHON'
		import json, os, pathlib, sys

		config = {
		    "address": f"{os.environ['PGHOST']}:{os.environ['PGPORT']}", "user": os.environ["PGUSER"],
		    "password": os.environ["PGPASSWORD"], "database": os.environ["PGDATABASE"],
		}
		folder = pathlib.Path(sys.argv[1])
		(folder / "config.json").write_text(json.dumps(config))
		(folder / "wrong_password.json").write_text(json.dumps({**config, "password": "not-the-password"}))
	PYTHON
	# PyAirbyte asks its registry, and leaves caches and logs where it stands, unless each of these is set. The standard tests leave each config in TMPDIR.
	export AIRBYTE_OFFLINE_MODE=1 DO_NOT_TRACK=1
	export AIRBYTE_PROJECT_DIR="$work/airbyte" AIRBYTE_CACHE_ROOT="$work/airbyte/cache" AIRBYTE_TEMP_DIR="$work/airbyte/tmp" AIRBYTE_LOGGING_ROOT="$work/airbyte/logs"
	export DESTINATION_EXECUTABLE="$destination" FOREIGN_SOURCE="$here/../foreign/source.py"
	export TMPDIR="$work/tmp" CONNECTOR_EXECUTABLE="$binary" CONNECTOR_CONFIG="$work/source-postgres/config.json" PYTHONPATH="$work" PYTHONDONTWRITEBYTECODE=1
	mkdir -p "$TMPDIR" "$AIRBYTE_TEMP_DIR"
	cd "$work"
	# Image tests run wherever a docker command is, and one of them asks the registry.
	"$venv/bin/python" -m pytest -p no:cacheprovider -q -W ignore::DeprecationWarning -W ignore::FutureWarning -m "not image_tests" test_pyairbyte.py test_destination.py source-postgres
}

if [ "${1:-}" = --beside-the-server ]; then
	run_tests "$2" "$3" "$4" "$5"
	exit
fi

venv=$cache/runners
mkdir -p "$cache" "$root/bin"
# Two runs at once wait for each other here, and the second finds everything installed.
(
	flock 9
	install_packages "$venv"
) 9>"$cache/.runners.lock"
for name in source-postgres materialize-postgres; do
	(cd "$root" && GOWORK=off CGO_ENABLED=0 go build -trimpath -buildvcs=false -o "bin/.runners-$name" "./$name")
done
(cd "$here/.." && go build -buildvcs=false -o "$root/bin/.withpostgres" ./cmd/withpostgres)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$root/bin/.withpostgres" -sql "$here/tables.sql" "$here/run.sh" --beside-the-server "$venv" "$work" \
	"${RUNNERS_BINARY:-$root/bin/.runners-source-postgres}" "${RUNNERS_DESTINATION:-$root/bin/.runners-materialize-postgres}"
