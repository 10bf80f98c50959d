package parallel

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/quernlab/quern/internal/trust"
)

// SecretError says that ranks on several machines have no secret.
type SecretError struct {
	Address string // of rank 0, which other machines can reach
}

func (e *SecretError) Error() string {
	return fmt.Sprintf("parallel: rank 0 at %s may be on another machine, but no secret is set, so anybody could join: set %s to the same random text on all ranks, for example the output of openssl rand -hex 32; "+
		"ranks on one machine need no secret if MASTER_ADDR=127.0.0.1", e.Address, SecretVariable)
}

// protect determines the secret. With an explicit secret, ranks may be on any machine. Without
// one, they are on this machine, rank 0 listens only on the loopback interface, and the secret
// comes from a file of the user.
func (j *joiner) protect() error {
	if j.secret != "" {
		j.local = j.info.local
		return nil
	}
	host, port, err := net.SplitHostPort(j.info.Address)
	if err != nil {
		return &AddressError{j.info.Address, "write it as host:port", err}
	}
	ip := net.ParseIP(host)
	switch {
	case ip != nil && ip.IsLoopback():
	case host == "localhost" || j.info.LocalSize == j.info.Size:
		j.info.Address = net.JoinHostPort("127.0.0.1", port)
	default:
		return &SecretError{j.info.Address}
	}
	if j.secret, err = userSecret(); err == nil {
		j.local = true
	} else {
		j.log.Warn("parallel: other users of this machine could join because there is no secret", "variable", SecretVariable, "error", err)
	}
	return nil
}

// userSecret returns the secret that all processes of this user share.
func userSecret() (string, error) {
	folder, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "quern", "parallel.secret")
	text, err := readSecret(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return text, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	if err := writeSecret(path); err != nil {
		return "", err
	}
	return readSecret(path)
}

// secretBytes is the length of the secret in the file.
const secretBytes = 32

// readSecret reads the file, which must be readable and writable only by the user.
func readSecret(path string) (string, error) {
	if err := trust.File(path); err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.Mode().Perm()&0o077 != 0 && filepath.Separator == '/' {
		return "", fmt.Errorf("%s is readable by others (mode %#o): delete it", path, info.Mode().Perm())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if secret := strings.TrimSpace(string(text)); len(secret) >= 2*secretBytes {
		return secret, nil
	}
	return "", fmt.Errorf("%s does not contain a secret: delete it", path)
}

// writeSecret creates the file atomically, unless another process has created it first.
func writeSecret(path string) error {
	var b [secretBytes]byte
	_, _ = rand.Read(b[:])                                   // never fails
	f, err := os.CreateTemp(filepath.Dir(path), ".secret-*") // with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(hex.EncodeToString(b[:]) + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
