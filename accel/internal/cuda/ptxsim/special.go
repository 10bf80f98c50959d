package ptxsim

import "time"

// specialRegister is a register that the simulator fills at the start of a block.
type specialRegister struct {
	bits int
	fill func(w *warp, l *lanes)
}

var specialRegisters = func() map[string]specialRegister {
	same := func(bits int, value func(b *block) int) specialRegister {
		return specialRegister{bits, func(w *warp, l *lanes) { fill(l, uint64(value(w.block))) }}
	}
	each := func(value func(w *warp, lane int) uint64) specialRegister {
		return specialRegister{32, func(w *warp, l *lanes) {
			for i := range l {
				l[i] = value(w, i)
			}
		}}
	}
	zero := same(32, func(*block) int { return 0 })
	one := same(32, func(*block) int { return 1 })
	all := map[string]specialRegister{
		"%laneid":            each(func(_ *warp, lane int) uint64 { return uint64(lane) }),
		"%warpid":            each(func(w *warp, _ int) uint64 { return uint64(w.index) }),
		"%nwarpid":           same(32, func(b *block) int { return len(b.warps) }),
		"%smid":              zero,
		"%nsmid":             one,
		"%gridid":            same(64, func(*block) int { return 1 }),
		"WARP_SZ":            same(32, func(*block) int { return warpSize }),
		"%lanemask_eq":       each(func(_ *warp, lane int) uint64 { return 1 << lane }),
		"%lanemask_lt":       each(func(_ *warp, lane int) uint64 { return 1<<lane - 1 }),
		"%lanemask_le":       each(func(_ *warp, lane int) uint64 { return 2<<lane - 1 }),
		"%lanemask_gt":       each(func(_ *warp, lane int) uint64 { return uint64(allLanes) &^ (2<<lane - 1) }),
		"%lanemask_ge":       each(func(_ *warp, lane int) uint64 { return uint64(allLanes) &^ (1<<lane - 1) }),
		"%dynamic_smem_size": same(32, func(b *block) int { return b.run.launch.Shared }),
		"%total_smem_size":   same(32, func(b *block) int { return b.run.launch.Shared + b.kernel.staticBytes }),
	}
	for axis, name := range []string{".x", ".y", ".z"} {
		all["%tid"+name] = each(func(w *warp, lane int) uint64 {
			return uint64(w.block.thread(warpSize*w.index + lane)[axis])
		})
		all["%ntid"+name] = same(32, func(b *block) int { d := b.run.launch.Block; return [3]int{d.x(), d.y(), d.z()}[axis] })
		all["%ctaid"+name] = same(32, func(b *block) int { return b.id[axis] })
		all["%nctaid"+name] = same(32, func(b *block) int { d := b.run.launch.Grid; return [3]int{d.x(), d.y(), d.z()}[axis] })
	}
	return all
}()

// clocks are special registers that change while a block runs; mov reads them.
var clocks = map[string]struct {
	bits int
	read func(w *warp) uint64
}{
	"%clock":          {32, func(w *warp) uint64 { return uint64(uint32(w.block.run.steps.Load())) }},
	"%clock_hi":       {32, func(w *warp) uint64 { return uint64(w.block.run.steps.Load()) >> 32 }},
	"%clock64":        {64, func(w *warp) uint64 { return uint64(w.block.run.steps.Load()) }},
	"%globaltimer":    {64, func(*warp) uint64 { return uint64(time.Now().UnixNano()) }},
	"%globaltimer_lo": {32, func(*warp) uint64 { return uint64(uint32(time.Now().UnixNano())) }},
	"%globaltimer_hi": {32, func(*warp) uint64 { return uint64(time.Now().UnixNano()) >> 32 }},
}
