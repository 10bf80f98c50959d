package link

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A frame on the stream is
//
//	length  uint32, big endian, of all that follows
//	kind    byte
//	id      uint64, big endian: ties a response or a cancel to its request
//	method  one length byte, then the name; empty but in requests and events
//	body    JSON, to the end of the frame
type frame struct {
	kind   kind
	id     uint64
	method string
	body   []byte
}

type kind byte

const (
	kindRequest  kind = 'q'
	kindResponse kind = 'r'
	kindFailure  kind = 'f' // a response whose body is an error message
	kindEvent    kind = 'e'
	kindCancel   kind = 'c' // the caller no longer waits for the response
)

const (
	lengthBytes = 4
	headerBytes = 1 + 8 + 1

	// MaxFrame is the largest frame that is sent or read, in bytes. It limits what a cell
	// can display at once, including the overhead of base64.
	MaxFrame = 512 << 20

	// readStep bounds how much is allocated before the announced bytes have arrived.
	readStep = 1 << 20
)

// SizeError reports a message that is larger than MaxFrame. It has not been sent, and the
// connection still works.
type SizeError struct {
	Method string
	Size   int // bytes
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("link: %s message has %d bytes, the limit is %d", e.Method, e.Size, MaxFrame)
}

var errFrame = errors.New("link: malformed frame")

// appendFrame appends the bytes of f to b.
func appendFrame(b []byte, f frame) ([]byte, error) {
	if len(f.method) > 255 {
		return b, fmt.Errorf("link: method name has %d bytes, the limit is 255", len(f.method))
	}
	size := headerBytes + len(f.method) + len(f.body)
	if size > MaxFrame {
		return b, &SizeError{Method: f.method, Size: size}
	}
	b = binary.BigEndian.AppendUint32(b, uint32(size))
	b = append(b, byte(f.kind))
	b = binary.BigEndian.AppendUint64(b, f.id)
	b = append(b, byte(len(f.method)))
	b = append(b, f.method...)
	return append(b, f.body...), nil
}

// readFrame reads one frame. It returns io.EOF only if the stream ends between two
// frames.
func readFrame(r io.Reader) (frame, error) {
	var length [lengthBytes]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return frame{}, fmt.Errorf("%w: stream ended within the length", errFrame)
		}
		return frame{}, err
	}
	size := int(binary.BigEndian.Uint32(length[:]))
	if size < headerBytes || size > MaxFrame {
		return frame{}, fmt.Errorf("%w: length %d", errFrame, size)
	}
	b, err := readGrowing(r, size)
	if err != nil {
		return frame{}, fmt.Errorf("%w: stream ended within a frame: %w", errFrame, err)
	}
	f := frame{kind: kind(b[0]), id: binary.BigEndian.Uint64(b[1:])}
	end := headerBytes + int(b[9])
	if end > len(b) {
		return frame{}, fmt.Errorf("%w: method of %d bytes in a frame of %d", errFrame, b[9], size)
	}
	f.method, f.body = string(b[headerBytes:end]), b[end:]
	switch f.kind {
	case kindRequest, kindResponse, kindFailure, kindEvent, kindCancel:
		return f, nil
	}
	return frame{}, fmt.Errorf("%w: unknown kind %q", errFrame, byte(f.kind))
}

// readGrowing reads size bytes. It allocates memory as the bytes arrive, not as they are
// announced.
func readGrowing(r io.Reader, size int) ([]byte, error) {
	b := make([]byte, 0, min(size, readStep))
	for len(b) < size {
		if len(b) == cap(b) {
			grown := make([]byte, len(b), min(size, 2*cap(b)))
			copy(grown, b)
			b = grown
		}
		n := len(b)
		b = b[:cap(b)]
		if _, err := io.ReadFull(r, b[n:]); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	return b, nil
}
