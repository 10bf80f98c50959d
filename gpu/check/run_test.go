//go:build !race

// The race detector makes the simulation ten times slower, and looks at the same
// code in the tests of the packages below.

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The whole command on the simulated GPU, so that it works the first time that it
// meets a real one.
func TestQuickRunOnCUDA(t *testing.T) {
	if testing.Short() {
		t.Skip("a training on the simulated GPU")
	}
	folder := t.TempDir()
	var out bytes.Buffer
	if err := run(t.Context(), options{device: "simulated", quick: true, out: folder}, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, want := range []string{"ops against the processor", "MLP 20-16-16-10", "ResNet-9", "GPT-2", "product 64³", "written to"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in the output:\n%s", want, out.String())
		}
	}
	files, err := filepath.Glob(filepath.Join(folder, "*-simulated.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("results %v, %v", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Ops) < 80 || r.Wrong != 0 || len(r.Benches) != 4 || r.Benches[0].Seconds["quern"] <= 0 || len(r.Problems) > 0 {
		t.Errorf("%d ops, %d wrong, %d benches, problems %q", len(r.Ops), r.Wrong, len(r.Benches), r.Problems)
	}
}
