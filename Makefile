# treereduce: make alone compiles, and explains itself.

GO      ?= go
WIDTH   ?= 3
HEIGHT  ?= 3
CONNECT ?= 3
DATA    ?= all_data
RUNNER  ?= inline
# Of proj2-hadoop: in HDFS, in the user's folder there if it does not begin with /.
DATA_HADOOP ?= all_data
# Go on with what is in DATA: RESUME=1. Replace it, whatever it took: OVERWRITE=1.
RESUME    ?=
OVERWRITE ?=
# Of pipe: a folder of its own.
PIPE_DATA ?= pipe_data
# How long make fuzz gives each parser.
FUZZTIME ?= 30s

# All is built in one way, so that nothing is built twice.
export CGO_ENABLED := 0
export GOFLAGS     += -trimpath

BUILD       := $(GO) build -ldflags='-s -w'
STEPS       := init possible solve final create mark ties
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

# A misspelled variable, as in make WITDH=4, has no effect: the warning names it.
USED   := GO WIDTH HEIGHT CONNECT DATA RUNNER DATA_HADOOP RESUME OVERWRITE PIPE_DATA FUZZTIME BENCH LARGE COUNT CLUSTER FREE_PORTS GOFLAGS
UNUSED := $(strip $(filter-out $(USED),$(foreach v,$(.VARIABLES),$(if $(filter command line,$(origin $v)),$v))))
$(if $(UNUSED),$(warning $(UNUSED): not used here; the variables are $(USED)))

.DEFAULT_GOAL := all
.PHONY: all pipe help build aws build-emr build-cluster proj2 proj2-hadoop test test-long cluster-up cluster-down cluster-status test-hadoop test-hadoop-long emr-venv test-emr test-emr-hadoop web-tools test-web test-python race bench bench-hadoop fuzz lint fmt release clean

all: build help

help: ## this list
	@echo 'make TARGET [VARIABLE=VALUE …]'
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20
	@echo 'proj2 takes WIDTH=$(WIDTH) HEIGHT=$(HEIGHT) CONNECT=$(CONNECT) DATA=$(DATA) RUNNER=$(RUNNER); RESUME=1 goes on, OVERWRITE=1 replaces what took long'
	@echo 'pipe takes the board and PIPE_DATA=$(PIPE_DATA)'
	@echo 'proj2-hadoop takes the board and DATA_HADOOP=$(DATA_HADOOP)'

build: ## driver, play, mapper, reducer and every step under its own name, in bin/
	@$(BUILD) -o bin/ ./cmd/driver ./cmd/play ./cmd/mapper ./cmd/reducer
	@$(if $(filter-out linux,$(shell $(GO) env GOOS)),GOOS=linux $(BUILD) -o bin/linux/ ./cmd/mapper ./cmd/reducer)
	@for step in $(STEPS); do \
		ln -f bin/mapper bin/$${step}_map && ln -f bin/reducer bin/$${step}_reduce || exit 1; \
	done

aws: build ## driver-aws as well, in bin/: driver with S3 and Amazon EMR
	@$(BUILD) -o bin/ ./cmd/driver-aws

build-emr: aws ## aws, and what the nodes of Amazon EMR run, in bin/linux-amd64 and bin/linux-arm64
	@for arch in amd64 arm64; do \
		GOOS=linux GOARCH=$$arch $(BUILD) -o bin/linux-$$arch/ ./cmd/driver-aws ./cmd/mapper ./cmd/reducer || exit 1; \
	done

yes  = $(filter-out 0 no,$($1))
MODE = $(if $(call yes,RESUME),--resume,$(if $(call yes,OVERWRITE),--overwrite,--replace))

proj2: build ## solve a board, as in the course: make proj2 WIDTH=4 HEIGHT=5 CONNECT=3
	@bin/driver solve connectn --width $(WIDTH) --height $(HEIGHT) --connect $(CONNECT) \
		--data '$(DATA)' --runner $(RUNNER) $(MODE)

pipe: build ## the same job by job, cat | map | sort | reduce, each command printed
	@scripts/pipe.sh $(WIDTH) $(HEIGHT) $(CONNECT) '$(PIPE_DATA)'

