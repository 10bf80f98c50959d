# The two main commands: `make run` executes a notebook, `make test` runs all tests.
# Both create what they need: .venv, bin/quern, the kernelspec.

# Paths are relative, since the path of this folder may contain spaces.
GO      ?= go
PYTHON  ?= python3
VENV    := .venv
BIN     := bin/quern
PYTEST  := PYTHONPATH=.ci $(VENV)/bin/python -m pytest -q -p no:cacheprovider -p strict
JUPYTER := $(VENV)/bin/jupyter
BUILD   := build

FUZZTIME ?= 20s
FUZZ     ?= .

# For targets that run at the same time. The make of macOS does not sort the output.
SORTED := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)

# make vet examines all packages.
TEST := $(GO) test -vet=off -timeout 60m

GOLANGCI := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
ACTIONLINT := github.com/rhysd/actionlint/cmd/actionlint@v1.7.12

# NVIDIA's headers declare functions as deprecated that its Go binding has; the warnings look like errors.
export CGO_CFLAGS ?= -O2 -g -Wno-deprecated-declarations

# Bind all symbols at start, as hardened toolchains do. NVIDIA's libraries are opened
# at run time.
LDFLAGS := -s -w
ifeq ($(shell $(GO) env GOOS),linux)
ifeq ($(shell $(GO) env CGO_ENABLED),1)
LDFLAGS += -extldflags=-Wl,-z,relro,-z,now
endif
endif

.DEFAULT_GOAL := help

.PHONY: help
help: ## print this list
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## / { \
		line = sprintf("  make %-20s %s\n", $$1, $$2); \
		if ($$1 ~ /^(run|lab|test|check|build)$$/) first = first line; else others = others line \
	} END {printf "%s\nOthers, of which some take long or need a network:\n\n%s", first, others}' $(MAKEFILE_LIST)

.PHONY: run
run: kernelspec ## set everything up, execute the quickstart notebook, write build/quickstart.html
	@mkdir -p $(BUILD)
	$(JUPYTER) nbconvert --execute --to html --output-dir $(BUILD) --output quickstart.html notebooks/quickstart.ipynb
	@echo
	@echo "the executed notebook:  $(CURDIR)/$(BUILD)/quickstart.html"
	@echo "to open JupyterLab:     make lab"

.PHONY: lab
lab: kernelspec ## open JupyterLab with the tutorials
	$(JUPYTER) lab --notebook-dir notebooks

.PHONY: test
test: system-packages kernelspec vet race without-race cuda beside-jupyter ## run everything: vet, Go tests with the race detector, notebooks, real clients

.PHONY: check
check: vet ## run the quick part of the tests, offline
	$(GO) test -short ./...

.PHONY: vet
vet:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$unformatted" ]; then echo "run gofmt on: $$unformatted"; exit 1; fi
	$(GO) vet ./...

# Not with the race detector: tests on the simulated GPU, which it makes ten times slower, and packages that start no
# goroutine or leave that to others, and take long with it: models, plans at full size, desugaring, the generator of symbols,
# the list of asserted interfaces, drawing, and the structure of the source.
WITHOUT_RACE := interp/desugar$$|interp/internal/asserted$$|internal/cuda/kernels$$|internal/cuda/count$$|accel/models$$|interp/symbols/internal/generate$$|quern/plots$$|internal/structure$$

