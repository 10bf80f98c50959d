package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quernlab/quern/internal/testenv"
)

// TestLostGPU trains in a program whose simulated GPU fails permanently after some
// epochs: the worker ends with the reason, and another one resumes from the last
// checkpoint. A linker flag selects the call that fails, so other programs cannot enable
// this.
func TestLostGPU(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	goTool := testenv.Command(t, "go")
	folder := t.TempDir()
	faulty := filepath.Join(folder, "quern-faulty")
	const variable = "github.com/quernlab/quern/accel/simulated.fault"
	build := exec.Command(goTool, "build", "-o", faulty, "-ldflags", "-s -w -X '"+variable+"=LaunchGraph 20 700'", ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	run := func(cells ...string) (output string, err error) {
		t.Helper()
		path := filepath.Join(folder, "training.ipynb")
		notebook := map[string]any{"nbformat": 4, "nbformat_minor": 5, "metadata": map[string]any{}}
		var list []any
		for i, source := range cells {
			list = append(list, map[string]any{
				"cell_type": "code", "id": fmt.Sprintf("c%d", i), "metadata": map[string]any{}, "outputs": []any{}, "execution_count": nil, "source": source,
			})
		}
		notebook["cells"] = list
		raw, err := json.Marshal(notebook)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, raw, 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(faulty, "run", path, "-o", filepath.Join(folder, "done.ipynb")).CombinedOutput()
		return string(out), err
	}
	fit := func(device string, epochs int) string {
		return fmt.Sprintf(`train, _, _ := data.Digits()
model := nn.Sequential(nn.Flatten(), nn.Dense(10))
run, err := accel.Fit(ctx, model, train.First(64), accel.Epochs(%d), accel.BatchSize(16), accel.Quiet(), accel.On(%q), accel.Resume(%q))
fmt.Println(len(run.Epochs), "epochs")`, epochs, device, filepath.Join(folder, "training.safetensors"))
	}
	output, err := run(`fmt.Println("before")`, fit("simulated", 50), `fmt.Println("after")`)
	if err == nil {
		t.Errorf("a GPU that fails ends nothing:\n%s", output)
	}
	for _, want := range []string{"before", "cell 2 failed", "fatal error: the GPU has failed", "CUDA_ERROR_ILLEGAL_ADDRESS", "files of accel.Resume are kept"} {
		if !strings.Contains(output, want) {
			t.Errorf("%q is missing in\n%s", want, output)
		}
	}
	output, err = run(fit("cpu", 1))
	if err != nil || strings.Contains(output, "\n1 epochs") || !strings.Contains(output, " epochs") {
		t.Errorf("the training does not go on from its checkpoint: %v\n%s", err, output)
	}
}
