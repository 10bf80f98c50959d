// Package simulated adds GPUs that the CPU simulates, instruction by
// instruction: very slow, and there to try without a GPU whether a program
// would run on one. The kernels, the CUDA graphs and the limits of memory are
// those of a real GPU; times are not.
//
// Importing the package makes the devices known to accel.SetDevice, accel.On and
// the environment variable QUERN_DEVICE:
//
//	import _ "github.com/quernlab/quern/accel/simulated"
//
//	err := accel.SetDevice("simulated")
//
// In cells it is always imported.
package simulated

import (
	"fmt"
	"os"

	"github.com/quernlab/quern/accel/internal/cuda"
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/fake"
	"github.com/quernlab/quern/accel/internal/engine/devices"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// The devices, by the name that accel.SetDevice takes. They differ in what CUDA calls
// the compute capability.
const (
	GPU   = "simulated"     // 8.0, like the A100
	GPU89 = "simulated:8.9" // like the L4: with products of 8-bit floats
	GPU90 = "simulated:9.0" // like the H100
)

// Memory is the bytes that each GPU has.
const Memory = 2 << 30

func init() {
	for name, capability := range map[string]int{GPU: 80, GPU89: 89, GPU90: 90} {
		devices.Register(name, func() (ir.Device, error) {
			d, err := open(capability)
			if err != nil {
				return nil, err
			}
			variants, err := cuda.ParseVariants(os.Getenv(cuda.VariantsVariable))
			if err != nil {
				return nil, err
			}
			return cuda.Open(name, d, 0, cuda.Libraries{Variants: variants})
		})
	}
}

func open(capability int) (driver.Driver, error) {
	d, err := fake.Open(fake.Options{Memory: Memory, Capability: capability})
	if err != nil || fault == "" {
		return d, err
	}
	var i fake.Injection
	if _, err := fmt.Sscan(fault, &i.Call, &i.Skip, &i.Code); err != nil {
		return nil, fmt.Errorf("the fault %q of the simulated GPU: %w", fault, err)
	}
	d.Inject(i)
	return d, nil
}

// fault is a call that fails, how many succeed before, and the code: "LaunchGraph 3
// 700". Only the linker sets it (-X), for tests of whole programs.
var fault string