proj2-hadoop: build ## the same with the data in HDFS and big tiers on the cluster
	@bin/driver solve connectn --width $(WIDTH) --height $(HEIGHT) --connect $(CONNECT) \
		--data '$(DATA_HADOOP)' --runner hadoop $(MODE)

# Tests make and sync thousands of small files: in memory, if they fit
# and programs may run there.
IN_MEMORY := $(shell grep -qs ' /dev/shm tmpfs [^ ]*rw' /proc/mounts && ! grep -qs ' /dev/shm tmpfs [^ ]*noexec' /proc/mounts && \
	[ "$$(df -Pk /dev/shm | awk 'NR == 2 { print $$4 }')" -gt 4000000 ] && echo TMPDIR=/dev/shm)

# make lint vets. The time limit is for slow machines.
test: build ## all tests that need no cluster, but the long ones (two minutes)
	$(IN_MEMORY) $(GO) test -vet=off -timeout 30m ./...

test-long: build ## the long ones: boards of up to 16 squares against brute force, … (some minutes)
	$(IN_MEMORY) TREEREDUCE_LONG=1 $(GO) test -vet=off -count=1 -timeout 2h -run '^TestLong' \
		$$(grep -rl '^func TestLong' --include='*_test.go' . | xargs grep -LE '^//go:build (hadoop|emr)' | xargs -n1 dirname | sort -u)

CLUSTER ?= build/cluster

