# Everything that a person or a machine does with this repository. `make help` lists it; the hosted workflows call these targets and nothing else.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules --no-print-directory

# Servers and tools live here; testsupport/setup.sh fills it.
export CONNECTORS_CACHE ?= /var/cache/estuary-connectors
TOOLS := $(CONNECTORS_CACHE)/bin
# Findings are remembered with the paths of the checkout that they were made in, so another one must not see them.
export GOLANGCI_LINT_CACHE ?= $(CURDIR)/bin/.lint-cache

# A clone that another user owns has no usable VCS stamp, and a build must not fail for it. The version is stamped by VERSION.
export GOFLAGS := $(strip $(filter-out -buildvcs=%,$(GOFLAGS)) -buildvcs=false)

MODULE  := github.com/estuary/connectors
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X main.version=$(VERSION)

# Product binaries, found by their main.go.
MAINS := $(sort $(patsubst %/main.go,./%,$(wildcard source-*/main.go materialize-*/main.go pipeline/main.go parser/cmd/*/main.go)))

# Packages that share memory between goroutines are tested with the race detector; elsewhere it costs time and finds nothing.
RACE_DIRS := $(wildcard protocol/source protocol/materialize internal/pgwire internal/transact internal/blob/s3blob parser/internal/compress source-postgres)
empty :=
space := $(empty) $(empty)
# Of internal/filesource the engine alone: its sweep below is one goroutine's.
RACE_PATTERN := ^$(MODULE)/(($(subst $(space),|,$(RACE_DIRS)))(/|$$)|internal/filesource$$)
# Its longest suites do a quarter of their cases under the race detector, so they are run whole besides.
TWICE := $(MODULE)/internal/filesource

TESTFLAGS ?=
TESTTIMEOUT ?= 20m
FUZZTIME ?= 30s
SUITE ?= .
SEEDS ?= 200

.PHONY: help
help: ## list the targets
	@echo 'make TARGET [NAME=value]; the first two to try: make demo, make test'
	@grep -hE '^[a-zA-Z%-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | while IFS=$$'\t' read -r target what; do printf '  %-16s %s\n' "$$target" "$$what"; done

.PHONY: setup
setup: ## install what the tests need (servers, linters); silent when nothing is missing
	@testsupport/setup.sh

.PHONY: build
build: ## build every product binary into bin/, without the workspace
	@mkdir -p bin
	@test -n '$(MAINS)' || { echo 'build: no folder with a main.go'; exit 1; }
	GOWORK=off CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/ $(MAINS)

.PHONY: fmt
fmt: setup ## format all Go files
	$(TOOLS)/gofumpt -l -w .

.PHONY: fmt-check
fmt-check: setup ## fail when a Go file is not formatted
	@bad=$$($(TOOLS)/gofumpt -l .); if [ -n "$$bad" ]; then printf 'not formatted, run make fmt:\n%s\n' "$$bad"; exit 1; fi

.PHONY: vet
vet: ## go vet, both modules
	GOWORK=off go vet ./...
	cd testsupport && go vet ./...

.PHONY: lint
lint: setup ## golangci-lint, both modules; .golangci.yml gives a reason for each linter
	GOWORK=off $(TOOLS)/golangci-lint run --allow-serial-runners ./...
	cd testsupport && $(TOOLS)/golangci-lint run --allow-serial-runners --config ../.golangci.yml ./...

.PHONY: generate
generate: ## write generated files: README tables, the connector index, the list in docs/testing.md
	GOWORK=off go generate ./...

# Compares the tree before and after, so that it also works with changes that are not committed yet.
TREE_STATE = { git diff --binary HEAD; git ls-files -z --others --exclude-standard | xargs -0 -r sha256sum; } | sha256sum

.PHONY: generate-check
generate-check: ## fail when a generated file is stale
	@before=$$($(TREE_STATE)); $(MAKE) generate; after=$$($(TREE_STATE)); \
	if [ "$$before" != "$$after" ]; then git --no-pager diff --stat; echo 'generated files were stale: commit what make generate wrote'; exit 1; fi

.PHONY: test
test: setup build ## all tests of both modules, two packages at a time, then the demo, whole and broken
	@command -v "$$(go env CC)" >/dev/null || { echo 'test: the race detector needs a C compiler: apt-get install gcc libc6-dev'; exit 1; }
	@failed=; begun=$$SECONDS; \
	plain="$$(GOWORK=off go list ./... | grep -vE '$(RACE_PATTERN)') $(TWICE)"; \
	raced=$$(GOWORK=off go list ./... | grep -E '$(RACE_PATTERN)'); \
	echo "test: packages with the race detector"; \
	GOWORK=off go test -race -count=1 -p 2 -timeout $(TESTTIMEOUT) $(TESTFLAGS) $$raced || failed="$$failed race"; \
	echo "test: the other packages"; \
	GOWORK=off go test -count=1 -p 2 -timeout $(TESTTIMEOUT) $(TESTFLAGS) $$plain || failed="$$failed root"; \
	echo "test: testsupport, against built binaries and real servers"; \
	(cd testsupport && go test -count=1 -p 2 -timeout $(TESTTIMEOUT) $(TESTFLAGS) ./...) || failed="$$failed testsupport"; \
	echo "test: the demo"; \
	$(MAKE) demo || failed="$$failed demo"; \
	echo "test: the demo with one value changed, which must be found"; \
	out=$$($(MAKE) demo BREAK=1 2>&1) && failed="$$failed broken-demo-passed"; \
	grep '^demo: DIFFERENT' <<<"$$out" || { echo "$$out"; failed="$$failed broken-demo-not-found"; }; \
	if [ -n "$$failed" ]; then echo "test: FAILED:$$failed ($$((SECONDS - begun)) s)"; exit 1; fi; \
	echo "test: all passed ($$((SECONDS - begun)) s)"

.PHONY: race
race: setup build ## all tests with the race detector, RACECOUNT times
	GOWORK=off go test -race -count=$(or $(RACECOUNT),1) -p 2 -timeout 60m $(TESTFLAGS) ./...
	cd testsupport && go test -race -count=$(or $(RACECOUNT),1) -p 2 -timeout 60m $(TESTFLAGS) ./...

.PHONY: test-runners
test-runners: setup build ## run our sources and materializations under PyAirbyte, and sources under airbyte-cdk's standard tests
	testsupport/runners/run.sh

.PHONY: demo
demo: ## copy a database that changes into another, kill runner, source and sink in turn, compare; BREAK=1 must find a changed value
	@testsupport/setup.sh --demo
	@mkdir -p bin
	@GOWORK=off CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/ ./source-postgres ./materialize-postgres ./pipeline
	@cd testsupport && go build -o ../bin/.demo ./cmd/demo
	@BREAK=$(BREAK) bin/.demo

.PHONY: stress
stress: setup build ## seeded suites at length: SUITE=name (a part of the test's name) SEEDS=n
	STRESS_SEEDS=$(SEEDS) GOWORK=off go test -count=1 -p 1 -timeout 0 -v -run '(?i)$(SUITE)' ./...
	cd testsupport && STRESS_SEEDS=$(SEEDS) go test -count=1 -p 1 -timeout 0 -v -run '(?i)$(SUITE)' ./...

.PHONY: bench
bench: build ## measure beside the public references and write docs/benchmarks.md
	@testsupport/setup.sh --bench
	cd testsupport && go run ./cmd/bench

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME each
	@for pkg in $$(GOWORK=off go list ./...); do \
		for name in $$(GOWORK=off go test -list '^Fuzz' "$$pkg" | grep '^Fuzz' || true); do \
			echo "fuzz: $$pkg $$name"; \
			GOWORK=off go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x "$$pkg"; \
		done; \
	done

.PHONY: golden
golden: ## rewrite the golden files of the packages that have some
	@pkgs=$$(GOWORK=off go list -f '{{.ImportPath}} {{join .TestImports " "}} {{join .XTestImports " "}}' ./... | awk '/\/internal\/golden( |$$)/ && $$1 !~ /\/internal\/golden$$/ {print $$1}'); \
	if [ -z "$$pkgs" ]; then echo 'golden: no package imports internal/golden'; else GOWORK=off go test -count=1 $$pkgs -update; git --no-pager diff --stat; fi

.PHONY: cover
cover: setup ## test coverage of the root module, per package and in all; the profile is bin/cover.out
	@mkdir -p bin
	GOWORK=off go test -count=1 -p 2 -timeout $(TESTTIMEOUT) -coverprofile=bin/cover.out ./...
	@go tool cover -func=bin/cover.out | tail -1

.PHONY: vuln
vuln: ## govulncheck (needs the network) against the reviewed list in .github/vuln-reviewed.txt
	@report=$$(GOWORK=off go run golang.org/x/vuln/cmd/govulncheck@v1.9.0 ./...) && status=0 || status=$$?; echo "$$report"; \
	if [ $$status -ne 0 ] && [ $$status -ne 3 ]; then exit $$status; fi; \
	new=$$(grep -oE '^Vulnerability #[0-9]+: GO-[0-9]+-[0-9]+' <<<"$$report" | grep -oE 'GO-[0-9]+-[0-9]+' | grep -vxFf <(grep -oE '^GO-[0-9-]+' .github/vuln-reviewed.txt) || true); \
	if [ -n "$$new" ]; then printf 'not reviewed yet:\n%s\n' "$$new"; exit 1; fi

docker-%: ## build the image of one connector: make docker-source-postgres
	docker build $(DOCKERFLAGS) --build-arg VERSION=$(VERSION) -f $*/Dockerfile -t ghcr.io/estuary/$*:$(or $(TAG),local) .

.PHONY: ci
ci: fmt-check vet lint generate-check build test ## what .ci/run and the hosted workflow run
	@echo 'ci: passed'

.PHONY: clean
clean: ## remove what was built
	rm -rf bin
