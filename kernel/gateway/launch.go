package gateway

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"
)

// Launch is what the gateway passes to the launcher of a kernel.
type Launch struct {
	KernelID        string // by which the gateway finds the kernel that a report is for
	ResponseAddress string // host:port of the gateway, for the report
	PublicKey       string // of the gateway: RSA, in DER and base64
	PortRange       string // such as 40000..41000; empty or 0..0 if all ports are allowed
	// Timeout is how long the report may take, during which a network that is not yet ready is tried again. It should be
	// the time that the gateway waits.
	Timeout time.Duration

	key   *rsa.PublicKey
	ports portRange
}

// Check checks the values, and must be called before the other methods.
func (l *Launch) Check() error {
	if l.KernelID == "" {
		return errors.New("the kernel id is missing")
	}
	if _, port, err := net.SplitHostPort(l.ResponseAddress); err != nil || !isPort(port) {
		return fmt.Errorf("response address %q: want host:port of the gateway, such as 10.0.0.1:8877", l.ResponseAddress)
	}
	var err error
	if l.key, err = parseKey(l.PublicKey); err != nil {
		return fmt.Errorf("public key of the gateway: %w", err)
	}
	if l.ports, err = parseRange(l.PortRange); err != nil {
		return fmt.Errorf("port range %q: %w", l.PortRange, err)
	}
	return nil
}

func parseKey(text string) (*rsa.PublicKey, error) {
	der, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil, err
	}
	if key, ok := key.(*rsa.PublicKey); ok {
		return key, nil
	}
	return nil, fmt.Errorf("want an RSA key, got %T", key)
}

// portRange are the ports from low to high, or all if both are 0.
type portRange struct{ low, high int }

func parseRange(text string) (portRange, error) {
	if text == "" || text == "0..0" {
		return portRange{}, nil
	}
	low, high, _ := strings.Cut(text, "..")
	if !isPort(low) || !isPort(high) {
		return portRange{}, errors.New("want two ports such as 40000..41000")
	}
	var r portRange
	r.low, _ = strconv.Atoi(low)
	r.high, _ = strconv.Atoi(high)
	if r.high-r.low+1 < portsOfKernel+1 {
		return portRange{}, fmt.Errorf("a kernel needs %d ports", portsOfKernel+1)
	}
	return r, nil
}

func isPort(text string) bool {
	port, err := strconv.ParseUint(text, 10, 16)
	return err == nil && port > 0
}
