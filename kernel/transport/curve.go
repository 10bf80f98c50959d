package transport

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strings"

	nacl "golang.org/x/crypto/nacl/box"
)

// CURVE encrypts a connection and proves to the client that it has reached the kernel of
// its connection file (JEP 145). The mechanism is that of https://rfc.zeromq.org/spec/25/
// and https://rfc.zeromq.org/spec/26/. zmq4 does not support it. curveConn is a
// connection that speaks CURVE with the peer and plain ZMTP with the guard and zmq4.

// curveKeys are the long-term keys of the kernel.
type curveKeys struct{ public, secret [32]byte }

// newCurveKeys decodes the keys of a connection file. It returns nil without an error if
// the file has none.
func newCurveKeys(public, secret string) (*curveKeys, error) {
	if public == "" && secret == "" {
		return nil, nil
	}
	keys := &curveKeys{}
	if err := decodeZ85(keys.public[:], public); err != nil {
		return nil, fmt.Errorf("curve_publickey: %w", err)
	}
	if err := decodeZ85(keys.secret[:], secret); err != nil {
		return nil, fmt.Errorf("curve_secretkey: %w", err)
	}
	return keys, nil
}

// z85 is the alphabet of https://rfc.zeromq.org/spec/32/.
const z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"

// decodeZ85 decodes text into to, whose length must be a multiple of 4. The error does
// not contain the text, which may be a secret.
func decodeZ85(to []byte, text string) error {
	if len(text) != len(to)/4*5 {
		return fmt.Errorf("%d characters, want %d of Z85", len(text), len(to)/4*5)
	}
	for ; len(to) > 0; to, text = to[4:], text[5:] {
		var value uint64
		for _, c := range []byte(text[:5]) {
			digit := strings.IndexByte(z85, c)
			if digit < 0 {
				return errors.New("a character is not in the alphabet of Z85")
			}
			value = value*85 + uint64(digit)
		}
		if value > 0xffffffff {
			return errors.New("not Z85")
		}
		binary.BigEndian.PutUint32(to, uint32(value))
	}
	return nil
}

// Names at the start of commands, and sizes of their fixed parts.
const (
	helloName    = "\x05HELLO"
	welcomeName  = "\x07WELCOME"
	initiateName = "\x08INITIATE"
	messageName  = "\x07MESSAGE"

	helloBytes    = 200
	cookieBytes   = 96
	initiateFixed = len(initiateName) + cookieBytes + 8 // before the encrypted box
	vouchBytes    = 32 + 16 + 80                        // at the start of the decrypted box
	messageFixed  = len(messageName) + 8
)

// The flags of an encrypted frame, which are its first byte.
const (
	curveMore    = 1
	curveCommand = 2
)

var curveMechanism = [20]byte{'C', 'U', 'R', 'V', 'E'}

// curveConn is a connection after the CURVE handshake. One goroutine reads it and one
// writes it.
type curveConn struct {
	net.Conn
	r       *bufio.Reader
	key     [32]byte     // session key, shared with the client
	limit   int64        // limit of the bytes of a received frame
	memory  *memoryShare // counts the received bytes
	taken   int64        // bytes counted for the frame in plain
	plain   []byte       // decrypted bytes to be read next
	nonceIn uint64       // of the last received frame

	frame    []byte // bytes of an incomplete frame to be sent
	nonceOut uint64
	greeted  bool // our READY has been sent
}

// acceptCurve does the kernel's side of the handshake up to INITIATE. The first frame
// written after it is our READY.
func acceptCurve(conn net.Conn, keys *curveKeys, limit int64, held *memoryShare) (*curveConn, error) {
	greeting := greeting()
	copy(greeting[12:], curveMechanism[:])
	greeting[32] = 1 // as server
	if _, err := conn.Write(greeting); err != nil {
		return nil, err
	}
	c := &curveConn{Conn: conn, r: bufio.NewReader(conn), limit: limit, memory: held}
	theirs, err := readGreetingOf(c.r, curveMechanism)
	if err != nil {
		return nil, err
	}
	if theirs[32] != 0 {
		return nil, violation("the peer is a CURVE server too, want a client")
	}
	client, err := c.readHello(keys)
	if err != nil {
		return nil, err
	}
	public, secret, err := nacl.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	// The content of the cookie is opaque to the client. A server without state would
	// have to put the session keys into it; this connection remembers them.
	var cookie [cookieBytes]byte
	_, _ = rand.Read(cookie[:]) // never fails
	if err := c.sendWelcome(keys, client, public, cookie[:]); err != nil {
		return nil, err
	}
	metadata, err := c.readInitiate(keys, client, secret, cookie[:])
	if err != nil {
		return nil, err
	}
	nacl.Precompute(&c.key, client, secret)
	opening := make([]byte, greetingBytes)
	opening[0], opening[9], opening[10] = greetingSignature, greetingEnd, greetingMajor
	copy(opening[12:], nullMechanism[:])
	c.plain = appendFrame(opening, flagCommand, []byte(readyName), metadata)
	return c, nil
}

