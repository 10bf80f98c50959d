//go:build !js

package tensor

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/quernlab/quern/accel/internal/cuda"
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/library"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/internal/trust"
)

// listGPUs returns the GPUs that this package can use. If there are none, the error says why in one
// line.
func listGPUs() ([]tensors.GPU, error) {
	d, err := gpus()
	if err != nil {
		return nil, err
	}
	var all []tensors.GPU
	for i, g := range d.Devices() {
		all = append(all, tensors.GPU{
			Device: fmt.Sprintf("cuda:%d", i), Name: g.Name, Capability: fmt.Sprintf("%d.%d", g.Major, g.Minor),
			SMs: g.SMs, Memory: g.Memory, PCI: g.PCI,
		})
	}
	return all, nil
}

// errUnregistered is why a program has no simulated GPU.
var errUnregistered = errors.New(`the device is not registered; add import _ "github.com/quernlab/quern/accel/simulated" to the program`)

// gpus opens the CUDA driver once.
var gpus = sync.OnceValues(driver.Open)

// openCUDA opens the GPU with a number.
func openCUDA(name string, number int) (ir.Device, error) {
	d, err := gpus()
	if err != nil {
		return nil, err
	}
	if n := len(d.Devices()); number >= n {
		return nil, fmt.Errorf("the machine has %d GPUs, counted from 0; accel.Devices lists them", n)
	}
	use := cuda.Installed(d.Version())
	if use.Variants, err = cuda.ParseVariants(os.Getenv(cuda.VariantsVariable)); err != nil {
		return nil, err
	}
	return cuda.Open(name, d, number, use)
}

// listLibraries looks for the libraries as the first op that needs one does.
func listLibraries() []tensors.Library {
	version := 0
	if d, err := gpus(); err == nil {
		version = d.Version()
	}
	var all []tensors.Library
	for _, f := range library.Report(version) {
		l := tensors.Library{Name: f.Library.Name, Path: f.Location.Path, From: f.Location.From}
		if f.Location.Path != "" {
			l.Version = f.Version.String()
		}
		if f.Unused != nil {
			for _, e := range trust.Errors(f.Unused) {
				l.Refused = append(l.Refused, e.Path)
			}
			l.Unused = strings.ReplaceAll(f.Unused.Error(), "\n", "; ") // one line per file that was tried
		}
		all = append(all, l)
	}
	return all
}
