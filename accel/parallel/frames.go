package parallel

import (
	"bufio"
	"crypto/aes"
	"crypto/cipher"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

// framed is a connection of this machine whose frames are authenticated and not encrypted.
// TLS has proved who is at its ends, and has given them the keys. A frame is the length of
// its content, the content, and the tag of AES-GCM for the content as additional data. The
// nonce is made of the number of the frame and the length. So no frame can be changed, left
// out, repeated or come from elsewhere; it costs less than half of encryption, which on this
// machine would keep nothing from anybody but the superuser.
type framed struct {
	net.Conn

	writing sync.Mutex
	sealing cipher.AEAD
	sent    uint64

	reading  sync.Mutex
	in       *bufio.Reader
	opening  cipher.AEAD
	received uint64
	rest     []byte // of the content of a frame
	content  []byte
	err      error // of reading, for ever
}

const (
	longestFrame = 64 << 10 // of content
	lengthBytes  = 4
	tagBytes     = 16
)

// errChanged reports a frame that is not the next one of the other end.
var errChanged = errors.New("parallel: a frame does not come from the other rank, or was changed")

// frameLabels name the keys that are exported from a connection for the frames of the side
// that dials and of the side that listens.
var frameLabels = [2]string{"EXPORTER-quern-parallel-3 dial", "EXPORTER-quern-parallel-3 listen"}

// authenticate ends the encryption of a link. The other side does the same.
func (l *link) authenticate(listens bool) error {
	encrypted, ok := l.conn.(*tls.Conn)
	if !ok {
		return fmt.Errorf("parallel: connection with %v: not encrypted", l.raw.RemoteAddr())
	}
	state := encrypted.ConnectionState()
	var aeads [2]cipher.AEAD
	for i, label := range frameLabels {
		key, err := state.ExportKeyingMaterial(label, nil, 16)
		if err != nil {
			return err
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return err
		}
		if aeads[i], err = cipher.NewGCM(block); err != nil {
			return err
		}
	}
	f := &framed{Conn: l.raw, in: bufio.NewReaderSize(l.raw, readAhead), sealing: aeads[0], opening: aeads[1]}
	if listens {
		f.sealing, f.opening = aeads[1], aeads[0]
	}
	l.conn, l.in = f, bufio.NewReaderSize(f, readAhead)
	return nil
}

// frameNonce is the nonce of a frame.
func frameNonce(number uint64, length int) []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, 12), number)
	return binary.BigEndian.AppendUint32(b, uint32(length))
}

// Write sends b as frames. As with TLS, nothing can be sent after an error.
func (f *framed) Write(b []byte) (n int, err error) {
	f.writing.Lock()
	defer f.writing.Unlock()
	var parts net.Buffers
	for rest := b; len(rest) > 0; {
		content := rest[:min(len(rest), longestFrame)]
		rest = rest[len(content):]
		around := binary.BigEndian.AppendUint32(make([]byte, 0, lengthBytes+tagBytes), uint32(len(content)))
		around = f.sealing.Seal(around, frameNonce(f.sent, len(content)), nil, content)
		f.sent++
		parts = append(parts, around[:lengthBytes], content, around[lengthBytes:])
	}
	if _, err := parts.WriteTo(f.Conn); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Read reads from one frame, whose tag is right.
func (f *framed) Read(p []byte) (n int, err error) {
	f.reading.Lock()
	defer f.reading.Unlock()
	if len(p) == 0 {
		return 0, nil
	}
	if len(f.rest) > 0 {
		n = copy(p, f.rest)
		f.rest = f.rest[n:]
		return n, nil
	}
	if f.err != nil {
		return 0, f.err
	}
	n, f.err = f.frame(p)
	return n, f.err
}

// frame reads a frame into p, or, if it is longer, into the buffer.
func (f *framed) frame(p []byte) (n int, err error) {
	var header [lengthBytes]byte
	if _, err := io.ReadFull(f.in, header[:]); err != nil {
		return 0, unexpected(err)
	}
	length := int(binary.BigEndian.Uint32(header[:]))
	if length < 1 || length > longestFrame {
		return 0, errChanged
	}
	content := p
	if length > len(p) {
		if f.content == nil {
			f.content = make([]byte, longestFrame)
		}
		content = f.content
	}
	content = content[:length]
	if _, err := io.ReadFull(f.in, content); err != nil {
		return 0, unexpected(err)
	}
	var tag [tagBytes]byte
	if _, err := io.ReadFull(f.in, tag[:]); err != nil {
		return 0, unexpected(err)
	}
	if _, err := f.opening.Open(nil, frameNonce(f.received, length), tag[:], content); err != nil {
		clear(content)
		return 0, errChanged
	}
	f.received++
	if length <= len(p) {
		return length, nil
	}
	n = copy(p, content)
	f.rest = content[n:]
	return n, nil
}

// unexpected is an error of reading. A rank says before it leaves that it does, so the end of
// a connection is none that is expected.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