# Tests that compute for long on one goroutine, or on the goroutines of kernels and ranks that other tests run with the
# race detector, which makes them five to ten times slower.
SEQUENTIAL := ^($(subst $(empty) $(empty),|,$(strip \
	TestRerunsKeepLittle TestNesting TestOpenBrackets TestRecursion TestGrowth TestCompileStops \
	TestPrograms TestCompiledPrograms TestIntegers TestMarginBeatsRandomOnDigits TestStepDoesNotLeak \
	TestFloat64 TestRandomGraphs TestOpsAgainstFloat64 TestGradients TestConvOnEveryImplementation TestWinograd TestFewRows \
	TestOpsOfConstants TestRecurrenceEqualsItsSteps TestMeanOfEqualNumbers TestColumnsOfNarrowTables TestConvOfFewResults TestSumErrors \
	TestMaskedAttention TestConvOfSmallImages TestDistributedEqualsOneProcess TestMemoryOfZeRO TestMemoryOfVocabulary TestRanksEqualOneProcess TestRanksEqualOneBigBatch TestBlankImages \
	TestLargeFiles TestWideChunks TestResumeEqualsOneTraining TestDetailsOfDegenerateData TestProjects \
	FuzzLoad FuzzTools TestToolsAnywhere TestToolsLongCell TestLargeLiterals TestOldTracebacks TestAllocationBeyondMemory TestConcatenationBeyondMemory \
	TestGuideFromPython TestInterruptInMethods TestInterruptInCalls TestInterruptedCallIsAssigned TestInterruptAssignsTargets \
	TestRanksMakeTheSameTrials TestConcurrentTrialsDiffer TestLibraryComputesMoreThanProducts TestRandomData TestVariants \
	TestMeasuredSelection TestArithmetic TestOddities TestShapes TestKernels TestCUDAKernels TestCUDAKernelsOfNVRTC)))$$

# The slowest packages begin first, so that no core is idle at the end.
SLOWEST := ./accel ./interp ./interp/vm/compile ./cmd/quern ./accel/tensor

.PHONY: race
# By default a program with the race detector waits for a second before it ends. Tests start hundreds of programs.
race: export GORACE ?= atexit_sleep_ms=0
race: ## run the Go tests with the race detector
	$(TEST) -race -skip '$(SEQUENTIAL)' $(SLOWEST) $$($(GO) list ./... | grep -vE '$(WITHOUT_RACE)')
	$(TEST) -race -run 'Live|Partial|Concurrent' ./plots
	GOGC=1 GODEBUG=gccheckmark=1 $(TEST) -race -short -run TestStress ./interp/named

# Some tests of interp skip themselves with the race detector, or do less, because it changes allocations or takes long. awk finds
# their names.
.PHONY: without-race
without-race: ## run the Go tests that skip themselves under the race detector, or take too long with it
	@$(MAKE) --no-print-directory -j2 $(SORTED) without-race-interp without-race-packages without-race-sequential

.PHONY: without-race-packages without-race-interp without-race-sequential
without-race-packages:
	$(TEST) ./accel/models ./accel/internal/cuda/count ./interp/desugar ./interp/internal/asserted ./internal/structure ./plots ./interp/symbols/internal/generate ./interp/internal/programs
