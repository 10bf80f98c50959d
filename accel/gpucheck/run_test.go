//go:build unix && !race

// The race detector makes the simulation ten times slower; the tests of the packages below
// already run this code with it.

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/internal/benchfile"
	"github.com/quernlab/quern/internal/testenv"
)

func init() {
	innerParts = append(innerParts, part{name: "ending", run: ending}, part{name: "stubborn", run: stubborn})
}

// programs builds the programs that belong beside this one.
func programs(t *testing.T) (folder string) {
	t.Helper()
	goTool, folder := testenv.Command(t, "go"), t.TempDir()
	for _, arguments := range [][]string{
		{"test", "-c", "-ldflags=-s -w", "-o", filepath.Join(folder, kernelProgram), "../../accel/internal/cuda/kernels"},
		{"build", "-ldflags=-s -w", "-o", filepath.Join(folder, benchProgram), "../../accel/bench"},
	} {
		if text, err := exec.Command(goTool, arguments...).CombinedOutput(); err != nil {
			t.Fatalf("go %v: %v\n%s", arguments, err, text)
		}
	}
	return folder
}

// Both commands on the simulated GPU, without Go on the path, so that they work the first time on
// a machine with a GPU.
func TestRehearsalOnCUDA(t *testing.T) {
	if testing.Short() {
		t.Skip("trainings on the simulated GPU")
	}
	folder := programs(t)
	t.Setenv("PATH", t.TempDir())
	// What the simulated GPU loads as machine code is PTX.
	t.Setenv("QUERN_CUDA_LIBRARIES", filepath.Dir(script(t, "ptxas", `/bin/cat "$4" > "$3"`)))
	absent := map[string][]string{
		"tell":    {"candidates"},                 // the simulated GPU has no libraries
		"compare": {"models", "ncu", "sanitizer"}, // there is no Python on the path
	}
	for _, c := range commands() {
		out := t.TempDir()
		status, output := called(t, c.name, "-device", "simulated:9.0", "-quick", "-out", out, "-programs", folder, "-limit", "30m")
		r, _ := resultIn(t, out)
		if status != exitIncomplete || len(r.Parts) != len(c.parts) {
			t.Errorf("%s: status %d, %d parts\n%s", c.name, status, len(r.Parts), output)
		}
		for i, p := range r.Parts {
			want := complete
			if slices.Contains(absent[c.name], p.Name) && (p.Name == "candidates" || p.Name == "models" || findTool(map[string]string{"ncu": "ncu", "sanitizer": "compute-sanitizer"}[p.Name]) == "") {
				want = missing
			}
			if p.Name != c.parts[i].name || p.Status != want {
				t.Errorf("%s: %+v, want %s\n%s", c.name, p, want, output)
			}
		}
		if table := output[strings.LastIndex(output, "===="):]; len(table) > 11_000 {
			t.Errorf("%s: the table has %d bytes", c.name, len(table))
		}
		switch c.name {
		case "tell":
			if len(r.Ops) < 80 || len(r.Kernels) < 15 || len(r.Ranks) != 2 || r.FirstUse <= 0 || len(r.Loaded) < 20 || len(r.Smoke) < 14 || len(r.Profiles) != len(profiledModels) {
				t.Errorf("%d ops, %d kernel tests, %d trainings on ranks, first use %v, %d kernels, %d small models, %d profiles", len(r.Ops), len(r.Kernels), len(r.Ranks), r.FirstUse, len(r.Loaded), len(r.Smoke), len(r.Profiles))
			}
			for _, p := range r.Profiles {
				if p.Step <= 0 || p.Kernels < 5 || len(p.Rows) < 3 || p.Ceilings[benchfile.Bandwidth] <= 0 || p.Ceilings["bfloat16"] <= 0 || p.Rows[0].Seconds < p.Rows[1].Seconds || p.Rows[0].Bytes <= 0 {
					t.Errorf("%+v", p)
				}
			}
		case "compare":
			for _, v := range r.Variants {
				if v.Ratio <= 0 || v.Counts == nil || v.Counts.Kernels < 1 {
					t.Errorf("%+v", v)
				}
			}
			if r.Cubins == nil || r.Cubins.Assembled < 50 || len(r.Cubins.Modules) < 5 || r.Cubins.Modules[0].Compiled <= 0 || r.Cubins.Modules[0].Loaded <= 0 {
				t.Errorf("cubins %+v", r.Cubins)
			}
			if len(r.Variants) != 2*len(variantsOf) || len(r.Models) == 0 {
				t.Errorf("%d variants, models %s", len(r.Variants), r.Models)
			}
		}
	}
}

