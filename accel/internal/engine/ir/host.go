package ir

import (
	"unsafe"

	"github.com/quernlab/quern/accel/internal/engine/trace"
)

// Upload returns a computed value with host data, given as raw bytes.
func (r *Recorder) Upload(t Type, data []byte) *Value {
	v := r.Empty(t)
	if c := trace.Active(); c != nil {
		defer c.Event(trace.Writing, "New", c.Now(), v.Len()*v.dtype.Size())
	}
	if err := r.device.Write(v.buf.Storage, 0, data); err != nil {
		panic(r.failed(err))
	}
	return v
}

// Empty returns a computed value with undefined elements; Write fills it.
func (r *Recorder) Empty(t Type) *Value {
	v := &Value{}
	r.setType(v, t)
	v.layout = RowMajor(v.shape)
	v.look(r.alloc(Len(t.Shape) * t.DType.Size()))
	for _, t := range r.tracers {
		t.fresh[v] = true
	}
	return v
}

// Overwrite replaces the value of a holder by new host data of the same type: in place if
// no other value can see the old data, else as a new value.
func (r *Recorder) Overwrite(v *Value, data []byte) *Value {
	v.check("SetData")
	r.forgetRounded(v)
	alone := v.handles == 1 && v.tape == 0 && v.epoch != r.epoch && v.buf != nil && v.buf.device == r.device && !v.buf.shared && v.layout.Contiguous() && v.layout.Offset == 0
	if alone {
		if err := r.device.Write(v.buf.Storage, 0, data); err != nil {
			panic(r.failed(err))
		}
		if v.moved {
			return r.takeOver(v)
		}
		return v
	}
	next := r.Upload(Type{v.shape, v.dtype}, data).Hold()
	next.leaf, next.requires, next.rounded = v.leaf, v.leaf != nil, v.rounded
	r.Release(v)
	return next
}

// takeOver gives v's storage to a new value, so that a handle from which v was moved cannot
// read the data that is written next.
func (r *Recorder) takeOver(v *Value) *Value {
	next := &Value{layout: v.layout, leaf: v.leaf, requires: v.requires, rounded: v.rounded}
	r.setType(next, Type{v.shape, v.dtype})
	next.look(v.buf)
	v.leave(overwritten)
	return next.Hold()
}

// Download returns the elements of a value as raw bytes in row-major order,
// after running the list if the value is still pending.
func (r *Recorder) Download(op string, v *Value) []byte {
	v.check(op)
	for _, t := range r.tracers {
		t.reading(op, v, r.layer)
	}
	if v.buf == nil {
		r.Flush()
	}
	v.check(op)
	r.stats.Syncs++
	if c := trace.Active(); c != nil {
		defer c.Event(trace.Reading, op, c.Now(), v.Len()*v.dtype.Size())
	}
	return r.download(v)
}

// download returns the elements of a computed value in row-major order.
func (r *Recorder) download(v *Value) []byte {
	n, size := v.Len(), v.dtype.Size()
	if n == 0 {
		return []byte{}
	}
	l := v.layout
	if l.Contiguous() {
		out := make([]byte, n*size)
		r.read(out, v, l.Offset*size)
		return out
	}
	end := l.Offset
	for i, d := range l.Shape {
		end += (d - 1) * l.Stride[i]
	}
	// A view, such as an expanded scalar, may have far more elements than its memory.
	if _, host := v.buf.device.(HostMemory); host && n > end+1-l.Offset {
		r.reserve(n * size)
	}
	out := make([]byte, n*size)
	span := make([]byte, (end+1-l.Offset)*size)
	r.read(span, v, l.Offset*size)
	index := make([]int, len(l.Shape))
	for i := range n {
		at := 0
		for d, k := range index {
			at += k * l.Stride[d]
		}
		copy(out[i*size:(i+1)*size], span[at*size:])
		for d := len(index) - 1; d >= 0; d-- {
			if index[d]++; index[d] < l.Shape[d] {
				break
			}
			index[d] = 0
		}
	}
	return out
}

func (r *Recorder) read(dst []byte, v *Value, offset int) {
	if err := v.buf.device.Read(dst, v.buf.Storage, offset); err != nil {
		panic(r.failed(err))
	}
}

// CheckIndices panics with an *IndexError if an integer tensor that is already in host
// memory has an element outside of 0..size-1. Other tensors are checked when they are used.
func (r *Recorder) CheckIndices(op string, v *Value, size int) { r.CheckRange(op, v, 0, size) }

// CheckRange is CheckIndices for elements from..size-1. It reports whether it could check them.
func (r *Recorder) CheckRange(op string, v *Value, from, size int) (checked bool) {
	if v.Len() == 0 {
		return true
	}
	if v.buf == nil {
		return false
	}
	host, ok := v.buf.device.(HostMemory)
	if !ok || !v.layout.Contiguous() {
		return false
	}
	start := unsafe.Pointer(&host.Bytes(v.buf.Storage)[v.layout.Offset*v.dtype.Size()])
	switch v.dtype {
	case Int32:
		checkIndices(op, unsafe.Slice((*int32)(start), v.Len()), from, size)
	case Int64:
		checkIndices(op, unsafe.Slice((*int64)(start), v.Len()), from, size)
	case Uint8:
		checkIndices(op, unsafe.Slice((*uint8)(start), v.Len()), from, size)
	}
	return true
}

func checkIndices[T int32 | int64 | uint8](op string, index []T, from, size int) {
	for at, i := range index {
		if int64(i) < int64(from) || int64(i) >= int64(size) {
			panic(&IndexError{Op: op, Index: int(i), Element: at, From: from, Size: size})
		}
	}
}

// InPlace runs the list and returns the memory of a value that no other value shares and
// that the host can access; nil for any other.
func (r *Recorder) InPlace(v *Value) []byte {
	v.check("Memory")
	if v.buf == nil {
		r.Flush()
	}
	v.check("Memory")
	host, ok := v.buf.device.(HostMemory)
	if !ok || v.handles != 1 || v.tape != 0 || v.buf.shared || !v.layout.Contiguous() {
		return nil
	}
	r.forgetRounded(v)
	v.buf.exposed = true
	size := v.dtype.Size()
	return host.Bytes(v.buf.Storage)[v.layout.Offset*size:][: v.Len()*size : v.Len()*size]
}