without-race-interp:
	$(TEST) -run "^($$(awk 'FNR == 1 || /^func / { name = "" } /^func Test/ { split($$2, n, "("); name = n[1] } \
		/raceEnabled/ && name { print name }' interp/*_test.go | sort -u | paste -sd'|'))$$|$(SEQUENTIAL)" ./interp
without-race-sequential:
	$(TEST) -run '$(SEQUENTIAL)|TestBadGPUs|TestDeviceError' \
		$$(git grep -lE '^func $(subst ^,,$(subst $$,,$(SEQUENTIAL)))\(' -- '*_test.go' | xargs -n1 dirname | sort -u | sed 's|^|./|' | grep -vE '^./(interp(/internal/programs)?|accel/internal/cuda/kernels)$$')

.PHONY: pure-go
pure-go: ## run the tests of the CPU kernels without assembly, and of what builds on them; compare layers with the assembly
	$(TEST) -tags purego ./accel/internal/cpu ./accel/nn ./accel/optim ./accel/frame

.PHONY: platforms
platforms: platform-linux-arm64 platform-windows ## run the kernel for linux/arm64, simulated by qemu, and for Windows, by Wine (minutes)

PLATFORM_TEST := -rP kernel/testdata/platforms

# The instructions of a CPU are simulated one by one, so only packages whose code depends on it run, and a short notebook.
.PHONY: platform-linux-arm64
platform-linux-arm64: $(VENV)/installed ## run the kernel, and tests of the CPU kernels, layers and optimizers, for linux/arm64 (Debian: qemu-user-static)
	GOARCH=arm64 CGO_ENABLED=0 $(GO) build -o $(BUILD)/linux-arm64/quern ./cmd/quern
	QUERN_PLATFORM=linux/arm64 QUERN_COMMAND="'$(CURDIR)/.ci/qemu-arm64' '$(CURDIR)/$(BUILD)/linux-arm64/quern'" $(PYTEST) $(PLATFORM_TEST)
	GOARCH=arm64 CGO_ENABLED=0 $(GO) test -timeout 20m -exec qemu-aarch64-static ./accel/internal/cpu ./accel/nn ./accel/optim ./install ./interp/named ./interp/vm
	GOARCH=arm64 CGO_ENABLED=0 $(GO) test -exec 'qemu-aarch64-static -cpu cortex-a72' -run 'Byte|Quantized|Int8' ./accel/internal/cpu # without FEAT_DotProd

.PHONY: platform-windows
platform-windows: $(VENV)/installed wine ## run the kernel, compare layers, and test types of cells, for Windows (Wine 10, or debootstrap)
	GOOS=windows GOARCH=amd64 CGO_ENABLED=0 $(GO) build -o $(BUILD)/windows/quern.exe ./cmd/quern
	QUERN_PLATFORM=windows/amd64 QUERN_COMMAND="'$(CURDIR)/.ci/wine' '$(CURDIR)/$(BUILD)/windows/quern.exe'" $(PYTEST) $(PLATFORM_TEST)
	GOOS=windows GOARCH=amd64 CGO_ENABLED=0 $(GO) test -exec "'$(CURDIR)/.ci/wine'" -run TestPlatformsAgree -v ./accel/nn

# With -trimpath a test does not look for the files of the Go distribution, which Wine does not see.
.PHONY: wine
wine: ## test for Windows what depends on how Go passes arguments and describes types (Wine 10, or debootstrap)
	GOOS=windows GOARCH=amd64 CGO_ENABLED=0 $(GO) test -trimpath -exec "'$(CURDIR)/.ci/wine'" -short ./interp/named ./interp/vm
	GOOS=windows GOARCH=amd64 CGO_ENABLED=0 $(GO) test -trimpath -exec "'$(CURDIR)/.ci/wine'" -short -run 'Redeclare|Asserted|MethodWith|Replaced|Struct|Language' ./interp

.PHONY: failpoints
failpoints: ## make each file operation fail or kill the process, and check the files that are left
	$(GO) vet -tags failpoints ./internal/...
	$(TEST) -tags failpoints -run 'TestFailpoints' $$(git grep -l failpointtest.Run -- '*_test.go' | xargs -n1 dirname | sort -u | sed 's|^|./|')

# The other Go releases that Quern supports. `make test GO_RELEASES=` skips them; GOTOOLCHAIN=go1.27.3 make test runs all
# tests with one of them. See docs/go-releases.md.
GO_RELEASES ?= go1.26.8 go1.27.3

.PHONY: releases
releases: ## test the packages that depend on the Go release with the other supported releases, which Go downloads
	@for release in $(GO_RELEASES); do \
		[ "$$release" = "$$($(GO) env GOVERSION)" ] || GO="$(GO)" .ci/release "$$release" || exit 1; \
	done

.PHONY: cuda
cuda: ## run the tests of CUDA kernels and training on a simulated GPU; the race detector would make them ten times slower
	@$(MAKE) --no-print-directory -j2 $(SORTED) cuda-kernels cuda-training

# The tests of the kernels run one after the other, and so on one core.
.PHONY: cuda-kernels cuda-training
cuda-kernels:
	GOGC=400 $(TEST) ./accel/internal/cuda/kernels
cuda-training:
	GOGC=400 $(TEST) -run OnCUDA \
		$$(git grep -lE '^func Test[A-Za-z0-9]*OnCUDA' -- 'accel/*_test.go' | xargs -n1 dirname | sort -u | sed 's|^|./|')

.PHONY: ptx
ptx: ## compile the CUDA kernels again with clang, assemble them with ptxas, and compare (minutes)
	QUERN_LONG=1 $(GO) test -run 'TestRegenerate|TestAssemble' ./accel/internal/cuda/kernels

# The warnings of go-nvml's C code hide our own.
.PHONY: gpu-archive
gpu-archive: export CGO_CFLAGS := $(or $(CGO_CFLAGS),-O2 -g) -Wno-deprecated-declarations
gpu-archive: ## pack build/gpu-check.tar.gz, which checks and measures the GPU of a machine without Go; see accel/gpucheck/README.md
	@mkdir -p $(BUILD)/gpu-check
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BUILD)/gpu-check/gpu-check ./accel/gpucheck
	$(GO) test -c -trimpath -ldflags '$(LDFLAGS)' -o $(BUILD)/gpu-check/gpu-check-kernels ./accel/internal/cuda/kernels
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BUILD)/gpu-check/gpu-check-bench ./accel/bench
	tar -C $(BUILD) --owner=0 --group=0 -c gpu-check | gzip -9 > $(BUILD)/gpu-check.tar.gz
	@ls -l $(BUILD)/gpu-check.tar.gz
	@test "$$(wc -c < $(BUILD)/gpu-check.tar.gz)" -lt 30000000 || { echo "the archive is larger than 30 MB" >&2; exit 1; }

