# treereduce: make without a target builds the programs and lists the targets.

GO      ?= go
WIDTH   ?= 3
HEIGHT  ?= 3
CONNECT ?= 3
DATA    ?= all_data
RUNNER  ?= inline
# Data directory of proj2-hadoop in HDFS; relative to the user's home directory unless it begins with /.
DATA_HADOOP ?= all_data
# RESUME=1 continues the run in DATA. OVERWRITE=1 replaces it, however long it took.
RESUME    ?=
OVERWRITE ?=
# YES=1 answers the driver's questions, e.g. about disk space, with yes.
YES       ?=
# Data directory of the target pipe.
PIPE_DATA ?= pipe_data
# Of the target site-tables: the site, data directories of its boards, the list of boards, and further data directories.
SITE        ?= build/site
SITE_TABLES ?= build/tables
SITE_BOARDS ?= scripts/site-boards.txt
SITE_DATA   ?=
# Time for which make fuzz tests each parser.
FUZZTIME ?= 30s

# All targets build with the same settings, so that they share Go's build cache. Nothing here needs the information for
# debuggers, which would take a sixth of the time of a first build.
export CGO_ENABLED := 0
export GOFLAGS     += -trimpath -gcflags=all=-dwarf=false

BUILD       := $(GO) build -ldflags='-s -w'
STEPS       := init possible mark begin solve ties values final
GOLANGCI    := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

# A misspelled variable, as in make WITDH=4, has no effect: warn about it.
USED   := GO WIDTH HEIGHT CONNECT DATA RUNNER DATA_HADOOP RESUME OVERWRITE YES PIPE_DATA SITE SITE_TABLES SITE_BOARDS SITE_DATA FUZZTIME BENCH LARGE COUNT CLUSTER FREE_PORTS NODES SECURE ON_HADOOP GOFLAGS
UNUSED := $(strip $(filter-out $(USED),$(foreach v,$(.VARIABLES),$(if $(filter command line,$(origin $v)),$v))))
$(if $(UNUSED),$(warning $(UNUSED): not used here; the variables are $(USED)))

# All targets but help and clean need Go.
ifneq ($(filter-out help clean,$(or $(MAKECMDGOALS),all)),)
ifeq ($(shell command -v $(GO)),)
$(error $(GO) is not in PATH: install Go 1.25 or later, or name it with GO=/path/to/go)
endif
endif

.DEFAULT_GOAL := first
.PHONY: first all pipe help build site site-tables aws build-emr build-cluster proj2 proj2-hadoop test-tools release-tools wine-tools test test-long cluster-up cluster-down cluster-status test-hadoop test-hadoop-long emr-venv test-emr test-emr-hadoop web-tools test-web test-python race bench bench-hadoop fuzz lint lines fmt release clean

first: build help

all: build

help: ## list the targets
	@echo 'make TARGET [VARIABLE=VALUE …]'
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20
	@echo 'proj2 takes WIDTH=$(WIDTH) HEIGHT=$(HEIGHT) CONNECT=$(CONNECT) DATA=$(DATA) RUNNER=$(RUNNER); RESUME=1 continues a run, OVERWRITE=1 replaces any run, YES=1 answers questions with yes'
	@echo 'pipe takes the board and PIPE_DATA=$(PIPE_DATA)'
	@echo 'proj2-hadoop takes the board and DATA_HADOOP=$(DATA_HADOOP)'

# $(call programs,NAMES) builds programs in bin/, mapper and reducer also under the name of each step.
define programs
@$(if $(wildcard bin/$(lastword $1)),,echo 'building $(1:%=bin/%) (half a minute the first time)' >&2)
@$(BUILD) -o bin/ $(1:%=./cmd/%)
@$(if $(filter mapper,$1),$(if $(filter-out linux,$(shell $(GO) env GOOS)),GOOS=linux $(BUILD) -o bin/linux/ ./cmd/mapper ./cmd/reducer))
@$(if $(filter mapper,$1),for step in $(STEPS); do ln -f bin/mapper bin/$${step}_map && ln -f bin/reducer bin/$${step}_reduce || exit 1; done)
endef

build: ## build driver, play, mapper, reducer, and each step under its own name, in bin/
	$(call programs,driver mapper reducer play)

