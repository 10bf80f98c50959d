package parallel

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"net"
	"sync"
)

// Connections use TLS 1.3, at least until both ends are authenticated (see framed). The
// certificate of the listening side is ephemeral and proves nothing: after the TLS handshake,
// both sides prove with the secret that they are the ends of the same connection (see
// [joining.proof]). A man in the middle has two connections with different exported keys and
// cannot forward a proof.

// exporterLabel is the label of the key that is exported from a connection for the proofs.
const exporterLabel = "EXPORTER-quern-parallel-2"

// certificate is the certificate of this process for listening.
var certificate = sync.OnceValues(func() (tls.Certificate, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	made, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	return tls.Certificate{Certificate: [][]byte{made}, PrivateKey: key}, err
})

// encrypt turns a connection into a TLS connection. Its ends are not authenticated yet, but
// nobody else can read or change their messages. The deadline of conn applies.
func encrypt(conn net.Conn, listens bool) (encrypted *tls.Conn, exported []byte, err error) {
	config := &tls.Config{
		MinVersion:             tls.VersionTLS13,
		SessionTicketsDisabled: true,
		InsecureSkipVerify:     true, //nolint:gosec // the secret authenticates the peer, not the certificate
	}
	if listens {
		made, err := certificate()
		if err != nil {
			return nil, nil, fmt.Errorf("parallel: create a certificate: %w", err)
		}
		config.Certificates = []tls.Certificate{made}
		encrypted = tls.Server(conn, config)
	} else {
		encrypted = tls.Client(conn, config)
	}
	if err := encrypted.Handshake(); err != nil {
		if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
			err = errors.New("it does not speak TLS: another version or another program")
		}
		return nil, nil, fmt.Errorf("parallel: connection with %v: %w", conn.RemoteAddr(), err)
	}
	state := encrypted.ConnectionState()
	exported, err = state.ExportKeyingMaterial(exporterLabel, nil, 32)
	return encrypted, exported, err
}
