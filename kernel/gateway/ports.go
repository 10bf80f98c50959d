package gateway

import (
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"net"

	"github.com/quernlab/quern/kernel/transport"
	"github.com/quernlab/quern/kernel/wire"
)

// portsOfKernel is the number of ports in a connection, besides the communication port.
const portsOfKernel = 5

// allInterfaces is where the kernel listens: the gateway knows by which address it reaches this machine, the kernel does not.
const allInterfaces = "0.0.0.0"

// Listen opens the communication port, on which [Serve] receives the requests of the gateway.
func (l *Launch) Listen() (net.Listener, error) { return l.ports.listen() }

// Connection returns a connection with a new key on ports that are free now, on all network interfaces. Until the kernel binds
// them, another process may take one; then the kernel fails with a *transport.BindError, and another connection may succeed.
func (l *Launch) Connection() (*transport.Connection, error) {
	var ports [portsOfKernel]int
	for i := range ports {
		listener, err := l.ports.listen()
		if err != nil {
			return nil, err
		}
		defer listener.Close() // until all are chosen, so that they differ
		ports[i] = listener.Addr().(*net.TCPAddr).Port
	}
	return &transport.Connection{
		Transport: "tcp", IP: allInterfaces, Key: rand.Text(), Scheme: wire.Scheme,
		ShellPort: ports[0], ControlPort: ports[1], StdinPort: ports[2], IOPubPort: ports[3], HeartbeatPort: ports[4],
	}, nil
}

// listen listens on a free port of the range. It begins at a random one: launchers on one machine have the same range.
func (r portRange) listen() (net.Listener, error) {
	size := r.high - r.low + 1
	offset := mathrand.IntN(size)
	var last error
	for i := range size {
		listener, err := net.Listen("tcp4", fmt.Sprintf("%s:%d", allInterfaces, r.low+(offset+i)%size))
		if err == nil {
			return listener, nil
		}
		last = err
	}
	if r.low == 0 {
		return nil, fmt.Errorf("no free port: %w", last)
	}
	return nil, fmt.Errorf("no free port from %d to %d, as the gateway demands; widen its port range: %w", r.low, r.high, last)
}
