package cuda

import "time"

// patience is how long a device waits for a kernel of the program that may be endless.
type patience struct {
	limit time.Duration // without a deadline
	grace time.Duration // after the end of its context, in which a simulated device ends it
}

var standardPatience = patience{time.Minute, 2 * time.Second}
