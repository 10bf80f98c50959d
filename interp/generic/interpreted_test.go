package generic_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/quernlab/quern/interp"
)

// TestInterpreted runs the programs in testdata as cells, and compares their output with that of the compiled programs.
func TestInterpreted(t *testing.T) {
	programs, err := filepath.Glob("testdata/*.go")
	if err != nil || len(programs) == 0 {
		t.Fatalf("programs %v, %v", programs, err)
	}
	for _, program := range programs {
		name := strings.TrimSuffix(filepath.Base(program), ".go")
		t.Run(name, func(t *testing.T) {
			source, err := os.ReadFile(program)
			if err != nil {
				t.Fatal(err)
			}
			compiled, err := exec.Command("go", "run", program).Output()
			if err != nil {
				t.Fatal(err)
			}
			var output bytes.Buffer
			session, err := interp.New(interp.Stdout(&output), interp.Stderr(&output))
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			if _, err := session.Execute(context.Background(), 1, string(source)); err != nil {
				t.Error(err)
			}
			if diff := diff.Diff("compiled", compiled, "interpreted", output.Bytes()); diff != nil {
				t.Errorf("%s", diff)
			}
		})
	}
}
