package parallel

import (
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
	conn, err := j.openStore(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	b := storeText([]byte{storeSet}, j.storeKey())
	if _, err := conn.Write(storeText(b, address)); err != nil {
		return fmt.Errorf("parallel: publish the address of rank 0 in torchrun's store at %s: %w", j.info.store, err)
	}
	// Set has no reply: the reply of Check shows that it has been read.
	_, err = j.checkStore(conn)
	return err
}

// errNotPublished is returned if rank 0 has not published its address yet.
var errNotPublished = errors.New("rank 0 has not published its address yet")

// lookUp reads the address of rank 0 from the store.
func (j *joiner) lookUp(ctx context.Context) (string, error) {
	conn, err := j.openStore(ctx)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	if there, err := j.checkStore(conn); err != nil {
		return "", err
	} else if !there {
		return "", errNotPublished
	}
	if _, err := conn.Write(storeText([]byte{storeGet}, j.storeKey())); err != nil {
		return "", fmt.Errorf("parallel: read the address of rank 0 from torchrun's store at %s: %w", j.info.store, err)
	}
	var length [8]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return "", fmt.Errorf("parallel: read the address of rank 0 from torchrun's store at %s: %w", j.info.store, err)
	}
	n := binary.NativeEndian.Uint64(length[:])
	if n > 1<<10 {
		return "", fmt.Errorf("parallel: torchrun's store at %s returned an address of rank 0 with %d bytes: check that MASTER_ADDR and MASTER_PORT are those of torchrun", j.info.store, n)
	}
	address := make([]byte, n)
	if _, err := io.ReadFull(conn, address); err != nil {
		return "", fmt.Errorf("parallel: read the address of rank 0 from torchrun's store at %s: %w", j.info.store, err)
	}
	return string(address), nil
}

// openStore connects to the store.
func (j *joiner) openStore(ctx context.Context) (net.Conn, error) {
	conn, err := dial(ctx, j.info.store)
	if err != nil {
		return nil, fmt.Errorf("parallel: connect to torchrun's store: %w", err)
	}
	err = conn.SetDeadline(time.Now().Add(handshakeTime))
	if err == nil {
		_, err = conn.Write(binary.NativeEndian.AppendUint32([]byte{storeValidate}, storeMagic))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("parallel: connect to torchrun's store at %s: %w", j.info.store, err), conn.Close())
	}
	return conn, nil
}

// checkStore reports whether rank 0 has published its address.
func (j *joiner) checkStore(conn net.Conn) (there bool, err error) {
	b := binary.NativeEndian.AppendUint64([]byte{storeCheck}, 1)
	if _, err := conn.Write(storeText(b, j.storeKey())); err != nil {
		return false, fmt.Errorf("parallel: ask torchrun's store at %s whether it has the address of rank 0: %w", j.info.store, err)
	}
	var answer [1]byte
	if _, err := io.ReadFull(conn, answer[:]); err != nil {
		return false, fmt.Errorf("parallel: ask torchrun's store at %s whether it has the address of rank 0: %w", j.info.store, err)
	}
	return answer[0] == storeReady, nil
}

func storeText(b []byte, s string) []byte {
	return append(binary.NativeEndian.AppendUint64(b, uint64(len(s))), s...)
}