# Notebooks and clients wait for their kernels and browsers most of the time, so they run at the same time, and what mostly
# compiles and links beside them.
.PHONY: jupyter
jupyter: ## execute the notebooks, and test the kernel with clients
	@$(MAKE) --no-print-directory -j2 $(SORTED) notebooks clients

.PHONY: beside-jupyter
beside-jupyter:
	@$(MAKE) --no-print-directory -j3 $(SORTED) notebooks clients releases lite-node failpoints

.PHONY: notebooks
notebooks: kernelspec ## execute every lesson and tutorial and check its output
	cd examples/prose && GOWORK=off $(GO) vet ./... && GOWORK=off $(GO) test ./...
	$(PYTEST) kernel/testdata/notebooks

.PHONY: clients
clients: kernelspec ## test the kernel with Jupyter's own test suite and with real clients
	$(PYTEST) kernel/testdata/clients

.PHONY: engines
engines: $(BIN) ## submit notebooks to real engines: Slurm and Open MPI of Debian, and Ray, which it installs into build/engines (minutes)
	PYTHON="$(PYTHON)" .ci/engines

GATEWAY := $(BUILD)/gateway

.PHONY: gateway
gateway: $(BIN) $(GATEWAY)/installed ## start kernels by process proxies of a real Enterprise Gateway, which it installs into build, also by ssh and in pods of a fake API server (minutes)
	LAUNCH_KUBERNETES="$(CURDIR)/$(GATEWAY)/launch_kubernetes.py" $(GATEWAY)/bin/python -m pytest -q -p no:cacheprovider kernel/testdata/gateway

# The program that creates pods is in the source distribution only.
$(GATEWAY)/installed: kernel/testdata/gateway/requirements.txt
	$(PYTHON) -m venv $(GATEWAY)
	$(GATEWAY)/bin/pip install --quiet --disable-pip-version-check -r $<
	$(GATEWAY)/bin/pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: -d $(GATEWAY)/source "$$(grep '^jupyter_enterprise_gateway==' $<)"
	tar -xzOf $(GATEWAY)/source/*.tar.gz --wildcards '*/launch_kubernetes.py' > $(GATEWAY)/launch_kubernetes.py
	@touch $@

GRADER := $(BUILD)/nbgrader

.PHONY: course
course: $(BIN) $(GRADER)/installed ## grade the example course with nbgrader, which it installs into build (minutes)
	@VIRTUAL_ENV="$(CURDIR)/$(GRADER)" $(BIN) install --sys-prefix --force
	$(GRADER)/bin/python -m pytest -q -p no:cacheprovider kernel/testdata/course

$(GRADER)/installed: kernel/testdata/course/requirements.txt
	$(PYTHON) -m venv $(GRADER)
	$(GRADER)/bin/pip install --quiet --disable-pip-version-check -r $<
	@touch $@

.PHONY: memory
memory: kernelspec ## run 10 000 cells, a large one 1 000 times, and 20 000 more, and check the memory of the worker (minutes)
	QUERN_LONG=1 $(PYTEST) -rP kernel/testdata/clients/test_memory.py

.PHONY: lossy
lossy: ## connect ranks by a network that loses packets, in a namespace of its own (a minute, Linux)
	QUERN_LONG=1 $(GO) test -run TestLossyNetwork -v ./accel/parallel

