package rt

import (
	"io"
	"reflect"
)

// Bits for the io methods of a type.
const (
	hasRead = 1 << iota
	hasWrite
	hasClose
	hasSeek
	hasWriteTo
	hasReadFrom
	hasReadByte
	hasReadRune // and UnreadRune
	hasWriteByte
	hasWriteString
)

var streamMethods = []struct {
	bit             int
	name, signature string
}{
	{hasRead, "Read", "func([]uint8) (int, error)"},
	{hasWrite, "Write", "func([]uint8) (int, error)"},
	{hasClose, "Close", "func() error"},
	{hasSeek, "Seek", "func(int64, int) (int64, error)"},
	{hasWriteTo, "WriteTo", "func(io.Writer) (int64, error)"},
	{hasReadFrom, "ReadFrom", "func(io.Reader) (int64, error)"},
	{hasReadByte, "ReadByte", "func() (uint8, error)"},
	{hasReadRune, "ReadRune", "func() (int32, int, error)"},
	{hasWriteByte, "WriteByte", "func(uint8) error"},
	{hasWriteString, "WriteString", "func(string) (int, error)"},
}

// wrapStream wraps a reader or a writer. The wrapper has the optional io methods of the type,
// because io.Copy, fmt.Fscan, net/http and others use them if they exist.
func wrapStream(b Box) any {
	set := b.T.set.Load()
	has := 0
	for _, m := range streamMethods {
		if set.hasSignature(m.name, m.signature) {
			has |= m.bit
		}
	}
	if has&hasReadRune != 0 && !set.hasSignature("UnreadRune", "func() error") {
		has &^= hasReadRune
	}
	return stream(has, b)
}

var streamInterfaces = []reflect.Type{
	reflect.TypeFor[io.Reader](), reflect.TypeFor[io.Writer](), reflect.TypeFor[io.ReadWriter](),
	reflect.TypeFor[io.ReadCloser](), reflect.TypeFor[io.WriteCloser](), reflect.TypeFor[io.ReadWriteCloser](),
	reflect.TypeFor[io.ReadSeeker](), reflect.TypeFor[io.ReadSeekCloser](), reflect.TypeFor[io.ReadWriteSeeker](),
}

func (b Box) read(p []byte) (int, error)  { return call1x2[int, error](b, "Read", p) }
func (b Box) write(p []byte) (int, error) { return call1x2[int, error](b, "Write", p) }
func (b Box) closeStream() error          { return call0[error](b, "Close") }

func (b Box) seek(offset int64, whence int) (int64, error) {
	return call2x2[int64, error](b, "Seek", offset, whence)
}

func (b Box) writeTo(w io.Writer) (int64, error)  { return call1x2[int64, error](b, "WriteTo", w) }
func (b Box) readFrom(r io.Reader) (int64, error) { return call1x2[int64, error](b, "ReadFrom", r) }
func (b Box) readByte() (byte, error)             { return call0x2[byte, error](b, "ReadByte") }
func (b Box) unreadRune() error                   { return call0[error](b, "UnreadRune") }
func (b Box) writeByte(c byte) error              { return call1[error](b, "WriteByte", c) }
func (b Box) writeString(s string) (int, error)   { return call1x2[int, error](b, "WriteString", s) }

func (b Box) readRune() (rune, int, error) {
	m := b.method("ReadRune")
	if f, ok := m.function.(func(any) (rune, int, error)); ok {
		return f(b.V)
	}
	out := m.call(b)
	return result[rune](out, 0), result[int](out, 1), result[error](out, 2)
}
