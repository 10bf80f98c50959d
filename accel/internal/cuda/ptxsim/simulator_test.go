package ptxsim

import (
	"context"
	"encoding/binary"
	"math"
	"os"
	"testing"
)

// machine is a memory with loaded modules, for tests.
type simulator struct {
	t      testing.TB
	memory *Memory
}

func newSimulator(t testing.TB) *simulator { return &simulator{t, NewMemory(1 << 28)} }

func (m *simulator) load(ptx string) *Loaded {
	m.t.Helper()
	mod, err := Parse(ptx)
	if err != nil {
		m.t.Fatal(err)
	}
	l, err := m.memory.Load(mod)
	if err != nil {
		m.t.Fatal(err)
	}
	return l
}

// file loads testdata.
func (m *simulator) file(name string) *Loaded {
	m.t.Helper()
	ptx, err := os.ReadFile("testdata/" + name)
	if err != nil {
		m.t.Fatal(err)
	}
	return m.load(string(ptx))
}

// put writes values to new memory.
func put[T any](m *simulator, values []T) uint64 {
	m.t.Helper()
	b, err := binary.Append(nil, binary.LittleEndian, values)
	if err != nil {
		m.t.Fatal(err)
	}
	address := m.alloc(len(b))
	if err := m.memory.Write(address, b); err != nil {
		m.t.Fatal(err)
	}
	return address
}

func (m *simulator) alloc(bytes int) uint64 {
	m.t.Helper()
	address, err := m.memory.Alloc(bytes)
	if err != nil {
		m.t.Fatal(err)
	}
	return address
}

func get[T any](m *simulator, address uint64, n int) []T {
	m.t.Helper()
	values := make([]T, n)
	b := make([]byte, binary.Size(values))
	if err := m.memory.Read(b, address); err != nil {
		m.t.Fatal(err)
	}
	if _, err := binary.Decode(b, binary.LittleEndian, values); err != nil {
		m.t.Fatal(err)
	}
	return values
}

// params lays out arguments as a kernel's parameters.
func params(k *LoadedKernel, args ...any) []byte {
	b := make([]byte, k.ParamBytes())
	for i, p := range k.Params() {
		switch v := args[i].(type) {
		case uint64:
			putBits(b[p.Offset:], v, p.Size)
		case int:
			putBits(b[p.Offset:], uint64(v), p.Size)
		case float32:
			putBits(b[p.Offset:], uint64(math.Float32bits(v)), p.Size)
		}
	}
	return b
}

func (m *simulator) run(k *LoadedKernel, grid, block Dim, args ...any) Stats {
	m.t.Helper()
	stats, err := k.Run(context.Background(), Launch{Grid: grid, Block: block, Params: params(k, args...)})
	if err != nil {
		m.t.Fatal(err)
	}
	return stats
}
