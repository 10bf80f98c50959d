package main

import "syscall"

// A browser sends no signals.
const hangup, brokenPipe = syscall.SIGTERM, syscall.SIGTERM