// nonce returns the 24 bytes of a prefix and a tail.
func nonce(prefix string, tail []byte) *[24]byte {
	n := new([24]byte)
	copy(n[copy(n[:], prefix):], tail)
	return n
}

// readHello returns the client's key for this connection.
func (c *curveConn) readHello(keys *curveKeys) (*[32]byte, error) {
	flags, body, err := c.readFrame(helloBytes)
	switch {
	case err != nil:
		return nil, err
	case flags != flagCommand || len(body) != helloBytes || !bytes.HasPrefix(body, []byte(helloName)) || body[6] != 1:
		return nil, violation("want HELLO as the first command")
	}
	client := (*[32]byte)(body[80:112])
	zeros, ok := nacl.Open(nil, body[120:], nonce("CurveZMQHELLO---", body[112:120]), client, &keys.secret)
	if !ok || !bytes.Equal(zeros, make([]byte, 64)) {
		return nil, violation("HELLO is not for the kernel's key")
	}
	return client, nil
}

func (c *curveConn) sendWelcome(keys *curveKeys, client, public *[32]byte, cookie []byte) error {
	var tail [16]byte
	_, _ = rand.Read(tail[:]) // never fails
	welcome := append([]byte(welcomeName), tail[:]...)
	welcome = nacl.Seal(welcome, append(public[:], cookie...), nonce("WELCOME-", tail[:]), client, &keys.secret)
	_, err := c.Conn.Write(appendFrame(nil, flagCommand, welcome))
	return err
}

// readInitiate returns the client's metadata.
func (c *curveConn) readInitiate(keys *curveKeys, client, secret *[32]byte, cookie []byte) ([]byte, error) {
	flags, body, err := c.readFrame(maxReady)
	switch {
	case err != nil:
		return nil, err
	case flags&^flagLong != flagCommand || len(body) < initiateFixed+nacl.Overhead+vouchBytes || !bytes.HasPrefix(body, []byte(initiateName)):
		return nil, violation("want INITIATE after HELLO")
	case subtle.ConstantTimeCompare(body[len(initiateName):len(initiateName)+cookieBytes], cookie) != 1:
		return nil, violation("INITIATE with a wrong cookie")
	}
	tail := body[initiateFixed-8 : initiateFixed]
	c.nonceIn = binary.BigEndian.Uint64(tail)
	opened, ok := nacl.Open(nil, body[initiateFixed:], nonce("CurveZMQINITIATE", tail), client, secret)
	if !ok {
		return nil, violation("INITIATE cannot be decrypted")
	}
	// The vouch proves that the owner of the long-term key created the session key for
	// this kernel.
	vouch, ok := nacl.Open(nil, opened[48:vouchBytes], nonce("VOUCH---", opened[32:48]), (*[32]byte)(opened[:32]), secret)
	if !ok || !bytes.Equal(vouch[:32], client[:]) || !bytes.Equal(vouch[32:], keys.public[:]) {
		return nil, violation("INITIATE without a valid vouch")
	}
	return opened[vouchBytes:], nil
}

// readFrame reads one frame. It allocates memory as bytes arrive, not as they are
// announced.
func (c *curveConn) readFrame(limit int64) (flags byte, body []byte, err error) {
	flags, size, _, err := readHeader(c.r)
	if err != nil {
		return 0, nil, err
	}
	if size > uint64(limit) {
		return 0, nil, violation("frame of %d bytes, the limit is %d", size, limit)
	}
	body, err = readGrowing(c.r, nil, int64(size), c.memory)
	c.taken += int64(len(body))
	return flags, body, err
}

