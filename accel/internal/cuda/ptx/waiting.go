package ptx

import (
	"fmt"
	"strconv"
	"strings"
)

// The first version of PTX and the first target with griddepcontrol.
const (
	waitingVersion = "7.8"
	waitingTarget  = "sm_90"
)

// waitFirst are the first instructions of a kernel for programmatic dependent launch. It waits for the kernels that it depends
// on, all of whose writes it sees then, and lets the kernel after it begin when all of its blocks have come so far. That one waits
// for its end, so it begins after the ends of all kernels before, whatever order they began in.
const waitFirst = "\tgriddepcontrol.wait;\n\tgriddepcontrol.launch_dependents;\n"

// Waiting returns a module whose kernels may be launched early, see [driver.Launch]: it begins each with waitFirst, before all
// accesses of memory. Compute capability 9.0 is the first that can run it.
//
// ptxas does not move accesses across griddepcontrol.wait, except those of memory that a kernel promises not to change as long as
// it runs. A kernel that begins early runs while others change it, so such promises are an error.
func Waiting(module string) (string, error) {
	var out strings.Builder
	const (
		outside = iota
		signature
		declarations
		instructions
	)
	at, kernels := outside, 0
	for line := range strings.Lines(module) {
		text := strings.TrimSpace(line)
		word, rest, _ := strings.Cut(text, " ")
		switch {
		case strings.Contains(text, ".func"):
			return "", fmt.Errorf("ptx: a function, %s: only kernels are known to wait", text)
		case word == ".version":
			if older(rest, waitingVersion) {
				line = ".version " + waitingVersion + "\n"
			}
		case word == ".target":
			if !strings.HasPrefix(rest, waitingTarget) {
				line = ".target " + waitingTarget + "\n"
			}
		case at == outside && strings.Contains(text, ".entry "):
			at, kernels = signature, kernels+1
		case at == signature && text == "{":
			at = declarations
		case at == declarations && text != "" && !strings.HasPrefix(text, "."):
			out.WriteString(waitFirst)
			at = instructions
		}
		if at == instructions && text == "}" {
			at = outside
		}
		if strings.Contains(text, ".nc.") || strings.Contains(text, "ldu.") {
			return "", fmt.Errorf("ptx: %s: memory may change while a kernel waits for others", text)
		}
		out.WriteString(line)
	}
	if at != outside || kernels == 0 {
		return "", fmt.Errorf("ptx: %d kernels, the last without an end", kernels)
	}
	return out.String(), nil
}

// older reports whether a version, such as 7.0, comes before another one.
func older(version, than string) bool {
	number := func(v string) (major, minor int) {
		a, b, _ := strings.Cut(v, ".")
		major, _ = strconv.Atoi(a)
		minor, _ = strconv.Atoi(b)
		return major, minor
	}
	major, minor := number(version)
	least, leastMinor := number(than)
	return major < least || major == least && minor < leastMinor
}
