package cuda

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
)

// VariantsVariable is the environment variable that sets [Variants], such as
// "graphs=off,plans=16".
const VariantsVariable = "QUERN_CUDA_VARIANTS"

// Variants replace parts of the back end by simpler or larger ones, to measure what each part
// contributes. The zero value is what users get.
type Variants struct {
	NoGraphs   bool // launch kernels one by one
	NoWgmma    bool // multiply with mma.sync on compute capability 9.0 too
	NoFlash    bool // compute attention in float32
	NoReads    bool // read and write float32 in norms, softmax, losses, pooling and sums, also between 16-bit products
	NoFusion   bool // compute activations and their slopes, sums of biases, residual sums and losses in kernels of their own
	NoLayout   bool // convolve 16-bit images in row-major order, [N, C, H, W]; cuDNN and our own kernels copy them
	NoBatches  bool // update each parameter in a kernel of its own
	Early      bool // kernels of graphs begin before the end of the one before: programmatic dependent launch
	Cubin      bool // load machine code that ptxas has assembled, instead of PTX that the driver compiles
	NoAutotune bool // take the first algorithm of a library that works
	Plans      int  // of a library for a step, instead of maxPlans; 0 for maxPlans
}

// variants sets one of the variants to a value; it returns false if the value is invalid.
var variants = map[string]struct {
	values string // for messages
	set    func(v *Variants, value string) bool
}{
	"graphs":   {"on, off", off(func(v *Variants) *bool { return &v.NoGraphs })},
	"wgmma":    {"on, off", off(func(v *Variants) *bool { return &v.NoWgmma })},
	"flash":    {"on, off", off(func(v *Variants) *bool { return &v.NoFlash })},
	"reads":    {"on, off", off(func(v *Variants) *bool { return &v.NoReads })},
	"fusion":   {"on, off", off(func(v *Variants) *bool { return &v.NoFusion })},
	"layout":   {"on, off", off(func(v *Variants) *bool { return &v.NoLayout })},
	"batches":  {"on, off", off(func(v *Variants) *bool { return &v.NoBatches })},
	"pdl":      {"on, off", on(func(v *Variants) *bool { return &v.Early })},
	"cubin":    {"on, off", on(func(v *Variants) *bool { return &v.Cubin })},
	"autotune": {"on, off", off(func(v *Variants) *bool { return &v.NoAutotune })},
	"plans": {"1 to 64", func(v *Variants, value string) bool {
		n, err := strconv.Atoi(value)
		v.Plans = n
		return err == nil && n >= 1 && n <= 64
	}},
}

func on(field func(v *Variants) *bool) func(v *Variants, value string) bool {
	return func(v *Variants, value string) bool {
		*field(v) = value == "on"
		return value == "on" || value == "off"
	}
}

func off(field func(v *Variants) *bool) func(v *Variants, value string) bool {
	return func(v *Variants, value string) bool {
		*field(v) = value == "off"
		return value == "on" || value == "off"
	}
}

// UnknownVariantError reports a setting that this version does not have.
type UnknownVariantError struct{ Setting string }

func (e *UnknownVariantError) Error() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(variants)) {
		all = append(all, fmt.Sprintf("%s=(%s)", name, variants[name].values))
	}
	return fmt.Sprintf("%s has %q, but the settings are %s", VariantsVariable, e.Setting, strings.Join(all, " "))
}

// UnavailableVariantError reports a setting that needs something that the machine lacks.
type UnavailableVariantError struct{ Setting, Needs string }

func (e *UnavailableVariantError) Error() string {
	return fmt.Sprintf("%s=%s is not available: %s", VariantsVariable, e.Setting, e.Needs)
}

// available returns an error if a GPU does not have a variant.
func (v Variants) available(gpu driver.Info) error {
	if v.Early && !gpu.EarlyLaunches {
		return &UnavailableVariantError{"pdl=on", fmt.Sprintf("programmatic dependent launch in graphs needs compute capability 9.0 and a driver for CUDA 12.3; the GPU has %d.%d, the driver is for CUDA %d.%d",
			gpu.Major, gpu.Minor, gpu.CUDA/1000, gpu.CUDA%1000/10)}
	}
	return nil
}

// ParseVariants parses settings that are separated by commas. The error is an
// [*UnknownVariantError].
func ParseVariants(text string) (v Variants, err error) {
	for setting := range strings.SplitSeq(text, ",") {
		if setting = strings.TrimSpace(setting); setting == "" {
			continue
		}
		name, value, _ := strings.Cut(setting, "=")
		known, ok := variants[name]
		if !ok || !known.set(&v, value) {
			return Variants{}, &UnknownVariantError{setting}
		}
	}
	return v, nil
}
