# Mangrove. `make help` lists what can be done.
ROOT := $(CURDIR)
# What fails on the left of a pipe has failed.
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
BIN := $(ROOT)/bin
TOOLS := $(ROOT)/.bin
MODULES := internal migrations proto reader scraper supervisor
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -X main.version=$(VERSION)
# The version is linked in below. Go's own stamp would fail for root in a
# user's checkout, where git refuses to answer.
export GOFLAGS := $(GOFLAGS) -buildvcs=false
# Programs without the C library need nothing of the machine they run on, and an idle
# supervisor is 2 MiB smaller.
export CGO_ENABLED := 0
# AVIF is decoded by code of our own choosing, never by a library of the machine.
TAGS := nodynamic
CLUSTER := go run mangrove/internal/pgtest/cluster --

.DEFAULT_GOAL := help
.PHONY: help build run test bench faults screenshots nightly webkit fuzz vet generate gen-check lint fence tidy tools clean goversion

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

goversion:
	@deploy/goversion.sh

build: goversion ## Build the three programs into bin/
	go build -tags $(TAGS) -ldflags '$(LDFLAGS)' -o $(BIN)/ ./supervisor/cmd/mangrove ./scraper/cmd/mangrove-scraper ./reader/cmd/mangrove-reader

run: goversion ## Install what is missing, build and start Mangrove
	@deploy/install.sh
	@$(MAKE) --no-print-directory build
	@exec $(BIN)/mangrove up

test: goversion ## Everything that decides whether a change is good
	@deploy/install.sh --test
	@cd internal/tools && GOWORK=off GOBIN=$(TOOLS) go install github.com/grpc-ecosystem/grpc-health-probe
	$(CLUSTER) go test -tags $(TAGS) -shuffle=on -count=1 -timeout 600s $$(go list work | grep -v '^mangrove/internal/e2e$$')
	$(CLUSTER) go test -tags $(TAGS) -shuffle=on -count=1 -timeout 900s -parallel 3 ./internal/e2e

bench: goversion build ## Measure all three programs; print a table and write build/bench.json
	@deploy/install.sh --bench
	$(CLUSTER) go test -tags "$(TAGS) bench" -count=1 -timeout 900s -v ./scraper/internal/bench | grep -v "^=== "
	$(CLUSTER) go test -tags "$(TAGS) bench" -count=1 -timeout 900s -v ./supervisor/internal/bench | grep -v "^=== "
	$(CLUSTER) go test -tags "$(TAGS) bench" -count=1 -timeout 900s -v ./reader/internal/bench | grep -v "^=== "
	$(CLUSTER) go test -tags "$(TAGS) bench" -count=1 -timeout 900s -v -run Figures ./internal/e2e | grep -v "^=== "

screenshots: goversion build ## Take the pictures of docs/screenshots anew
	@mkdir -p $(ROOT)/docs/screenshots
	SCREENSHOTS=$(ROOT)/docs/screenshots $(CLUSTER) go test -tags $(TAGS) -count=1 -run TestEveryPageIsAccessible ./internal/e2e

nightly: goversion ## Run the random tests a hundred times as long, and live through a month
	$(CLUSTER) go test -tags $(TAGS) -count=1 -timeout 7200s -run "Model|Newest|Bounds|Apart" $$(grep -rl --include='*_test.go' pgregory.net/rapid scraper | xargs dirname | sort -u | sed 's,^,./,') -args -rapid.checks=100000
	for seed in 1 2 3; do $(CLUSTER) go test -tags $(TAGS) -count=1 -timeout 3600s -v ./scraper/internal/soak -args -soak.days=30 -soak.seed=$$seed || exit 1; done

faults: goversion ## Kill the scraper at every step, let its disk fail; print a table and write build/faults.json
	@mkdir -p $(ROOT)/build
	$(CLUSTER) go test -tags "$(TAGS) faults" -count=1 -timeout 900s -parallel 6 -v ./scraper/internal/faults > $(ROOT)/build/faults.log; \
	status=$$?; grep -vE "^ *=== " $(ROOT)/build/faults.log; exit $$status

webkit: goversion ## Read an evening in WebKit, the engine of every browser on an iPhone
	@deploy/install.sh --webkit
	$(CLUSTER) go test -tags "$(TAGS) webkit" -count=1 -timeout 900s -run TestWebKit ./internal/e2e

fuzz: goversion ## Run every fuzz target for a minute
	deploy/fuzz.sh

vet: goversion ## Run go vet over every module
	go vet -tags $(TAGS) work

tools: goversion
	cd internal/tools && GOWORK=off GOBIN=$(TOOLS) go install tool

generate: tools ## Regenerate the contracts' Go and migrations/schema.sql
	cd proto && $(TOOLS)/buf generate
	@mkdir -p $(ROOT)/build
	$(CLUSTER) go run mangrove/internal/pgtest/schema > $(ROOT)/build/schema.sql && mv $(ROOT)/build/schema.sql migrations/schema.sql

gen-check: generate ## Fail if generated files are not up to date
	git diff --exit-code -- proto/gen migrations/schema.sql
	@test -z "$$(git ls-files --others --exclude-standard -- proto/gen migrations/schema.sql)" || { echo "generated files are not committed"; exit 1; }

lint: tools ## Run golangci-lint and buf lint
	cd internal/tools/lint && GOWORK=off GOBIN=$(TOOLS) go install tool
	$(TOOLS)/golangci-lint run $(addprefix ./,$(addsuffix /...,$(MODULES)))
	cd proto && $(TOOLS)/buf lint

fence: goversion ## Build and tidy-check each module by itself
	@for m in $(MODULES); do echo "fence: $$m"; (cd $$m && GOWORK=off go build -tags $(TAGS) ./... && GOWORK=off go mod tidy -diff) || exit 1; done

tidy: goversion ## Tidy each module
	@for m in $(MODULES); do (cd $$m && GOWORK=off go mod tidy) || exit 1; done

clean: ## Remove what was built
	rm -rf $(BIN) $(TOOLS) build
