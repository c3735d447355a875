GO ?= go
build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags=-s -o bin/ ./cmd/...
	for s in init possible solve final; do ln -f bin/mapper bin/$${s}_map; ln -f bin/reducer bin/$${s}_reduce; done