# The program of play web --export, with what starts it in a browser.
site: build ## also build what play web --export writes: bin/play.wasm.gz and bin/wasm_exec.js
	@GOOS=js GOARCH=wasm $(BUILD) -o bin/play.wasm ./play/wasm
	@gzip -n9f bin/play.wasm
	@cp "$$($(GO) env GOROOT)/lib/wasm/wasm_exec.js" bin/

site-tables: site ## write the site of play web --export to SITE=build/site, with the tables of small boards, at most 25 MB (two minutes; SITE_DATA=DIR adds a table)
	@scripts/site.sh $(call quote,SITE) $(call quote,SITE_TABLES) $(call quote,SITE_BOARDS) $(SITE_DATA)

aws: build ## also build driver-aws: driver with S3 and Amazon EMR
	@$(BUILD) -o bin/ ./cmd/driver-aws

build-emr: aws ## also build the programs for the nodes of Amazon EMR, in bin/linux-amd64 and bin/linux-arm64
	@for arch in amd64 arm64; do \
		GOOS=linux GOARCH=$$arch $(BUILD) -o bin/linux-$$arch/ ./cmd/driver ./cmd/mapper ./cmd/reducer || exit 1; \
	done

# $(call quote,NAME) is the value of a variable as one word of the shell.
quote = '$(subst ','\'',$($1))'
yes   = $(filter-out 0 no,$($1))
BOARD = --width $(call quote,WIDTH) --height $(call quote,HEIGHT) --connect $(call quote,CONNECT)
MODE  = $(if $(call yes,RESUME),--resume,$(if $(call yes,OVERWRITE),--overwrite,--replace)) $(if $(call yes,YES),--yes)

# It builds only what it runs.
proj2: ## solve a board of Connect N: make proj2 WIDTH=4 HEIGHT=5 CONNECT=3
	$(call programs,driver $(if $(filter-out inline,$(RUNNER)),mapper reducer))
	@bin/driver solve connectn $(BOARD) --data $(call quote,DATA) --runner $(call quote,RUNNER) $(MODE)

pipe: ## solve it job by job with cat | map | sort | reduce, and print each command
	$(call programs,mapper reducer)
	@scripts/pipe.sh $(call quote,WIDTH) $(call quote,HEIGHT) $(call quote,CONNECT) $(call quote,PIPE_DATA)

proj2-hadoop: ## solve it with the data in HDFS and large tiers on the cluster
	$(call programs,driver mapper reducer)
	@bin/driver solve connectn $(BOARD) --data $(call quote,DATA_HADOOP) --runner hadoop $(MODE)

# Tests create and sync thousands of small files: use a file system in memory if it has enough space
# and allows to run programs.
IN_MEMORY := $(shell grep -qs ' /dev/shm tmpfs [^ ]*rw' /proc/mounts && ! grep -qs ' /dev/shm tmpfs [^ ]*noexec' /proc/mounts && \
	[ "$$(df -Pk /dev/shm | awk 'NR == 2 { print $$4 }')" -gt 4000000 ] && echo TMPDIR=/dev/shm)