// ending is a part with four pieces, two of which end the process.
func ending(ctx context.Context, o options, r *report, out io.Writer) error {
	return r.each(ctx, o, []string{"good", "crash", "endless", "last"}, func(i int) error {
		switch i {
		case 1:
			fmt.Fprintln(os.Stderr, "it is gone")
			os.Exit(3)
		case 2:
			select {}
		}
		r.add(checked{Op: fmt.Sprint("piece ", i)}, out)
		return nil
	})
}

// Pieces that end their process do not stop the others.
func TestPiecesThatEndTheProcess(t *testing.T) {
	r := &report{}
	var out bytes.Buffer
	result := r.apart(t.Context(), options{device: "cpu", pieceLimit: 2 * time.Second}, part{name: "ending"}, t.TempDir(), &out)
	if len(r.Ops) != 2 || r.Ops[0].Op != "piece 0" || r.Ops[1].Op != "piece 3" || result.Status != failed {
		t.Errorf("%+v, %+v\n%s", result, r, out.String())
	}
	for _, want := range []string{"crash: exit status 3", "it is gone", "endless: exit status 4", "no result in 2s"} {
		if !strings.Contains(result.Why, want) {
			t.Errorf("%q is not in %q", want, result.Why)
		}
	}
}

// stubborn ignores interrupts, starts a process that does so too, and never ends.
func stubborn(_ context.Context, o options, r *report, _ io.Writer) error {
	signal.Ignore(os.Interrupt)
	child := exec.Command("sleep", "600")
	child.Stdout = os.Stdout
	if err := child.Start(); err != nil {
		return err
	}
	r.Running = strconv.Itoa(child.Process.Pid)
	if err := r.write(o.result); err != nil {
		return err
	}
	return child.Wait()
}

// A part that does not end is killed with all processes that it started.
func TestStubbornPart(t *testing.T) {
	r := &report{}
	var out bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	begin := time.Now()
	result := r.apart(ctx, options{device: "cpu"}, part{name: "stubborn"}, t.TempDir(), &out)
	if took := time.Since(begin); result.Status != incomplete || took > time.Minute {
		t.Errorf("%+v after %v", result, took)
	}
	id, _, _ := strings.Cut(result.Why, ":")
	pid, err := strconv.Atoi(id)
	if err != nil {
		t.Fatalf("%v: %q", err, result.Why)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) && !zombie(pid) {
		t.Errorf("process %d still runs: %v", pid, err)
	}
}

// zombie reports whether a process has ended and nobody has waited for it.
func zombie(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(text), ") Z ")
}

// When the time is up, the parts that follow are incomplete, and the results are saved.
func TestNoTimeOnCUDA(t *testing.T) {
	out := t.TempDir()
	status, output := called(t, "tell", "-device", "simulated", "-quick", "-out", out, "-limit", "5100ms")
	r, _ := resultIn(t, out)
	if status != exitIncomplete || len(r.Parts) != len(commands()[0].parts) {
		t.Fatalf("status %d\n%s", status, output)
	}
	if last := r.Parts[len(r.Parts)-1]; last.Status != incomplete || last.Why == "" {
		t.Errorf("%+v\n%s", last, output)
	}
}
