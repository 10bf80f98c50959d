package kernels

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/quernlab/quern/accel/internal/cuda/cubin"
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/internal/testenv"
)

var entryName = regexp.MustCompile(`(?m)^\s*\.visible \.entry (\w+)`)

// loadedKernel is a line of TestLoad, which accel/gpucheck reads.
type loadedKernel struct {
	Module       string  `json:"module"`
	Kernel       string  `json:"kernel"`
	Milliseconds float64 `json:"milliseconds,omitempty"`
	Registers    int     `json:"registers"`
	Local        int     `json:"local,omitempty"`
	Shared       int     `json:"shared,omitempty"`
	Threads      int     `json:"threads,omitempty"`
	Blocks       int     `json:"blocks"`
	Error        string  `json:"error,omitempty"`
}

// TestLoad loads all kernels onto the device, and prints the resources that the driver's compiler
// gave them. With -short it loads some.
func TestLoad(t *testing.T) {
	if os.Getenv(deviceVariable) == "" {
		t.Skip("without a device: other tests load the kernels into the simulator")
	}
	c, err := device()
	if err != nil {
		t.Fatal(err)
	}
	for i, module := range modulesFor(t, c.Info()) {
		if testing.Short() && i%shortStep != 0 {
			continue
		}
		if err := load(c, module); err != nil {
			fmt.Printf("loaded: %s\n", line(loadedKernel{Module: module, Error: err.Error()}))
			t.Error(err)
		}
	}
}

// shortStep is the distance of the modules that tests load with -short.
const shortStep = 8

// modulesFor returns the modules that a GPU can run.
func modulesFor(t *testing.T, gpu driver.Info) (all []string) {
	files, err := code.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		module, ok := strings.CutSuffix(path.Base(f.Name()), ".ptx.gz")
		if need := neededCapability(module); ok && need <= gpu.Capability() && (need != 90 || gpu.Major == 9) {
			all = append(all, module)
		}
	}
	if len(all) == 0 {
		testenv.Optional(t, "no kernels for capability %d", gpu.Capability())
	}
	return all
}

// loadedCubins is the line of TestLoadCubins, which accel/gpucheck reads.
type loadedCubins struct {
	Missing   string        `json:"missing,omitempty"` // why there is no ptxas
	Assembler string        `json:"assembler"`         // path of ptxas
	Assembled int           `json:"assembled"`         // modules
	Seconds   float64       `json:"seconds"`           // to assemble them, several at once
	Modules   []loadedCubin `json:"modules"`           // that were loaded
}

type loadedCubin struct {
	Module   string  `json:"module"`
	Compiled float64 `json:"compiled"` // milliseconds to load its PTX
	Loaded   float64 `json:"loaded"`   // milliseconds to load its machine code
}

// TestLoadCubins assembles all modules with ptxas, and compares how long the device takes to load PTX and machine code. With
// -short it loads some. CUDA_CACHE_DISABLE=1 lets the driver compile PTX that it has compiled before.
func TestLoadCubins(t *testing.T) {
	if os.Getenv(deviceVariable) == "" {
		t.Skip("without a device")
	}
	c, err := device()
	if err != nil {
		t.Fatal(err)
	}
	a, err := cubin.New(c.Info().Capability())
	if err != nil {
		fmt.Printf("cubins: %s\n", line(loadedCubins{Missing: err.Error()}))
		testenv.Optional(t, "%v", err)
	}
	modules := modulesFor(t, c.Info())
	texts, codes := make([]string, len(modules)), make([]string, len(modules))
	begin := time.Now()
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, module := range modules {
		group.Go(func() (err error) {
			if texts[i], err = PTX(module); err != nil {
				return err
			}
			b, err := a.Assemble(ctx, texts[i])
			codes[i] = string(b)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	all := loadedCubins{Assembler: a.Path, Assembled: len(modules), Seconds: time.Since(begin).Seconds()}
	for i, module := range modules {
		if testing.Short() && i%shortStep != 0 {
			continue
		}
		l := loadedCubin{Module: module}
		for _, side := range []struct {
			code string
			to   *float64
		}{{texts[i], &l.Compiled}, {codes[i], &l.Loaded}} {
			if *side.to, err = loadTime(c, side.code, entryName.FindAllStringSubmatch(texts[i], -1)); err != nil {
				t.Fatalf("%s: %v", module, err)
			}
		}
		all.Modules = append(all.Modules, l)
	}
	fmt.Printf("cubins: %s\n", line(all))
}

// loadTime returns how many milliseconds it takes to load code with its kernels.
func loadTime(c driver.Context, code string, names [][]string) (milliseconds float64, err error) {
	begin := time.Now()
	m, err := c.Load(code)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, c.Unload(m)) }()
	for _, name := range names {
		if _, err := c.Function(m, name[1]); err != nil {
			return 0, err
		}
	}
	return float64(time.Since(begin).Microseconds()) / 1e3, nil
}

func line(l any) string {
	text, err := json.Marshal(l)
	if err != nil {
		panic(err) // it has strings and numbers only
	}
	return string(text)
}

// load loads a module and prints its kernels.
func load(c driver.Context, module string) (err error) {
	text, err := PTX(module)
	if err != nil {
		return err
	}
	begin := time.Now()
	m, err := c.Load(text)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Unload(m)) }()
	names := entryName.FindAllStringSubmatch(text, -1)
	if len(names) == 0 {
		return fmt.Errorf("%s has no kernels", module)
	}
	for i, name := range names {
		f, err := c.Function(m, name[1])
		if err != nil {
			return err
		}
		l := loadedKernel{Module: module, Kernel: name[1]}
		if i == 0 {
			l.Milliseconds = float64(time.Since(begin).Microseconds()) / 1e3
		}
		info, err := c.FunctionInfo(f)
		if err != nil {
			return err
		}
		l.Registers, l.Local, l.Shared, l.Threads = info.Registers, info.Local, info.Shared, info.Threads
		if l.Blocks, err = c.Occupancy(f, info.Threads, 0); err != nil {
			return err
		}
		fmt.Printf("loaded: %s\n", line(l))
	}
	return nil
}
