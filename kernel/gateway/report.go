package gateway

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/quernlab/quern/kernel/transport"
)

// Report sends the connection and the communication port to the gateway. It returns when the gateway has read it, or fails after
// l.Timeout. Whether the gateway could decrypt it, it does not say.
func (l *Launch) Report(ctx context.Context, c *transport.Connection, communication int) error {
	text, err := json.Marshal(struct {
		*transport.Connection
		PID           int    `json:"pid"`
		Communication int    `json:"comm_port"`
		KernelID      string `json:"kernel_id"`
	}{c, os.Getpid(), communication, l.KernelID})
	if err != nil {
		return err
	}
	payload, err := encrypt(text, l.key)
	if err != nil {
		return fmt.Errorf("cannot encrypt the ports for the gateway: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, l.Timeout)
	defer cancel()
	if err := send(ctx, l.ResponseAddress, payload); err != nil {
		return fmt.Errorf("cannot report the ports of this kernel to the gateway at %s, and without them it has no use: %w; "+
			"check that this machine reaches that address, and EG_RESPONSE_IP of the gateway", l.ResponseAddress, err)
	}
	return nil
}

// version is that of the form of the report.
const version = 1

// encrypt returns text in the form of the gateway: AES in ECB mode with a new key, which is encrypted by the gateway's key. Neither
// ECB nor the padding of PKCS #1 v1.5 would be chosen today, but the gateway reads nothing else. Each report has a key of its own,
// and no byte of it is answered, so that nothing can be learned from answers.
func encrypt(text []byte, key *rsa.PublicKey) ([]byte, error) {
	secret := make([]byte, 16)
	rand.Read(secret)
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	padding := aes.BlockSize - len(text)%aes.BlockSize
	text = append(bytes.Clone(text), bytes.Repeat([]byte{byte(padding)}, padding)...)
	for i := 0; i < len(text); i += aes.BlockSize {
		block.Encrypt(text[i:], text[i:])
	}
	encrypted, err := rsa.EncryptPKCS1v15(rand.Reader, key, secret) //nolint:staticcheck // the gateway decrypts nothing else
	if err != nil {
		return nil, err
	}
	payload, err := json.Marshal(struct {
		Version    int    `json:"version"`
		Key        []byte `json:"key"` // []byte is base64 in JSON
		Connection []byte `json:"conn_info"`
	}{version, encrypted, text})
	return []byte(base64.StdEncoding.EncodeToString(payload)), err
}

// again is how long send waits before it connects again.
const again = 500 * time.Millisecond

// send sends data to address and waits until the other side has closed the connection, which the gateway does when it has read all.
// As long as nothing answers there, it tries again until ctx ends: the network of a new pod may need some seconds.
func send(ctx context.Context, address string, data []byte) error {
	for {
		connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err == nil {
			return exchange(ctx, connection.(*net.TCPConn), data)
		}
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return err
		}
	}
}

func exchange(ctx context.Context, connection *net.TCPConn, data []byte) error {
	defer connection.Close()
	defer context.AfterFunc(ctx, func() { _ = connection.SetDeadline(time.Now()) })()
	if _, err := connection.Write(data); err != nil {
		return err
	}
	if err := connection.CloseWrite(); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, connection)
	return err
}
