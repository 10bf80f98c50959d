//go:build !js

package main

import "syscall"

const hangup, brokenPipe = syscall.SIGHUP, syscall.SIGPIPE