.PHONY: elastic
elastic: ## kill the processes of elastic trainings at random for ten minutes
	QUERN_LONG=1 $(GO) test -timeout 20m -run TestElasticTraining -v ./accel

.PHONY: compiled
compiled: ## build programs with modules compiled in, and run them (a minute)
	QUERN_LONG=1 $(GO) test -run TestBuild ./cmd/quern

.PHONY: scale
scale: ## compare sharded, tensor-parallel and pipelined training with one process, also on simulated GPUs, measure its memory, and predict steps (minutes)
	QUERN_LONG=1 $(GO) test -count=1 -v -run 'TestDistributedEqualsOneProcess|TestMemoryOf' ./accel/parallel | grep -v '^=== RUN'
	QUERN_LONG=1 $(GO) test -count=1 -v -run 'TestScale$$' ./accel/parallel/plan | grep -v '^=== RUN'

SOAK ?= 20m

.PHONY: soak
soak: kernelspec ## run eight clients against a kernel that is interrupted, restarted, stopped and starved, for SOAK (SOAK=20m), and print a report
	$(VENV)/bin/python kernel/testdata/clients/soak.py --cells 600 --time $(SOAK)

TIME ?= 2h

.PHONY: nightly
nightly: kernelspec ## look for unknown faults for TIME (TIME=2h): random programs, fuzzing, disturbed kernels, known bugs
	GO="$(GO)" .ci/nightly $(TIME)

# Without optimization and debug information a build takes half the time, and nobody runs the result. The packages with
# functions that must not grow the stack need optimization.
QUICKLY := -gcflags=all='-N -l -dwarf=false' -ldflags='-s -w' \
	$(foreach package,runtime/... internal/... syscall,-gcflags=$(package)=-dwarf=false)

.PHONY: cross
cross: ## build for the other systems and without cgo (minutes); TestPlatforms, in make test, only type-checks
	@for target in darwin/arm64 darwin/amd64 windows/amd64 windows/arm64 linux/arm64 linux/amd64; do \
		echo "build $$target without cgo"; \
		GOOS=$${target%/*} GOARCH=$${target#*/} CGO_ENABLED=0 $(GO) build $(QUICKLY) -o /dev/null ./cmd/quern || exit 1; \
	done

.PHONY: lite-kernel
lite-kernel: ## build the kernel for browsers, build/quern.wasm
	@mkdir -p $(BUILD)
	GOOS=js GOARCH=wasm $(GO) build -tags quern_simd -trimpath -ldflags '-s -w' -o $(BUILD)/quern-linked.wasm ./cmd/quern
	$(GO) run ./install/lite/link optimize $(BUILD)/quern-linked.wasm $(BUILD)/quern.wasm

.PHONY: lite-program
lite-program: lite-kernel ## divide build/quern.wasm into what the quickstart needs and the rest, in build/lite-program
	rm -rf $(BUILD)/lite-program && mkdir $(BUILD)/lite-program
	$(GO) run ./install/lite/link count $(BUILD)/quern.wasm $(BUILD)/quern-count.wasm
	node --stack-size=8192 install/lite/profile.mjs "$$($(GO) env GOROOT)/lib/wasm/wasm_exec.js" $(BUILD)/quern-count.wasm \
		notebooks/quickstart.ipynb $(BUILD)/quern-used.txt
	$(GO) run ./install/lite/link split $(BUILD)/quern.wasm $(BUILD)/quern-used.txt $(BUILD)/lite-program

# The folder whose files the site shows, instead of tutorials.
CONTENTS ?=

.PHONY: lite
lite: lite-program ## build a static site with JupyterLite and the kernel for browsers in build/lite, with the files of CONTENTS (minutes; needs npm)
	install/lite/build $(BUILD)/lite "$(CONTENTS)"

.PHONY: lite-serve
lite-serve: ## serve build/lite at http://127.0.0.1:8000
	$(PYTHON) -m http.server --bind 127.0.0.1 --directory $(BUILD)/lite 8000

# A part of the names of the tests of the site to run, in the syntax of pytest -k.
TESTS ?=

