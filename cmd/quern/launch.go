//go:build !js

package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/quernlab/quern/kernel"
	"github.com/quernlab/quern/kernel/gateway"
	"github.com/quernlab/quern/kernel/transport"
)

const launchUsage = `quern launch serves a Jupyter Enterprise Gateway on another machine. It is called by a process proxy of the
gateway, by ssh or as the command of a container; quern install --gateway writes its kernelspec.

Flags, which may also begin with --RemoteProcessProxy., and the environment variables that replace them:
  --kernel-id ID             KERNEL_ID         which kernel this is
  --response-address H:P     RESPONSE_ADDRESS  where the gateway waits for its ports
  --public-key KEY           PUBLIC_KEY        the gateway's RSA key, in base64
  --port-range LOW..HIGH     PORT_RANGE        the ports that are allowed (default all)
`

// launchAttempts is how often other ports are chosen if another process has taken them.
const launchAttempts = 5

func runLaunch(ctx context.Context, args []string, std stdio) error {
	flags := flag.NewFlagSet("launch", flag.ContinueOnError)
	var launch gateway.Launch
	for _, f := range []struct {
		value          *string
		name, variable string
	}{
		{&launch.KernelID, "kernel-id", "KERNEL_ID"},
		{&launch.ResponseAddress, "response-address", "RESPONSE_ADDRESS"},
		{&launch.PublicKey, "public-key", "PUBLIC_KEY"},
		{&launch.PortRange, "port-range", "PORT_RANGE"},
	} {
		value := os.Getenv(f.variable)
		flags.StringVar(f.value, f.name, value, "")
		flags.StringVar(f.value, "RemoteProcessProxy."+f.name, value, "")
	}
	if err := parse(flags, launchUsage, args, std); err != nil {
		return err
	}
	var err error
	if launch.Timeout, err = launchTimeout(); err != nil {
		return err
	}
	if err := launch.Check(); err != nil {
		return &usageError{"launch: " + err.Error(), "a process proxy of Enterprise Gateway passes this; quern launch -h describes it"}
	}
	// The gateway's variable for the processes of its own machine: there is no process with that id here, and a kernel may
	// survive a restart of the gateway.
	if err := os.Unsetenv("JPY_PARENT_PID"); err != nil {
		return err
	}
	requests, err := launch.Listen()
	if err != nil {
		return fmt.Errorf("communication port of the gateway: %w", err)
	}
	defer requests.Close()
	signals := make(chan os.Signal, 8)
	go gateway.Serve(requests, signals, newLogger(std.err, slog.LevelWarn))
	for attempt := 1; ; attempt++ {
		connection, err := launch.Connection()
		if err != nil {
			return err
		}
		err = serveKernel(ctx, kernel.Config{
			Connection: connection,
			Listening: func(ctx context.Context) error {
				return launch.Report(ctx, connection, requests.Addr().(*net.TCPAddr).Port)
			},
			Signals: signals,
		}, std)
		var taken *transport.BindError
		if !errors.As(err, &taken) || attempt == launchAttempts {
			return err
		}
	}
}

// launchTimeout returns how long the gateway waits, from the variable that it passes on if a user has set it.
func launchTimeout() (time.Duration, error) {
	text := cmp.Or(os.Getenv("KERNEL_LAUNCH_TIMEOUT"), "30") // the gateway's default
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !(seconds > 0 && seconds < 1e6) {
		return 0, fmt.Errorf("KERNEL_LAUNCH_TIMEOUT is %q: want seconds, such as 30", text)
	}
	return time.Duration(seconds * float64(time.Second)), nil
}
