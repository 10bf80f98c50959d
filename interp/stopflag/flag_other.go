//go:build !js

package stopflag

import "sync/atomic"

// Flag is a flag that any goroutine may set and check.
type Flag = atomic.Bool

// Cooperative reports whether checks of the flag let other goroutines run.
const Cooperative = false

// MayBeUp reports whether the flag is up. In a browser, most checks only count.
func MayBeUp(f *Flag) bool { return f.Load() }