.PHONY: lite-test
lite-test: lite-node lite $(VENV)/installed ## test the kernel for browsers under Node, and the site in Chromium, or BROWSER=firefox (minutes)
	PYTHONPATH=.ci:kernel/testdata/notebooks $(VENV)/bin/python -m pytest -q -p no:cacheprovider -p strict $(if $(TESTS),-k "$(TESTS)") install/lite/test

# The short version of lite-test, for make test: it needs neither npm nor the site.
.PHONY: lite-node
lite-node: system-packages ## test the kernel for browsers under Node
	@if command -v node >/dev/null; then $(MAKE) --no-print-directory lite-node-tests; \
		else echo "skipped: the tests of the kernel for browsers need Node.js"; [ -z "$$QUERN_TEST_STRICT" ]; fi

.PHONY: lite-node-tests
lite-node-tests: lite-kernel
	GOROOT="$$($(GO) env GOROOT)" GOOS=js GOARCH=wasm $(TEST) -trimpath -tags quern_simd \
		-exec 'node --stack-size=8192 "$(CURDIR)/install/lite/test/exec.mjs"' -run 'TestGEMM|TestCurrent|Adapter|Entr' \
		./accel/internal/cpu ./accel/internal/engine/goroutine ./interp/vm
	GOROOT="$$($(GO) env GOROOT)" GOOS=js GOARCH=wasm $(TEST) -short -trimpath -tags quern_simd \
		-exec 'node --stack-size=8192 "$(CURDIR)/install/lite/test/exec.mjs"' ./interp/named
	node --stack-size=8192 install/lite/test/kernel.mjs "$$($(GO) env GOROOT)/lib/wasm/wasm_exec.js" $(BUILD)/quern.wasm

.PHONY: lite-size
lite-size: ## print what the kernel for browsers consists of, and its size compressed (minutes)
	@mkdir -p $(BUILD)
	GOOS=js GOARCH=wasm $(GO) build -tags quern_simd -trimpath -o $(BUILD)/quern-names.wasm ./cmd/quern
	node install/lite/sizes.mjs $(BUILD)/quern-names.wasm

.PHONY: lite-bench
lite-bench: lite-kernel ## measure the kernel for browsers under Node, beside the program of this machine without assembly (minutes)
	node --stack-size=8192 install/lite/test/bench.mjs "$$($(GO) env GOROOT)/lib/wasm/wasm_exec.js" $(BUILD)/quern.wasm
	$(GO) build -tags purego -o $(BUILD)/quern-purego ./cmd/quern
	GOMAXPROCS=1 $(BUILD)/quern-purego run install/lite/test/bench.ipynb -o $(BUILD)/bench.ipynb

.PHONY: build
build: $(BIN) ## build bin/quern

# Go's build cache decides what to rebuild. The binary is copied because Linux caches a
# file in pages as large as the writes that created it, and maps whole pages: those of
# the linker have megabytes.
.PHONY: $(BIN)
$(BIN):
	@mkdir -p $(BUILD) $(@D)
	$(GO) build -ldflags '$(LDFLAGS)' -o $(BUILD)/quern ./cmd/quern
	@cmp -s $(BUILD)/quern $@ || install -m 755 $(BUILD)/quern $@

.PHONY: kernelspec
kernelspec: $(BIN) $(VENV)/installed
	@VIRTUAL_ENV="$(CURDIR)/$(VENV)" $(BIN) install --sys-prefix --force

$(VENV)/installed: .ci/requirements.txt $(shell find install/python -type f -not -name "*.pyc")
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check -r .ci/requirements.txt
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --no-deps --force-reinstall ./install/python
	@touch $@

.PHONY: wheels
wheels: ## build the Python packages of all platforms in build/wheels, and test that of this machine (minutes)
	.ci/wheels
	.ci/test-wheels

.PHONY: snapshot
snapshot: ## build archives, deb, rpm, and files for Homebrew and Scoop in build/dist, without publishing, and test them (minutes)
	.ci/packages snapshot
	.ci/test-packages

SITE := $(BUILD)/site-tools

.PHONY: site
site: $(BIN) $(SITE)/installed ## build the documentation site in build/site, with the notebooks that make gallery has executed
	$(GO) run ./docs/site
	$(SITE)/bin/zensical build --strict --clean -f $(BUILD)/mkdocs.yml

