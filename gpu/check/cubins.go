package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// cubins is what the test TestLoadCubins of the kernels prints: how long modules take to load as PTX, which the driver compiles,
// and as machine code, which ptxas has assembled.
type cubins struct {
	Missing   string  `json:"missing,omitempty"` // why there is no ptxas
	Assembler string  `json:"assembler"`         // path of ptxas
	Assembled int     `json:"assembled"`         // modules
	Seconds   float64 `json:"seconds"`           // to assemble them, several at once
	Modules   []struct {
		Module   string  `json:"module"`
		Compiled float64 `json:"compiled"` // milliseconds to load its PTX
		Loaded   float64 `json:"loaded"`   // milliseconds to load its machine code
	} `json:"modules"`
}

// String describes the modules in a line.
func (c *cubins) String() string {
	compiled, loaded := 0.0, 0.0
	for _, m := range c.Modules {
		compiled += m.Compiled
		loaded += m.Loaded
	}
	return fmt.Sprintf("%d modules: the driver takes %.3g ms for their PTX and %.3g ms for their machine code; %s assembled all %d modules in %.1f s", len(c.Modules), compiled, loaded, c.Assembler, c.Assembled, c.Seconds)
}

// loadCubins measures the load times. The machine code stays in the cache, where the variant cubin=on finds it.
func loadCubins(ctx context.Context, o options, r *report, out io.Writer) error {
	program, err := o.program(kernelProgram)
	if err != nil {
		return err
	}
	command, said := external(ctx, program, "-test.v", "-test.count", "1", "-test.run", "^TestLoadCubins$", "-test.short")
	command.Env = append(o.kernelEnvironment(), "CUDA_CACHE_DISABLE=1") // or the driver would not compile what it has compiled before
	text, err := command.Output()
	if err != nil {
		return fmt.Errorf("%w: %s %s", err, said, shorten(string(text)))
	}
	_, line, ok := strings.Cut(string(text), "cubins: ")
	if !ok {
		return fmt.Errorf("no modules were loaded: %s", shorten(string(text)))
	}
	c := &cubins{}
	if err := json.NewDecoder(strings.NewReader(line)).Decode(c); err != nil {
		return fmt.Errorf("%s: %w", shorten(line), err)
	}
	if c.Missing != "" {
		return &missingError{c.Missing}
	}
	r.Cubins = c
	fmt.Fprintln(out, c)
	return nil
}
