package cells

import "testing"

// TestKernelsInCells compiles functions of cells as kernels and runs them on the CPU and on a simulated GPU.
func TestKernelsInCells(t *testing.T) {
	n := newNotebook(t)
	n.want("const two = 2", "")
	n.want("func twice(x float32) float32 { return two * x }", "")
	n.want(`
func saxpy(t kernel.Thread, a float32, x, y []float32) {
	if i := t.Global(); i < len(y) {
		y[i] += a * twice(x[i])
	}
}
k, err := kernel.Compile(saxpy)
err`, "<nil>")
	n.want(`x, y := tensor.New([]float32{0, 1, 2, 3, 4}, 5), tensor.Ones(5)
err = k.Launch(kernel.Grid(5, 256), float32(0.5), x, y)
fmt.Println(y.Data(), err)`, "[1 2 3 4 5] <nil>")
	n.want(`accel.SetDevice("simulated")
err = k.Launch(kernel.Grid(5, 256), float32(0.5), x, y)
fmt.Println(y.Data(), err)
accel.SetDevice("cpu")`, "[1 3 5 7 9] <nil>")
	// A fault and an error of the compiler name the line of the cell.
	n.want(`
func shift(t kernel.Thread, x, y []float32) {
	i := t.Global()
	y[i] = x[i+1]
}
k, err = kernel.Compile(shift)
fmt.Println(err, k.Launch(kernel.Grid(5, 5), x, y))`,
		"<nil> kernel shift: cell[6]:4: index 5 is out of range of x with length 5, in thread [4 0 0] of block [0 0 0]")
	n.want(`
func total(t kernel.Thread, x []float32) {
	kernel.AtomicAdd(&x[0], kernel.ShuffleDown(t, x[1], 1))
	m := map[int]int{}
	_ = m
}
_, err = kernel.Compile(total)
err`, "cell[7]:4:7: a literal of type map[int]int is not supported in a kernel")
	n.want("_, err = kernel.Compile(func(t kernel.Thread) {})\nerr", "function literal")
	n.want("_, err = kernel.Compile(3)\nerr", "not a int")
	// The kernel of a function that a cell declares again is the new one.
	n.want("func twice(x float32) float32 { return x * 10 }\nk, err = kernel.Compile(saxpy)\nz := tensor.Ones(5)\nk.Launch(kernel.Grid(5, 32), float32(1), x, z)\nz.Data()", "[1 11 21 31 41]")
	n.want(`
func reversed(t kernel.Thread, x []float32) {
	i := t.ThreadX()
	v := x[len(x)-1-i]
	x[i] = v
}
k, err = kernel.Compile(reversed)
report, err := kernel.Check(k, kernel.Grid(64, 64), tensor.Ones(64))
err`, "kernel reversed: cell[11]:4: race for an element of a slice: thread [31 0 0] of block [0 0 0] writes it at cell[11]:5, and no barrier is in between, in thread [32 0 0] of block [0 0 0]")
	n.want("report", "cell[11]:4  v := x[len(x)-1-i]")
	n.want(`
func double(t kernel.Thread, x, y []kernel.BFloat16) {
	if i := t.Global(); i < len(y) {
		y[i] = kernel.ToBFloat16(2 * x[i].Float32())
	}
}
func doubleGradient(t kernel.Thread, dy, dx []kernel.BFloat16) { double(t, dy, dx) }
forward, err := kernel.Compile(double)
backward, err := kernel.Compile(doubleGradient)
op, err := kernel.Op(forward, kernel.Gradient(backward))
p := tensor.Parameter(tensor.New([]float32{1, 2.5}, 2).Cast(tensor.BFloat16))
op.Apply(p).Cast(tensor.Float32).Square().Sum().Backward()
fmt.Println(op, p.Grad().Float64s(), err)`, "kernel double [8 20] <nil>")
	n.want(`
profile, err := kernel.Profile(forward, kernel.Grid(64, 32), tensor.Ones(64).Cast(tensor.BFloat16), tensor.Zeros(64).Cast(tensor.BFloat16))
fmt.Println(profile.Bytes, profile.FLOPs, err)`, "256 64 <nil>")
	n.fails("kernel.Thread{}.Global()", "meaning only in a kernel")
}
