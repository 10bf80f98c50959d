//go:build !js

package stopflag

import "sync/atomic"

// Flag is a flag that any goroutine may set and check.
type Flag = atomic.Bool

// Cooperative reports whether checks of the flag let other goroutines run.
const Cooperative = false

// Due reports that each check is one of Load. In a browser, most only count.
func Due(*Flag) bool { return true }
