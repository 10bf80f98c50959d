package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"syscall"
	"time"
)

// Limits of a request.
const (
	maxRequest  = 1 << 10 // bytes
	requestTime = 5 * time.Second
)

// request is a message of the gateway.
type request struct {
	Signal   *int `json:"signum"`   // to send to the kernel; 0 asks whether there is a listener
	Shutdown int  `json:"shutdown"` // 1 ends the kernel
}

// Serve receives requests of the gateway and sends their signals, os.Interrupt and syscall.SIGTERM, to the channel, until the listener
// is closed. As for signals of the system, a signal is dropped if the channel is full. The gateway sends no proof of its identity, so
// whoever reaches the port can interrupt and end the kernel; other signals, which could stop the process or make it print its
// memory, are not obeyed.
func Serve(listener net.Listener, signals chan<- os.Signal, log *slog.Logger) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			if !errors.Is(err, net.ErrClosed) {
				log.Warn("the gateway can no longer reach this kernel by its communication port", "error", err)
			}
			return
		}
		go func() { // a peer that sends nothing must not delay an interrupt
			signal, err := receive(connection)
			switch {
			case err != nil:
				log.Warn("a request to the communication port of the gateway is ignored", "from", connection.RemoteAddr().String(), "error", err)
			case signal != nil:
				log.Info("request of the gateway", "from", connection.RemoteAddr().String(), "signal", signal)
				select {
				case signals <- signal:
				default:
				}
			}
		}()
	}
}

// receive reads a request and returns its signal, or nil.
func receive(connection net.Conn) (os.Signal, error) {
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(requestTime)); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(connection, maxRequest+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) == 0: // a probe of whether the port is open
		return nil, nil
	case len(text) > maxRequest:
		return nil, fmt.Errorf("it has more than %d bytes", maxRequest)
	}
	var r request
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, err
	}
	if r.Shutdown != 0 {
		return syscall.SIGTERM, nil
	}
	if r.Signal == nil {
		return nil, errors.New("it has neither signum nor shutdown")
	}
	switch *r.Signal {
	case 0:
		return nil, nil
	case int(syscall.SIGINT):
		return os.Interrupt, nil
	case int(syscall.SIGTERM), int(syscall.SIGKILL):
		return syscall.SIGTERM, nil
	}
	return nil, fmt.Errorf("signal %d is none of SIGINT, SIGTERM and SIGKILL", *r.Signal)
}
