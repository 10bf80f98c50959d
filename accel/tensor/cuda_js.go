package tensor

import (
	"errors"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

// errBrowser is the reason why a program for browsers has no CUDA back end.
var errBrowser = errors.New("a program in a browser cannot use a GPU")

// errUnregistered is why a program has no simulated GPU.
var errUnregistered = errors.New("a program in a browser has no simulated GPUs")

// listGPUs returns an error: a program in a browser cannot use a GPU.
func listGPUs() ([]tensors.GPU, error) { return nil, errBrowser }

func openCUDA(string, int) (ir.Device, error) { return nil, errBrowser }

// listLibraries returns none.
func listLibraries() []tensors.Library { return nil }