# $(call debian,COMMANDS,PACKAGES) installs Debian's packages if a command is missing, as root on Debian. Elsewhere,
# the tests that need them are skipped.
debian = @{ $(1:%=command -v % &&) :; } >/dev/null || [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null || \
	{ apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $2; } >&2

test-tools:
	$(call debian,bwrap,bubblewrap)

# What tests install and unpack a release with.
release-tools:
	$(call debian,mmdebstrap rpm rpm2cpio cpio,mmdebstrap rpm rpm2cpio cpio)

# Wine, and a C compiler for Windows.
wine-tools:
	$(call debian,wine x86_64-w64-mingw32-gcc,wine wine64 gcc-mingw-w64-x86-64)

# make lint runs go vet. The time limit is for slow machines.
test: build test-tools ## run the tests that need no cluster, except the long ones (two minutes)
	$(IN_MEMORY) $(GO) test -vet=off -timeout 30m ./...

# Unpacks Debian's Prometheus, on Debian. Elsewhere, the test that needs it is skipped.
PROMETHEUS := build/prometheus/usr/bin/prometheus
$(PROMETHEUS):
	@command -v prometheus >/dev/null || ! command -v apt-get >/dev/null || { mkdir -p build/prometheus && cd build/prometheus && \
		{ apt-get download -q prometheus || { apt-get update -q && apt-get download -q prometheus; }; } && dpkg -x prometheus_*.deb .; } >&2

# TREEREDUCE_SHARE=TEXT selects a sixteenth of them at random, except three that take longest, and a fifth of many tests on a cluster.
test-long: build test-tools release-tools wine-tools $(PROMETHEUS) ## run the long tests: boards of up to 16 squares against brute force, … (half an hour)
	$(IN_MEMORY) TREEREDUCE_LONG=1 $(GO) test -vet=off -count=1 -timeout 2h -run '^TestLong' \
		$$(grep -rl '^func TestLong' --include='*_test.go' . | xargs grep -LE '^//go:build (hadoop|emr)' | xargs -n1 dirname | sort -u)

CLUSTER ?= build/cluster

# Installs Java and Maven if they are missing, as root on Debian. Maven downloads Hadoop.
build-cluster:
	@$(GO) build -o bin/ ./cmd/cluster
	$(call debian,java mvn,default-jre-headless maven)

cluster-up: build-cluster ## start a real Hadoop on this machine, in CLUSTER=build/cluster; FREE_PORTS=1 if a port is in use; NODES=3 for three nodes; SECURE=1 for Kerberos
	@bin/cluster up --dir $(CLUSTER) $(if $(FREE_PORTS),--free-ports) $(if $(NODES),--nodes $(NODES)) $(if $(call yes,SECURE),--secure)
	@ln -sfn $(abspath $(CLUSTER))/bin/hadoop bin/hadoop

cluster-down: build-cluster ## stop it, and keep its data
	@bin/cluster down --dir $(CLUSTER)

cluster-status: build-cluster ## show which daemons run, and the addresses of their web pages
	@bin/cluster status --dir $(CLUSTER)

# The names of tests with build tags begin with TestHadoop, TestEMR and TestMoto. One package runs at
# a time. Its tests wait most of the time, so several of them run in parallel.
TAGGED := $(GO) test -vet=off -count=1 -p 1 -parallel 4 -timeout 3h

# The packages share a cluster, which the first test starts. Its logs are kept if a test fails.
ON_CLUSTER := set -e; work=$$(mktemp -d); export TREEREDUCE_TEST_CLUSTER=$$work/cluster; trap 'exit 130' INT TERM; \
	trap 'code=$$?; bin/cluster down --dir $$work/cluster; [ $$code != 0 ] || rm -rf $$work; exit $$code' EXIT; set -x; $(TAGGED)

ON_HADOOP := ./hadoop/... ./internal/engine/runner/streaming ./cli/driver ./cmd/cluster

test-hadoop: build build-cluster ## run the tests on a real cluster, except the long ones (Java, Maven; make cluster-down first)
	@$(ON_CLUSTER) -tags hadoop -run '^TestHadoop' $(ON_HADOOP)

test-hadoop-long: build build-cluster ## run the long ones: faults of nodes, Kerberos (two hours; TREEREDUCE_LOSSES=20 nodes lost)
	@export TREEREDUCE_LONG=1; $(ON_CLUSTER) -tags hadoop -run '^TestLongHadoop' ./hadoop ./internal/engine/runner/streaming ./cli/driver

# Makes a virtual environment of Python (Debian's has no pip for it). The last file marks it as complete.
MAKE_VENV = rm -rf $(@D) && python3 -m venv --without-pip $(@D) && python3 -m pip --python $(@D)/bin/python \
	install --quiet --require-hashes --no-deps --no-compile --disable-pip-version-check -r $< && cp $< $@

# moto, botocore and the AWS command line.
VENV := build/emr-venv
$(VENV)/requirements.txt: cloud/internal/testing/moto/requirements.txt
	@$(MAKE_VENV)

emr-venv: $(VENV)/requirements.txt ## install the Python packages that test-emr needs, in build/emr-venv

# The tests do not connect to Amazon.
test-emr: aws emr-venv ## run the tests on simulated Amazon services, without Hadoop (two minutes; Python)
	$(TAGGED) -tags emr -run '^TestMoto' $$(grep -rl '^//go:build emr' --include='*_test.go' . | xargs -n1 dirname | sort -u)

test-emr-hadoop: aws build-cluster emr-venv ## run them with the steps on a real cluster (Java, Maven, Python; make cluster-down first)
	@$(ON_CLUSTER) -tags emr -run '^TestEMR$$' ./cloud/amazon

PYTHON_VENV := build/python-venv
$(PYTHON_VENV)/requirements.txt: python/requirements.txt
	@$(MAKE_VENV)

test-python: build $(PYTHON_VENV)/requirements.txt ## test and type-check the Python package (a minute; Python)
	cd python && ../$(PYTHON_VENV)/bin/python -m pytest -q && ../$(PYTHON_VENV)/bin/python -m mypy

# Chromium, nginx and axe-core. The tests that use them are a separate module.
AXE := build/axe/node_modules/axe-core/axe.min.js
$(AXE):
	@npm install --prefix build/axe --no-save --no-audit --no-fund --ignore-scripts axe-core@4.14.1

web-tools: $(AXE)
	@{ command -v chromium-headless-shell && command -v nginx; } >/dev/null || { apt-get update && \
		DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends chromium-headless-shell nginx-light; }

test-web: site web-tools ## test the pages of play web in Chromium; screenshots in build/screenshots (two minutes; npm)
	cd play/internal/testing/browser && $(GO) test -count=1 -timeout 30m .

# The packages that start goroutines; the packages that they import are built with the detector, too. Tests
# that run programs as processes are omitted, here or by the build tag race. So are tests of numbers that
# take long and start no goroutine that others do not start.
race: test-tools ## run the tests of packages with goroutines with the race detector (C compiler; some minutes)
	$(IN_MEMORY) CGO_ENABLED=1 $(GO) test -vet=off -race -short -timeout 30m -skip '^Test(KnownSizes|Plies|Intervals|Shape|PlanFigures|Brief)$$' \
		$$(grep -rlE --include='*.go' '\<go (func|[a-zA-Z.]+\()|\.Go\(|\<(errgroup|parallel)\.|AfterFunc' . | \
			grep -Ev '_test\.go$$|^\./(build|cmd|play/wasm)/|internal/testing/' | xargs -n1 dirname | sort -u)

# BENCH selects what scripts/bench.sh measures: search, sync, network, mancala, plan, …
bench: build ## measure the figures of docs/notes/benchmarks.md (ten minutes; LARGE=1 adds 6×5, BENCH=… selects another part)
	@$(if $(call yes,LARGE),TREEREDUCE_LONG=1) GO='$(GO)' scripts/bench.sh $(BENCH)

bench-hadoop: build ## measure a cluster, for docs/notes/hadoop.md (LARGE=1 adds 5×5 and passes: half an hour)
	@$(if $(call yes,LARGE),TREEREDUCE_LONG=1) GO='$(GO)' COUNT=$${COUNT:-3} scripts/bench.sh $(or $(BENCH),hadoop)

fuzz: ## fuzz every parser, FUZZTIME=30s each
	@$(GO) list -f '{{if .TestGoFiles}}{{.Dir}}{{end}}{{if .XTestGoFiles}} {{.Dir}}{{end}}' ./... | tr ' ' '\n' | sort -u | grep . | \
	while read -r dir; do \
		for f in $$(grep -hos '^func Fuzz[A-Za-z0-9_]*' "$$dir"/*_test.go | sed 's/func //'); do \
			echo "$$dir: $$f"; $(GO) test "$$dir" -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) || exit 1; \
		done; \
	done

lint: ## run the checks of .golangci.yml, vet the code for Windows, and compare the public API with its listing
	$(GO) run $(GOLANGCI) run ./...
	cd play/internal/testing/browser && $(GO) run $(GOLANGCI) run .
	cd scripts/packages && $(GO) run $(GOLANGCI) run .
	GOOS=windows $(GO) vet ./...
	$(GO) test -vet=off ./internal/testing/api

lines: ## count the lines of each part, outside tests and in tests, and the words of the docs
	@scripts/lines.sh

fmt: ## format all code
	gofmt -w .

release: ## build archives, packages, an image and wheels, with SHA256SUMS, in build/release
	@scripts/release.sh build/release

clean: ## remove bin/
	rm -rf bin
