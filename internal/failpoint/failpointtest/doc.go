// Package failpointtest triggers failpoints, each in a process of its own.
//
// A test calls [Run] with what its package does to files. For each point and each kind of
// failure, Run starts the test binary again to do that, and the test then checks the
// files that are left. A point that is not reached fails the test, so the test covers all
// points of its owner.
package failpointtest
