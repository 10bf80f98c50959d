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

// framed is a connection within a machine whose frames are authenticated but not encrypted. TLS
// has authenticated its ends and provided the keys. A frame consists of the length of its
// content, the content, and the AES-GCM tag with the content as additional data. The nonce is
// made of the frame number and the length, so a frame cannot be changed, omitted, repeated or
// injected. This costs less than half of encryption, which within one machine would only
// protect against root.
type framed struct {
	net.Conn

	writing sync.Mutex
	sealing cipher.AEAD
	sent    uint64

	reading  sync.Mutex
	in       *bufio.Reader
	opening  cipher.AEAD
	received uint64
	rest     []byte // unread content of a frame
	content  []byte
	err      error // permanent read error
}

const (
	longestFrame = 64 << 10 // bytes of content
	lengthBytes  = 4
	tagBytes     = 16
)

// errChanged is returned for a frame that is not the next one from the other end.
var errChanged = errors.New("parallel: a frame was changed, lost or injected on the connection")

// frameLabels are the labels of the exported keys for frames of the dialling and of the
// listening side.
var frameLabels = [2]string{"EXPORTER-quern-parallel-3 dial", "EXPORTER-quern-parallel-3 listen"}

// authenticate replaces TLS on a link by authenticated frames. The other side must do the same.
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

// frameNonce returns the nonce of a frame.
func frameNonce(number uint64, length int) []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, 12), number)
	return binary.BigEndian.AppendUint32(b, uint32(length))
}

// Write sends b as frames. As in TLS, nothing can be sent after an error.
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

// Read reads from one frame after verifying its tag.
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

// frame reads a frame into p, or into the buffer if it is longer.
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

// unexpected converts a read error: a rank announces that it leaves, so an EOF is unexpected.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
