// Package failpointtest triggers failpoints, each in a process of its own.
//
// A test calls [Run] with what its package does to files. Run starts the test binary
// again for each point and each kind of failure, has that process do it, and has the
// test check what is left. A point that is not reached fails the test, so the test
// covers each point of its owner.
package failpointtest
