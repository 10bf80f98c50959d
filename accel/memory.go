package accel

import (
	"fmt"

	"github.com/quernlab/quern/accel/internal/format"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/plots"
)

// MemoryUse is the memory of tensors on a device; [Memory] returns it. It displays itself as a figure.
type MemoryUse struct {
	Device    string // for [SetDevice]
	Allocated int    // bytes of tensors that can be reached
	// Reserved is the bytes that the device holds for tensors. A GPU keeps freed memory for later tensors, so that it need not ask the
	// driver, and the temporaries of its plans. On the CPU these are the tensors that the garbage collector had not removed when
	// Memory was called, and the temporaries.
	Reserved int
	Peak     int // the most bytes of tensors and temporaries at once since the start of the program
	Limit    int // bytes that tensors may take: a GPU's memory, or that of [tensor.SetMemoryLimit]; 0 if unknown
}

// Memory returns how much memory the tensors of the program take on the current device, like torch.cuda.memory_allocated,
// memory_reserved and max_memory_allocated. It runs the operations recorded so far and the garbage collector. prof.Run shows what the
// memory of a training step is for, and [tensor.PeakBytes] measures the peak of a function. The error is that of an operation that failed.
func Memory() (use *MemoryUse, err error) {
	defer nn.Catch(&err)
	m := tensor.Memory()
	return &MemoryUse{Device: tensor.Device(), Allocated: m.Allocated, Reserved: m.Reserved, Peak: m.Peak, Limit: m.Limit}, nil
}

// Figure draws the memory as bars.
func (m *MemoryUse) Figure() *plots.Figure {
	unit, name := 1<<10, "KiB"
	if most := max(m.Reserved, m.Peak); most >= 1<<30 {
		unit, name = 1<<30, "GiB"
	} else if most >= 1<<20 {
		unit, name = 1<<20, "MiB"
	}
	in := func(bytes int) float64 { return float64(bytes) / float64(unit) }
	f := plots.Bar("Memory of tensors on "+m.Device, []string{"allocated", "reserved", "peak"}, []float64{in(m.Allocated), in(m.Reserved), in(m.Peak)}).XLabel(name)
	if m.Limit > 0 {
		f.Subtitle("of " + format.Bytes(m.Limit))
	}
	return f
}

// String returns the memory in one line.
func (m *MemoryUse) String() string {
	text := fmt.Sprintf("tensors on %s: %s allocated, %s reserved, %s at the peak", m.Device, format.Bytes(m.Allocated), format.Bytes(m.Reserved), format.Bytes(m.Peak))
	if m.Limit > 0 {
		text += ", of " + format.Bytes(m.Limit)
	}
	return text
}

// MIMEBundle returns the figure and the line.
func (m *MemoryUse) MIMEBundle() map[string]any {
	bundle := m.Figure().MIMEBundle()
	bundle["text/plain"] = m.String()
	return bundle
}

// MIMEMetadata returns the size of the figure.
func (m *MemoryUse) MIMEMetadata() map[string]any { return m.Figure().MIMEMetadata() }
