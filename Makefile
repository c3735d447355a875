# treereduce: make alone explains itself.

GO      ?= go
WIDTH   ?= 3
HEIGHT  ?= 3
CONNECT ?= 3
DATA    ?= all_data
RUNNER  ?= inline
# Of proj2-hadoop: in HDFS, in the user's folder there if it does not begin with /.
DATA_HADOOP ?= all_data
# How long make fuzz gives each parser.
FUZZTIME ?= 30s

BUILD       := CGO_ENABLED=0 $(GO) build -trimpath -ldflags='-s -w'
STEPS       := init possible solve final create mark ties
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

.DEFAULT_GOAL := help
.PHONY: help build proj2 proj2-hadoop test test-exhaustive cluster-up cluster-down cluster-status test-hadoop race bench bench-hadoop fuzz lint fmt clean

help: ## this list
	@echo 'make TARGET [VARIABLE=VALUE …]'
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20
	@echo 'proj2 takes WIDTH=$(WIDTH) HEIGHT=$(HEIGHT) CONNECT=$(CONNECT) DATA=$(DATA) RUNNER=$(RUNNER)'
	@echo 'proj2-hadoop takes the board and DATA_HADOOP=$(DATA_HADOOP)'

build: ## driver, mapper, reducer and every step under its own name, in bin/
	@$(BUILD) -o bin/ ./cmd/driver ./cmd/mapper ./cmd/reducer
	@$(if $(filter-out linux,$(shell $(GO) env GOOS)),GOOS=linux $(BUILD) -o bin/linux/ ./cmd/mapper ./cmd/reducer)
	@for step in $(STEPS); do \
		ln -f bin/mapper bin/$${step}_map && ln -f bin/reducer bin/$${step}_reduce || exit 1; \
	done

proj2: build ## solve a board, as in the course: make proj2 WIDTH=4 HEIGHT=5 CONNECT=3
	@bin/driver solve connectn --width $(WIDTH) --height $(HEIGHT) --connect $(CONNECT) \
		--data '$(DATA)' --runner $(RUNNER) --overwrite

proj2-hadoop: build ## the same with the data in HDFS and big tiers on the cluster
	@bin/driver solve connectn --width $(WIDTH) --height $(HEIGHT) --connect $(CONNECT) \
		--data '$(DATA_HADOOP)' --runner hadoop --overwrite

test: build ## all tests that need no cluster (some minutes)
	$(GO) test ./...

test-exhaustive: ## every board of at most 16 squares against brute force (some minutes)
	TREEREDUCE_EXHAUSTIVE=1 $(GO) test ./solve -run BruteForce -count=1 -timeout 30m

CLUSTER ?= build/cluster

cluster-up: ## a real Hadoop on this machine, in CLUSTER=build/cluster
	@$(GO) run ./cmd/cluster up --dir $(CLUSTER)
	@mkdir -p bin && ln -sfn $(abspath $(CLUSTER))/bin/hadoop bin/hadoop

cluster-down: ## stop it; its data stays
	@$(GO) run ./cmd/cluster down --dir $(CLUSTER)

cluster-status: ## what of it runs, and where its pages are
	@$(GO) run ./cmd/cluster status --dir $(CLUSTER)

test-hadoop: build ## tests on real clusters of their own (three quarters of an hour; SHORT=-short, as in CI, half an hour; Java, Maven)
	$(GO) test -tags hadoop -count=1 $(SHORT) -p 1 -timeout 3h ./hadoop/... ./internal/driver ./runner/streaming

# The tests in cmd run programs, which are built without the detector.
race: ## the tests with the race detector (needs a C compiler; some minutes)
	$(GO) list ./... | grep -v /cmd$$ | xargs $(GO) test -race -short

bench: build ## the figures of docs/benchmarks.md (about ten minutes; BENCH='-large' adds 6×5)
	$(GO) run ./cmd/bench $(BENCH)

bench-hadoop: build ## the figures of a cluster on this machine (BENCH='-large' adds 5×5 and 6×5: half an hour)
	$(GO) run ./cmd/bench -hadoop $(BENCH)

fuzz: ## every parser, FUZZTIME=30s each
	@$(GO) list -f '{{if .TestGoFiles}}{{.Dir}}{{end}}{{if .XTestGoFiles}} {{.Dir}}{{end}}' ./... | tr ' ' '\n' | sort -u | grep . | \
	while read -r dir; do \
		for f in $$(grep -hos '^func Fuzz[A-Za-z0-9_]*' "$$dir"/*_test.go | sed 's/func //'); do \
			echo "$$dir: $$f"; $(GO) test "$$dir" -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) || exit 1; \
		done; \
	done

lint: ## gofmt, go vet, staticcheck
	@test -z "$$(gofmt -l .)" || { echo 'not formatted:'; gofmt -l .; exit 1; }
	$(GO) vet ./... && $(GO) vet -tags hadoop ./...
	$(GO) run $(STATICCHECK) ./... && $(GO) run $(STATICCHECK) -tags hadoop ./...

fmt: ## format all code
	gofmt -w .

clean: ## remove what make build made
	rm -rf bin
