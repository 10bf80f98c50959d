package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/quernlab/quern/accel/internal/benchfile"
)

// benchProgram is accel/bench, in the same folder as this program. It has the models at full size.
const benchProgram = "gpu-check-bench"

// runBench runs accel/bench with some flags and returns the end of its standard error.
func (o options) runBench(ctx context.Context, out io.Writer, args ...string) (said *tail, err error) {
	program, err := o.program(benchProgram)
	if err != nil {
		return &tail{}, err
	}
	args = append([]string{"-device", o.device}, args...)
	if o.quick {
		args = append(args, "-quick")
	}
	command, said := external(ctx, program, args...)
	command.Stdout = out
	if err := command.Run(); err != nil {
		return said, fmt.Errorf("%w: %s", err, said)
	}
	return said, nil
}

// profiledModels are the cases of accel/bench that are profiled.
var profiledModels = []string{"mlp", "gpt2", "resnet9", "lstm"}

// pieceReserve is the time that is kept for each later piece of a part.
const pieceReserve = 8 * time.Second

// share returns a context that leaves time for some later pieces.
func share(ctx context.Context, later int) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	left := time.Until(deadline)
	return context.WithTimeout(ctx, max(left/time.Duration(later+1), left-time.Duration(later)*pieceReserve))
}

// shareFor returns a context for the next n of all pieces that are left. Each piece has the same share of the time.
func shareFor(ctx context.Context, n, all int) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(deadline)*time.Duration(n)/time.Duration(all))
}

// profileModels profiles a step of each model.
func profileModels(ctx context.Context, o options, r *report, out io.Writer) error {
	var failed error
	for i, name := range profiledModels {
		own, cancel := share(ctx, len(profiledModels)-1-i)
		p, err := o.profile(own, name, out)
		cancel()
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", name, err))
			fmt.Fprintf(out, "note: %s: %v\n", name, err)
			continue
		}
		r.Profiles = append(r.Profiles, p)
		if err := r.write(o.result); err != nil {
			return err
		}
	}
	return failed
}

// profile profiles a step of one model.
func (o options) profile(ctx context.Context, name string, out io.Writer) (p benchfile.Profile, err error) {
	folder, err := os.MkdirTemp("", "gpu-check")
	if err != nil {
		return p, err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "profile.json")
	if _, err := o.runBench(ctx, out, "-bench", name, "-profile", file); err != nil {
		return p, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return p, err
	}
	return p, json.Unmarshal(text, &p)
}

// selection is a step for which libraries have algorithms; see the cache of package cuda.
type selection struct {
	Op         string      `json:"op"`
	Selected   string      `json:"selected"`
	Candidates []candidate `json:"candidates"`
}

type candidate struct {
	Name         string  `json:"name"`
	Milliseconds float64 `json:"milliseconds,omitempty"`
	Rejected     string  `json:"rejected,omitempty"`
}

// readCandidates reads the times that the parts before have measured.
func readCandidates(_ context.Context, _ options, r *report, out io.Writer) error {
	folder, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(folder, "quern", "cuda-algorithms.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return &missingError{"no algorithms of libraries were measured: neither cuBLASLt nor cuDNN is used, or no model ran"}
	}
	if err != nil {
		return err
	}
	var all map[string]selection
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	for _, s := range all {
		slices.SortStableFunc(s.Candidates, func(a, b candidate) int {
			return cmp.Or(cmp.Compare(a.Rejected, b.Rejected), cmp.Compare(a.Milliseconds, b.Milliseconds))
		})
		r.Candidates = append(r.Candidates, s)
	}
	slices.SortFunc(r.Candidates, func(a, b selection) int { return cmp.Compare(a.Op, b.Op) })
	fmt.Fprintln(out, candidatesSummary(r.Candidates))
	return nil
}

// candidatesSummary says in a line how often our own kernel is selected, and how much faster the
// selected candidates are.
func candidatesSummary(all []selection) string {
	own, rejected, before, after := 0, 0, 0.0, 0.0
	for _, s := range all {
		if strings.HasSuffix(s.Selected, "own kernel") {
			own++
		}
		for _, c := range s.Candidates {
			switch {
			case c.Rejected != "":
				rejected++
			case strings.HasSuffix(c.Name, "own kernel"):
				before += c.Milliseconds
			}
			if c.Name == s.Selected {
				after += c.Milliseconds
			}
		}
	}
	return fmt.Sprintf("%d selections, our own kernel in %d; our own kernels take %.3g ms in all, the selected %.3g ms; %d algorithms rejected", len(all), own, before, after, rejected)
}

// comparedModels are the cases of accel/bench that are compared with PyTorch.
var comparedModels = []string{"gpt2", "resnet9", "mlp"}

