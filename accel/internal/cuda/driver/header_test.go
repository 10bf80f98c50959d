//go:build linux && cgo

package driver

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/quernlab/quern/internal/testenv"
)

// headers finds all cuda.h: that of a toolkit, and those of Python environments with the
// package nvidia-cuda-runtime-cu12 or nvidia-cuda-runtime.
func headers(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, pattern := range []string{os.Getenv("QUERN_CUDA_H"), "/usr/local/cuda/include/cuda.h", "/usr/include/cuda.h",
		filepath.Join(os.Getenv("VIRTUAL_ENV"), "lib/python3*/site-packages/nvidia/*/include/cuda.h"),
		"../../../../.venv/lib/python3*/site-packages/nvidia/*/include/cuda.h"} {
		if here, err := filepath.Glob(pattern); err == nil {
			found = append(found, here...)
		}
	}
	if len(found) == 0 {
		testenv.Missing(t, "cuda.h is not installed (pip install nvidia-cuda-runtime-cu12, or name one in QUERN_CUDA_H)")
	}
	return found
}

// Structs, functions and constants must match the real header.
func TestHeader(t *testing.T) {
	t.Parallel()
	for _, header := range headers(t) {
		bytes, err := os.ReadFile(header)
		if err != nil {
			t.Fatal(err)
		}
		text := string(bytes)
		testLayout(t, header)
		testNumbers(t, header, text)
		testCodes(t, header, text)
	}
}

func testLayout(t *testing.T, header string) {
	compiler, err := exec.LookPath("c++")
	if err != nil {
		t.Log("no C++ compiler here, so that structs are not compared")
		return
	}
	command := exec.CommandContext(t.Context(), compiler, "-std=c++11", "-fsyntax-only", "-I", filepath.Dir(header), "testdata/layout.cc")
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("%s has different declarations: %v\n%s", header, err, out)
	}
}

func testNumbers(t *testing.T, header, text string) {
	for name, want := range map[string]int{
		"CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK":                attributeThreadsPerBlock,
		"CU_DEVICE_ATTRIBUTE_CLOCK_RATE":                           attributeClock,
		"CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT":                 attributeSMs,
		"CU_DEVICE_ATTRIBUTE_INTEGRATED":                           attributeIntegrated,
		"CU_DEVICE_ATTRIBUTE_COMPUTE_MODE":                         attributeComputeMode,
		"CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE":                    attributeMemoryClock,
		"CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH":              attributeBusWidth,
		"CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE":                        attributeL2,
		"CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR":       attributeThreadsPerSM,
		"CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR":             attributeMajor,
		"CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR":             attributeMinor,
		"CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": attributeSharedPerSM,
		"CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR":     attributeRegistersPerSM,
		"CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN":    attributeSharedPerBlock,
		"CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED":               attributeMemoryPools,
		"CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK":                  functionThreads,
		"CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES":                      functionShared,
		"CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES":                       functionLocal,
		"CU_FUNC_ATTRIBUTE_NUM_REGS":                               functionRegisters,
		"CU_FUNC_ATTRIBUTE_BINARY_VERSION":                         functionBinary,
		"CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES":          functionMaxShared,
	} {
		m := regexp.MustCompile(`\b` + name + `\s*=\s*(\d+)`).FindStringSubmatch(text)
		if m == nil || m[1] != strconv.Itoa(want) {
			t.Errorf("%s: %s is %q, not %d", header, name, m, want)
		}
	}
	for prefix, words := range map[string][]string{
		"CU_TENSOR_MAP_DATA_TYPE_": {"UINT8", "UINT16", "UINT32", "INT32", "UINT64", "INT64", "FLOAT16", "FLOAT32", "FLOAT64", "BFLOAT16"},
		"CU_TENSOR_MAP_SWIZZLE_":   {"NONE", "32B", "64B", "128B"},
	} {
		// Only the first has an explicit value, so compare their order.
		if pattern := prefix + strings.Join(words, `(\s*=\s*\d+)?,[^\n]*\n\s*`+prefix) + `\b`; !regexp.MustCompile(pattern).MatchString(text) {
			t.Errorf("%s: the order of %s… is not %v", header, prefix, words)
		}
	}
	if TensorUint8 != 0 || TensorBFloat16 != 9 || SwizzleNone != 0 || Swizzle128 != 3 {
		t.Error("types of tensors and swizzles are not numbered in that order")
	}
}

var errorPattern = regexp.MustCompile(`(?s)/\*\*((?:[^*]|\*[^/])*)\*/\s*(CUDA_ERROR_\w+)\s*=\s*(\d+)`)

// testCodes compares the names of errors, and whether a process can continue after one.
func testCodes(t *testing.T, header, text string) {
	found := errorPattern.FindAllStringSubmatch(text, -1)
	if len(found) < 80 {
		t.Fatalf("%s: only %d errors", header, len(found))
	}
	for _, m := range found {
		number, err := strconv.Atoi(m[3])
		if err != nil {
			t.Fatal(err)
		}
		code := Code(number)
		if name, known := names[code]; known && name != m[2] {
			t.Errorf("%s: %d is %s, not %s", header, number, m[2], name)
		}
		words := strings.Join(strings.Fields(strings.ReplaceAll(m[1], "*", " ")), " ")
		if strings.Contains(words, "process must be terminated") && !code.Sticky() {
			t.Errorf("%s: after %s no call can succeed: %s", header, m[2], words)
		}
	}
	for code, name := range names {
		if !strings.Contains(text, fmt.Sprintf("%s ", name)) {
			t.Logf("%s: %d, %s, is not there", header, code, name)
		}
	}
}
