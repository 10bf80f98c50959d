//go:build linux && cgo

package nvtx

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/quernlab/quern/internal/testenv"
)

// TestMain is also the program that the profiler starts: if childVariable is set, it emits
// some ranges from two goroutines.
func TestMain(m *testing.M) {
	if os.Getenv(childVariable) == "" {
		os.Exit(m.Run())
	}
	err := Open()
	fmt.Println(err, errors.Is(err, ErrNoTool))
	outer := Begin("step é")
	var other sync.WaitGroup
	other.Go(func() { Begin("layer")() })
	other.Wait()
	outer()
	os.Exit(0)
}

const childVariable = "QUERN_TEST_NVTX"

func TestRanges(t *testing.T) {
	cc := testenv.Command(t, "cc")
	for _, row := range []struct {
		name  string
		flags []string
		want  string
		log   string
	}{
		{"a tool", nil, "<nil> false", "begin 1 step é\nbegin 2 layer\nend 2\nend 1\n"},
		{"no tool", []string{"none"}, "nvtx: no profiler is attached: start the program with nsys profile or ncu true", ""},
		{"no library", []string{"absent"}, "nvtx: no profiler is attached: start the program with nsys profile or ncu: the library TOOL in NVTX_INJECTION64_PATH cannot be loaded true", ""},
		{"another library", []string{"-DPOOR"}, "nvtx: no profiler is attached: start the program with nsys profile or ncu: TOOL has no InitializeInjectionNvtx2 true", ""},
		{"fails", []string{"-DFAIL"}, "nvtx: no profiler is attached: start the program with nsys profile or ncu: TOOL failed to initialize true", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			folder := t.TempDir()
			tool, log := filepath.Join(folder, "tool.so"), filepath.Join(folder, "log")
			child := exec.Command(os.Args[0])
			child.Env = append(os.Environ(), childVariable+"=1", "NVTX_TEST_LOG="+log)
			if len(row.flags) == 0 || row.flags[0] != "none" {
				child.Env = append(child.Env, variable+"="+tool)
			}
			if len(row.flags) == 0 || strings.HasPrefix(row.flags[0], "-D") {
				args := append([]string{"-shared", "-fPIC", "-Wall", "-o", tool, "testdata/tool.c"}, row.flags...)
				if out, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
					t.Fatalf("cc: %v\n%s", err, out)
				}
			}
			out, err := child.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if got := strings.ReplaceAll(strings.TrimSpace(string(out)), tool, "TOOL"); got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
			text, _ := os.ReadFile(log)
			if string(text) != row.log {
				t.Errorf("the tool received %q, want %q", text, row.log)
			}
		})
	}
}