// compareModels measures models beside PyTorch.
func compareModels(ctx context.Context, o options, r *report, out io.Writer) error {
	folder, err := os.MkdirTemp("", "gpu-check")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	args := []string{"-bench", strings.Join(comparedModels, ","), "-rounds", "5", "-slice", "0.4", "-limit", "100s", "-save", "-results", folder}
	python, _ := exec.LookPath(o.python) // empty if there is none
	if python == "" {
		fmt.Fprintf(out, "note: %s is not installed, so Quern is measured alone\n", o.python)
	}
	said, err := o.runBench(ctx, out, append(args, "-python", python)...)
	files, globErr := filepath.Glob(filepath.Join(folder, "*.json"))
	if err = errors.Join(err, globErr); len(files) == 0 {
		return errors.Join(err, errors.New("no model was measured"))
	}
	text, readErr := os.ReadFile(files[0])
	if readErr != nil {
		return errors.Join(err, readErr)
	}
	var all benchResult
	if e := json.Unmarshal(text, &all); e != nil {
		return errors.Join(err, e)
	}
	r.Models = text
	return errors.Join(err, all.lacks(said.String()))
}

// benchResult is the part of accel/bench's result that is used here.
type benchResult struct {
	Figures map[string]struct {
		Samples int               `json:"samples"`
		Failed  map[string]string `json:"failed"`
		Times   map[string]struct {
			Median float64 `json:"median"`
		} `json:"times"`
		Counts map[string]float64 `json:"counts"`
	} `json:"figures"`
}

// torchSettings are the runners of PyTorch.
var torchSettings = []string{"torch-eager", "torch-graph", "torch-compile"}

// lacks returns an error that names the models and settings without a time.
func (b benchResult) lacks(said string) error {
	var torch, quern []string
	measured := 0
	for _, name := range comparedModels {
		f := b.Figures[name]
		if f.Times["quern"].Median == 0 {
			quern = append(quern, name)
		}
		for _, s := range torchSettings {
			if f.Times[s].Median == 0 {
				torch = append(torch, name+" "+s)
			} else {
				measured++
			}
		}
	}
	switch {
	case len(quern) > 0:
		return fmt.Errorf("not measured: %s", strings.Join(quern, ", "))
	case measured == 0:
		return &missingError{"PyTorch is not measured: " + said}
	case len(torch) > 0:
		return &missingError{"not measured: " + strings.Join(torch, ", ")}
	}
	return nil
}

// variantsOf are the settings of QUERN_CUDA_VARIANTS that are measured, by case. "libraries=off"
// stands for QUERN_CUDA_LIBRARIES=none.
var variantsOf = []struct {
	model    string
	settings []string
}{
	{"mlp", []string{"graphs=off", "batches=off", "fusion=off", "pdl=on"}},
	{"gpt2", []string{"graphs=off", "pdl=on", "cubin=on", "flash=off", "libraries=off", "wgmma=off", "fusion=off", "reads=off", "batches=off", "autotune=off"}},
	{"resnet9", []string{"libraries=off", "layout=off", "reads=off", "fusion=off", "plans=16", "plans=1", "autotune=off"}},
}

// compareVariants measures each variant beside the default.
func compareVariants(ctx context.Context, o options, r *report, out io.Writer) error {
	folder, err := os.MkdirTemp("", "gpu-check")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "variants.json")
	later := 0 // settings that are not measured yet
	for _, v := range variantsOf {
		later += len(v.settings)
	}
	var failed error
	for _, v := range variantsOf {
		settings := v.settings
		own, cancel := shareFor(ctx, len(settings), later)
		later -= len(settings)
		if o.quick {
			settings = []string{settings[0], settings[len(settings)-1]}
		}
		_, err := o.runBench(own, out, "-bench", v.model, "-rounds", "3", "-slice", "0.4", "-limit", "60s", "-variants", strings.Join(settings, ","), "-variants-file", file)
		cancel()
		var all []benchfile.Variant
		text, readErr := os.ReadFile(file)
		if readErr == nil {
			readErr = json.Unmarshal(text, &all)
		}
		r.Variants = append(r.Variants, all...)
		for _, x := range all {
			if x.NotMeasured != "" {
				r.Part.worse(missing, fmt.Sprintf("%s: %s: %s", v.model, x.Setting, x.NotMeasured))
			}
			if x.Error != "" {
				err = errors.Join(err, fmt.Errorf("%s: %s", x.Setting, x.Error))
			}
		}
		if err == nil && (readErr != nil || len(all) != len(settings)) {
			err = errors.Join(readErr, fmt.Errorf("%d of %d settings were measured", len(all), len(settings)))
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", v.model, err))
		}
		if err := errors.Join(r.write(o.result), removed(file)); err != nil {
			return err
		}
	}
	return failed
}

// removed removes a file if it exists.
func removed(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
