package control

import (
	"testing"

	"github.com/quernlab/quern/interp/vm"
)

// TestActivityOf checks that the function is the one that the cell called, not a wrapper.
func TestActivityOf(t *testing.T) {
	t.Parallel()
	const between = "reflect.Value.Call(...)\n\treflect/value.go:1\ngithub.com/quernlab/quern/interp/library.(*contexts).pass.func1({0x1, 0x2})\n\tuntil.go:1\n" +
		"reflect.callReflect(0x1)\n\treflect/value.go:1\n"
	const interpreter = vm.Activation + "(0x1)\n\trun.go:1\n"
	for _, row := range []struct {
		stack, want string
		ends        bool
	}{
		{"goroutine 1 [running]:\nsync.(*Cond).Wait(0x1)\n\tcond.go:1\n" + interpreter, "sync.(*Cond).Wait", false},
		{"goroutine 1 [running]:\nos/exec.(*Cmd).Wait(0x1)\nos/exec.(*Cmd).Run(0x1)\ngithub.com/quernlab/quern/interp/library.(*children).methods.func1(0x1)\n" + interpreter, "os/exec.(*Cmd).Run", true},
		{"goroutine 1 [running]:\ngithub.com/quernlab/quern/interp/library.(*timers).sleep(0x1)\n" + interpreter, "github.com/quernlab/quern/interp/library.(*timers).sleep", false},
		{"goroutine 1 [running]:\ngithub.com/quernlab/quern/accel.Fit({0x1, 0x2})\n\tfit.go:1\n" + between + interpreter, "github.com/quernlab/quern/accel.Fit", false},
		{"goroutine 1 [select]:\ngithub.com/quernlab/quern/interp/magic.(*Run).command(0x1)\n\tshell.go:1\n" +
			"github.com/quernlab/quern/interp/magic.(*Run).Do(0x1)\n\trun.go:1\n" + interpreter, "github.com/quernlab/quern/interp/magic.(*Run).Do", true},
		{"goroutine 1 [running]:\n" + interpreter, "", true},
		{"goroutine 1 [running]:\nstrings.Repeat(0x1)\n\tstrings.go:1\n" + interpreter, "strings.Repeat", false},
	} {
		if a := activityOf(row.stack); a.callback != "" {
			t.Errorf("%s: called by %s", row.stack, a.callback)
		}
		if a := activityOf(row.stack); a.function != row.want || a.ends != row.ends {
			t.Errorf("%s: got %s, %v, want %s, %v", row.stack, a.function, a.ends, row.want, row.ends)
		}
	}
}

// A function of the cell that a package of Quern has called is recognized, whatever it does. Its time
// counts as long as it is the same call.
func TestCallback(t *testing.T) {
	t.Parallel()
	const (
		fit     = "github.com/quernlab/quern/accel.(*stepper).step(0x1)\n\tstep.go:1\ngithub.com/quernlab/quern/accel.Fit(0x1)\n\tfit.go:1\n"
		cell    = vm.Activation + "(0x1)\n\trun.go:1\n"
		between = "reflect.Value.Call(...)\n\treflect/value.go:1\n"
		outer   = between + "github.com/quernlab/quern/interp/library.(*contexts).pass.func1({0x1, 0x2})\n\tcontext.go:1\n" + cell
	)
	for _, row := range []struct {
		name, stack string
		callback    string
		own         bool
	}{
		{"in Forward", cell + between + fit + outer, fit + outer, false},
		{"in a function that Forward calls", "strings.Repeat(0x1)\n\ts.go:1\n" + cell + cell + between + fit + outer, fit + outer, false},
		{"in a tensor op of Forward", "github.com/quernlab/quern/accel/tensor.record(0x1)\n\tt.go:1\n" + cell + between + fit + outer, fit + outer, true},
		{"in a worker", cell + between + "github.com/quernlab/quern/accel/data.(*Batches).make(0x1)\n\tb.go:1\ncreated by x in goroutine 3\n\tb.go:2\n",
			"github.com/quernlab/quern/accel/data.(*Batches).make(0x1)\n\tb.go:1\ncreated by x in goroutine 3\n\tb.go:2\n", false},
		{"in Fit", fit + outer, "", true},
		{"in a goroutine of the cell", cell + "github.com/quernlab/quern/interp/control.(*Goroutines).Start.func1()\n\tg.go:1\ncreated by github.com/quernlab/quern/accel.x in goroutine 3\n\tb.go:2\n", "", false},
	} {
		a := activityOf("goroutine 1 [running]:\n" + row.stack)
		if a.callback != row.callback || a.isOwn() != row.own {
			t.Errorf("%s: got %q, %t", row.name, a.callback, a.isOwn())
		}
	}
}
