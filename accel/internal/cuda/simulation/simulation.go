// Package simulation is the GPU that the processor plays where there is none, as
// accel.Use("simulated") names it.
package simulation

import (
	"fmt"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/fake"
	"github.com/quernlab/quern/accel/internal/cuda/nccl"
)

// Memory is the bytes that the GPU has.
const Memory = 2 << 30

// Machines open the machines with the GPUs, by their names: the number is the compute
// capability. Tests put others here, whose kernels take as long as they say or whose
// calls fail; nothing else does.
var Machines = map[string]func() (driver.Driver, error){
	"simulated":     func() (driver.Driver, error) { return open(80) },
	"simulated:8.9": func() (driver.Driver, error) { return open(89) },
	"simulated:9.0": func() (driver.Driver, error) { return open(90) },
}

// NCCL adds up over simulated GPUs, if a test has put a played one here.
var NCCL func(driver.Context) (nccl.Library, error)

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

// fault is a call that fails, how many go well before, and the code: "LaunchGraph 3
// 700". Only the linker sets it (-X), for tests of whole programs.
var fault string
