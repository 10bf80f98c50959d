//go:build !js

package main

import "os"

func main() {
	out := &output{w: os.Stdout}
	std := stdio{out, os.Stderr}
	status := run(os.Args[1:], std)
	if err := out.failure(); err != nil {
		status = max(status, report(err, std))
	}
	os.Exit(status)
}
