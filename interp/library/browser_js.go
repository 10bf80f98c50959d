package library

import (
	"errors"
	"fmt"
	"net"
	"time"
)

// noProcesses is the error of commands: those of package os are about files that are missing.
var noProcesses = errors.New("a browser cannot start processes")

// browser returns the functions that say what a browser cannot do.
func browser() Packages {
	return Packages{"net/net": functionsOf(map[string]any{
		"Dial": func(network, address string) (net.Conn, error) {
			c, err := net.Dial(network, address)
			return c, noSocket(err)
		},
		"DialTimeout": func(network, address string, timeout time.Duration) (net.Conn, error) {
			c, err := net.DialTimeout(network, address, timeout)
			return c, noSocket(err)
		},
	})}
}

// noSocket adds the reason to an error of a connection that leads out of the program.
func noSocket(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: a browser connects only to servers of the same session, or with package net/http", err)
}
