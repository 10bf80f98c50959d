package ptxsim

import "slices"

// quietOperations have no effect in the simulator: a block always sees the writes of its
// warps, and one grid runs after the other.
var quietOperations = map[string]func(*operation) step{
	"membar":         quietly("cta", "gl", "gpu", "sys", "proxy", "alias"),
	"fence":          compileFence,
	"griddepcontrol": compileGridDependency,
	"nanosleep":      quietly("u32"),
	"prefetch":       quietly("global", "local", "L1", "L2", "L2::evict_last", "L2::evict_normal", "tensormap", "const", "param"),
	"prefetchu":      quietly("L1"),
	"pmevent":        quietly("mask"),
	"setmaxnreg":     quietly("inc", "dec", "sync", "aligned", "u32"),
}

func nothing(*warp, uint32) {}

// compileFence compiles fences. Only those that make writes visible to the asynchronous
// proxy have an effect; see proxied.
func compileFence(o *operation) step {
	quiet := quietly("sc", "acq_rel", "acquire", "release", "cta", "cluster", "gpu", "sys", "proxy", "async", "alias", "global", "shared::cta", "async::global", "async::shared::cta", "mbarrier_init")(o)
	for _, m := range o.mods {
		if m == "async" || m == "async::shared::cta" || m == "mbarrier_init" {
			return func(w *warp, _ uint32) { w.showProxy() }
		}
	}
	return quiet
}

// compileGridDependency compiles the wait for the grids that this one depends on, which matters for Launch.Early, and
// the start of those that depend on it: when they begin is up to the driver.
func compileGridDependency(o *operation) step {
	waits := o.need("wait", "launch_dependents") == "wait"
	o.end(0)
	if !waits {
		return nothing
	}
	return func(w *warp, mask uint32) { w.early &^= mask }
}

// quietly returns the compiler of an instruction without effect, with any of the modifiers
// and at most one operand.
func quietly(words ...string) func(*operation) step {
	return func(o *operation) step {
		for _, m := range o.mods {
			if !slices.Contains(words, m) {
				panic(o.failure("modifier .%s is not supported", m))
			}
		}
		if len(o.args) > 1 || len(o.mods) == 0 {
			panic(o.failure("%d operands", len(o.args)))
		}
		return nothing
	}
}
