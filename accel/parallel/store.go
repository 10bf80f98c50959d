package parallel

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// The protocol of torchrun's store, PyTorch's TCPStore. A request is a byte, followed by
// numbers in native byte order and strings with an 8-byte length. A connection begins with a
// number that selects the protocol.
const (
	storeValidate = 0
	storeSet      = 1
	storeGet      = 3
	storeCheck    = 5

	storeMagic = 0x3C85F7CE
	storeReady = 0 // the answer of Check for an existing key
)

// storeKey returns the key of rank 0's address for this run.
func (j *joiner) storeKey() string { return "quern/parallel/" + j.info.Run }

// publish stores the address of rank 0.
func (j *joiner) publish(ctx context.Context, address string) error {
	return j.useStore(ctx, "publish", func(conn net.Conn) error {
		if _, err := conn.Write(storeText(storeText([]byte{storeSet}, j.storeKey()), address)); err != nil {
			return err
		}
		_, err := j.checkStore(conn) // Set has no reply: the reply of Check shows that it has been read
		return err
	})
}

// errNotPublished is returned if rank 0 has not published its address yet.
var errNotPublished = errors.New("rank 0 has not published its address yet")

// lookUp reads the address of rank 0 from the store.
func (j *joiner) lookUp(ctx context.Context) (address string, err error) {
	err = j.useStore(ctx, "read", func(conn net.Conn) error {
		if there, err := j.checkStore(conn); err != nil || !there {
			return cmp.Or(err, errNotPublished)
		}
		if _, err := conn.Write(storeText([]byte{storeGet}, j.storeKey())); err != nil {
			return err
		}
		var length [8]byte
		if _, err := io.ReadFull(conn, length[:]); err != nil {
			return err
		}
		n := binary.NativeEndian.Uint64(length[:])
		if n > 1<<10 {
			return fmt.Errorf("it has %d bytes: check that MASTER_ADDR and MASTER_PORT are those of torchrun", n)
		}
		text := make([]byte, n)
		_, err := io.ReadFull(conn, text)
		address = string(text)
		return err
	})
	return address, err
}

// useStore calls do with a connection to the store. Errors say that it publishes or reads the address of rank 0.
func (j *joiner) useStore(ctx context.Context, what string, do func(net.Conn) error) error {
	conn, err := dial(ctx, j.info.store)
	if err == nil {
		defer func() { _ = conn.Close() }()
		err = conn.SetDeadline(time.Now().Add(handshakeTime))
	}
	if err == nil {
		_, err = conn.Write(binary.NativeEndian.AppendUint32([]byte{storeValidate}, storeMagic))
	}
	if err == nil {
		err = do(conn)
	}
	if err != nil {
		return fmt.Errorf("parallel: %s the address of rank 0 in torchrun's store at %s: %w", what, j.info.store, err)
	}
	return nil
}

// checkStore reports whether rank 0 has published its address.
func (j *joiner) checkStore(conn net.Conn) (there bool, err error) {
	b := binary.NativeEndian.AppendUint64([]byte{storeCheck}, 1)
	if _, err := conn.Write(storeText(b, j.storeKey())); err != nil {
		return false, err
	}
	var answer [1]byte
	_, err = io.ReadFull(conn, answer[:])
	return answer[0] == storeReady, err
}

func storeText(b []byte, s string) []byte {
	return append(binary.NativeEndian.AppendUint64(b, uint64(len(s))), s...)
}