# As root on Debian it installs Java and Maven, which downloads Hadoop.
build-cluster:
	@$(GO) build -o bin/ ./cmd/cluster
	@{ command -v java && command -v mvn; } >/dev/null || [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null || { apt-get update -q && \
		DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends default-jre-headless maven; } >&2

cluster-up: build-cluster ## a real Hadoop on this machine, in CLUSTER=build/cluster; FREE_PORTS=1 where a port is taken
	@bin/cluster up --dir $(CLUSTER) $(if $(FREE_PORTS),--free-ports)
	@ln -sfn $(abspath $(CLUSTER))/bin/hadoop bin/hadoop

cluster-down: build-cluster ## stop it; its data stays
	@bin/cluster down --dir $(CLUSTER)

cluster-status: build-cluster ## what of it runs, and where its pages are
	@bin/cluster status --dir $(CLUSTER)

# The names of tests with tags begin with TestHadoop, TestEMR and TestMoto. The tests of one
# package run at a time. They wait most of the time, so several tests of it run in parallel.
TAGGED := $(GO) test -vet=off -count=1 -p 1 -parallel 4 -timeout 3h

# The packages share a cluster, which the first test starts. Its logs are kept after a failure.
ON_CLUSTER := set -e; work=$$(mktemp -d); export TREEREDUCE_TEST_CLUSTER=$$work/cluster; trap 'exit 130' INT TERM; \
	trap 'code=$$?; bin/cluster down --dir $$work/cluster; [ $$code != 0 ] || rm -rf $$work; exit $$code' EXIT; set -x; $(TAGGED)

test-hadoop: build build-cluster ## tests on a real cluster, but the long ones (Java, Maven; make cluster-down first)
	@$(ON_CLUSTER) -tags hadoop -run '^TestHadoop' ./hadoop/... ./internal/engine/runner/streaming ./cli/driver ./cmd/cluster

test-hadoop-long: build build-cluster ## the long ones: all jobs with three reducers, passes as text (a quarter of an hour)
	@export TREEREDUCE_LONG=1; $(ON_CLUSTER) -tags hadoop -run '^TestLongHadoop$$' ./internal/engine/runner/streaming

# moto, botocore and the AWS command line. The last file marks the environment as complete.
VENV := build/emr-venv
$(VENV)/requirements.txt: internal/testing/emrtest/requirements.txt
	@rm -rf $(VENV) && python3 -m venv --without-pip $(VENV) # Debian's Python has no pip for it
	@python3 -m pip --python $(VENV)/bin/python install --quiet --no-deps --no-compile --disable-pip-version-check -r $<
	@cp $< $@

emr-venv: $(VENV)/requirements.txt ## what the tests of Amazon EMR take from PyPI, in build/emr-venv

# The tests do not connect to Amazon.
test-emr: aws emr-venv ## tests on an Amazon EMR and an S3 of our own, without Hadoop (two minutes; Python)
	$(TAGGED) -tags emr -run '^TestMoto' $$(grep -rl '^//go:build emr' --include='*_test.go' . | xargs -n1 dirname | sort -u)

test-emr-hadoop: aws build-cluster emr-venv ## the same with its steps on a real cluster (Java, Maven, Python; make cluster-down first)
	@$(ON_CLUSTER) -tags emr -run '^TestEMR$$' ./internal/testing/emrtest

PYTHON_VENV := build/python-venv
$(PYTHON_VENV)/requirements.txt: python/requirements.txt
	@rm -rf $(PYTHON_VENV) && python3 -m venv --without-pip $(PYTHON_VENV)
	@python3 -m pip --python $(PYTHON_VENV)/bin/python install --quiet --no-deps --no-compile --disable-pip-version-check -r $<
	@cp $< $@

test-python: build $(PYTHON_VENV)/requirements.txt ## test and type-check the Python package (a minute; Python)
	cd python && ../$(PYTHON_VENV)/bin/python -m pytest -q && ../$(PYTHON_VENV)/bin/python -m mypy

# Chromium and axe-core. The tests that use them are a module of their own.
AXE := build/axe/node_modules/axe-core/axe.min.js
$(AXE):
	@npm install --prefix build/axe --no-save --no-audit --no-fund --ignore-scripts axe-core@4.14.1

web-tools: $(AXE)
	@command -v chromium-headless-shell >/dev/null || { apt-get update && \
		DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends chromium-headless-shell; }

test-web: build web-tools ## tests of the pages of play web in Chromium; pictures in build/screenshots (two minutes; npm)
	cd internal/testing/browser && $(GO) test -count=1 -timeout 10m .

# The tests in cmd are left out: the programs that they run are built without the detector.
race: ## the tests of packages with goroutines, with the race detector (needs a C compiler; some minutes)
	$(IN_MEMORY) CGO_ENABLED=1 $(GO) test -vet=off -race -short -timeout 30m \
		$$(grep -rlE --include='*.go' '\<go (func|[a-z.]+\()|\<(sync|errgroup|parallel)\.' . | grep -v '^./cmd' | xargs -n1 dirname | sort -u)

# BENCH is what scripts/bench.sh measures: search, sync, network, mancala, plan, …
bench: build ## the figures of docs/benchmarks.md (ten minutes; LARGE=1 adds 6×5, BENCH=… is another part)
	@$(if $(call yes,LARGE),TREEREDUCE_LONG=1) GO='$(GO)' scripts/bench.sh $(BENCH)

bench-hadoop: build ## the figures of a cluster, docs/hadoop.md (LARGE=1 adds 5×5 and passes: half an hour)
	@$(if $(call yes,LARGE),TREEREDUCE_LONG=1) GO='$(GO)' COUNT=$${COUNT:-3} scripts/bench.sh $(or $(BENCH),hadoop)

fuzz: ## every parser, FUZZTIME=30s each
	@$(GO) list -f '{{if .TestGoFiles}}{{.Dir}}{{end}}{{if .XTestGoFiles}} {{.Dir}}{{end}}' ./... | tr ' ' '\n' | sort -u | grep . | \
	while read -r dir; do \
		for f in $$(grep -hos '^func Fuzz[A-Za-z0-9_]*' "$$dir"/*_test.go | sed 's/func //'); do \
			echo "$$dir: $$f"; $(GO) test "$$dir" -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) || exit 1; \
		done; \
	done

lint: ## gofmt, go vet, staticcheck
	@test -z "$$(gofmt -l .)" || { echo 'not formatted:'; gofmt -l .; exit 1; }
	$(GO) vet -tags hadoop,emr ./...
	$(GO) run $(STATICCHECK) -tags hadoop,emr ./...
	cd internal/testing/browser && $(GO) vet . && $(GO) run $(STATICCHECK) .

fmt: ## format all code
	gofmt -w .

release: ## archives of the programs for Linux and macOS, with SHA256SUMS, in build/release
	@scripts/release.sh build/release

clean: ## remove what make build made
	rm -rf bin
