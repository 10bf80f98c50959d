package kernels

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/internal/testenv"
)

var entryName = regexp.MustCompile(`(?m)^\s*\.visible \.entry (\w+)`)

// loadedKernel is a line of TestLoad, which gpu/check reads.
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
	files, err := code.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, f := range files {
		module, ok := strings.CutSuffix(path.Base(f.Name()), ".ptx.gz")
		if need := neededCapability(module); !ok || need > c.Info().Capability() || need == 90 && c.Info().Major != 9 {
			continue
		}
		if seen++; testing.Short() && seen%8 != 1 {
			continue
		}
		if err := load(c, module); err != nil {
			fmt.Printf("loaded: %s\n", line(loadedKernel{Module: module, Error: err.Error()}))
			t.Error(err)
		}
	}
	if seen == 0 {
		testenv.Optional(t, "no kernels for capability %d", c.Info().Capability())
	}
}

func line(l loadedKernel) string {
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
