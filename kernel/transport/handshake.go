package transport

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// errProtocol reports a peer that violates ZMTP 3 (https://rfc.zeromq.org/spec/23/) or
// the limits for peers of a kernel.
var errProtocol = errors.New("protocol violated")

// violation returns an errProtocol with a description.
func violation(format string, arguments ...any) error {
	return fmt.Errorf("%w: %s", errProtocol, fmt.Sprintf(format, arguments...))
}

// greetingBytes is the length of the greeting that opens a connection.
const greetingBytes = 64

// The fields of the greeting.
const (
	greetingSignature = 0xff
	greetingEnd       = 0x7f // of the signature, at 9
	greetingMajor     = 3
)

var nullMechanism = [20]byte{'N', 'U', 'L', 'L'}

// greeting returns the greeting of a kernel: ZMTP 3.0, in which subscriptions are
// messages, and no security mechanism, since messages are signed.
func greeting() []byte {
	g := make([]byte, greetingBytes)
	g[0], g[9], g[10] = greetingSignature, greetingEnd, greetingMajor
	copy(g[12:], nullMechanism[:])
	return g
}

// readGreeting reads and checks the greeting of a peer.
func readGreeting(r io.Reader) ([]byte, error) { return readGreetingOf(r, nullMechanism) }

func readGreetingOf(r io.Reader, mechanism [20]byte) ([]byte, error) {
	g := make([]byte, greetingBytes)
	if _, err := io.ReadFull(r, g[:1]); err != nil {
		return nil, err
	}
	if g[0] != greetingSignature { // before waiting for the rest
		return nil, violation("not a ZMTP greeting")
	}
	if _, err := io.ReadFull(r, g[1:]); err != nil {
		return nil, err
	}
	switch {
	case g[9] != greetingEnd:
		return nil, violation("invalid signature of the greeting")
	case g[10] < greetingMajor:
		return nil, violation("ZMTP version %d is not supported", g[10])
	case [20]byte(g[12:32]) != mechanism:
		return nil, violation("unexpected mechanism %q", g[12:32])
	case g[32] > 1:
		return nil, violation("invalid as-server field %d", g[32])
	}
	return g, nil
}

// The flags of a frame.
const (
	flagMore    = 1
	flagLong    = 2
	flagCommand = 4
	flagsKnown  = flagMore | flagLong | flagCommand
)

// readHeader reads the header of a frame and returns its flags, the size of the body and
// its bytes.
func readHeader(r io.Reader) (flags byte, size uint64, header []byte, err error) {
	header = make([]byte, 2, 9)
	if _, err := io.ReadFull(r, header); err != nil {
		return 0, 0, nil, err
	}
	if flags = header[0]; flags&^flagsKnown != 0 {
		return 0, 0, nil, violation("unknown frame flags %#x", flags)
	}
	if flags&flagLong == 0 {
		return flags, uint64(header[1]), header, nil
	}
	header = header[:9]
	if _, err := io.ReadFull(r, header[2:]); err != nil {
		return 0, 0, nil, err
	}
	return flags, binary.BigEndian.Uint64(header[1:]), header, nil
}

// readReady reads and checks the READY command of a peer, whose socket type must be one
// of types.
func readReady(r io.Reader, types []string) ([]byte, error) {
	flags, size, frame, err := readHeader(r)
	switch {
	case err != nil:
		return nil, err
	case flags&^flagLong != flagCommand:
		return nil, violation("READY with flags %#x", flags)
	case size > maxReady:
		return nil, violation("READY of %d bytes, the limit is %d", size, maxReady)
	}
	start := len(frame)
	frame = append(frame, make([]byte, size)...)
	if _, err := io.ReadFull(r, frame[start:]); err != nil {
		return nil, err
	}
	metadata, err := readyMetadata(frame[start:])
	if err != nil {
		return nil, err
	}
	if identity := metadata["Identity"]; len(identity) > 255 || len(identity) > 0 && identity[0] == 0 {
		return nil, violation("invalid identity %q", identity)
	}
	if t := metadata["Socket-Type"]; !slices.Contains(types, t) {
		return nil, violation("socket type %q, want one of %q", t, types)
	}
	return frame, nil
}

const readyName = "\x05READY"

// readyMetadata splits the body of a READY command into its properties.
func readyMetadata(body []byte) (map[string]string, error) {
	if len(body) < len(readyName) || string(body[:len(readyName)]) != readyName {
		return nil, violation("want READY as the first command")
	}
	body = body[len(readyName):]
	metadata := map[string]string{}
	for len(body) > 0 {
		n := int(body[0])
		if n == 0 || len(body) < 1+n+4 {
			return nil, violation("truncated property name")
		}
		name := string(body[1 : 1+n])
		if !isPropertyName(name) {
			return nil, violation("invalid property name %q", name)
		}
		if _, again := metadata[name]; again {
			return nil, violation("duplicate property %q", name)
		}
		size := uint64(binary.BigEndian.Uint32(body[1+n:]))
		body = body[1+n+4:]
		if size > uint64(len(body)) {
			return nil, violation("truncated value of property %q", name)
		}
		metadata[name], body = string(body[:size]), body[size:]
	}
	return metadata, nil
}

func isPropertyName(name string) bool {
	for _, c := range []byte(name) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.', c == '+':
		default:
			return false
		}
	}
	return true
}