// Read returns the decrypted frames of the peer.
func (c *curveConn) Read(p []byte) (int, error) {
	if len(c.plain) == 0 {
		if err := c.open(); err != nil {
			return 0, err
		}
	}
	n := copy(p, c.plain)
	c.plain = c.plain[n:]
	return n, nil
}

// open reads and decrypts the next frame.
func (c *curveConn) open() error {
	c.memory.give(c.taken)
	c.taken = 0
	flags, body, err := c.readFrame(c.limit + int64(messageFixed+nacl.Overhead+1))
	switch {
	case err != nil:
		return err
	case flags&^flagLong != 0 || len(body) < messageFixed+nacl.Overhead+1 || !bytes.HasPrefix(body, []byte(messageName)):
		return violation("want an encrypted MESSAGE")
	}
	tail := body[len(messageName):messageFixed]
	number := binary.BigEndian.Uint64(tail)
	if number <= c.nonceIn {
		return violation("MESSAGE was replayed")
	}
	c.nonceIn = number
	opened, ok := nacl.OpenAfterPrecomputation(nil, body[messageFixed:], nonce("CurveZMQMESSAGEC", tail), &c.key)
	if !ok {
		return violation("MESSAGE cannot be decrypted")
	}
	var inner byte
	if opened[0]&curveMore != 0 {
		inner |= flagMore
	}
	if opened[0]&curveCommand != 0 {
		inner |= flagCommand
	}
	c.plain = appendFrame(nil, inner, opened[1:])
	return nil
}

// Write takes plain frames, split in any way, and encrypts and sends the complete ones.
func (c *curveConn) Write(p []byte) (int, error) {
	c.frame = append(c.frame, p...)
	var out []byte
	rest := c.frame
	for {
		header, size, ok := frameSize(rest)
		if !ok {
			break
		}
		sealed, err := c.seal(rest[0], rest[header:size])
		if err != nil {
			return 0, err
		}
		out, rest = append(out, sealed...), rest[size:]
	}
	c.frame = append(c.frame[:0], rest...)
	if cap(c.frame) > maxKept && len(c.frame) == 0 {
		c.frame = nil
	}
	if len(out) > 0 {
		if _, err := c.Conn.Write(out); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// maxKept bounds the buffer that is reused for the next frame, in bytes.
const maxKept = 64 << 10

// frameSize returns the size of the header and of the whole frame at the start of b, and
// whether the frame is complete.
func frameSize(b []byte) (header, size int, whole bool) {
	if len(b) < 2 {
		return 0, 0, false
	}
	header, size = 2, int(b[1])
	if b[0]&flagLong != 0 {
		if len(b) < 9 {
			return 0, 0, false
		}
		header, size = 9, int(binary.BigEndian.Uint64(b[1:]))
	}
	return header, header + size, len(b) >= header+size
}

// seal encrypts a frame. The first one is our READY.
func (c *curveConn) seal(flags byte, body []byte) ([]byte, error) {
	c.nonceOut++
	var tail [8]byte
	binary.BigEndian.PutUint64(tail[:], c.nonceOut)
	if !c.greeted {
		metadata, ok := bytes.CutPrefix(body, []byte(readyName))
		if !ok {
			return nil, violation("our READY is missing")
		}
		c.greeted = true
		return appendFrame(nil, flagCommand, []byte(readyName), tail[:],
			nacl.SealAfterPrecomputation(nil, metadata, nonce("CurveZMQREADY---", tail[:]), &c.key)), nil
	}
	var inner byte
	if flags&flagMore != 0 {
		inner |= curveMore
	}
	if flags&flagCommand != 0 {
		inner |= curveCommand
	}
	plain := append(make([]byte, 0, 1+len(body)), inner)
	return appendFrame(nil, 0, []byte(messageName), tail[:],
		nacl.SealAfterPrecomputation(nil, append(plain, body...), nonce("CurveZMQMESSAGES", tail[:]), &c.key)), nil
}

// appendFrame appends a frame whose body is the concatenation of the parts.
func appendFrame(to []byte, flags byte, parts ...[]byte) []byte {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	if size > 255 {
		to = append(to, flags|flagLong)
		to = binary.BigEndian.AppendUint64(to, uint64(size))
	} else {
		to = append(to, flags, byte(size))
	}
	for _, part := range parts {
		to = append(to, part...)
	}
	return to
}
