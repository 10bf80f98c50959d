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

// Connections are TLS 1.3, at least until their ends know each other (see framed). The certificate of the side that listens is made for the
// occasion and proves nothing: both sides prove with the secret, after the handshake of
// TLS, that they are at the ends of the same connection (see [joining.proof]). Who sits
// between them has two connections with different exported keys, and cannot pass a
// proof on.

// exporterLabel names the key that is exported from a connection for the proofs.
const exporterLabel = "EXPORTER-quern-parallel-2"

// certificate is the one that this process listens with.
var certificate = sync.OnceValues(func() (tls.Certificate, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	made, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	return tls.Certificate{Certificate: [][]byte{made}, PrivateKey: key}, err
})

// encrypt makes a connection one of TLS. Its ends do not know each other yet, but
// nobody else can read or change what they say. Deadlines of conn bound it.
func encrypt(conn net.Conn, listens bool) (encrypted *tls.Conn, exported []byte, err error) {
	config := &tls.Config{
		MinVersion:             tls.VersionTLS13,
		SessionTicketsDisabled: true,
		InsecureSkipVerify:     true, //nolint:gosec // the secret proves who it is, not a certificate
	}
	if listens {
		made, err := certificate()
		if err != nil {
			return nil, nil, fmt.Errorf("parallel: certificate: %w", err)
		}
		config.Certificates = []tls.Certificate{made}
		encrypted = tls.Server(conn, config)
	} else {
		encrypted = tls.Client(conn, config)
	}
	if err := encrypted.Handshake(); err != nil {
		var record tls.RecordHeaderError
		if errors.As(err, &record) {
			err = errors.New("it does not speak TLS: another version or another program")
		}
		return nil, nil, fmt.Errorf("parallel: connection with %v: %w", conn.RemoteAddr(), err)
	}
	state := encrypted.ConnectionState()
	exported, err = state.ExportKeyingMaterial(exporterLabel, nil, 32)
	return encrypted, exported, err
}