$(SITE)/installed: docs/site/requirements.txt
	$(PYTHON) -m venv $(SITE)
	$(SITE)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

.PHONY: gallery
gallery: $(patsubst notebooks/%,$(BUILD)/gallery/%,$(wildcard notebooks/*.ipynb)) ## execute the notebooks for the site that have changed since (a quarter of an hour on two cores)

$(BUILD)/gallery/%.ipynb: notebooks/%.ipynb | $(BIN)
	@mkdir -p $(@D)
	$(BIN) run $< -o $@.part >/dev/null && mv $@.part $@

.PHONY: system-packages
system-packages:
	@.ci/system-packages

.PHONY: gotest
gotest: ## run the tests of the Go distribution as cells and compare with the checked-in list (minutes)
	$(GO) run ./interp/internal/gotest

.PHONY: modules
modules: ## run a program for each of 100 popular modules, compiled and in a session, and write docs/modules.md (minutes; needs a network)
	$(GO) run ./interp/internal/modules

.PHONY: fuzz
fuzz: ## run each fuzz target of the folders FUZZ for FUZZTIME inputs or seconds (FUZZTIME=20s)
	@grep -rl --include=*_test.go '^func Fuzz' $(FUZZ) | while read -r file; do \
		grep -o '^func Fuzz[A-Za-z0-9_]*' $$file | cut -c6- | while read -r target; do \
			echo "$$target in $$(dirname $$file)"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) ./$$(dirname $$file) </dev/null || exit 1; \
		done || exit 1; \
	done

# Packages that parse untrusted bytes and compile quickly, since go test recompiles the
# dependencies of a target. The limit is a number of inputs, not seconds, so that a loaded
# machine tests as much.
FUZZ_SHORT := internal/loader kernel/link kernel/notebook kernel/transport kernel/wire kernel/worker/mark

.PHONY: fuzz-short
fuzz-short: ## run the fuzz targets that parse untrusted bytes, with 300 inputs each
	@$(MAKE) --no-print-directory fuzz FUZZTIME=300x FUZZ="$(FUZZ_SHORT)"

.PHONY: dependencies
dependencies: ## list the modules of bin/quern, with newer versions if there is a network
	@GO="$(GO)" .ci/dependencies

.PHONY: vulnerabilities
vulnerabilities: ## check the program against Go's vulnerability database; needs a network
	@GO="$(GO)" .ci/vulnerabilities

.PHONY: generate
generate: ## regenerate the generated files
	$(GO) generate ./...

# Symbols and PTX have tests that they are current.
CHECKED := accel/internal/cpu interp/vm interp/rt interp/named gpu/internal/nvmlsymbols

.PHONY: generated
generated: ## regenerate what is generated from our own code, and fail if that changes a file
	$(GO) generate $(addprefix ./,$(CHECKED))
	@git diff --exit-code --stat -- $(CHECKED) || { echo "run make generated, and commit what it changes"; exit 1; }

.PHONY: update
update: ## regenerate the golden files
	$(GO) test $$(git grep -l internal/golden -- '*_test.go' | xargs -n1 dirname | sort -u | sed 's|^|./|') -update

.PHONY: lint
lint: ## run golangci-lint, and actionlint on the workflows
	GOGC=400 $(GO) run $(GOLANGCI) run
	$(GO) run $(ACTIONLINT)

BENCH_PYTHON ?=

.PHONY: bench
bench: ## run the training benchmarks, with PyTorch and JAX if BENCH_PYTHON has them, and report what is slower (minutes)
	$(GO) run ./accel/bench $(if $(BENCH_PYTHON),-python $(BENCH_PYTHON)) -check

.PHONY: bench-tune
bench-tune: ## compare how low the searches of accel/tune come, and those of Optuna if BENCH_PYTHON has it (minutes)
	$(GO) run ./accel/tune/testdata/compare
	$(if $(BENCH_PYTHON),$(BENCH_PYTHON) accel/tune/testdata/compare/optuna_peer.py)

.PHONY: benchmarks
benchmarks: ## run the Go benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

.PHONY: clean
clean: ## remove the files that the other targets created
	rm -rf $(BUILD) $(VENV) $(dir $(BIN))
