package ptxsim

import "slices"

// quietOperations have no effect in the simulator: a block always sees the writes of its
// warps, and one grid runs after the other.
var quietOperations = map[string]func(*operation) step{
	"membar":         quietly(1, "cta", "gl", "gpu", "sys", "proxy", "alias"),
	"fence":          compileFence,
	"griddepcontrol": compileGridDependency,
	"nanosleep":      quietly(1, "u32"),
	"prefetch":       quietly(1, "global", "local", "L1", "L2", "L2::evict_last", "L2::evict_normal", "tensormap", "const", "param"),
	"prefetchu":      quietly(1, "L1"),
	"pmevent":        quietly(1, "mask"),
	"setmaxnreg":     quietly(1, "inc", "dec", "sync", "aligned", "u32"),
}

func nothing(*warp, uint32) {}

// compileFence compiles fences. Only those that make writes visible to the asynchronous
// proxy have an effect; see proxied.
func compileFence(o *operation) step {
	quiet := quietly(1, "sc", "acq_rel", "acquire", "release", "cta", "cluster", "gpu", "sys", "proxy", "async", "alias", "global", "shared::cta", "async::global", "async::shared::cta", "mbarrier_init")(o)
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
	if !o.end(0) {
		return nil
	}
	if !waits {
		return nothing
	}
	return func(w *warp, mask uint32) { w.early &^= mask }
}

// quietly returns the compiler of an instruction without effect, with any of the modifiers
// and up to a number of operands.
func quietly(maxOperands int, words ...string) func(*operation) step {
	return func(o *operation) step {
		for _, m := range o.mods {
			if !slices.Contains(words, m) {
				o.fail("modifier .%s is not supported", m)
			}
		}
		if len(o.args) > maxOperands || len(o.mods) == 0 {
			o.fail("%d operands", len(o.args))
		}
		return nothing
	}
}
